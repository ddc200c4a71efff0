//! The learned weights, read once from `weights.txt`: a line per sort and signal.
#![allow(unreachable_pub, reason = "the macro writes `pub`; the module is private")]

use std::{collections::HashMap, sync::OnceLock};

use super::{
    rules::IntentRules,
    signal::{Judged, emit_signals},
};
use crate::{model::text_enum::text_enum, reading::Signal};

const SHIPPED_WEIGHTS: &str = include_str!("weights.txt");

text_enum! {
    /// What the weights tell apart.
    ClauseSort {
        /// A task is to be created, completed, deleted or updated; which of them, the rules say.
        Change = "change",
        List = "list",
        Help = "help",
        Greeting = "greeting",
        Unclear = "unclear",
    }
}

const SORTS: usize = ClauseSort::ALL.len();

/// One number per sort.
pub(super) type SortScores = [f64; SORTS];

#[derive(Debug, Default)]
struct IntentWeights {
    by_key: HashMap<u64, [f32; SORTS]>,
    biases: [f32; SORTS],
}

static TABLE: OnceLock<IntentWeights> = OnceLock::new();

/// Uses other weights than the shipped ones, for cross-validation. Returns false if some were in use already.
pub fn use_intent_weights(text: &str) -> bool {
    TABLE.set(IntentWeights::parse(text)).is_ok()
}

/// Returns how probable each sort is for a clause. They add up to one.
pub(super) fn score_clause(judged: Judged<'_>, rules: &IntentRules) -> SortScores {
    let table = TABLE.get_or_init(|| IntentWeights::parse(SHIPPED_WEIGHTS));
    let mut sums = table.biases.map(f64::from);
    let mut seen: Vec<u64> = Vec::with_capacity(128);
    emit_signals(judged, rules, &mut |signal| seen.push(signal.row_key()));
    seen.sort_unstable();
    seen.dedup();
    for weights in seen.iter().filter_map(|key| table.by_key.get(key)) {
        sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += f64::from(*weight));
    }
    let highest = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers = sums.map(|sum| (sum - highest).exp());
    let total: f64 = powers.iter().sum();
    powers.map(|power| power / total)
}

impl IntentWeights {
    /// `[sort bias]` opens a sort; under it `weight signal`.
    fn parse(text: &str) -> Self {
        let mut table = Self::default();
        let mut sort = 0;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some((named, bias)) = parse_heading(line) {
                sort = named as usize;
                set(&mut table.biases, sort, bias);
            } else if let Some((signal, weight)) = parse_weight(line) {
                set(table.by_key.entry(signal.row_key()).or_default(), sort, weight);
            }
        }
        table
    }
}

fn parse_heading(line: &str) -> Option<(ClauseSort, f32)> {
    let (name, bias) = line.strip_prefix('[')?.strip_suffix(']')?.split_once(' ')?;
    Some((name.parse().ok()?, bias.parse().ok()?))
}

fn parse_weight(line: &str) -> Option<(Signal<'_>, f32)> {
    let (weight, name) = line.split_once(' ')?;
    Some((Signal::parse(name)?, weight.parse().ok()?))
}

fn set(row: &mut [f32; SORTS], sort: usize, value: f32) {
    if let Some(slot) = row.get_mut(sort) {
        *slot = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_understood_and_every_sort_is_there() {
        let mut sorts = Vec::new();
        for line in SHIPPED_WEIGHTS.lines().filter(|line| !line.starts_with('#')) {
            match parse_heading(line) {
                Some((sort, _)) => sorts.push(sort),
                None => assert!(parse_weight(line).is_some(), "{line}"),
            }
        }
        assert_eq!(sorts, ClauseSort::ALL);
        assert!((1_000..400_000).contains(&SHIPPED_WEIGHTS.len()), "{} bytes", SHIPPED_WEIGHTS.len());
    }

    #[test]
    fn weights_are_found_by_name() {
        let table = IntentWeights::parse("[change -0.5]\n1.25 word:add\n[list 0.1]\n2 word:add\n-1 pair:add milk\n");
        let row = |signal: Signal<'_>| table.by_key.get(&signal.row_key()).copied().unwrap_or_default();
        assert_eq!(row(Signal::Word("add")), [1.25, 2.0, 0.0, 0.0, 0.0]);
        assert_eq!(row(Signal::Pair("add", "milk")), [0.0, -1.0, 0.0, 0.0, 0.0]);
        assert_eq!((table.biases[0], row(Signal::Word("milk"))), (-0.5, [0.0; SORTS]));
    }
}
