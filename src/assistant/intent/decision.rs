//! The decision: what the rules propose for each clause, and what the weights say about it.

use std::ops::Range;

use serde::Serialize;

use super::{
    clause::{MessageClause, cut_clauses},
    reading::{ClauseReading, Evidence, Intent, IntentContext, IntentReading, PendingQuestion},
    rules::{IntentRules, Proposal, Strength},
    signal::{Judged, emit_signals},
    token::{MessageToken, tokenise},
    weights::{ClauseSort, SortScores, score_clause},
};
use crate::assistant::ChatLanguage;

/// How sure a pattern is that stands by itself.
const SURE: f64 = 0.95;
/// A change by a keyword stands from this probability of a change on.
const KEEP_KEYWORD: f64 = 0.8;
/// A change by a bare imperative stands from this probability of a change on.
const KEEP_IMPERATIVE: f64 = 0.8;

/// Returns what the message wants, clause by clause.
pub fn classify(message: &str, context: &IntentContext) -> IntentReading {
    let tokens = tokenise(message);
    let (rules, clauses) = read_clauses(&tokens, context);
    let readings: Vec<ClauseReading> =
        clauses.iter().filter_map(|clause| read_clause(message, &tokens, clause, rules, context)).collect();
    let Some(main) = readings.get(main_clause(readings.iter().map(|reading| reading.intent))) else {
        return IntentReading::unclear(message);
    };
    let (intent, confidence) = (main.intent, main.confidence);
    let mut clauses = readings;
    if clauses.len() > 1 {
        clauses.retain(|clause| clause.intent != Intent::Unclear);
    }
    if clauses.is_empty() {
        return IntentReading::unclear(message);
    }
    IntentReading { intent, confidence, clauses }
}

/// Cuts the message by the rules of its language; by those of the other one if these recognise nothing.
fn read_clauses(tokens: &[MessageToken], context: &IntentContext) -> (&'static IntentRules, Vec<MessageClause>) {
    let other = match context.language {
        ChatLanguage::English => ChatLanguage::Hebrew,
        ChatLanguage::Hebrew => ChatLanguage::English,
    };
    let rules = IntentRules::of(context.language);
    let clauses = cut_clauses(tokens, rules);
    if clauses.iter().all(|clause| clause.proposal.is_none()) {
        let others = cut_clauses(tokens, IntentRules::of(other));
        if others.iter().any(|clause| clause.proposal.is_some()) {
            return (IntentRules::of(other), others);
        }
    }
    (rules, clauses)
}

/// Returns which clause gives the message its intent: the first that changes something, else the first that lists,
/// else the first that is clear.
fn main_clause(intents: impl Iterator<Item = Intent> + Clone) -> usize {
    let mut places = [Intent::is_change, |intent: Intent| intent == Intent::List, |intent| intent != Intent::Unclear]
        .into_iter()
        .filter_map(|is_wanted| intents.clone().position(is_wanted));
    places.next().unwrap_or(0)
}

fn read_clause(
    message: &str,
    tokens: &[MessageToken],
    clause: &MessageClause,
    rules: &IntentRules,
    context: &IntentContext,
) -> Option<ClauseReading> {
    let words = tokens.get(clause.words.clone())?;
    let proposal = clause.proposal.as_ref().filter(|proposal| !answers_question(proposal, context));
    let judged = Judged { words: tokens.get(clause.judged_from..clause.words.end)?, clause: words, proposal };
    let (intent, confidence, evidence) = decide(judged, rules, context);
    let (trigger, rest) = match proposal {
        Some(proposal) if intent != Intent::Unclear => (proposal.trigger.clone(), proposal.rest.clone()),
        _ => (0..0, 0..words.len()),
    };
    Some(ClauseReading {
        intent,
        confidence,
        evidence,
        span: place(message, words, 0..words.len()),
        trigger: place(message, words, trigger),
        rest: place(message, words, rest),
    })
}

/// Returns whether the words are what was asked for, and no imperative: "Buy milk" is a title when one is awaited.
fn answers_question(proposal: &Proposal, context: &IntentContext) -> bool {
    proposal.is_imperative() && context.pending != PendingQuestion::Nothing
}

fn decide(judged: Judged<'_>, rules: &IntentRules, context: &IntentContext) -> (Intent, f64, Evidence) {
    if let Some(proposal) = judged.proposal.filter(|proposal| stands_by_itself(proposal, judged.clause, context)) {
        let evidence = if proposal.is_imperative() { Evidence::Imperative } else { Evidence::Keyword };
        return (proposal.intent, SURE, evidence);
    }
    let scores = score_clause(judged, rules);
    let Some(proposal) = judged.proposal.filter(|proposal| proposal.intent.is_change()) else {
        let (intent, confidence) = choose_without_change(&scores);
        return (intent, confidence, Evidence::Weights);
    };
    let (least, evidence) = match proposal.strength {
        Strength::Bare | Strength::Lone => (KEEP_IMPERATIVE, Evidence::Imperative),
        Strength::Sure | Strength::Plain => (KEEP_KEYWORD, Evidence::Keyword),
    };
    let confidence = probability(&scores, ClauseSort::Change);
    if confidence >= least {
        (proposal.intent, confidence, evidence)
    } else {
        (Intent::Unclear, 1.0 - confidence, Evidence::Veto)
    }
}

/// Returns whether the weights are not asked: the pattern is sure, a title is given in quotation marks, or a number of the
/// list that was just shown.
fn stands_by_itself(proposal: &Proposal, words: &[MessageToken], context: &IntentContext) -> bool {
    let rest = words.get(proposal.rest.clone()).unwrap_or_default();
    let names_a_position = rest.first().is_some_and(|token| token.is_number);
    let is_quoted = !rest.is_empty() && rest.iter().all(|token| token.is_quoted);
    matches!(proposal.strength, Strength::Sure | Strength::Lone)
        || (is_quoted && proposal.intent.is_change())
        || (context.list_was_shown && proposal.intent != Intent::Create && names_a_position)
}

fn probability(scores: &SortScores, sort: ClauseSort) -> f64 {
    scores.get(sort as usize).copied().unwrap_or_default()
}

/// Returns the most probable intent that changes nothing, with its share.
fn choose_without_change(scores: &SortScores) -> (Intent, f64) {
    let choices = [
        (Intent::Unclear, ClauseSort::Unclear),
        (Intent::List, ClauseSort::List),
        (Intent::Help, ClauseSort::Help),
        (Intent::Greeting, ClauseSort::Greeting),
    ];
    let mut best = (Intent::Unclear, 0.0);
    let mut total = f64::MIN_POSITIVE;
    for (intent, sort) in choices {
        let value = probability(scores, sort);
        total += value;
        if value > best.1 {
            best = (intent, value);
        }
    }
    (best.0, best.1 / total)
}

/// Returns where these words stand in the message. What closes a quotation or a bracket behind the last one, and opens
/// it before the first, belongs to them.
fn place(message: &str, words: &[MessageToken], range: Range<usize>) -> Range<usize> {
    let from = words.get(range.start).map(|token| token.place.start);
    let last = range.end.checked_sub(1).and_then(|last| words.get(last)).map(|token| token.place.end);
    let (Some(start), Some(end), true) = (from, last, range.start < range.end) else {
        let at = words.get(range.start).map(|token| token.place.start);
        let at = at.or_else(|| words.last().map(|token| token.place.end)).unwrap_or(0);
        return at..at;
    };
    let opens = |c: char| matches!(c, '"' | '\'' | '“' | '‘' | '„' | '(' | '[' | '«' | '#' | '״');
    let closes = |c: char| matches!(c, '"' | '\'' | '”' | '’' | ')' | ']' | '»' | '%' | '״');
    let before = message.get(..start).unwrap_or_default();
    let behind = message.get(end..).unwrap_or_default();
    before.trim_end_matches(opens).len()..message.len() - behind.trim_start_matches(closes).len()
}

/// What the weights are trained on: the clause that gives a message its intent, as the rules see it.
#[derive(Debug, Serialize)]
pub struct ClauseSignals {
    /// The names of its signals.
    pub signals: Vec<String>,
    /// What the rules propose; nothing if they recognise nothing.
    pub proposal: Option<Intent>,
    /// The proposal needs no weights.
    pub is_sure: bool,
    /// The proposal is a bare imperative.
    pub is_bare: bool,
    pub clauses: usize,
}

/// Returns what the weights see of a message.
pub fn clause_signals(message: &str, context: &IntentContext) -> ClauseSignals {
    let tokens = tokenise(message);
    let (rules, clauses) = read_clauses(&tokens, context);
    let intent = |clause: &MessageClause| clause.proposal.as_ref().map_or(Intent::Unclear, |proposal| proposal.intent);
    let main = clauses.get(main_clause(clauses.iter().map(intent)));
    let proposal = main.and_then(|clause| clause.proposal.as_ref());
    let words = |from: usize| main.and_then(|clause| tokens.get(from..clause.words.end)).unwrap_or_default();
    let judged = Judged {
        words: words(main.map_or(0, |clause| clause.judged_from)),
        clause: words(main.map_or(0, |clause| clause.words.start)),
        proposal,
    };
    let mut signals = Vec::new();
    emit_signals(judged, rules, &mut |signal| signals.push(signal.to_string()));
    ClauseSignals {
        signals,
        proposal: proposal.map(|proposal| proposal.intent),
        is_sure: proposal.is_some_and(|proposal| matches!(proposal.strength, Strength::Sure | Strength::Lone)),
        is_bare: proposal.is_some_and(|proposal| proposal.strength == Strength::Bare),
        clauses: clauses.len(),
    }
}
