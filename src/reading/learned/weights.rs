//! The weights, read once from `weights.txt`: a line per signal and head.
//!
//! Signals are looked up by a key made of their words' hashes, so that no name is built while a mail is read.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    sync::OnceLock,
};

use super::signal::Signal;
use crate::{
    model::text_enum::words,
    reading::{bloom::BloomFilter, lexicon::Feature},
};

const SHIPPED: &str = include_str!("weights.txt");

mod head {
    #![allow(unreachable_pub, reason = "the macro writes `pub`; the module keeps it in the planner")]
    use super::words;

    words! {
        /// A question answered by a sum of weights.
        Head {
            /// Of one sentence: does it ask for something?
            Asks = "asks",
            Urgent = "urgent",
            Wants = "wants",
            Informs = "informs",
            Promotes = "promotes",
            Personal = "personal",
            Spam = "spam",
            Phishing = "phishing",
        }
    }
}
pub(in crate::reading) use head::Head;

const HEADS: usize = Head::ALL.len();

/// The key is a hash already.
#[derive(Default)]
struct Given(u64);

impl Hasher for Given {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// One number per head.
pub(super) type Weights = [f32; HEADS];

/// What is known of one signal.
#[derive(Debug, Clone, Copy)]
pub(in crate::reading) struct Row {
    pub(super) weights: Weights,
    /// Counted from nought, in the order of the file.
    pub(super) number: usize,
}

#[derive(Default)]
pub(in crate::reading) struct Table {
    rows: Vec<Row>,
    /// Which row is a key's.
    places: HashMap<u64, usize, BuildHasherDefault<Given>>,
    /// Of the keys above: two of three that are asked for are not there.
    known: BloomFilter<16_384>,
    always: Weights,
    /// What each feature says about asking, by its number: every sentence wants to know.
    asking: Vec<f64>,
    /// What the hand-made sum counts for in that.
    hand: f64,
}

static TABLE: OnceLock<Table> = OnceLock::new();

pub(in crate::reading) fn table() -> &'static Table {
    TABLE.get_or_init(|| Table::parse(SHIPPED))
}

/// Other weights than the shipped ones, for cross-validation; false when a mail was read before.
pub fn use_weights(text: &str) -> bool {
    TABLE.set(Table::parse(text)).is_ok()
}

impl Table {
    /// `[head bias]` opens a head; under it `weight signal`.
    fn parse(text: &str) -> Self {
        let mut table = Self::default();
        let mut head = Head::Asks as usize;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some((named, bias)) = section(line) {
                head = named as usize;
                put(&mut table.always, head, bias);
            } else if let Some((signal, weight)) = weighed(line) {
                table.set(signal.row_key(), head, weight);
            }
        }
        let cue = |name: &str| table.weight(&Signal::Cue(name), Head::Asks);
        let asking = Feature::ALL.iter().map(|feature| cue(feature.as_str())).collect();
        Self { asking, hand: cue("hand"), ..table }
    }

    fn set(&mut self, key: u64, head: usize, weight: f32) {
        let number = *self.places.entry(key).or_insert(self.rows.len());
        if number == self.rows.len() {
            self.rows.push(Row { weights: [0.0; HEADS], number });
            self.known.insert(key);
        }
        if let Some(row) = self.rows.get_mut(number) {
            put(&mut row.weights, head, weight);
        }
    }

    /// What a feature of a sentence says about asking.
    pub(in crate::reading) fn asking(&self, feature: Feature) -> f64 {
        self.asking.get(feature as usize).copied().unwrap_or_default()
    }

    /// What the hand-made sum of a sentence counts for in asking.
    pub(in crate::reading) fn hand(&self) -> f64 {
        self.hand
    }

    pub(in crate::reading) fn weight(&self, signal: &Signal<'_>, head: Head) -> f64 {
        self.row(signal).map_or(0.0, |row| at(&row.weights, head))
    }

    pub(super) fn row(&self, signal: &Signal<'_>) -> Option<&Row> {
        self.at(signal.row_key())
    }

    #[inline]
    pub(super) fn at(&self, key: u64) -> Option<&Row> {
        self.known.may_contain(key).then(|| self.rows.get(*self.places.get(&key)?)).flatten()
    }

    /// How many signals have weights.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(in crate::reading) fn bias(&self, head: Head) -> f64 {
        at(&self.always, head)
    }
}

fn section(line: &str) -> Option<(Head, f32)> {
    let (name, bias) = line.strip_prefix('[')?.strip_suffix(']')?.split_once(' ')?;
    Some((name.parse().ok()?, bias.parse().ok()?))
}

fn weighed(line: &str) -> Option<(Signal<'_>, f32)> {
    let (weight, name) = line.split_once(' ')?;
    Some((Signal::parse(name)?, weight.parse().ok()?))
}

fn put(row: &mut Weights, head: usize, value: f32) {
    if let Some(slot) = row.get_mut(head) {
        *slot = value;
    }
}

#[inline]
pub(super) fn at(row: &Weights, head: Head) -> f64 {
    row.get(head as usize).copied().map_or(0.0, f64::from)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_line_is_understood_and_every_head_is_there() {
        let mut heads = Vec::new();
        for line in SHIPPED.lines().filter(|line| !line.starts_with('#')) {
            match section(line) {
                Some((head, _)) => heads.push(head),
                None => assert!(weighed(line).is_some(), "{line}"),
            }
        }
        assert_eq!(heads, Head::ALL);
        let named: HashSet<_> = SHIPPED.lines().filter_map(weighed).map(|(signal, _)| signal.to_string()).collect();
        assert_eq!(table().len(), named.len(), "every signal has a row of its own");
        assert!(SHIPPED.len() < 600_000, "{} bytes", SHIPPED.len());
    }

    #[test]
    fn weights_are_found_by_name() {
        let table = Table::parse("[asks -0.5]\n1.25 word:please\n[urgent 0.1]\n2 word:please\n-1 pair:no rush\n");
        let please = Signal::Word("please");
        assert_eq!((table.weight(&please, Head::Asks), table.weight(&please, Head::Urgent)), (1.25, 2.0));
        assert_eq!(table.weight(&Signal::Pair("no", "rush"), Head::Urgent), -1.0);
        assert_eq!((table.bias(Head::Asks), table.weight(&Signal::Word("no"), Head::Urgent)), (-0.5, 0.0));
    }
}
