//! What depends on the processor: the forward pass is compiled for several, and the best one that is there runs.
//!
//! All give the same bits, because integers are summed up exactly and `f32` is only added, multiplied and divided in a
//! fixed order. Nothing here knows what the sums are for.

use super::matrix::{BlockSums, Tile, WeightVector, sum_block};

/// Sums up the products of two vectors of weights with the tiles of as many tokens as are named, for all inputs.
pub(super) trait SumBlock: Fn(&[WeightVector], &[WeightVector], &[Tile], usize) -> BlockSums + Copy {}

impl<T: Fn(&[WeightVector], &[WeightVector], &[Tile], usize) -> BlockSums + Copy> SumBlock for T {}

/// A computation that is compiled for every processor. `run` and all that it calls must be `#[inline(always)]`, or the
/// rest of it is compiled for the oldest.
pub(super) trait Pass {
    type Output;

    fn run(&mut self, sum: impl SumBlock) -> Self::Output;
}

/// Runs a computation on the best instructions that this processor has.
///
/// A sentence of 25 tokens takes 0.7 ms with AVX-512, 2.0 ms with AVX2 and 12 ms with neither.
pub(super) fn run<P: Pass>(pass: &mut P) -> P::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if has_avx512() {
            #[expect(unsafe_code, reason = "calling a function with target features is unsafe")]
            // SAFETY: the processor was checked right above.
            return unsafe { avx512::run(pass) };
        }
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "calling a function with target features is unsafe")]
            // SAFETY: the processor was checked right above.
            return unsafe { avx2::run(pass) };
        }
    }
    pass.run(sum_block)
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni")
}

/// AVX-512 with its instruction that multiplies pairs of 16-bit numbers and adds both products to a sum.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        __m512i, _mm_extract_epi32, _mm256_setr_epi64x, _mm512_cvtepi8_epi16, _mm512_dpwssd_epi32,
        _mm512_extracti64x2_epi64, _mm512_set1_epi32, _mm512_setzero_si512,
    };

    use super::{BlockSums, Pass, Tile, WeightVector};
    use crate::matrix::{LANES, OUTPUTS, TOKENS};

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    pub(super) fn run<P: Pass>(pass: &mut P) -> P::Output {
        pass.run(|first, second, tiles, tokens| sum_block(first, second, tiles, tokens))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn sum_block(first: &[WeightVector], second: &[WeightVector], tiles: &[Tile], tokens: usize) -> BlockSums {
        match tokens {
            0..=2 => sum_tokens::<2>(first, second, tiles),
            3..=4 => sum_tokens::<4>(first, second, tiles),
            5..=6 => sum_tokens::<6>(first, second, tiles),
            _ => sum_tokens::<TOKENS>(first, second, tiles),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    fn sum_tokens<const N: usize>(first: &[WeightVector], second: &[WeightVector], tiles: &[Tile]) -> BlockSums {
        let mut sums = [[_mm512_setzero_si512(); 2]; N];
        for ((first, second), tile) in first.iter().zip(second).zip(tiles) {
            let (first, second) = (load_weights(*first), load_weights(*second));
            for (sums, pair) in sums.iter_mut().zip(tile) {
                let pair = _mm512_set1_epi32(*pair);
                sums[0] = _mm512_dpwssd_epi32(sums[0], first, pair);
                sums[1] = _mm512_dpwssd_epi32(sums[1], second, pair);
            }
        }
        let mut found = [[0; OUTPUTS]; TOKENS];
        for (found, sums) in found.iter_mut().zip(sums) {
            for (found, sums) in found.as_chunks_mut::<LANES>().0.iter_mut().zip(sums) {
                *found = lanes(sums);
            }
        }
        found
    }

    /// Widens thirty-two weights.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn load_weights([a, b, c, d]: WeightVector) -> __m512i {
        _mm512_cvtepi8_epi16(_mm256_setr_epi64x(a, b, c, d))
    }

    /// The lanes of a vector; the compiler makes one instruction of it.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn lanes(vector: __m512i) -> [i32; LANES] {
        let mut found = [0; LANES];
        let quarters = [
            _mm512_extracti64x2_epi64::<0>(vector),
            _mm512_extracti64x2_epi64::<1>(vector),
            _mm512_extracti64x2_epi64::<2>(vector),
            _mm512_extracti64x2_epi64::<3>(vector),
        ];
        for (found, four) in found.as_chunks_mut::<4>().0.iter_mut().zip(quarters) {
            *found = [
                _mm_extract_epi32::<0>(four),
                _mm_extract_epi32::<1>(four),
                _mm_extract_epi32::<2>(four),
                _mm_extract_epi32::<3>(four),
            ];
        }
        found
    }
}

/// AVX2, whose instruction multiplies pairs of 16-bit numbers and adds both products.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_set_epi64x, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_extract_epi32, _mm256_madd_epi16,
        _mm256_set1_epi32, _mm256_setzero_si256,
    };

    use super::{BlockSums, Pass, Tile, WeightVector};
    use crate::matrix::{LANES, OUTPUTS, TOKENS};

    /// Tokens whose sums fit into the registers.
    const HALF: usize = TOKENS / 2;
    /// Outputs in a register.
    const EIGHT: usize = LANES / 2;

    #[target_feature(enable = "avx2")]
    pub(super) fn run<P: Pass>(pass: &mut P) -> P::Output {
        pass.run(|first, second, tiles, tokens| sum_block(first, second, tiles, tokens))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn sum_block(first: &[WeightVector], second: &[WeightVector], tiles: &[Tile], tokens: usize) -> BlockSums {
        let mut found = [[0; OUTPUTS]; TOKENS];
        let (early, late) = found.split_at_mut(HALF);
        for (nth, weights) in [first, second].into_iter().enumerate() {
            sum_tokens::<0>(weights, tiles, early, nth);
            if tokens > HALF {
                sum_tokens::<1>(weights, tiles, late, nth);
            }
        }
        found
    }

    /// Writes the sums of the first or second four tokens to the first or second half of their outputs. Inlined, the
    /// sums of one call would not leave the registers to those of the next.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn sum_tokens<const WHICH: usize>(
        weights: &[WeightVector],
        tiles: &[Tile],
        found: &mut [[i32; OUTPUTS]],
        nth: usize,
    ) {
        let mut sums = [[_mm256_setzero_si256(); 2]; HALF];
        for ([a, b, c, d], tile) in weights.iter().zip(tiles) {
            let weights = [load_weights(*a, *b), load_weights(*c, *d)];
            let four = tile.as_chunks::<HALF>().0.get(WHICH).copied().unwrap_or_default();
            for (sums, pair) in sums.iter_mut().zip(four) {
                let pair = _mm256_set1_epi32(pair);
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(weights, pair));
                }
            }
        }
        for (found, sums) in found.iter_mut().zip(sums) {
            if let Some(place) = found.as_chunks_mut::<LANES>().0.get_mut(nth) {
                for (place, sums) in place.as_chunks_mut::<EIGHT>().0.iter_mut().zip(sums) {
                    *place = lanes(sums);
                }
            }
        }
    }

    /// Widens sixteen weights.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_weights(low: i64, high: i64) -> __m256i {
        _mm256_cvtepi8_epi16(_mm_set_epi64x(high, low))
    }

    /// The lanes of a vector; the compiler makes one instruction of it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn lanes(vector: __m256i) -> [i32; EIGHT] {
        [
            _mm256_extract_epi32::<0>(vector),
            _mm256_extract_epi32::<1>(vector),
            _mm256_extract_epi32::<2>(vector),
            _mm256_extract_epi32::<3>(vector),
            _mm256_extract_epi32::<4>(vector),
            _mm256_extract_epi32::<5>(vector),
            _mm256_extract_epi32::<6>(vector),
            _mm256_extract_epi32::<7>(vector),
        ]
    }
}

/// Runs a computation on everything that this processor can do, the plainest first.
#[cfg(test)]
pub(super) fn run_on_all<P: Pass>(pass: &mut P) -> Vec<P::Output> {
    let mut found = vec![pass.run(sum_block)];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "calling a function with target features is unsafe")]
            // SAFETY: the processor was checked right above.
            found.push(unsafe { avx2::run(pass) });
        }
        if has_avx512() {
            #[expect(unsafe_code, reason = "calling a function with target features is unsafe")]
            // SAFETY: the processor was checked right above.
            found.push(unsafe { avx512::run(pass) });
        }
    }
    found
}
