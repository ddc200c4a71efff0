//! Which sentences of a mail are its requests, and which of them say the same thing.
//!
//! Owns the count of tasks. When in doubt two sentences are one request: a task too many costs more trust than a long one.

use std::collections::HashSet;

use crate::model::reading::Asked;
use crate::reading::{
    conversation::{content_words, says},
    lexicon::{Feature, Lexicon, WordList},
    mail::{annotated_mail::AnnotatedMail, stakes::stakes_of},
    sentence::{
        clause::{Clause, ClauseKind, extract_clause},
        score::{ScoredSentence, THRESHOLD, logistic},
        text::words,
    },
    task::asked::find_asked,
};

/// More requests in one mail are one piece of work with many parts.
pub(in crate::reading) const MAX_TASKS_PER_MAIL: usize = 5;

/// The sentences that ask for clearly different things, in the order of the mail.
pub(in crate::reading) fn find_distinct_requests<'p, 'a>(
    annotated: &'p AnnotatedMail<'a>,
    lean: f64,
) -> Vec<&'p ScoredSentence<'a>> {
    let asks = |scored: &&ScoredSentence<'_>| {
        logistic(annotated.request_logit(scored, lean)) >= THRESHOLD
            && !annotated.is_courtesy(scored)
            && !annotated.asks_others(scored)
            && annotated.may_ask_person(scored)
            && (annotated.is_one_sentence()
                || scored.sentence.words().nth(1).is_some()
                || scored.has(Feature::Question))
    };
    let items = annotated.sentences.iter().filter(asks).any(|scored| scored.sentence.is_list_item);
    // "Could you do the following:" is the frame of a list, not one of its requests.
    let asking: Vec<&ScoredSentence<'a>> = annotated
        .sentences
        .iter()
        .filter(asks)
        .filter(|scored| !(items && scored.sentence.raw.ends_with(':')))
        .collect();
    let requests: Vec<RequestSentence<'p, 'a>> =
        asking.iter().map(|scored| RequestSentence::new(scored, annotated)).collect();
    let acts = requests.iter().filter(|request| request.is_plain_act()).count();
    let strength =
        |request: &RequestSentence<'_, '_>| annotated.request_logit(request.scored, lean) + request.weigh_as_main(acts);
    // Of two that are equally strong the first counts.
    let stronger = |(_, a): &(usize, &RequestSentence<'_, '_>), (_, b): &(usize, &RequestSentence<'_, '_>)| {
        strength(a).total_cmp(&strength(b)).then(std::cmp::Ordering::Greater)
    };
    let Some((first, _)) = requests.iter().enumerate().max_by(stronger) else { return Vec::new() };
    // "We need the reading. Please send it by Friday.": the sentence that names the thing says more.
    let named = first.checked_sub(1).filter(|before| {
        let pair = requests.get(first).zip(requests.get(*before));
        pair.is_some_and(|(best, before)| {
            let names = !before.points_back && before.clause_kind != ClauseKind::Whole;
            best.points_back && names && before.is_just_before(best)
        })
    });
    let first = named.unwrap_or(first);
    let mut requests: Vec<Option<RequestSentence<'p, 'a>>> = requests.into_iter().map(Some).collect();
    let mut chosen: Vec<RequestSentence<'p, 'a>> = requests.get_mut(first).and_then(Option::take).into_iter().collect();
    for request in requests.into_iter().flatten() {
        if chosen.len() == MAX_TASKS_PER_MAIL {
            break;
        }
        if !is_separate_request(request.scored) {
            continue;
        }
        if chosen.iter().all(|other| request.differs(other)) {
            chosen.push(request);
        }
    }
    // What could only be quoted whole stands back behind what can be said in a sentence.
    if chosen.iter().any(|request| request.clause_kind != ClauseKind::Whole) {
        chosen.retain(|request| request.clause_kind != ClauseKind::Whole);
    }
    drop_empty_requests(annotated, &mut chosen);
    let is_chosen = |scored: &&ScoredSentence<'_>| chosen.iter().any(|request| std::ptr::eq(*scored, request.scored));
    annotated.sentences.iter().filter(is_chosen).collect()
}

/// Drops a request that names nothing of its own and stands beside one that does: "Could I pay in parts? Just tell me if
/// that is ok."
fn drop_empty_requests(annotated: &AnnotatedMail<'_>, chosen: &mut Vec<RequestSentence<'_, '_>>) {
    const NEARBY: usize = 2;
    let place = |request: &RequestSentence<'_, '_>| {
        annotated.sentences.iter().position(|scored| std::ptr::eq(scored, request.scored)).unwrap_or_default()
    };
    let full: Vec<usize> = chosen.iter().filter(|request| !request.is_empty()).map(place).collect();
    chosen.retain(|request| !request.is_empty() || full.iter().all(|other| other.abs_diff(place(request)) > NEARBY));
}

/// Asks outright, for itself: what is said on a condition, hands something over or says what happens otherwise belongs
/// to another request.
fn is_separate_request(scored: &ScoredSentence<'_>) -> bool {
    let openings = Lexicon::of(scored.sentence.language).words(WordList::ElseOpenings);
    let opens = |opening: &String| {
        scored
            .sentence
            .normalised
            .strip_prefix(opening.as_str())
            .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    scored.asks_outright()
        && !scored.features.has_any(&[Feature::Conditional, Feature::HandsOver])
        && !openings.iter().any(opens)
}

/// A sentence that asks, with the words it asks in: taken out once, however many it is compared with.
struct RequestSentence<'p, 'a> {
    scored: &'p ScoredSentence<'a>,
    /// Which sentence of the mail it is.
    index: usize,
    clause_kind: ClauseKind,
    verb: String,
    /// What is to be done is done with "it" or "them": something that another sentence names.
    points_back: bool,
    /// It only wants to hear whether something is so or suits: the other requests of the mail say what.
    is_confirmation: bool,
    clause_text: String,
    words: Vec<String>,
    /// The same, to be looked for.
    word_set: HashSet<String>,
}

impl<'p, 'a> RequestSentence<'p, 'a> {
    fn new(scored: &'p ScoredSentence<'a>, annotated: &AnnotatedMail<'_>) -> Self {
        let index = annotated.sentences.iter().position(|other| std::ptr::eq(other, scored)).unwrap_or_default();
        let clause = extract_clause(scored);
        let words = content_words(&clause.text);
        // "The MOT runs out on the 18th, can you book it in?" names its thing itself.
        let names_own = scored.sentence.words().count() >= words_of(&clause.text) + OWN_WORDS;
        let points_back = clause.points_back(scored.sentence.language) && !names_own;
        let is_confirmation = is_confirmation(&clause) || wishes_answer(scored);
        Self {
            scored,
            index,
            clause_kind: clause.kind,
            clause_text: clause.text,
            points_back,
            is_confirmation,
            word_set: words.iter().cloned().collect(),
            words,
            verb: clause.verb,
        }
    }

    /// Whether the other one is the next sentence of the mail.
    fn is_just_before(&self, other: &RequestSentence<'_, '_>) -> bool {
        self.index + 1 == other.index
    }

    /// Whether it names nothing to do or to tell: "let me know whether this works".
    fn is_empty(&self) -> bool {
        let lexicon = Lexicon::of(self.scored.sentence.language);
        let says_nothing = |word: &String| {
            lexicon.has_word(WordList::EmptyRequests, word)
                || lexicon.is_verb(word)
                || lexicon.has_word(WordList::ActVerbs, word)
                || lexicon.has_word(WordList::AnswerVerbs, word)
        };
        let mut said = self.scored.sentence.words();
        let points_back = said.any(|word| lexicon.has_word(WordList::EmptyRequests, word));
        points_back && content_words(&self.clause_text).iter().all(says_nothing)
    }

    /// Whether it asks outright for an act and says for which.
    fn is_plain_act(&self) -> bool {
        self.scored.asks_outright()
            && matches!(self.clause_kind, ClauseKind::Act | ClauseKind::Give)
            && !self.is_confirmation
            && !self.is_empty()
            && self.words.len() >= 2
    }

    /// How much it looks like what the mail was written for, beside how much it asks. `acts`: how often the mail asks
    /// outright for something to be done.
    fn weigh_as_main(&self, acts: usize) -> f64 {
        let has_act = acts > 0;
        let has_other_act = acts > usize::from(self.is_plain_act());
        let proposes =
            self.scored.logit_meets > 0.0 || self.scored.features.has_any(&[Feature::Meeting, Feature::Proposes]);
        let parts = [
            (self.scored.asks_outright(), 0.5),
            // Beside another request, a wish for an answer or a receipt says nothing of its own.
            (wishes_answer(self.scored) || find_asked(self.scored, true) == Some(Asked::Receipt), -3.0),
            (has_act && self.is_empty() && !proposes, -1.5),
            (has_act && self.clause_kind == ClauseKind::Answer && !proposes, -1.0),
            (has_act && self.clause_kind == ClauseKind::Whole && !proposes, -1.0),
            (has_act && self.clause_kind == ClauseKind::Tell, -0.5),
            (self.is_plain_act() && self.scored.features.has_any(&[Feature::Due, Feature::SameDay]), 0.8),
            (has_act && self.scored.has(Feature::Conditional), -1.0),
            // "Please also bring …", "remember to …" goes with what was asked before.
            (has_other_act && says(self.scored, WordList::Additions), -1.0),
            // "If we do not have it by then, we will ask you to repay": what happens otherwise.
            (has_other_act && stakes_of(self.scored).is_some() && self.scored.has(Feature::Conditional), -1.5),
        ];
        parts.iter().filter(|(holds, _)| *holds).map(|(_, weight)| weight).sum()
    }

    /// Its words are its own. When in doubt it is the same request said twice.
    fn differs(&self, other: &RequestSentence<'_, '_>) -> bool {
        let both_meet = self.scored.has(Feature::Meeting) && other.scored.has(Feature::Meeting);
        let shared = self.words.iter().filter(|word| other.word_set.contains(*word)).count();
        let few = self.words.len().min(other.words.len()).max(1);
        let is_listed = self.scored.sentence.is_list_item && other.scored.sentence.is_list_item;
        let points_at_other =
            self.points_back || (other.points_back && (self.is_just_before(other) || other.is_just_before(self)));
        let is_repeated = !is_listed && (self.verb == other.verb || points_at_other);
        let is_act = !self.is_confirmation && !matches!(self.clause_kind, ClauseKind::Tell | ClauseKind::Answer);
        !both_meet && !is_repeated && is_act && self.words.len() >= 2 && shared * 5 < few * 2
    }
}

/// A sentence with so many words beside its request may name what "it" is.
const OWN_WORDS: usize = 7;

fn words_of(text: &str) -> usize {
    words(text).count()
}

/// "A short answer would help".
fn wishes_answer(scored: &ScoredSentence<'_>) -> bool {
    let wishes = Lexicon::of(scored.sentence.language).words(WordList::AnswerWishes);
    wishes.iter().any(|wish| scored.sentence.normalised.contains(wish.as_str()))
}

/// "Tell me whether this works for you".
fn is_confirmation(clause: &Clause) -> bool {
    let lower = clause.text.to_lowercase();
    words(&lower).take(5).any(|word| matches!(word, "whether" | "if" | "ob" | "אם" | "האם"))
}
