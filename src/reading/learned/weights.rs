//! The weights, read once from `weights.txt`: a line per signal and head.
//!
//! Signals are looked up by a key made of their words' hashes, so that no name is built while a mail is read.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    sync::OnceLock,
};

use super::signal::Signal;
use crate::{model::text_enum::text_enum, reading::lexicon::Feature};

const SHIPPED_WEIGHTS: &str = include_str!("weights.txt");

mod head {
    #![allow(unreachable_pub, reason = "the macro writes `pub`; the module keeps it in the planner")]
    use super::text_enum;

    text_enum! {
        /// A question answered by a sum of weights.
        Head {
            /// Does a sentence of a mail ask its reader for something?
            Asks = "asks",
            /// Does a sentence that stands alone hold a request, a proposal or a commitment?
            Task = "task",
            /// Does a sentence propose, arrange, move or cancel a meeting?
            Meets = "meets",
            /// Does a sentence ask somebody else than the reader?
            Others = "others",
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

/// The heads that are asked of every sentence; they come first in [`Head`].
pub(in crate::reading) const SENTENCE_HEADS: [Head; 4] = [Head::Asks, Head::Task, Head::Meets, Head::Others];

/// One number per head of a sentence, in the order of [`SENTENCE_HEADS`].
pub(in crate::reading) type SentenceLogits = [f64; SENTENCE_HEADS.len()];

/// The key is a hash already.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
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
pub(super) type HeadWeights = [f32; HEADS];

/// What is known of one signal.
#[derive(Debug, Clone, Copy)]
pub(in crate::reading) struct SignalWeights {
    pub(super) weights: HeadWeights,
    /// Counted from nought, in the order of the file.
    pub(super) index: usize,
}

#[derive(Default)]
pub(in crate::reading) struct WeightTable {
    rows: Vec<SignalWeights>,
    /// Which row is a key's.
    index_by_key: HashMap<u64, usize, BuildHasherDefault<IdentityHasher>>,
    biases: HeadWeights,
    /// What each feature says about a sentence, by the number of the feature.
    feature_weights: Vec<SentenceLogits>,
    /// The factor of the hand-made sum of a sentence, per head.
    hand_factors: SentenceLogits,
}

static TABLE: OnceLock<WeightTable> = OnceLock::new();

pub(in crate::reading) fn weight_table() -> &'static WeightTable {
    TABLE.get_or_init(|| WeightTable::parse(SHIPPED_WEIGHTS))
}

/// Other weights than the shipped ones, for cross-validation; false when a mail was read before.
pub fn use_weights(text: &str) -> bool {
    TABLE.set(WeightTable::parse(text)).is_ok()
}

impl WeightTable {
    /// `[head bias]` opens a head; under it `weight signal`.
    fn parse(text: &str) -> Self {
        let mut table = Self::default();
        let mut head = Head::Asks as usize;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some((named, bias)) = parse_section_header(line) {
                head = named as usize;
                set_for_head(&mut table.biases, head, bias);
            } else if let Some((signal, weight)) = parse_weight_line(line) {
                table.set(signal.row_key(), head, weight);
            }
        }
        let cue = |name: &str| SENTENCE_HEADS.map(|head| table.weight(&Signal::Cue(name), head));
        let feature_weights = Feature::ALL.iter().map(|feature| cue(feature.as_str())).collect();
        Self { feature_weights, hand_factors: cue("hand"), ..table }
    }

    fn set(&mut self, key: u64, head: usize, weight: f32) {
        let number = *self.index_by_key.entry(key).or_insert(self.rows.len());
        if number == self.rows.len() {
            self.rows.push(SignalWeights { weights: [0.0; HEADS], index: number });
        }
        if let Some(row) = self.rows.get_mut(number) {
            set_for_head(&mut row.weights, head, weight);
        }
    }

    /// Returns what a feature says about a sentence, per head.
    pub(in crate::reading) fn feature_weights(&self, feature: Feature) -> SentenceLogits {
        self.feature_weights.get(feature as usize).copied().unwrap_or_default()
    }

    /// Returns the factor of the hand-made sum of a sentence, per head.
    pub(in crate::reading) fn hand_factors(&self) -> SentenceLogits {
        self.hand_factors
    }

    pub(in crate::reading) fn weight(&self, signal: &Signal<'_>, head: Head) -> f64 {
        self.row(signal).map_or(0.0, |row| value_for_head(&row.weights, head))
    }

    pub(super) fn row(&self, signal: &Signal<'_>) -> Option<&SignalWeights> {
        self.row_by_key(signal.row_key())
    }

    #[inline]
    pub(super) fn row_by_key(&self, key: u64) -> Option<&SignalWeights> {
        self.rows.get(*self.index_by_key.get(&key)?)
    }

    /// How many signals have weights.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(in crate::reading) fn bias(&self, head: Head) -> f64 {
        value_for_head(&self.biases, head)
    }

    /// Returns the biases of the heads of a sentence.
    pub(in crate::reading) fn sentence_biases(&self) -> SentenceLogits {
        SENTENCE_HEADS.map(|head| self.bias(head))
    }
}

fn parse_section_header(line: &str) -> Option<(Head, f32)> {
    let (name, bias) = line.strip_prefix('[')?.strip_suffix(']')?.split_once(' ')?;
    Some((name.parse().ok()?, bias.parse().ok()?))
}

fn parse_weight_line(line: &str) -> Option<(Signal<'_>, f32)> {
    let (weight, name) = line.split_once(' ')?;
    Some((Signal::parse(name)?, weight.parse().ok()?))
}

fn set_for_head(row: &mut HeadWeights, head: usize, value: f32) {
    if let Some(slot) = row.get_mut(head) {
        *slot = value;
    }
}

#[inline]
pub(super) fn value_for_head(row: &HeadWeights, head: Head) -> f64 {
    row.get(head as usize).copied().map_or(0.0, f64::from)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_line_is_understood_and_every_head_is_there() {
        let mut heads = Vec::new();
        for line in SHIPPED_WEIGHTS.lines().filter(|line| !line.starts_with('#')) {
            match parse_section_header(line) {
                Some((head, _)) => heads.push(head),
                None => assert!(parse_weight_line(line).is_some(), "{line}"),
            }
        }
        assert_eq!(heads, Head::ALL);
        let named: HashSet<_> =
            SHIPPED_WEIGHTS.lines().filter_map(parse_weight_line).map(|(signal, _)| signal.to_string()).collect();
        assert_eq!(weight_table().len(), named.len(), "every signal has a row of its own");
        assert!(SHIPPED_WEIGHTS.len() < 800_000, "{} bytes", SHIPPED_WEIGHTS.len());
    }

    #[test]
    fn weights_are_found_by_name() {
        let table = WeightTable::parse("[asks -0.5]\n1.25 word:please\n[urgent 0.1]\n2 word:please\n-1 pair:no rush\n");
        let please = Signal::Word("please");
        assert_eq!((table.weight(&please, Head::Asks), table.weight(&please, Head::Urgent)), (1.25, 2.0));
        assert_eq!(table.weight(&Signal::Pair("no", "rush"), Head::Urgent), -1.0);
        assert_eq!((table.bias(Head::Asks), table.weight(&Signal::Word("no"), Head::Urgent)), (-0.5, 0.0));
    }
}
