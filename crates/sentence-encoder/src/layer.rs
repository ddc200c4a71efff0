//! One layer of the encoder: every token looks at the others, then at itself.

use super::{
    asset::{AssetReader, EncoderError, EncoderSizes, Norm},
    attention::Attention,
    elementwise::{gelu, normalise_row},
    matrix::{QuantisedMatrix, QuantisedRows},
    processor::SumBlock,
};

pub(super) struct Layer {
    /// Queries, keys and values of a token, one after the other.
    query_key_value: QuantisedMatrix,
    attention_output: QuantisedMatrix,
    attention_norm: Norm,
    up: QuantisedMatrix,
    down: QuantisedMatrix,
    output_norm: Norm,
}

impl Layer {
    pub(super) fn read(reader: &mut AssetReader, sizes: &EncoderSizes) -> Result<Self, EncoderError> {
        let (width, inner) = (sizes.width, sizes.inner_width);
        Ok(Self {
            query_key_value: reader.read_matrix(3 * width, width)?,
            attention_output: reader.read_matrix(width, width)?,
            attention_norm: reader.read_norm(width)?,
            up: reader.read_matrix(inner, width)?,
            down: reader.read_matrix(width, inner)?,
            output_norm: reader.read_norm(width)?,
        })
    }

    /// Replaces the vectors of all tokens, which stand one after the other, by what the layer makes of them.
    #[inline(always)]
    pub(super) fn apply(&self, hidden: &mut [f32], sizes: &EncoderSizes, space: &mut Workspace, sum: impl SumBlock) {
        let width = sizes.width;
        let Workspace { rows, wide, narrow, attention } = space;
        rows.quantise(hidden, width);
        self.query_key_value.multiply(rows, wide, sum);
        attention.attend(wide, narrow, sizes);
        rows.quantise(narrow, width);
        self.attention_output.multiply(rows, narrow, sum);
        add_and_normalise(hidden, narrow, &self.attention_norm);
        rows.quantise(hidden, width);
        self.up.multiply(rows, wide, sum);
        for value in wide.iter_mut() {
            *value = gelu(*value);
        }
        rows.quantise(wide, sizes.inner_width);
        self.down.multiply(rows, narrow, sum);
        add_and_normalise(hidden, narrow, &self.output_norm);
    }
}

/// What lies between the steps of a layer. Its memory is used again by the next, because getting new memory from the
/// system takes a fifth of the time.
#[derive(Default)]
pub(super) struct Workspace {
    rows: QuantisedRows,
    /// Queries, keys and values, or the inner vectors.
    wide: Vec<f32>,
    narrow: Vec<f32>,
    attention: Attention,
}

#[inline(always)]
fn add_and_normalise(hidden: &mut [f32], added: &[f32], norm: &Norm) {
    for (value, more) in hidden.iter_mut().zip(added) {
        *value += more;
    }
    for row in hidden.chunks_exact_mut(norm.factors.len()) {
        normalise_row(row, norm);
    }
}
