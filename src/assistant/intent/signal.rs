//! What the learned weights see of a clause: its words, two and three of them in a row, how they begin, and cues.

use super::{
    pattern::without_any_prefix,
    rules::{IntentRules, Proposal, Strength},
    token::MessageToken,
};
use crate::reading::Signal;

/// Every number is this word.
const NUMBER: &str = "#";
const QUESTION: &str = "?";
/// How many letters of a word are a signal of their own, so that its other forms are known by them.
const STEM: usize = 4;
/// Classes that are cues wherever they occur.
const NOTICED: [&str; 6] = ["task", "list", "ref", "done", "status", "elsewhere"];

/// What the weights judge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged<'a> {
    /// The words of the clause, and those before it that belong to no other.
    pub(super) words: &'a [MessageToken],
    /// The words of the clause.
    pub(super) clause: &'a [MessageToken],
    pub(super) proposal: Option<&'a Proposal>,
}

/// Gives every signal of a clause to `take`. One may come more than once; it counts once.
pub(super) fn emit_signals<'a>(judged: Judged<'a>, rules: &IntentRules, take: &mut dyn FnMut(Signal<'a>)) {
    let Judged { words: tokens, clause, proposal } = judged;
    emit_words(tokens, take);
    for class in NOTICED {
        if rules.classes().occurs(class, tokens) {
            take(Signal::Cue(class));
        }
    }
    take(Signal::Cue(match tokens.len() {
        0..=1 => "one_word",
        2..=3 => "few_words",
        4..=8 => "some_words",
        9..=16 => "many_words",
        _ => "very_many_words",
    }));
    let Some(proposal) = proposal else { return take(Signal::Cue("nothing_proposed")) };
    take(Signal::Cue(proposal.intent.as_str()));
    take(Signal::Cue(match proposal.strength {
        Strength::Sure => "sure",
        Strength::Plain => "plain",
        Strength::Bare | Strength::Lone => "bare",
    }));
    take(Signal::Cue(match proposal.rest.len() {
        0 => "no_rest",
        1 => "rest_of_one_word",
        2..=5 => "short_rest",
        _ => "long_rest",
    }));
    if rules.classes().occurs("elsewhere", tokens) {
        take(Signal::Pair(proposal.intent.as_str(), "elsewhere"));
    }
    let rest = clause.get(proposal.rest.clone()).unwrap_or_default();
    if proposal.is_imperative() || rules.classes().ends("chore", rest).next().is_some() {
        take(Signal::Pair(proposal.intent.as_str(), "chore"));
    }
    if let Some(first) = clause.get(proposal.trigger.start) {
        take(Signal::Pair(proposal.intent.as_str(), &first.text));
    }
}

fn emit_words<'a>(tokens: &'a [MessageToken], take: &mut dyn FnMut(Signal<'a>)) {
    let (mut before, mut last) = ("", "^");
    let words = tokens.iter().flat_map(|token| {
        let word = if token.is_number { NUMBER } else { token.text.as_str() };
        [Some(word), token.ends_question.then_some(QUESTION)]
    });
    for word in words.flatten().chain(["$"]) {
        if word != "$" {
            take(Signal::Word(word));
            emit_parts(word, take);
        }
        take(Signal::Pair(last, word));
        if !before.is_empty() {
            take(Signal::Three(before, last, word));
        }
        (before, last) = (last, word);
    }
}

fn emit_parts<'a>(word: &'a str, take: &mut dyn FnMut(Signal<'a>)) {
    let stem = |word: &'a str| word.char_indices().nth(STEM).and_then(|(end, _)| word.get(..end));
    if let Some(stem) = stem(word) {
        take(Signal::Stem(stem));
    }
    if let Some(bare) = without_any_prefix(word) {
        take(Signal::Word(bare));
        if let Some(stem) = stem(bare) {
            take(Signal::Stem(stem));
        }
    }
}
