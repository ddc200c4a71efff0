//! Vectors by int8 quantisation, as they are stored: a scale, then one signed byte per dimension.

/// The largest value of a component. The scale says what it stands for.
const MAX_INT8: f32 = 127.0;

/// A stored vector, read in place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Int8VectorRef<'a> {
    pub scale: f32,
    /// The components; each byte is an `i8`.
    pub values: &'a [u8],
}

/// Returns the stored form of a vector. The error of a component is at most half a step of the scale.
pub fn encode(vector: &[f32]) -> Vec<u8> {
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let scale = if largest > 0.0 { largest / MAX_INT8 } else { 1.0 };
    let level = |value: &f32| ((value / scale).round() as i8).to_le_bytes();
    scale.to_le_bytes().into_iter().chain(vector.iter().flat_map(level)).collect()
}

/// Reads a stored vector; none when the bytes are not a vector of this dimension.
pub fn decode(bytes: &[u8], dimension: usize) -> Option<Int8VectorRef<'_>> {
    let (scale, levels) = bytes.split_first_chunk::<4>()?;
    let scale = f32::from_le_bytes(*scale);
    (levels.len() == dimension && scale.is_finite() && scale > 0.0).then_some(Int8VectorRef { scale, values: levels })
}

/// Returns the vector with length 1; none when its length is zero or not finite.
pub fn normalise(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::EPSILON {
        return None;
    }
    vector.iter_mut().for_each(|value| *value /= length);
    Some(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_comes_back_within_half_a_level() {
        let vector: Vec<f32> = (0..192_i16).map(|n| f32::from(n % 23 - 11) / 170.0).collect();
        let bytes = encode(&vector);
        assert_eq!(bytes.len(), 196);
        let Int8VectorRef { scale, values: levels } = decode(&bytes, 192).unwrap();
        for (value, level) in vector.iter().zip(levels) {
            let back = f32::from(i8::from_le_bytes([*level])) * scale;
            assert!((back - value).abs() <= scale * 0.501, "{value} became {back}");
        }
    }

    #[test]
    fn what_is_no_vector_is_refused() {
        let bytes = encode(&[0.5, -0.5]);
        assert_eq!(decode(&bytes, 3), None);
        assert_eq!(decode(&bytes[..3], 2), None);
        let mut broken = bytes.clone();
        broken[..4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(decode(&broken, 2), None);
        assert_eq!(normalise(vec![0.0; 4]), None);
        assert_eq!(normalise(vec![f32::INFINITY, 1.0]), None);
        assert_eq!(normalise(vec![3.0, 4.0]).unwrap(), [0.6, 0.8]);
    }
}
