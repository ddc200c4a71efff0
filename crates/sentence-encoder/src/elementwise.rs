//! The arithmetic between the products, in `f32`.
//!
//! Only additions, multiplications, divisions and square roots, which every processor rounds alike, and sums in a fixed
//! order. The functions of the platform's mathematical library differ in the last bit, so none is called.

use super::asset::Norm;

/// A sum is kept in this many parts, so that a processor can add several numbers at once in the same order.
const PARTS: usize = 8;
/// Under the square root of a normalisation, against a division by nought. The value that the model was trained with.
const NORM_EPSILON: f32 = 1e-12;
/// Adding and subtracting 1.5 * 2^23 rounds to a whole number, which is then in the low bits.
const ROUNDING: f32 = 12_582_912.0;

/// Returns the scalar product of two rows.
#[inline(always)]
pub(super) fn dot(one: &[f32], other: &[f32]) -> f32 {
    let (one, other) = (one.as_chunks::<PARTS>(), other.as_chunks::<PARTS>());
    let mut parts = [0.0; PARTS];
    for (a, b) in one.0.iter().zip(other.0) {
        for ((part, a), b) in parts.iter_mut().zip(a).zip(b) {
            *part += a * b;
        }
    }
    add_parts(parts) + one.1.iter().zip(other.1).map(|(a, b)| a * b).sum::<f32>()
}

/// How many keys a query is multiplied with at once.
pub(super) const KEYS: usize = 16;

/// Returns the scalar products of a query with sixteen keys, which stand value by value beside each other, each with the
/// same bits as [`dot`].
#[inline(always)]
pub(super) fn dot_with_keys(query: &[f32], keys: &[[f32; KEYS]]) -> [f32; KEYS] {
    let part = |nth: usize| {
        let mut sums = [0.0; KEYS];
        for (factor, keys) in query.iter().skip(nth).step_by(PARTS).zip(keys.iter().skip(nth).step_by(PARTS)) {
            for (sum, key) in sums.iter_mut().zip(keys) {
                *sum += factor * key;
            }
        }
        sums
    };
    let add = |one: [f32; KEYS], other: [f32; KEYS]| {
        let mut sums = one;
        for (sum, more) in sums.iter_mut().zip(other) {
            *sum += more;
        }
        sums
    };
    let low = add(add(part(0), part(1)), add(part(2), part(3)));
    add(low, add(add(part(4), part(5)), add(part(6), part(7))))
}

/// Returns the sum of `term` over a row.
#[inline(always)]
fn sum_by(row: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = row.as_chunks::<PARTS>();
    let mut parts = [0.0; PARTS];
    for chunk in chunks {
        for (part, value) in parts.iter_mut().zip(chunk) {
            *part += term(*value);
        }
    }
    add_parts(parts) + rest.iter().map(|value| term(*value)).sum::<f32>()
}

#[inline(always)]
fn add_parts([a, b, c, d, e, f, g, h]: [f32; PARTS]) -> f32 {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// Returns the largest magnitude in a row.
#[inline(always)]
pub(super) fn peak(row: &[f32]) -> f32 {
    let (chunks, rest) = row.as_chunks::<PARTS>();
    let mut parts = [0.0_f32; PARTS];
    for chunk in chunks {
        for (part, value) in parts.iter_mut().zip(chunk) {
            *part = if value.abs() > *part { value.abs() } else { *part };
        }
    }
    parts.iter().chain(rest).fold(0.0, |most, value| f32::max(most, value.abs()))
}

/// Returns the largest value in a row.
#[inline(always)]
fn largest(row: &[f32]) -> f32 {
    let (chunks, rest) = row.as_chunks::<PARTS>();
    let mut parts = [f32::MIN; PARTS];
    for chunk in chunks {
        for (part, value) in parts.iter_mut().zip(chunk) {
            *part = if *value > *part { *value } else { *part };
        }
    }
    parts.iter().chain(rest).fold(f32::MIN, |most, value| if *value > most { *value } else { most })
}

/// Rounds to the nearest whole number, half to even, for magnitudes below 2^15.
#[inline(always)]
pub(super) fn round_to_i16(value: f32) -> i16 {
    // The low half of the bits is the number in two's complement.
    (value + ROUNDING).to_bits() as i16
}

/// Brings a row to mean nought and variance one, then applies the learned factors and offsets.
#[inline(always)]
pub(super) fn normalise_row(row: &mut [f32], norm: &Norm) {
    let count = row.len() as f32;
    let mean = sum_by(row, |value| value) / count;
    let variance = sum_by(row, |value| (value - mean) * (value - mean)) / count;
    let factor = 1.0 / (variance + NORM_EPSILON).sqrt();
    for ((value, scale), offset) in row.iter_mut().zip(&norm.factors).zip(&norm.offsets) {
        *value = (*value - mean) * factor * scale + offset;
    }
}

/// Turns scores into shares that add up to one.
#[inline(always)]
pub(super) fn softmax(scores: &mut [f32]) {
    let most = largest(scores);
    for score in scores.iter_mut() {
        *score = exp(*score - most);
    }
    let share = 1.0 / sum_by(scores, |value| value);
    for score in scores.iter_mut() {
        *score *= share;
    }
}

/// The exponential function for magnitudes below 87, with a relative error below 2e-7 (the polynomial of Cephes).
#[inline(always)]
fn exp(value: f32) -> f32 {
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let value = value.clamp(-87.0, 87.0);
    let shifted = value * std::f32::consts::LOG2_E + ROUNDING;
    let power = shifted - ROUNDING;
    let rest = value - power * LN_2_HIGH - power * LN_2_LOW;
    let mut sum = 1.987_569_1e-4;
    for factor in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        sum = sum * rest + factor;
    }
    let fraction = sum * rest * rest + rest + 1.0;
    // Two to the power is built from its exponent bits; what `ROUNDING` left above them is shifted out.
    let power_of_two = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    fraction * power_of_two
}

/// The Gaussian error linear unit, with an absolute error below 1e-6 (Abramowitz and Stegun 7.1.26).
#[inline(always)]
pub(super) fn gelu(value: f32) -> f32 {
    let distance = value.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * distance);
    let mut sum = 1.061_405_4;
    for factor in [-1.453_152_1, 1.421_413_8, -0.284_496_72, 0.254_829_6] {
        sum = sum * t + factor;
    }
    let tail = 0.5 * sum * t * exp(-distance * distance);
    value * if value >= 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_function_agrees_with_the_platform() {
        for step in -8_700..=8_700_i16 {
            let value = f32::from(step) / 100.0;
            let expected = f64::from(value).exp();
            assert!((f64::from(exp(value)) / expected - 1.0).abs() < 2e-7, "{value}");
        }
        assert!(exp(-1e9) < 1e-37);
    }

    #[test]
    fn gelu_has_its_known_values() {
        for (value, expected) in
            [(0.0, 0.0), (1.0, 0.841_344_8), (-1.0, -0.158_655_25), (3.0, 2.995_950_3), (-30.0, 0.0)]
        {
            assert!((gelu(value) - expected).abs() < 1e-6, "{value}: {}", gelu(value));
        }
    }

    #[test]
    fn rounding_keeps_the_sign_and_the_whole_range() {
        for (value, expected) in [(0.4, 0), (-0.6, -1), (4095.0, 4095), (-4095.4, -4095), (2.5, 2), (3.5, 4)] {
            assert_eq!(round_to_i16(value), expected);
        }
    }

    #[test]
    fn a_query_meets_sixteen_keys_with_the_bits_of_one() {
        let number = |at: usize| ((at * 40_503) % 2_001) as f32 / 997.0 - 1.0;
        let query: Vec<f32> = (0..32).map(number).collect();
        let keys: Vec<[f32; KEYS]> = (0..32).map(|row| std::array::from_fn(|at| number(100 + 16 * row + at))).collect();
        for (at, found) in dot_with_keys(&query, &keys).into_iter().enumerate() {
            let key: Vec<f32> = keys.iter().map(|values| values[at]).collect();
            assert_eq!(found.to_bits(), dot(&query, &key).to_bits());
        }
    }

    #[test]
    fn a_row_of_any_length_is_summed() {
        let row: Vec<f32> = (1..=11_u8).map(f32::from).collect();
        assert_eq!((dot(&row, &row), peak(&[-3.0, 2.0]), sum_by(&row, |value| value)), (506.0, 3.0, 66.0));
    }
}
