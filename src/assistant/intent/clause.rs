//! Cuts a message into clauses that each want something.
//!
//! A clause begins where the words after a joiner or a mark are recognised by themselves. Everything else belongs to
//! the clause before it, because a title may hold any word.

use std::ops::Range;

use super::{
    reading::Intent,
    rules::{Proposal, RuleSet, Strength},
    token::{Break, Token},
};

/// A clause in numbers of words, and what the rules propose for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    pub(super) words: Range<usize>,
    pub(super) proposal: Option<Proposal>,
}

/// A place where a clause may begin.
struct Start {
    /// The first word of the joiner.
    joiner: usize,
    /// The first word behind it.
    words: usize,
    after: Break,
}

/// Cuts a message. Returns at least one clause if there is a word, and several only if each wants something.
pub(super) fn cut_clauses(tokens: &[Token], rules: &RuleSet) -> Vec<Clause> {
    let starts = possible_starts(tokens, rules);
    let mut cut = vec![0..0];
    let mut current = rules.propose(segment(tokens, 0, &starts, 0));
    let mut kept_apart = false;
    for (number, start) in starts.iter().enumerate() {
        let next = rules.propose(segment(tokens, start.words, &starts, number + 1));
        let Some(next) = next.filter(|next| next.strength != Strength::Bare) else { continue };
        let before = tokens.get(cut.last().map_or(0, |range| range.start)..start.joiner).unwrap_or_default();
        if !begins_a_clause(current.as_ref(), before, &next, start.after, rules) {
            continue;
        }
        if let Some(last) = cut.last_mut() {
            last.end = start.joiner;
        }
        cut.push(start.words..start.words);
        kept_apart = true;
        current = Some(next);
    }
    if let Some(last) = cut.last_mut() {
        last.end = tokens.len();
    }
    let propose = |words: Range<usize>| {
        let proposal = rules.propose(tokens.get(words.clone()).unwrap_or_default());
        Clause { words, proposal }
    };
    let mut clauses: Vec<Clause> = cut.into_iter().map(propose).collect();
    if kept_apart {
        keep_what_wants_something(&mut clauses, tokens.len());
    }
    clauses
}

/// Drops greetings, reasons and conditions beside clauses that want something.
fn keep_what_wants_something(clauses: &mut Vec<Clause>, length: usize) {
    let wants = |clause: &Clause| clause.proposal.as_ref().is_some_and(Proposal::wants_something);
    if clauses.iter().any(wants) {
        clauses.retain(wants);
        return;
    }
    let intent = |clause: &Clause| clause.proposal.as_ref().map(|proposal| proposal.intent);
    let is_question = |clause: &Clause| intent(clause) == Some(Intent::Help);
    let best =
        clauses.iter().position(is_question).or_else(|| clauses.iter().position(|clause| intent(clause).is_some()));
    let best = best.unwrap_or(0);
    if let Some(mut kept) = clauses.get(best).cloned() {
        if kept.proposal.is_none() {
            kept.words = 0..length;
        }
        *clauses = vec![kept];
    }
}

/// Returns the words from `from` to the next place where a clause may begin.
fn segment<'a>(tokens: &'a [Token], from: usize, starts: &[Start], next: usize) -> &'a [Token] {
    let end = starts.get(next).map_or(tokens.len(), |start| start.joiner);
    tokens.get(from..end.max(from)).unwrap_or_default()
}

fn possible_starts(tokens: &[Token], rules: &RuleSet) -> Vec<Start> {
    let mut starts: Vec<Start> = Vec::new();
    for (at, token) in tokens.iter().enumerate().skip(1) {
        if token.is_quoted || starts.last().is_some_and(|last| at < last.words) {
            continue;
        }
        let joiner = rules.joiner_length(tokens.get(at..).unwrap_or_default());
        let is_joined = token.text.starts_with('ו') && token.text.chars().count() > 3;
        let begins = joiner > 0 || token.break_before > Break::Nothing || is_joined;
        if begins && at + joiner < tokens.len() {
            starts.push(Start { joiner: at, words: at + joiner, after: token.break_before });
        }
    }
    starts
}

/// Returns whether the next words are a clause of their own, and no part of a title before them.
fn begins_a_clause(
    current: Option<&Proposal>,
    before: &[Token],
    next: &Proposal,
    after: Break,
    rules: &RuleSet,
) -> bool {
    let says_what = !next.rest.is_empty();
    let Some(current) = current else { return says_what || after > Break::Nothing };
    if current.intent == next.intent && (!says_what || next.is_about_the_same) {
        // "I don't need eggs anymore, remove them."
        return false;
    }
    if current.intent == Intent::Update && next.intent == Intent::Update {
        // "... and add a description": one change of one task.
        return after == Break::Sentence;
    }
    if !current.intent.is_change() || after == Break::Sentence {
        return true;
    }
    if !next.wants_something() {
        return false;
    }
    let has_title = matches!(current.intent, Intent::Create | Intent::Update);
    let title_has_ended =
        rules.classes().occurs("list", before.get(before.len().saturating_sub(2)..).unwrap_or_default());
    let is_list = next.intent == Intent::List && next.strength == Strength::Sure;
    !has_title
        || title_has_ended
        || is_list
        || (next.intent.is_change() && next.strength == Strength::Sure)
        || (next.intent == Intent::Create && current.intent == Intent::Create && next.trigger.len() == 1)
}
