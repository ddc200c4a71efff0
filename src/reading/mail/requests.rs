//! Which sentences of a mail are its requests, and which of them say the same thing.
//!
//! Owns the count of tasks. When in doubt two sentences are one request: a task too many costs more trust than a long one.

use std::collections::HashSet;

use crate::model::reading::Asked;
use crate::reading::{
    conversation::{content_words, says},
    language::Language,
    lexicon::{Feature, Lexicon, WordList},
    mail::{annotated_mail::AnnotatedMail, stakes::stakes_of},
    sentence::{
        clause::{Clause, ClauseKind, extract_clause},
        score::{ScoredSentence, THRESHOLD, logistic},
        text::words,
    },
    task::{asked::find_asked, topic::points_at_matter},
};

/// More requests in one mail are one piece of work with many parts.
pub(in crate::reading) const MAX_TASKS_PER_MAIL: usize = 5;

/// The sentences that ask for clearly different things, in the order of the mail.
pub(in crate::reading) fn find_distinct_requests<'p, 'a>(
    annotated: &'p AnnotatedMail<'a>,
    lean: f64,
) -> Vec<&'p ScoredSentence<'a>> {
    let asking = find_asking_sentences(annotated, lean);
    if let [only] = asking.as_slice() {
        return vec![only];
    }
    let requests: Vec<RequestSentence<'p, 'a>> =
        asking.iter().map(|scored| RequestSentence::new(scored, annotated)).collect();
    let company = Company::of(&requests);
    let strengths = requests
        .iter()
        .map(|request| annotated.request_logit(request.scored, lean) + request.weigh_as_main(&company))
        .enumerate();
    // Of two that are equally strong the first counts.
    let Some((first, _)) = strengths.max_by(|(_, a), (_, b)| a.total_cmp(b).then(std::cmp::Ordering::Greater)) else {
        return Vec::new();
    };
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
    let has_wording = chosen.iter().any(|request| request.clause_kind != ClauseKind::Whole);
    let has_answer = chosen.iter().any(|request| matches!(request.clause_kind, ClauseKind::Tell | ClauseKind::Answer));
    if has_wording {
        chosen.retain(|request| request.clause_kind != ClauseKind::Whole || (request.asks_to_meet() && !has_answer));
    }
    drop_empty_requests(annotated, &mut chosen);
    let is_chosen = |scored: &&ScoredSentence<'_>| chosen.iter().any(|request| std::ptr::eq(*scored, request.scored));
    annotated.sentences.iter().filter(is_chosen).collect()
}

/// The sentences that ask the reader for something, in the order of the mail.
fn find_asking_sentences<'p, 'a>(annotated: &'p AnnotatedMail<'a>, lean: f64) -> Vec<&'p ScoredSentence<'a>> {
    let for_others = annotated.sentences_for_others_on_list();
    let asks = |(at, scored): &(usize, &ScoredSentence<'_>)| {
        logistic(annotated.request_logit(scored, lean)) >= THRESHOLD
            && !annotated.is_courtesy(scored)
            && !annotated.asks_others(scored)
            && annotated.may_ask_person(scored)
            && !for_others.contains(at)
            && !tells_own_plan(scored, annotated)
            && !is_table(scored.sentence.raw)
            && (annotated.is_one_sentence()
                || scored.sentence.words().nth(1).is_some()
                || scored.has(Feature::Question))
    };
    let asking: Vec<(usize, &ScoredSentence<'a>)> = annotated.sentences.iter().enumerate().filter(asks).collect();
    let has_items = asking.iter().any(|(_, scored)| scored.sentence.is_list_item);
    // What stands in a forwarded mail was asked of the sender, if the sender says in so many words what they want.
    let is_own = |at: usize| !annotated.is_forwarded(at);
    let has_own = asking.iter().any(|(at, scored)| is_own(*at) && scored.asks_outright());
    // "Could you do the following:" is the frame of a list, not one of its requests.
    let is_frame = |scored: &ScoredSentence<'_>| has_items && scored.sentence.raw.ends_with(':');
    let kept = asking.into_iter().filter(|(at, scored)| (!has_own || is_own(*at)) && !is_frame(scored));
    kept.map(|(_, scored)| scored).collect()
}

/// "I've put it in the calendar and I'll take the train": what the writer does is no request, if other sentences stand
/// around it.
fn tells_own_plan(scored: &ScoredSentence<'_>, annotated: &AnnotatedMail<'_>) -> bool {
    !annotated.is_one_sentence() && scored.has(Feature::Commits) && !scored.has_request_words()
}

/// Whether a line draws a table or a rule rather than saying something.
pub(in crate::reading) fn is_table(raw: &str) -> bool {
    const MOST_RULES: usize = 4;
    raw.matches("--").count() > MOST_RULES
}

/// The requests of a mail together: what one of them is worth depends on the others.
struct Company {
    /// How often the mail asks outright for something to be done.
    acts: usize,
    /// How many of them are more than a sentence to be quoted.
    wordings: usize,
    /// One of them asks to meet.
    has_meeting: bool,
    questions: usize,
    count: usize,
}

impl Company {
    fn of(requests: &[RequestSentence<'_, '_>]) -> Self {
        let has_wording = |request: &RequestSentence<'_, '_>| {
            request.clause_kind != ClauseKind::Whole && !request.is_empty() && !wishes_answer(request.scored)
        };
        Self {
            acts: requests.iter().filter(|request| request.is_plain_act()).count(),
            wordings: requests.iter().filter(|request| has_wording(request)).count(),
            count: requests.len(),
            has_meeting: requests.iter().any(RequestSentence::asks_to_meet),
            questions: requests.iter().filter(|request| request.clause_kind == ClauseKind::Answer).count(),
        }
    }
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
        if self.scored.has(Feature::Meeting) {
            return false;
        }
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

    /// Whether it could only be quoted, and neither asks nor proposes.
    fn is_statement(&self) -> bool {
        let features = self.scored.features;
        use Feature::{AsksYou, Hopes, Imperative, ImperativeLater, LetMeKnow, Please, Proposes, Question};
        let proposes = features.has(Proposes) && self.scored.logit_meets > 0.0;
        // "I'd like two hours when the sun is round" says what the writer wants, and nothing of the reader.
        let hopes =
            features.has(Hopes) && (self.scored.sentence.language != Language::English || features.has(Feature::ToYou));
        self.clause_kind == ClauseKind::Whole
            && !proposes
            && !hopes
            && !features.has_any(&[AsksYou, Imperative, ImperativeLater, LetMeKnow, Please, Question])
            && !self.asks_to_meet()
    }

    fn tells_of_harm(&self) -> bool {
        stakes_of(self.scored).is_some() || self.scored.features.has_any(&[Feature::Consequence, Feature::Harm])
    }

    /// Whether it begins with the word that only goes on.
    fn goes_on(&self) -> bool {
        let first = self.scored.sentence.words().next().unwrap_or_default();
        matches!(first, "and" | "also" | "und" | "auch") || (first.starts_with('ו') && first.chars().count() > 3)
    }

    fn points_at_matter(&self) -> bool {
        points_at_matter(self.scored.sentence.raw, self.scored.sentence.language)
    }

    fn is_long(&self) -> bool {
        const SHORT_QUESTION: usize = 20;
        self.scored.sentence.words().count() > SHORT_QUESTION
    }

    /// Whether it asks the reader to meet, and is no order to prepare that.
    fn asks_to_meet(&self) -> bool {
        let proposes = self.scored.features.has_any(&[Feature::Question, Feature::Proposes, Feature::Hopes]);
        let is_meeting = self.scored.logit_meets > 0.0
            && (self.scored.has(Feature::Meeting) || says(self.scored, WordList::Suiting));
        proposes && is_meeting && !says(self.scored, WordList::Additions)
    }

    /// How much it looks like what the mail was written for, beside how much it asks.
    fn weigh_as_main(&self, company: &Company) -> f64 {
        let has_act = company.acts > 0;
        let has_other_act = company.acts > usize::from(self.is_plain_act());
        let proposes =
            self.scored.logit_meets > 0.0 || self.scored.features.has_any(&[Feature::Meeting, Feature::Proposes]);
        let has_other_meeting = company.has_meeting && !self.asks_to_meet();
        let parts = [
            (company.has_meeting && self.asks_to_meet(), 1.0),
            (self.clause_kind == ClauseKind::Answer && self.scored.has(Feature::AsksWhen), 0.5),
            (self.scored.asks_outright(), 0.5),
            // Beside another request, a wish for an answer or a receipt says nothing of its own.
            (wishes_answer(self.scored) || find_asked(self.scored, true) == Some(Asked::Receipt), -3.0),
            (has_act && self.is_empty() && !proposes, -1.5),
            (has_act && self.clause_kind == ClauseKind::Answer && !proposes, -1.0),
            // A statement says less than a request in so many words.
            (company.wordings > 0 && self.is_statement(), if self.scored.has(Feature::Needs) { -1.0 } else { -2.0 }),
            (company.wordings > 0 && self.is_statement() && self.points_at_matter(), -1.0),
            // What happens otherwise, and what opens a list, say less than what is wanted.
            (company.count > 1 && self.is_statement() && self.tells_of_harm(), -1.5),
            (company.count > 1 && self.scored.sentence.raw.trim_end().ends_with(':'), -0.7),
            // "And tell me what it costs" goes with what was asked before.
            (company.count > 1 && self.goes_on(), -1.2),
            // The question is short; what it weighs is said behind it.
            (company.questions > 1 && self.clause_kind == ClauseKind::Answer && self.is_long(), -1.5),
            (has_act && self.clause_kind == ClauseKind::Tell, -0.5),
            (self.is_plain_act() && self.scored.features.has_any(&[Feature::Due, Feature::SameDay]), 0.8),
            (has_act && self.scored.has(Feature::Conditional), -1.0),
            // "Please also bring …", "remember to …" goes with what was asked before.
            (
                (has_other_act || has_other_meeting || company.wordings > 1) && says(self.scored, WordList::Additions),
                -1.0,
            ),
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
        // "Kindly confirm whether you want original papers" says enough to stand alone.
        let confirms = Lexicon::of(self.scored.sentence.language).has_word(WordList::ConfirmVerbs, &self.verb);
        let is_full = confirms && self.clause_kind == ClauseKind::Act && self.words.len() >= FULL_CONFIRMATION;
        let is_act = (!self.is_confirmation || is_full)
            && !matches!(self.clause_kind, ClauseKind::Tell | ClauseKind::Answer)
            && (is_listed || !self.is_statement());
        !both_meet && !is_repeated && is_act && self.words.len() >= 2 && shared * 5 < few * 2
    }
}

/// A confirmation with so many words of its own is a request beside others.
const FULL_CONFIRMATION: usize = 4;

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
