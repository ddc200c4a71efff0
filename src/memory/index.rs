//! The vectors of this process, small enough to walk all of them for every question.
//!
//! A question is compared with the signs of every vector (one bit per dimension), and those that agree most with their
//! levels (one byte per dimension). Walked, not linked: at a million vectors a walk over the signs takes some
//! milliseconds, finds what it is asked for in any account, and needs nothing built beforehand (`benches/memory.rs`).

use std::collections::HashMap;

use super::words::{DocKind, Filter};
use crate::model::{AccountId, vector::Levels};

/// Rows that are kept together: small, so that the last one wastes little.
const ROWS: usize = 1024;
const BITS: usize = 64;
/// Looked at closely at least, and one of so many beyond that. With 1024 and one in 64 the walk took a third less time
/// and missed one of the ten best in twenty at ten thousand vectors.
const LEAST_CLOSELY: usize = 4096;
const ONE_IN: usize = 32;

/// A row of an index, by how near it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    pub vector_id: i64,
    pub score: f32,
}

pub struct Index {
    dimension: usize,
    shelves: HashMap<(AccountId, DocKind), Shelf>,
}

#[derive(Default)]
struct Shelf(Vec<Block>);

struct Block {
    ids: Vec<i64>,
    scales: Vec<f32>,
    signs: Vec<u64>,
    levels: Vec<i8>,
}

impl Index {
    pub fn new(dimension: usize) -> Self {
        Self { dimension, shelves: HashMap::new() }
    }

    pub fn len(&self) -> usize {
        self.shelves.values().map(Shelf::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn add(&mut self, account: &str, kind: DocKind, vector_id: i64, vector: Levels<'_>) {
        let (words, dimension) = (self.words(), self.dimension);
        let shelf = self.shelves.entry((AccountId::from(account), kind)).or_default();
        if shelf.0.last().is_none_or(|block| block.ids.len() == ROWS) {
            shelf.0.push(Block::new(words, dimension));
        }
        if let Some(block) = shelf.0.last_mut() {
            block.push(vector_id, vector);
        }
    }

    /// The best of the account, by the cosine with `query`, best first; none that is farther than the filter asks for.
    pub fn nearest(&self, query: &[f32], filter: &Filter, most: usize) -> Vec<Candidate> {
        let kinds = filter.kind.map_or(DocKind::ALL.to_vec(), |kind| vec![kind]);
        let shelf = |kind| self.shelves.get(&(filter.account.clone(), kind));
        let blocks: Vec<&Block> = kinds.into_iter().filter_map(shelf).flat_map(|shelf| &shelf.0).collect();
        let rows: usize = blocks.iter().map(|block| block.ids.len()).sum();
        if query.len() != self.dimension || rows == 0 {
            return Vec::new();
        }
        let closely = LEAST_CLOSELY.max(rows / ONE_IN).max(most);
        let mut found = if rows <= closely {
            let (whole, mut near) = (Whole::of(query), Vec::new());
            blocks.iter().for_each(|block| block.near(&whole, filter.least, &mut near));
            near
        } else {
            let mut near = self.agreeing(&blocks, query, rows, closely);
            near.retain(|candidate| candidate.score >= filter.least);
            near
        };
        let best_first =
            |a: &Candidate, b: &Candidate| b.score.total_cmp(&a.score).then_with(|| a.vector_id.cmp(&b.vector_id));
        if found.len() > most {
            found.select_nth_unstable_by(most, best_first);
            found.truncate(most);
        }
        found.sort_unstable_by(best_first);
        found
    }

    /// Scores of about `closely` rows: all whose signs differ least.
    fn agreeing(&self, blocks: &[&Block], query: &[f32], rows: usize, closely: usize) -> Vec<Candidate> {
        let signs = signs(query.iter().map(|value| *value < 0.0));
        let mut differing = Vec::with_capacity(rows);
        blocks.iter().for_each(|block| block.differing(&signs, &mut differing));
        let mut counts = vec![0_usize; self.dimension + 1];
        for bits in &differing {
            if let Some(count) = counts.get_mut(usize::from(*bits)) {
                *count += 1;
            }
        }
        let mut sum = 0;
        let most = counts.iter().position(|count| {
            sum += count;
            sum >= closely
        });
        let most = most.unwrap_or(self.dimension);
        let (mut differing, query) = (differing.iter(), Whole::of(query));
        let mut found = Vec::with_capacity(sum);
        for block in blocks {
            let agrees =
                |(row, bits): (usize, &u16)| (usize::from(*bits) <= most).then(|| block.score(row, &query)).flatten();
            found.extend(differing.by_ref().take(block.ids.len()).enumerate().filter_map(agrees));
        }
        found
    }

    fn words(&self) -> usize {
        self.dimension.div_ceil(BITS)
    }
}

impl Shelf {
    fn len(&self) -> usize {
        self.0.iter().map(|block| block.ids.len()).sum()
    }
}

impl Block {
    fn new(words: usize, dimension: usize) -> Self {
        Self {
            ids: Vec::with_capacity(ROWS),
            scales: Vec::with_capacity(ROWS),
            signs: Vec::with_capacity(ROWS * words),
            levels: Vec::with_capacity(ROWS * dimension),
        }
    }

    fn push(&mut self, vector_id: i64, Levels { scale, levels }: Levels<'_>) {
        self.ids.push(vector_id);
        self.scales.push(scale);
        self.signs.extend(signs(levels.iter().map(|level| level.cast_signed() < 0)));
        self.levels.extend(levels.iter().map(|level| level.cast_signed()));
    }

    /// How many signs of each row differ from those of the question.
    fn differing(&self, signs: &[u64], into: &mut Vec<u16>) {
        // The shipped embedder's three words; counted in a loop of known length they go through together.
        if let Ok(three) = <&[u64; 3]>::try_from(signs) {
            into.extend(self.signs.as_chunks::<3>().0.iter().map(|row| differ(row, three)));
        } else {
            into.extend(self.signs.chunks_exact(signs.len().max(1)).map(|row| differ(row, signs)));
        }
    }

    /// The rows that are no farther than `least`.
    fn near(&self, query: &Whole, least: f32, into: &mut Vec<Candidate>) {
        let rows = self.levels.chunks_exact(query.levels.len().max(1));
        for ((levels, scale), vector_id) in rows.zip(&self.scales).zip(&self.ids) {
            let score = query.dot(levels) * scale;
            if score >= least {
                into.push(Candidate { vector_id: *vector_id, score });
            }
        }
    }

    fn score(&self, row: usize, query: &Whole) -> Option<Candidate> {
        let length = query.levels.len();
        let levels = self.levels.get(row * length..(row + 1) * length)?;
        let score = query.dot(levels) * self.scales.get(row)?;
        Some(Candidate { vector_id: *self.ids.get(row)?, score })
    }
}

fn signs(negative: impl Iterator<Item = bool>) -> Vec<u64> {
    let negative: Vec<bool> = negative.collect();
    let word = |bits: &[bool]| bits.iter().rev().fold(0, |word, bit| (word << 1) | u64::from(*bit));
    negative.chunks(BITS).map(word).collect()
}

fn differ(row: &[u64], signs: &[u64]) -> u16 {
    let bits: u32 = row.iter().zip(signs).map(|(one, other)| (one ^ other).count_ones()).sum();
    u16::try_from(bits).unwrap_or(u16::MAX)
}

/// A question in whole numbers, which are multiplied and added several at once where fractions are not.
struct Whole {
    levels: Vec<i16>,
    scale: f32,
}

impl Whole {
    /// As fine as a sum over all dimensions allows: far finer than the levels it is compared with.
    fn of(query: &[f32]) -> Self {
        let room = i32::MAX as f32 / (f32::from(i8::MAX) + 1.0) / query.len().max(1) as f32;
        let top = room.min(f32::from(i16::MAX));
        let largest = query.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = if largest > 0.0 { largest / top } else { 1.0 };
        Self { levels: query.iter().map(|value| (value / scale) as i16).collect(), scale }
    }

    /// Levels are widened some at a time: multiplying and adding pairs of equal width is one instruction on any
    /// machine, and the walk takes half the time.
    fn dot(&self, levels: &[i8]) -> f32 {
        const TOGETHER: usize = 32;
        let (values, last_values) = self.levels.as_chunks::<TOGETHER>();
        let (levels, last_levels) = levels.as_chunks::<TOGETHER>();
        let mut sum = 0;
        for (values, levels) in values.iter().zip(levels) {
            let mut wide = [0; TOGETHER];
            for (wide, level) in wide.iter_mut().zip(levels) {
                *wide = i16::from(*level);
            }
            sum += products(values, wide.iter().copied());
        }
        sum += products(last_values, last_levels.iter().map(|level| i16::from(*level)));
        sum as f32 * self.scale
    }
}

fn products(values: &[i16], levels: impl Iterator<Item = i16>) -> i32 {
    values.iter().zip(levels).map(|(value, level)| i32::from(*value) * i32::from(level)).sum()
}
