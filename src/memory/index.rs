//! The vectors of this process, small enough to walk all of them for every question.
//!
//! A question is compared with the signs of every vector (one bit per dimension that tells), and those that agree most
//! with their levels (one byte per dimension). Walked, not linked: at a million vectors a walk over the signs takes some
//! milliseconds, finds what it is asked for in any account, and needs nothing built beforehand (`benches/memory.rs`).

use std::collections::HashMap;

use super::traits::{DocKind, Filter};
use crate::model::{AccountId, vector::Int8VectorRef};

/// Rows whose levels are kept together: few, so that the last block wastes little.
const ROWS_PER_BLOCK: usize = 1024;
/// Of so many rows as many are asked first, to know by how much signs may differ. Few at a time: mails that come together
/// are often alike.
const THRESHOLD_SAMPLE: (usize, usize) = (128, 8);
const BITS: usize = 64;
/// Looked at closely at least, and one of so many beyond that: 99.5 % of the ten best at ten thousand vectors, 98.7 % at a
/// million.
const MIN_RESCORED: usize = 1024;
const RESCORED_ONE_IN: usize = 256;

/// What the vectors of an embedder are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorShape {
    pub dimension: usize,
    /// So many of the first dimensions tell near from far; the others only which of the near is nearest.
    pub binary_dimensions: usize,
}

impl VectorShape {
    /// All dimensions tell alike, as far as anybody knows.
    pub const fn uniform(dimension: usize) -> Self {
        Self { dimension, binary_dimensions: dimension }
    }
}

/// A row of an index, by how near it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredVector {
    pub vector_id: i64,
    pub score: f32,
}

pub struct VectorIndex {
    shape: VectorShape,
    partitions: HashMap<(AccountId, DocKind), VectorPartition>,
}

/// The vectors of one kind in one account, a row each.
#[derive(Default)]
struct VectorPartition {
    ids: Vec<i64>,
    scales: Vec<f32>,
    /// In one piece: every question reads all of it.
    binary_codes: Vec<u64>,
    int8_codes: Vec<Vec<CacheLine>>,
}

/// What a machine reads at once: a row of levels begins with one.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct CacheLine([i8; LINE_VALUES]);

const LINE_VALUES: usize = 64;

impl VectorIndex {
    pub fn new(shape: VectorShape) -> Self {
        Self { shape, partitions: HashMap::new() }
    }

    pub fn len(&self) -> usize {
        self.partitions.values().map(|shelf| shelf.ids.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn add(&mut self, account: &str, kind: DocKind, vector_id: i64, vector: Int8VectorRef<'_>) {
        let shelf = self.partitions.entry((AccountId::from(account), kind)).or_default();
        shelf.push(vector_id, vector, self.shape);
    }

    /// The best of the account, by the cosine with `query`, best first; none that is farther than the filter asks for.
    pub fn nearest(&self, query: &[f32], filter: &Filter, most: usize) -> Vec<ScoredVector> {
        let kinds = filter.kind.map_or(DocKind::ALL.to_vec(), |kind| vec![kind]);
        let shelf = |kind| self.partitions.get(&(filter.account.clone(), kind));
        let shelves: Vec<&VectorPartition> = kinds.into_iter().filter_map(shelf).collect();
        let rows: usize = shelves.iter().map(|shelf| shelf.ids.len()).sum();
        if query.len() != self.shape.dimension || rows == 0 {
            return Vec::new();
        }
        let closely = MIN_RESCORED.max(rows / RESCORED_ONE_IN).max(most);
        let telling = query.get(..self.shape.binary_dimensions).unwrap_or(query);
        let mut found = scan(&IndexScan {
            partitions: &shelves,
            query,
            binary_query: telling,
            rows,
            rescore_count: closely,
            min_score: filter.min_cosine,
        });
        let best_first = |a: &ScoredVector, b: &ScoredVector| {
            b.score.total_cmp(&a.score).then_with(|| a.vector_id.cmp(&b.vector_id))
        };
        if found.len() > most {
            found.select_nth_unstable_by(most, best_first);
            found.truncate(most);
        }
        found.sort_unstable_by(best_first);
        found
    }
}

impl VectorPartition {
    fn push(&mut self, vector_id: i64, Int8VectorRef { scale, values: levels }: Int8VectorRef<'_>, shape: VectorShape) {
        if self.ids.len().is_multiple_of(ROWS_PER_BLOCK) {
            self.int8_codes.push(Vec::with_capacity(ROWS_PER_BLOCK * shape.dimension.div_ceil(LINE_VALUES)));
        }
        self.ids.push(vector_id);
        self.scales.push(scale);
        self.binary_codes
            .extend(pack_bits(levels.iter().take(shape.binary_dimensions).map(|level| level.cast_signed() < 0)));
        if let Some(block) = self.int8_codes.last_mut() {
            block.extend(split_into_lines(levels.iter().map(|level| level.cast_signed()), 0).map(CacheLine));
        }
    }

    #[inline(always)]
    fn score_row(&self, row: usize, query: &Int16Query, least: f32) -> Option<ScoredVector> {
        let (block, at) = (self.int8_codes.get(row / ROWS_PER_BLOCK)?, row % ROWS_PER_BLOCK * query.lines.len());
        let levels = block.get(at..at + query.lines.len())?;
        let score = query.dot(levels) * self.scales.get(row)?;
        let vector_id = self.ids.get(row).filter(|_| score >= least)?;
        Some(ScoredVector { vector_id: *vector_id, score })
    }
}

/// One question to all rows of its account.
struct IndexScan<'a> {
    partitions: &'a [&'a VectorPartition],
    query: &'a [f32],
    binary_query: &'a [f32],
    rows: usize,
    /// Where there are more rows, only about so many are looked at with their levels.
    rescore_count: usize,
    min_score: f32,
}

/// By the instructions this machine has: with them a walk over a million vectors takes 2.9 ms, without them 5.9 to 7.7.
fn scan(walk: &IndexScan<'_>) -> Vec<ScoredVector> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        #[expect(
            unsafe_code,
            reason = "the machine was asked for what this function needs, and does nothing else unsafe"
        )]
        // SAFETY: this machine has both.
        return unsafe { scan_avx2(walk) };
    }
    walk.find_candidates()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn scan_avx2(walk: &IndexScan<'_>) -> Vec<ScoredVector> {
    walk.find_candidates()
}

/// Whatever happens per row is made part of the caller, so that `walk_wide` has all of it in its own instructions.
impl IndexScan<'_> {
    #[inline(always)]
    fn find_candidates(&self) -> Vec<ScoredVector> {
        let (query, mut near) = (Int16Query::quantise(self.query), Vec::new());
        if self.rows <= self.rescore_count {
            for shelf in self.partitions {
                for row in 0..shelf.ids.len() {
                    near.extend(shelf.score_row(row, &query, self.min_score));
                }
            }
            return near;
        }
        // All of them before the first is read: rows lie far apart, and several are on their way at once.
        for (shelf, row) in self.preselect_by_binary_codes() {
            near.extend(shelf.score_row(row, &query, self.min_score));
        }
        near
    }

    /// About `closely` rows: those whose signs differ least.
    #[inline(always)]
    fn preselect_by_binary_codes(&self) -> Vec<(&VectorPartition, usize)> {
        let signs = BinaryQuery::quantise(self.binary_query);
        let most = self.estimate_distance_threshold(&signs);
        let mut agreeing = Vec::with_capacity(self.rescore_count * 2);
        for shelf in self.partitions {
            signs.for_each_distance(&shelf.binary_codes, |row, weight| {
                if weight <= most {
                    agreeing.push((*shelf, row));
                }
            });
        }
        agreeing
    }

    /// What differs by so much is still looked at closely, as far as a sample tells.
    #[inline(always)]
    fn estimate_distance_threshold(&self, signs: &BinaryQuery) -> u16 {
        let (mut counts, mut rows) = (vec![0_usize; self.binary_query.len() * MAX_BIT_WEIGHT + 1], 0);
        let (all, some) = (THRESHOLD_SAMPLE.0 * signs.0.len().max(1), THRESHOLD_SAMPLE.1 * signs.0.len());
        for part in self.partitions.iter().flat_map(|shelf| shelf.binary_codes.chunks(all)) {
            signs.for_each_distance(part.get(..some).unwrap_or(part), |_, weight| {
                rows += 1;
                if let Some(count) = counts.get_mut(usize::from(weight)) {
                    *count += 1;
                }
            });
        }
        let (mut sum, closely) = (0, self.rescore_count * rows / self.rows);
        let most = counts.iter().position(|count| {
            sum += count;
            sum >= closely
        });
        most.and_then(|most| u16::try_from(most).ok()).unwrap_or(u16::MAX)
    }
}

/// The signs of a question, and which of them weigh 1, 2 or 3: one that is nearly zero says little.
struct BinaryQuery(Vec<BinaryQueryWord>);

struct BinaryQueryWord {
    signs: u64,
    ones: u64,
    twos: u64,
}

const MAX_BIT_WEIGHT: usize = 3;

impl BinaryQuery {
    fn quantise(query: &[f32]) -> Self {
        let largest = query.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let weight = |value: &f32| (value.abs() / largest * MAX_BIT_WEIGHT as f32).round() as u8;
        let words = |is: &dyn Fn(&f32) -> bool| pack_bits(query.iter().map(is));
        let (signs, ones) = (words(&|value| *value < 0.0), words(&|value| weight(value) & 1 > 0));
        let twos = words(&|value| weight(value) & 2 > 0);
        let word = |((signs, ones), twos)| BinaryQueryWord { signs, ones, twos };
        Self(signs.into_iter().zip(ones).zip(twos).map(word).collect())
    }

    /// How much the signs of each row differ from these.
    #[inline(always)]
    fn for_each_distance(&self, rows: &[u64], mut take: impl FnMut(usize, u16)) {
        // The shipped embedder's two words; counted in a loop of known length they go through together.
        if let Ok(two) = <&[BinaryQueryWord; 2]>::try_from(self.0.as_slice()) {
            for (nth, row) in rows.as_chunks::<2>().0.iter().enumerate() {
                take(nth, weighted_hamming_distance(row, two));
            }
        } else {
            for (nth, row) in rows.chunks_exact(self.0.len().max(1)).enumerate() {
                take(nth, weighted_hamming_distance(row, &self.0));
            }
        }
    }
}

fn pack_bits(each: impl Iterator<Item = bool>) -> Vec<u64> {
    let each: Vec<bool> = each.collect();
    let word = |bits: &[bool]| bits.iter().rev().fold(0, |word, bit| (word << 1) | u64::from(*bit));
    each.chunks(BITS).map(word).collect()
}

#[inline(always)]
fn weighted_hamming_distance(row: &[u64], signs: &[BinaryQueryWord]) -> u16 {
    let (mut ones, mut twos) = (0, 0);
    for (row, word) in row.iter().zip(signs) {
        let differing = row ^ word.signs;
        ones += (differing & word.ones).count_ones();
        twos += (differing & word.twos).count_ones();
    }
    u16::try_from(ones + 2 * twos).unwrap_or(u16::MAX)
}

/// Cut into lines, the last one filled up.
fn split_into_lines<T: Copy>(values: impl Iterator<Item = T>, nothing: T) -> impl Iterator<Item = [T; LINE_VALUES]> {
    let mut values = values.peekable();
    std::iter::from_fn(move || {
        values.peek()?;
        Some(std::array::from_fn(|_| values.next().unwrap_or(nothing)))
    })
}

/// A question in whole numbers, which are multiplied and added several at once where fractions are not.
struct Int16Query {
    lines: Vec<[i16; LINE_VALUES]>,
    scale: f32,
}

impl Int16Query {
    /// As fine as a sum over all dimensions allows: far finer than the levels it is compared with.
    fn quantise(query: &[f32]) -> Self {
        let room = i32::MAX as f32 / (f32::from(i8::MAX) + 1.0) / query.len().max(1) as f32;
        let top = room.min(f32::from(i16::MAX));
        let largest = query.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = if largest > 0.0 { largest / top } else { 1.0 };
        Self { lines: split_into_lines(query.iter().map(|value| (value / scale) as i16), 0).collect(), scale }
    }

    /// Levels are widened some at a time before they are multiplied: multiplying and adding pairs of equal width is one
    /// instruction on any machine, and the walk takes half the time.
    #[inline(always)]
    fn dot(&self, levels: &[CacheLine]) -> f32 {
        const TOGETHER: usize = 32;
        let mut sum = 0;
        for (values, levels) in self.lines.iter().zip(levels) {
            let (values, levels) = (values.as_chunks::<TOGETHER>().0, levels.0.as_chunks::<TOGETHER>().0);
            for (values, levels) in values.iter().zip(levels) {
                let mut wide = [0; TOGETHER];
                for (wide, level) in wide.iter_mut().zip(levels) {
                    *wide = i16::from(*level);
                }
                for (value, level) in values.iter().zip(&wide) {
                    sum += i32::from(*value) * i32::from(*level);
                }
            }
        }
        sum as f32 * self.scale
    }
}
