//! The learned weights, read once from `weights.txt`: a line per head and signal.

use std::{collections::HashMap, sync::OnceLock};

use super::{
    rules::{Proposal, RuleSet},
    signal::emit_signals,
    token::Token,
};
use crate::{model::text_enum::text_enum, reading::Signal};

const SHIPPED_WEIGHTS: &str = include_str!("weights.txt");

text_enum! {
    /// What the weights tell apart.
    Sort {
        /// A task is to be created, completed, deleted or updated; which of them, the rules say.
        Change = "change",
        List = "list",
        Help = "help",
        Greeting = "greeting",
        Unclear = "unclear",
    }
}

const SORTS: usize = Sort::ALL.len();

/// One number per sort.
pub(super) type SortScores = [f64; SORTS];

#[derive(Debug, Default)]
struct WeightTable {
    by_key: HashMap<u64, [f32; SORTS]>,
    biases: [f32; SORTS],
}

static TABLE: OnceLock<WeightTable> = OnceLock::new();

/// Uses other weights than the shipped ones, for cross-validation. Returns false if some were in use already.
pub fn use_intent_weights(text: &str) -> bool {
    TABLE.set(WeightTable::parse(text)).is_ok()
}

/// Returns how probable each sort is for a clause. They add up to one.
pub(super) fn score_clause(tokens: &[Token], proposal: Option<&Proposal>, rules: &RuleSet) -> SortScores {
    let table = TABLE.get_or_init(|| WeightTable::parse(SHIPPED_WEIGHTS));
    let mut sums = table.biases.map(f64::from);
    let mut seen: Vec<u64> = Vec::with_capacity(128);
    emit_signals(tokens, proposal, rules, &mut |signal| seen.push(signal.row_key()));
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

impl WeightTable {
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

fn parse_heading(line: &str) -> Option<(Sort, f32)> {
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
