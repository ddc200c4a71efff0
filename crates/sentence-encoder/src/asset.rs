//! The encoder's file. Its layout is described in `scripts/encoder_asset.py`.

use sha2::{Digest as _, Sha256};

use super::{
    attention::HEAD_LANES,
    matrix::{OUTPUTS, QuantisedMatrix},
};

const MAGIC: &[u8] = b"ADJENC\x00\x01";
const CHECKSUM_BYTES: usize = 32;

/// Why an encoder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EncoderError {
    #[error("the file is not an encoder of this version")]
    WrongFormat,
    #[error("the file of the encoder is damaged: its checksum differs")]
    WrongChecksum,
    #[error("the file of the encoder contradicts itself: {0}")]
    Inconsistent(&'static str),
    #[error("an encoder is in use already")]
    AlreadyInUse,
}

/// The sizes that the file names.
#[derive(Debug, Clone, Copy)]
pub(super) struct EncoderSizes {
    pub(super) pieces: usize,
    pub(super) width: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) inner_width: usize,
    pub(super) positions: usize,
}

/// The factors and offsets of a layer normalisation.
pub(super) struct Norm {
    pub(super) factors: Vec<f32>,
    pub(super) offsets: Vec<f32>,
}

/// Reads the parts of the file one after the other.
pub(super) struct AssetReader {
    rest: &'static [u8],
}

impl AssetReader {
    /// Checks format and checksum of a file.
    pub(super) fn open(file: &'static [u8]) -> Result<Self, EncoderError> {
        let split = file.len().checked_sub(CHECKSUM_BYTES).ok_or(EncoderError::WrongFormat)?;
        let (body, checksum) = file.split_at(split);
        let rest = body.strip_prefix(MAGIC).ok_or(EncoderError::WrongFormat)?;
        if Sha256::digest(body).as_slice() != checksum {
            return Err(EncoderError::WrongChecksum);
        }
        Ok(Self { rest })
    }

    pub(super) fn read_sizes(&mut self) -> Result<EncoderSizes, EncoderError> {
        let sizes = EncoderSizes {
            pieces: self.read_count()?,
            width: self.read_count()?,
            layers: self.read_count()?,
            heads: self.read_count()?,
            inner_width: self.read_count()?,
            positions: self.read_count()?,
        };
        let is_divided = |width: usize, by: usize| by > 0 && width > 0 && width.is_multiple_of(by);
        let whole = is_divided(sizes.width, OUTPUTS) && is_divided(sizes.inner_width, OUTPUTS);
        if !whole || !is_divided(sizes.width, sizes.heads) || !is_divided(sizes.width / sizes.heads, HEAD_LANES) {
            return Err(EncoderError::Inconsistent("widths"));
        }
        Ok(sizes)
    }

    pub(super) fn read_vocabulary(&mut self, pieces: usize) -> Result<Vec<&'static str>, EncoderError> {
        let length = self.read_count()?;
        let text = str::from_utf8(self.read_bytes(length)?).map_err(|_| EncoderError::Inconsistent("vocabulary"))?;
        let found: Vec<_> = text.split('\n').collect();
        if found.len() == pieces { Ok(found) } else { Err(EncoderError::Inconsistent("vocabulary")) }
    }

    pub(super) fn read_matrix(&mut self, outputs: usize, inputs: usize) -> Result<QuantisedMatrix, EncoderError> {
        let (scales, biases) = (self.read_floats(outputs)?, self.read_floats(outputs)?);
        let weights = self.read_bytes(product(outputs, inputs)?)?;
        Ok(QuantisedMatrix::new(weights, scales, biases, inputs))
    }

    pub(super) fn read_norm(&mut self, width: usize) -> Result<Norm, EncoderError> {
        Ok(Norm { factors: self.read_floats(width)?, offsets: self.read_floats(width)? })
    }

    pub(super) fn read_floats(&mut self, count: usize) -> Result<Vec<f32>, EncoderError> {
        let bytes = self.read_bytes(product(count, 4)?)?;
        let floats: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
        if floats.iter().all(|value| value.is_finite()) {
            Ok(floats)
        } else {
            Err(EncoderError::Inconsistent("a number is not finite"))
        }
    }

    pub(super) fn read_bytes(&mut self, count: usize) -> Result<&'static [u8], EncoderError> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(EncoderError::Inconsistent("too short"))?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Fails if something is left over.
    pub(super) fn finish(self) -> Result<(), EncoderError> {
        if self.rest.is_empty() { Ok(()) } else { Err(EncoderError::Inconsistent("too long")) }
    }

    fn read_count(&mut self) -> Result<usize, EncoderError> {
        let bytes = self.read_bytes(4)?.first_chunk::<4>().copied().unwrap_or_default();
        usize::try_from(u32::from_le_bytes(bytes)).map_err(|_| EncoderError::Inconsistent("too large"))
    }
}

/// The product of two sizes, which a file may choose too large.
pub(super) fn product(one: usize, other: usize) -> Result<usize, EncoderError> {
    one.checked_mul(other).ok_or(EncoderError::Inconsistent("too large"))
}
