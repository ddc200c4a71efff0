//! Products with int8 weights, summed up exactly in `i32`.
//!
//! Activations are rounded to whole numbers per token, with a scale of their own. Products are made from 16-bit numbers
//! in any case, so they get 13 bits instead of 8: no slower, and their rounding is lost in that of the weights.

use super::{
    elementwise::{peak, round_to_i16},
    processor::SumBlock,
};

/// How many outputs are made at once; every width is a multiple of it.
pub(super) const OUTPUTS: usize = 2 * LANES;
/// How many outputs share a vector of weights.
pub(super) const LANES: usize = 16;
/// How many tokens share one reading of the weights.
pub(super) const TOKENS: usize = 8;
/// The largest activation. An inner width of 1,536 times this times 127 stays below 2^31.
const LARGEST_ACTIVATION: f32 = 4095.0;
/// A wider product could overflow.
pub(super) const WIDEST_INPUT: usize = 4096;

/// The weights of two inputs for each of sixteen outputs, as the bytes of four numbers: a processor loads those at once.
pub(super) type WeightVector = [i64; 4];
/// Two inputs of each of eight tokens, the first in the low half.
pub(super) type Tile = [i32; TOKENS];
/// The sums of all outputs that are made at once, for each of eight tokens.
pub(super) type BlockSums = [[i32; OUTPUTS]; TOKENS];

/// The activations of all tokens of some texts as whole numbers, in the order in which they are multiplied.
#[derive(Default)]
pub(super) struct QuantisedRows {
    tiles: Vec<Tile>,
    /// The size of one step, per token.
    scales: Vec<f32>,
    tiles_per_row: usize,
}

impl QuantisedRows {
    /// Rounds the activations of tokens that stand one after the other, in the place of those before.
    #[inline(always)]
    pub(super) fn quantise(&mut self, values: &[f32], width: usize) {
        let (rows, tiles_per_row) = (values.len() / width, width / 2);
        self.tiles_per_row = tiles_per_row;
        // What is left of another text in the last group is multiplied and not looked at.
        self.tiles.resize(rows.div_ceil(TOKENS) * tiles_per_row, [0; TOKENS]);
        self.scales.clear();
        for (group, block) in self.tiles.chunks_mut(tiles_per_row).zip(values.chunks(width * TOKENS)) {
            for (place, row) in block.chunks(width).enumerate() {
                let scale = peak(row).max(f32::MIN_POSITIVE) / LARGEST_ACTIVATION;
                let steps = 1.0 / scale;
                for (tile, values) in group.iter_mut().zip(row.as_chunks::<2>().0) {
                    if let Some(pair) = tile.get_mut(place) {
                        let [low, high] = values.map(|value| round_to_i16(value * steps));
                        *pair = i32::from(high) << 16 | i32::from(low.cast_unsigned());
                    }
                }
                self.scales.push(scale);
            }
        }
    }
}

/// A matrix of int8 weights, one row per output.
pub(super) struct QuantisedMatrix {
    /// The weights of all inputs for sixteen outputs, then for the next sixteen.
    weights: Vec<WeightVector>,
    /// The size of one step, per output.
    scales: Vec<f32>,
    biases: Vec<f32>,
    inputs: usize,
}

impl QuantisedMatrix {
    /// Takes the weights as bytes, one row of inputs per output.
    pub(super) fn new(bytes: &[u8], scales: Vec<f32>, biases: Vec<f32>, inputs: usize) -> Self {
        let mut weights = Vec::with_capacity(bytes.len() / size_of::<WeightVector>());
        for rows in bytes.chunks_exact(LANES * inputs) {
            for input in (0..inputs).step_by(2) {
                let mut pairs = rows.chunks_exact(inputs).filter_map(|row| row.get(input..)?.first_chunk::<2>());
                let vector: WeightVector = std::array::from_fn(|_| {
                    let four: [u16; 4] =
                        std::array::from_fn(|_| pairs.next().map_or(0, |pair| u16::from_le_bytes(*pair)));
                    four.iter().rev().fold(0, |number, pair| number << 16 | i64::from(*pair))
                });
                weights.push(vector);
            }
        }
        Self { weights, scales, biases, inputs }
    }

    /// Replaces `outputs` by those of every token, one after the other.
    #[inline(always)]
    pub(super) fn multiply(&self, rows: &QuantisedRows, outputs: &mut Vec<f32>, sum: impl SumBlock) {
        let (count, pairs) = (self.scales.len(), rows.tiles_per_row);
        outputs.resize(rows.scales.len() * count, 0.0);
        let factors = self.scales.as_chunks::<OUTPUTS>().0.iter().zip(self.biases.as_chunks::<OUTPUTS>().0);
        for (nth, (weights, (scales, biases))) in self.weights.chunks_exact(self.inputs).zip(factors).enumerate() {
            let (first, second) = weights.split_at(pairs);
            let tokens = outputs.chunks_mut(count * TOKENS).zip(rows.scales.chunks(TOKENS));
            for (tiles, (block, steps)) in rows.tiles.chunks_exact(pairs).zip(tokens) {
                let sums = sum(first, second, tiles, steps.len());
                for ((row, step), sums) in block.chunks_mut(count).zip(steps).zip(&sums) {
                    let Some(place) = row.as_chunks_mut::<OUTPUTS>().0.get_mut(nth) else { continue };
                    for (((output, sum), scale), bias) in place.iter_mut().zip(sums).zip(scales).zip(biases) {
                        *output = *sum as f32 * step * scale + bias;
                    }
                }
            }
        }
    }
}

/// How many vectors of weights are widened before they are multiplied.
const WIDENED: usize = 64;

/// The sums in plain Rust, in the form that compilers make vectors of.
pub(super) fn sum_block(first: &[WeightVector], second: &[WeightVector], tiles: &[Tile], tokens: usize) -> BlockSums {
    let mut found = [[0; OUTPUTS]; TOKENS];
    for (nth, weights) in [first, second].into_iter().enumerate() {
        for (weights, tiles) in weights.chunks(WIDENED).zip(tiles.chunks(WIDENED)) {
            let mut widened = [[[0_i16; LANES]; 2]; WIDENED];
            for (wide, vector) in widened.iter_mut().zip(weights) {
                *wide = widen(vector);
            }
            for (token, found) in found.iter_mut().take(tokens).enumerate() {
                let Some(place) = found.as_chunks_mut::<LANES>().0.get_mut(nth) else { continue };
                let mut sums = *place;
                for ([low, high], tile) in widened.iter().zip(tiles) {
                    let pair = tile.get(token).copied().unwrap_or_default();
                    for ((sum, low), high) in sums.iter_mut().zip(low).zip(high) {
                        *sum += i32::from(*low) * i32::from(pair as i16) + i32::from(*high) * (pair >> 16);
                    }
                }
                *place = sums;
            }
        }
    }
    found
}

/// Returns the weights of the first input and those of the second.
fn widen(vector: &WeightVector) -> [[i16; LANES]; 2] {
    let (mut low, mut high) = ([0; LANES], [0; LANES]);
    let places = low.as_chunks_mut::<4>().0.iter_mut().zip(high.as_chunks_mut::<4>().0);
    for ((low, high), four) in places.zip(vector) {
        let [a, b, c, d, e, f, g, h] = four.to_le_bytes().map(|byte| i16::from(byte.cast_signed()));
        (*low, *high) = ([a, c, e, g], [b, d, f, h]);
    }
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor::{self, Pass};

    /// Any two widths, and a number of tokens that leaves the last tile partly empty.
    const INPUTS: usize = 96;
    const COUNT: usize = 64;
    const ROWS: usize = 15;

    /// A product alone, to be made by every processor.
    struct Product<'a> {
        matrix: &'a QuantisedMatrix,
        rows: &'a QuantisedRows,
    }

    impl Pass for Product<'_> {
        type Output = Vec<f32>;

        #[inline(always)]
        fn run(&mut self, sum: impl SumBlock) -> Vec<f32> {
            let mut outputs = Vec::new();
            self.matrix.multiply(self.rows, &mut outputs, sum);
            outputs
        }
    }

    fn random_bytes() -> Vec<u8> {
        (0..INPUTS * COUNT).map(|at| ((at * 40_503) >> 5) as u8).collect()
    }

    fn random_scales() -> Vec<f32> {
        (0..COUNT).map(|at| 0.5 + at as f32).collect()
    }

    fn random_matrix() -> QuantisedMatrix {
        QuantisedMatrix::new(&random_bytes(), random_scales(), vec![0.25; COUNT], INPUTS)
    }

    fn random_values(rows: usize) -> Vec<f32> {
        (0..INPUTS * rows).map(|at| (((at * 40_503) >> 3) % 2_001) as f32 / 100.0 - 10.0).collect()
    }

    fn quantised(values: &[f32], width: usize) -> QuantisedRows {
        let mut rows = QuantisedRows::default();
        rows.quantise(values, width);
        rows
    }

    #[test]
    fn every_processor_gets_the_same_sums() {
        let matrix = random_matrix();
        for count in 1..=ROWS {
            let rows = quantised(&random_values(count), INPUTS);
            let found = processor::run_on_all(&mut Product { matrix: &matrix, rows: &rows });
            assert!(found.iter().all(|outputs| *outputs == found[0]), "{count} tokens: {found:?}");
        }
    }

    #[test]
    fn products_are_those_of_the_numbers_that_were_rounded() {
        let (matrix, values, bytes) = (random_matrix(), random_values(ROWS), random_bytes());
        let found = processor::run(&mut Product { matrix: &matrix, rows: &quantised(&values, INPUTS) });
        for (row, outputs) in values.chunks(INPUTS).zip(found.chunks(COUNT)) {
            for ((output, weights), scale) in outputs.iter().zip(bytes.chunks(INPUTS)).zip(random_scales()) {
                let weights = weights.iter().map(|byte| f32::from(byte.cast_signed()));
                let expected = row.iter().zip(weights.clone()).map(|(a, b)| a * b).sum::<f32>() * scale + 0.25;
                // Every activation is off by half a step at most; the rest is for the rounding of the `f32` sums.
                let half_step = 0.5 * peak(row) / LARGEST_ACTIVATION;
                let tolerance = 1.05 * half_step * weights.map(f32::abs).sum::<f32>() * scale;
                assert!((output - expected).abs() < tolerance, "{output} is not {expected}");
            }
        }
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let bytes = vec![0x80; WIDEST_INPUT * OUTPUTS];
        let matrix = QuantisedMatrix::new(&bytes, vec![1.0; OUTPUTS], vec![0.0; OUTPUTS], WIDEST_INPUT);
        let rows = quantised(&vec![1.0; WIDEST_INPUT], WIDEST_INPUT);
        let expected = -128.0 * WIDEST_INPUT as f32;
        for found in processor::run_on_all(&mut Product { matrix: &matrix, rows: &rows }) {
            assert!(found.iter().all(|value| (value / expected - 1.0).abs() < 1e-3), "{found:?}");
        }
    }
}
