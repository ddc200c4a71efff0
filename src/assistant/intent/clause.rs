//! Cuts a message into clauses that each want something.
//!
//! A clause begins where the words after a joiner or a mark are recognised by themselves. Everything else belongs to
//! the clause before it, because a title may hold any word.

use std::ops::Range;

use super::{
    reading::Intent,
    rules::{IntentRules, Proposal, Strength},
    token::{MessageToken, WordBreak},
};

/// A clause in numbers of words, and what the rules propose for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MessageClause {
    pub(super) words: Range<usize>,
    pub(super) proposal: Option<Proposal>,
    /// Where the words begin by which the weights judge it: with those before it that want nothing by themselves, as in
    /// "Download the song and add it".
    pub(super) judged_from: usize,
}

/// A place where a clause may begin.
struct ClauseStart {
    /// The first word of the joiner.
    joiner: usize,
    /// The first word behind it.
    words: usize,
    after: WordBreak,
}

/// A clause in the making.
struct ClauseCut {
    words: Range<usize>,
    judged_from: usize,
    /// It says again what the one before it said: "I don't need eggs, remove them."
    is_repetition: bool,
}

/// Cuts a message. Returns at least one clause if there is a word, and several only if each wants something.
pub(super) fn cut_clauses(tokens: &[MessageToken], rules: &IntentRules) -> Vec<MessageClause> {
    let starts = possible_starts(tokens, rules);
    let mut cuts = vec![ClauseCut { words: 0..tokens.len(), judged_from: 0, is_repetition: false }];
    let mut current = rules.propose(segment(tokens, 0, &starts, 0));
    for (number, start) in starts.iter().enumerate() {
        let next = rules.propose(segment(tokens, start.words, &starts, number + 1));
        let Some(next) = next.filter(|next| !next.is_imperative()) else { continue };
        let from = cuts.last().map_or(0, |cut| cut.words.start);
        if current.is_none() && next.strength != Strength::Sure {
            // "On my list, I need cleaning added."
            let whole = rules.propose(segment(tokens, from, &starts, number + 1));
            if whole.as_ref().is_some_and(|whole| whole.strength == Strength::Sure) {
                current = whole;
                continue;
            }
        }
        let before = tokens.get(from..start.joiner).unwrap_or_default();
        if !begins_a_clause(current.as_ref(), before, &next, start.after, rules) {
            continue;
        }
        if let Some(last) = cuts.last_mut() {
            last.words.end = start.joiner;
        }
        cuts.push(ClauseCut {
            words: start.words..tokens.len(),
            judged_from: if current.is_none() { from } else { start.words },
            is_repetition: current.as_ref().is_some_and(|current| repeats(&next, current)),
        });
        current = Some(next);
    }
    clauses_of(cuts, tokens, rules)
}

/// Returns whether a clause says no more than the one before it.
fn repeats(next: &Proposal, current: &Proposal) -> bool {
    next.intent == current.intent && current.intent.is_change() && (next.rest.is_empty() || next.is_about_the_same)
}

fn clauses_of(cuts: Vec<ClauseCut>, tokens: &[MessageToken], rules: &IntentRules) -> Vec<MessageClause> {
    let several = cuts.len() > 1;
    let mut clauses: Vec<MessageClause> = Vec::with_capacity(cuts.len());
    for ClauseCut { words, judged_from, is_repetition } in cuts {
        let proposal = rules.propose(tokens.get(words.clone()).unwrap_or_default());
        let repeated = clauses.last_mut().filter(|_| is_repetition).and_then(|before| before.proposal.as_mut());
        match (repeated, &proposal) {
            (Some(before), Some(again)) => before.strength = before.strength.min(again.strength),
            _ => clauses.push(MessageClause { words, proposal, judged_from }),
        }
    }
    if several {
        keep_what_wants_something(&mut clauses, tokens.len());
    }
    clauses
}

/// Drops greetings, reasons and conditions beside clauses that want something.
fn keep_what_wants_something(clauses: &mut Vec<MessageClause>, length: usize) {
    let wants = |clause: &MessageClause| clause.proposal.as_ref().is_some_and(Proposal::wants_something);
    if clauses.iter().any(wants) {
        clauses.retain(wants);
        return;
    }
    let intent = |clause: &MessageClause| clause.proposal.as_ref().map(|proposal| proposal.intent);
    let is_question = |clause: &MessageClause| intent(clause) == Some(Intent::Help);
    let is_known = |clause: &MessageClause| intent(clause).is_some();
    let best = clauses.iter().position(is_question).or_else(|| clauses.iter().position(is_known)).unwrap_or(0);
    if let Some(mut kept) = clauses.get(best).cloned() {
        if kept.proposal.is_none() {
            kept.words = 0..length;
            kept.judged_from = 0;
        }
        *clauses = vec![kept];
    }
}

/// Returns the words from `from` to the next place where a clause may begin.
fn segment<'a>(tokens: &'a [MessageToken], from: usize, starts: &[ClauseStart], next: usize) -> &'a [MessageToken] {
    let end = starts.get(next).map_or(tokens.len(), |start| start.joiner);
    tokens.get(from..end.max(from)).unwrap_or_default()
}

fn possible_starts(tokens: &[MessageToken], rules: &IntentRules) -> Vec<ClauseStart> {
    let mut starts: Vec<ClauseStart> = Vec::new();
    for (at, token) in tokens.iter().enumerate().skip(1) {
        if token.is_quoted || starts.last().is_some_and(|last| at < last.words) {
            continue;
        }
        let joiner = rules.joiner_length(tokens.get(at..).unwrap_or_default());
        let is_joined = rules.is_joined_verb(token);
        let begins = joiner > 0 || token.break_before > WordBreak::Nothing || is_joined;
        if begins && at + joiner < tokens.len() {
            starts.push(ClauseStart { joiner: at, words: at + joiner, after: token.break_before });
        }
    }
    starts
}

/// Returns whether the next words are a clause of their own, and no part of a title before them.
fn begins_a_clause(
    current: Option<&Proposal>,
    before: &[MessageToken],
    next: &Proposal,
    after: WordBreak,
    rules: &IntentRules,
) -> bool {
    let says_what = !next.rest.is_empty();
    if !says_what && after == WordBreak::Nothing {
        return false;
    }
    let Some(current) = current else { return true };
    if repeats(next, current) {
        return true;
    }
    if current.intent == Intent::Update && next.intent == Intent::Update {
        // "... and add a description": one change of one task.
        return after == WordBreak::Sentence;
    }
    if !current.intent.is_change() || after == WordBreak::Sentence {
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
