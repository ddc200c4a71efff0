//! The vectors of this process, small enough to walk all of them for every question.
//!
//! A question is compared with the signs of every vector (one bit per dimension that tells), and those that agree most
//! with their levels (one byte per dimension). Walked, not linked: at a million vectors a walk over the signs takes some
//! milliseconds, finds what it is asked for in any account, and needs nothing built beforehand (`benches/memory.rs`).

use std::collections::HashMap;

use super::traits::{DocKind, Filter};
use crate::model::{AccountId, vector::Int8VectorRef};

/// Rows whose levels are kept together: few, so that the last block wastes little.
const ROWS: usize = 1024;
/// Of so many rows as many are asked first, to know by how much signs may differ. Few at a time: mails that come together
/// are often alike.
const SAMPLE: (usize, usize) = (128, 8);
const BITS: usize = 64;
/// Looked at closely at least, and one of so many beyond that: 99.5 % of the ten best at ten thousand vectors, 98.7 % at a
/// million.
const LEAST_CLOSELY: usize = 1024;
const ONE_IN: usize = 256;

/// What the vectors of an embedder are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub dimension: usize,
    /// So many of the first dimensions tell near from far; the others only which of the near is nearest.
    pub telling: usize,
}

impl Shape {
    /// All dimensions tell alike, as far as anybody knows.
    pub const fn even(dimension: usize) -> Self {
        Self { dimension, telling: dimension }
    }
}

/// A row of an index, by how near it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    pub vector_id: i64,
    pub score: f32,
}

pub struct Index {
    shape: Shape,
    shelves: HashMap<(AccountId, DocKind), Shelf>,
}

/// The vectors of one kind in one account, a row each.
#[derive(Default)]
struct Shelf {
    ids: Vec<i64>,
    scales: Vec<f32>,
    /// In one piece: every question reads all of it.
    signs: Vec<u64>,
    levels: Vec<Vec<Line>>,
}

/// What a machine reads at once: a row of levels begins with one.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([i8; LINE]);

const LINE: usize = 64;

impl Index {
    pub fn new(shape: Shape) -> Self {
        Self { shape, shelves: HashMap::new() }
    }

    pub fn len(&self) -> usize {
        self.shelves.values().map(|shelf| shelf.ids.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn add(&mut self, account: &str, kind: DocKind, vector_id: i64, vector: Int8VectorRef<'_>) {
        let shelf = self.shelves.entry((AccountId::from(account), kind)).or_default();
        shelf.push(vector_id, vector, self.shape);
    }

    /// The best of the account, by the cosine with `query`, best first; none that is farther than the filter asks for.
    pub fn nearest(&self, query: &[f32], filter: &Filter, most: usize) -> Vec<Candidate> {
        let kinds = filter.kind.map_or(DocKind::ALL.to_vec(), |kind| vec![kind]);
        let shelf = |kind| self.shelves.get(&(filter.account.clone(), kind));
        let shelves: Vec<&Shelf> = kinds.into_iter().filter_map(shelf).collect();
        let rows: usize = shelves.iter().map(|shelf| shelf.ids.len()).sum();
        if query.len() != self.shape.dimension || rows == 0 {
            return Vec::new();
        }
        let closely = LEAST_CLOSELY.max(rows / ONE_IN).max(most);
        let telling = query.get(..self.shape.telling).unwrap_or(query);
        let mut found = walk(&Walk { shelves: &shelves, query, telling, rows, closely, least: filter.min_cosine });
        let best_first =
            |a: &Candidate, b: &Candidate| b.score.total_cmp(&a.score).then_with(|| a.vector_id.cmp(&b.vector_id));
        if found.len() > most {
            found.select_nth_unstable_by(most, best_first);
            found.truncate(most);
        }
        found.sort_unstable_by(best_first);
        found
    }
}

impl Shelf {
    fn push(&mut self, vector_id: i64, Int8VectorRef { scale, values: levels }: Int8VectorRef<'_>, shape: Shape) {
        if self.ids.len().is_multiple_of(ROWS) {
            self.levels.push(Vec::with_capacity(ROWS * shape.dimension.div_ceil(LINE)));
        }
        self.ids.push(vector_id);
        self.scales.push(scale);
        self.signs.extend(bits(levels.iter().take(shape.telling).map(|level| level.cast_signed() < 0)));
        if let Some(block) = self.levels.last_mut() {
            block.extend(lines(levels.iter().map(|level| level.cast_signed()), 0).map(Line));
        }
    }

    #[inline(always)]
    fn candidate(&self, row: usize, query: &Whole, least: f32) -> Option<Candidate> {
        let (block, at) = (self.levels.get(row / ROWS)?, row % ROWS * query.lines.len());
        let levels = block.get(at..at + query.lines.len())?;
        let score = query.dot(levels) * self.scales.get(row)?;
        let vector_id = self.ids.get(row).filter(|_| score >= least)?;
        Some(Candidate { vector_id: *vector_id, score })
    }
}

/// One question to all rows of its account.
struct Walk<'a> {
    shelves: &'a [&'a Shelf],
    query: &'a [f32],
    telling: &'a [f32],
    rows: usize,
    /// Where there are more rows, only about so many are looked at with their levels.
    closely: usize,
    least: f32,
}

/// By the instructions this machine has: with them a walk over a million vectors takes 2.9 ms, without them 5.9 to 7.7.
fn walk(walk: &Walk<'_>) -> Vec<Candidate> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        #[expect(
            unsafe_code,
            reason = "the machine was asked for what this function needs, and does nothing else unsafe"
        )]
        // SAFETY: this machine has both.
        return unsafe { walk_wide(walk) };
    }
    walk.near()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn walk_wide(walk: &Walk<'_>) -> Vec<Candidate> {
    walk.near()
}

/// Whatever happens per row is made part of the caller, so that `walk_wide` has all of it in its own instructions.
impl Walk<'_> {
    #[inline(always)]
    fn near(&self) -> Vec<Candidate> {
        let (query, mut near) = (Whole::of(self.query), Vec::new());
        if self.rows <= self.closely {
            for shelf in self.shelves {
                for row in 0..shelf.ids.len() {
                    near.extend(shelf.candidate(row, &query, self.least));
                }
            }
            return near;
        }
        // All of them before the first is read: rows lie far apart, and several are on their way at once.
        for (shelf, row) in self.agreeing() {
            near.extend(shelf.candidate(row, &query, self.least));
        }
        near
    }

    /// About `closely` rows: those whose signs differ least.
    #[inline(always)]
    fn agreeing(&self) -> Vec<(&Shelf, usize)> {
        let signs = Signs::of(self.telling);
        let most = self.most(&signs);
        let mut agreeing = Vec::with_capacity(self.closely * 2);
        for shelf in self.shelves {
            signs.differing(&shelf.signs, |row, weight| {
                if weight <= most {
                    agreeing.push((*shelf, row));
                }
            });
        }
        agreeing
    }

    /// What differs by so much is still looked at closely, as far as a sample tells.
    #[inline(always)]
    fn most(&self, signs: &Signs) -> u16 {
        let (mut counts, mut rows) = (vec![0_usize; self.telling.len() * HEAVIEST + 1], 0);
        let (all, some) = (SAMPLE.0 * signs.0.len().max(1), SAMPLE.1 * signs.0.len());
        for part in self.shelves.iter().flat_map(|shelf| shelf.signs.chunks(all)) {
            signs.differing(part.get(..some).unwrap_or(part), |_, weight| {
                rows += 1;
                if let Some(count) = counts.get_mut(usize::from(weight)) {
                    *count += 1;
                }
            });
        }
        let (mut sum, closely) = (0, self.closely * rows / self.rows);
        let most = counts.iter().position(|count| {
            sum += count;
            sum >= closely
        });
        most.and_then(|most| u16::try_from(most).ok()).unwrap_or(u16::MAX)
    }
}

/// The signs of a question, and which of them weigh 1, 2 or 3: one that is nearly zero says little.
struct Signs(Vec<Word>);

struct Word {
    signs: u64,
    ones: u64,
    twos: u64,
}

const HEAVIEST: usize = 3;

impl Signs {
    fn of(query: &[f32]) -> Self {
        let largest = query.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let weight = |value: &f32| (value.abs() / largest * HEAVIEST as f32).round() as u8;
        let words = |is: &dyn Fn(&f32) -> bool| bits(query.iter().map(is));
        let (signs, ones) = (words(&|value| *value < 0.0), words(&|value| weight(value) & 1 > 0));
        let twos = words(&|value| weight(value) & 2 > 0);
        let word = |((signs, ones), twos)| Word { signs, ones, twos };
        Self(signs.into_iter().zip(ones).zip(twos).map(word).collect())
    }

    /// How much the signs of each row differ from these.
    #[inline(always)]
    fn differing(&self, rows: &[u64], mut take: impl FnMut(usize, u16)) {
        // The shipped embedder's two words; counted in a loop of known length they go through together.
        if let Ok(two) = <&[Word; 2]>::try_from(self.0.as_slice()) {
            for (nth, row) in rows.as_chunks::<2>().0.iter().enumerate() {
                take(nth, differ(row, two));
            }
        } else {
            for (nth, row) in rows.chunks_exact(self.0.len().max(1)).enumerate() {
                take(nth, differ(row, &self.0));
            }
        }
    }
}

fn bits(each: impl Iterator<Item = bool>) -> Vec<u64> {
    let each: Vec<bool> = each.collect();
    let word = |bits: &[bool]| bits.iter().rev().fold(0, |word, bit| (word << 1) | u64::from(*bit));
    each.chunks(BITS).map(word).collect()
}

#[inline(always)]
fn differ(row: &[u64], signs: &[Word]) -> u16 {
    let (mut ones, mut twos) = (0, 0);
    for (row, word) in row.iter().zip(signs) {
        let differing = row ^ word.signs;
        ones += (differing & word.ones).count_ones();
        twos += (differing & word.twos).count_ones();
    }
    u16::try_from(ones + 2 * twos).unwrap_or(u16::MAX)
}

/// Cut into lines, the last one filled up.
fn lines<T: Copy>(values: impl Iterator<Item = T>, nothing: T) -> impl Iterator<Item = [T; LINE]> {
    let mut values = values.peekable();
    std::iter::from_fn(move || {
        values.peek()?;
        Some(std::array::from_fn(|_| values.next().unwrap_or(nothing)))
    })
}

/// A question in whole numbers, which are multiplied and added several at once where fractions are not.
struct Whole {
    lines: Vec<[i16; LINE]>,
    scale: f32,
}

impl Whole {
    /// As fine as a sum over all dimensions allows: far finer than the levels it is compared with.
    fn of(query: &[f32]) -> Self {
        let room = i32::MAX as f32 / (f32::from(i8::MAX) + 1.0) / query.len().max(1) as f32;
        let top = room.min(f32::from(i16::MAX));
        let largest = query.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = if largest > 0.0 { largest / top } else { 1.0 };
        Self { lines: lines(query.iter().map(|value| (value / scale) as i16), 0).collect(), scale }
    }

    /// Levels are widened some at a time before they are multiplied: multiplying and adding pairs of equal width is one
    /// instruction on any machine, and the walk takes half the time.
    #[inline(always)]
    fn dot(&self, levels: &[Line]) -> f32 {
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
