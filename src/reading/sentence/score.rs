//! How much a sentence asks for something: named features with hand-made weights, and four learned questions.
//!
//! Owns the numbers. The same function scores a lone sentence, a sentence of a mail and the evaluation sets. The second
//! reader may move the numbers afterwards.

use std::cell::OnceCell;

use crate::date::{self, DueDate, ReferenceTime};
use crate::model::SentenceScores;
use crate::reading::{
    learned::{Head, SentenceLogits, SentenceWeights, emit_sentence_signals, weigh_sentence, weight_table},
    lexicon::{Feature, FeatureSet, Lexicon, PhraseMatch, WordList, find_phrases},
    sentence::{
        imperative::{find_imperative, parse_assignment},
        text::{Sentence, words},
    },
};

/// From here on something is asked.
pub(in crate::reading) const THRESHOLD: f64 = 0.5;

/// A sentence with what was seen in it.
#[derive(Debug, Clone)]
pub(in crate::reading) struct ScoredSentence<'a> {
    pub(in crate::reading) sentence: Sentence<'a>,
    pub(in crate::reading) phrase_matches: Vec<PhraseMatch>,
    pub(in crate::reading) weights: SentenceWeights,
    pub(in crate::reading) features: FeatureSet,
    /// Where the order starts, when the sentence is one.
    pub(super) imperative_at: Option<usize>,
    /// A point of a list that names someone else to do it.
    pub(in crate::reading) is_assigned_to_others: bool,
    /// The sum of the hand-made weights.
    pub(in crate::reading) hand_sum: f64,
    /// Whether it holds a request, a proposal or a commitment, judged alone, before the logistic.
    pub(in crate::reading) logit_alone: f64,
    /// Whether it asks the reader of its mail for something, before the logistic.
    pub(in crate::reading) logit_in_mail: f64,
    /// Whether it proposes, arranges, moves or cancels a meeting, before the logistic.
    pub(in crate::reading) logit_meets: f64,
    /// Whether it asks somebody else than the reader, before the logistic.
    pub(in crate::reading) logit_others: f64,
    pub(in crate::reading) score: f64,
    /// What the second reader said, when it was asked.
    second_reading: Option<SentenceScores>,
    /// It is meant for a program that reads the mail, and asks nothing of the person.
    pub(in crate::reading) is_for_program: bool,
    due_date: OnceCell<Option<DueDate>>,
}

/// The lowest that the second reader's logit counts in a mail, for a sentence with the words or forms of a request.
const LEAST_FOR_REQUEST_WORDS: f64 = 0.0;

pub(in crate::reading) fn logistic(sum: f64) -> f64 {
    1.0 / (1.0 + (-sum).exp())
}

impl ScoredSentence<'_> {
    /// The time it names. One mail has one base.
    pub(in crate::reading) fn due_date(&self, base: &ReferenceTime<'_>) -> Option<&DueDate> {
        self.due_date.get_or_init(|| date::find_due_date(&self.sentence.normalised, base)).as_ref()
    }

    pub(in crate::reading) fn has(&self, feature: Feature) -> bool {
        self.features.has(feature)
    }

    pub(in crate::reading) fn asks(&self) -> bool {
        self.score >= THRESHOLD && !self.is_courtesy()
    }

    /// Whether it asks somebody else than the reader.
    pub(in crate::reading) fn asks_others(&self) -> bool {
        self.is_assigned_to_others || (self.logit_others > 0.0 && !self.has(Feature::NamesYou))
    }

    /// Made of the words of requests, and asks for nothing: "let me know if you have any questions".
    pub(in crate::reading) fn is_courtesy(&self) -> bool {
        // What a company would like to be told about itself is no work of the reader's.
        if self.has(Feature::Survey) && !self.features.has_any(&[Feature::AsksYou, Feature::Due, Feature::Deadline]) {
            return true;
        }
        use Feature::{AsksYou, Boilerplate, HandsOver, LetMeKnow, Needs, NoAction, Question};
        self.features.has_any(&[Boilerplate, NoAction, HandsOver])
            && !self.features.has_any(&[Question, AsksYou, LetMeKnow, Needs])
            && self.hand_sum < 0.0
    }

    /// Moves the logits towards what the second reader says. What asks in so many words is doubted, but not denied.
    pub(in crate::reading) fn hear_second_reader(&mut self, scores: SentenceScores, share: f64) {
        // Whether it asks at all steadies whether it asks the reader.
        let asks = f64::midpoint(scores.asks, scores.task);
        let asks = if self.has_request_words() { asks.max(LEAST_FOR_REQUEST_WORDS) } else { asks };
        for (logit, said) in [
            (&mut self.logit_alone, scores.task),
            (&mut self.logit_in_mail, asks),
            (&mut self.logit_meets, scores.meets),
        ] {
            *logit = (1.0 - share) * *logit + share * said;
        }
        self.second_reading = Some(scores);
        self.score = logistic(self.logit_in_mail);
    }

    /// Whether it has a word or a form that requests are made with.
    pub(in crate::reading) fn has_request_words(&self) -> bool {
        use Feature::{AsksYou, Deadline, Due, Hopes, Imperative, ImperativeLater, Invoice, LetMeKnow};
        use Feature::{Mentions, Needs, Obliges, Please, Proposes, Question};
        self.features.has_any(&[AsksYou, Deadline, Due, Hopes, Imperative, ImperativeLater, Invoice, LetMeKnow])
            || self.features.has_any(&[Mentions, Needs, Obliges, Please, Proposes, Question])
    }

    /// Asks in so many words, not only by being a question or a hope.
    pub(in crate::reading) fn asks_outright(&self) -> bool {
        use Feature::{AsksYou, Imperative, ImperativeLater, Needs, Please};
        self.asks() && self.features.has_any(&[AsksYou, Imperative, ImperativeLater, Needs, Please])
    }

    /// What spoke for it, the loudest first, for the reason.
    pub(in crate::reading) fn strongest_signals(&self) -> Vec<String> {
        const MOST: usize = 5;
        const LOUD: f64 = 0.1;
        let table = weight_table();
        let [hand, ..] = table.hand_factors();
        let mut for_it: Vec<(f64, String)> = Vec::new();
        let features = self.features.iter().filter(|feature| *feature != Feature::Always);
        for_it.extend(features.map(|feature| {
            let [asks, ..] = table.feature_weights(feature);
            (feature.hand_weight() * hand + asks, feature.as_str().to_owned())
        }));
        for_it.retain(|(weight, _)| *weight > LOUD);
        emit_sentence_signals(&self.sentence, |signal| {
            let weight = table.weight(&signal, Head::Asks);
            if weight > LOUD {
                for_it.push((weight, signal.describe()));
            }
        });
        for_it.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut names: Vec<String> = for_it.into_iter().map(|(_, name)| name).collect();
        names.dedup();
        names.truncate(MOST);
        if let Some(second) = self.second_reading.filter(|second| second.asks > 0.0 || second.task > 0.0) {
            names.push(format!("second reader {:+.1}", second.asks.max(second.task)));
        }
        names
    }
}

/// Scores one sentence. `names` are the person's own, plain.
pub(in crate::reading) fn score_sentence<'a>(sentence: Sentence<'a>, names: &[String]) -> ScoredSentence<'a> {
    let mut hits = find_phrases(&sentence.normalised, sentence.language);
    drop_hurry_in_statements(&mut hits);
    hits.retain(|hit| !is_cancelled_by_context(&sentence, hit) && !is_reported_speech(&sentence.normalised, hit));
    let mut features = FeatureSet::default();
    features.insert(Feature::Always);
    for hit in &hits {
        features.insert(hit.feature);
    }
    let imperative_at = find_imperative(&sentence, &hits, &mut features);
    adjust_features(&sentence, names, &mut features);
    let hand: f64 = features.iter().map(Feature::hand_weight).sum();
    let for_others =
        parse_assignment(&sentence).is_some_and(|(who, _)| !names.iter().any(|name| name == who)) && !names.is_empty();
    let walk = weigh_sentence(&sentence.normalised);
    let [in_mail, alone, meets, others] = compute_logits(&walk, features, hand);
    let (score, due) = (logistic(in_mail), OnceCell::new());
    ScoredSentence {
        sentence,
        phrase_matches: hits,
        weights: walk,
        features,
        imperative_at,
        is_assigned_to_others: for_others,
        hand_sum: hand,
        logit_alone: alone,
        logit_in_mail: in_mail,
        logit_meets: meets,
        logit_others: others,
        score,
        second_reading: None,
        is_for_program: false,
        due_date: due,
    }
}

/// Adds up what was learned: the words, the features, and the hand-made sum. Every language has the same table, for its
/// words are its own.
fn compute_logits(walk: &SentenceWeights, features: FeatureSet, hand: f64) -> SentenceLogits {
    let table = weight_table();
    let mut logits = table.sentence_biases();
    let shown = features.iter().map(|feature| table.feature_weights(feature));
    for (at, logit) in logits.iter_mut().enumerate() {
        let value = |row: &SentenceLogits| row.get(at).copied().unwrap_or_default();
        *logit +=
            hand * value(&table.hand_factors()) + value(&walk.sums) + shown.clone().map(|row| value(&row)).sum::<f64>();
    }
    logits
}

/// "Effective immediately", "ab sofort": what is stated from now on is in no hurry.
fn drop_hurry_in_statements(hits: &mut Vec<PhraseMatch>) {
    let stated: Vec<(usize, usize)> =
        hits.iter().filter(|hit| hit.feature == Feature::Stated).map(|hit| (hit.start, hit.end)).collect();
    let is_inside = |hit: &PhraseMatch| stated.iter().any(|(start, end)| *start <= hit.start && hit.end <= *end);
    hits.retain(|hit| !matches!(hit.feature, Feature::Urgent | Feature::SameDay | Feature::Grave) || !is_inside(hit));
}

/// The words beside a phrase can take it back: "when will you …" wants an answer and not an act, "I need to go" and
/// "to make sure" want nothing, "אי אפשר ל…" says that it cannot be done.
fn is_cancelled_by_context(sentence: &Sentence<'_>, hit: &PhraseMatch) -> bool {
    let plain = sentence.normalised.as_str();
    let (head, tail) = plain.split_at_checked(hit.start).unwrap_or_default();
    let before = || head.trim_end().rsplit(' ').next().unwrap_or_default();
    match hit.feature {
        Feature::AsksYou => {
            // "שתוכלי" is "so that you can"; "אבקש ממנו" asks someone else; "אפשר ל…" without a question allows.
            let said = tail.get(..hit.end - hit.start).unwrap_or_default();
            let next = words(tail).nth(1).unwrap_or_default();
            let allows = said == "אפשר ל" && !next.starts_with("לקבל") && !plain.contains('?');
            head.ends_with('ש')
                || allows
                || (said == "אבקש" && matches!(next, "ממנו" | "ממנה" | "מהם" | "מהן"))
                || Lexicon::of(sentence.language).has_word(WordList::NoAskAfter, before())
                || is_german_permission(head, said, plain)
        }
        Feature::Needs => {
            let (said, after) = plain.split_at_checked(hit.end).unwrap_or_default();
            before() == "to" || (said.ends_with("i need") && after.starts_with(" to ")) || is_hebrew_possession(tail)
        }
        _ => false,
    }
}

/// "Ihr Rezept können Sie am Empfang abholen": with something before it, it allows. A name before it calls.
fn is_german_permission(head: &str, said: &str, plain: &str) -> bool {
    let clause = head.rsplit([',', ';', ':']).next().unwrap_or_default();
    matches!(said, "kannst du" | "koennen sie" | "koennt ihr") && words(clause).count() >= 2 && !plain.contains('?')
}

/// Inside quotation marks, with a story around them: someone else asked someone else.
fn is_reported_speech(plain: &str, hit: &PhraseMatch) -> bool {
    use Feature::{AsksYou, LetMeKnow, Needs, Please};
    if !matches!(hit.feature, AsksYou | LetMeKnow | Needs | Please) || !plain.contains('"') {
        return false;
    }
    let (head, rest) = plain.split_at_checked(hit.start).unwrap_or_default();
    // A mark inside a Hebrew abbreviation (דו"ח) is none.
    let opens = |(at, _): &(usize, &str)| !head.get(..*at).unwrap_or_default().ends_with(char::is_alphanumeric);
    let opened = head.rmatch_indices('"').find(opens);
    opened.is_some_and(|(at, _)| {
        let inside = head.get(at + 1..).unwrap_or_default();
        let closed = inside.contains("\" ") || inside.ends_with('"');
        let around = words(head.get(..at).unwrap_or_default()).count() >= 3;
        !closed && around && rest.contains('"')
    })
}

/// "יש לי", "יש לנו": someone has something; "יש לשלוח" is to be done.
fn is_hebrew_possession(from: &str) -> bool {
    let mut words = words(from);
    let next = || words.nth(1);
    from.starts_with("יש ל") && matches!({ next }(), Some("לי" | "לך" | "לנו" | "לו" | "לה" | "לכם" | "להם" | "לזה"))
}

fn adjust_features(sentence: &Sentence<'_>, names: &[String], features: &mut FeatureSet) {
    let count = sentence.normalised.bytes().filter(|byte| *byte == b' ').count() + 1;
    if sentence.words().take(3).any(|word| names.iter().any(|name| name == word)) {
        features.insert(Feature::NamesYou);
    }
    if sentence.is_question() {
        features.insert(Feature::Question);
        if features.has(Feature::ToYou) {
            features.insert(Feature::QuestionToYou);
        }
    }
    // "You will also need to …" describes nothing.
    if features.has(Feature::Needs) && sentence.normalised.starts_with("you") {
        features.remove(Feature::Describes);
    }
    // A courtesy holds its words hostage: "please let me know if you have any questions" asks for nothing.
    if features.has(Feature::Boilerplate) && !features.has(Feature::Question) {
        for feature in [Feature::LetMeKnow, Feature::AsksYou, Feature::ImperativeLater] {
            features.remove(feature);
        }
    }
    // "Please find attached" is a gift, not a wish.
    if features.has(Feature::HandsOver) {
        for feature in [Feature::Please, Feature::Imperative, Feature::ImperativeLater] {
            features.remove(feature);
        }
    }
    if features.has(Feature::Thanks) && count <= 6 {
        features.insert(Feature::ShortThanks);
    }
    if count > 40 {
        features.insert(Feature::Long);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::sentence::text::split_sentences;

    fn scored(text: &str) -> ScoredSentence<'_> {
        score_sentence(split_sentences(text).into_iter().next().unwrap(), &["alex".into(), "green".into()])
    }

    #[test]
    fn asks_and_does_not_ask() {
        for (text, asks) in [
            ("Could you please send me the Q3 report by Friday?", true),
            ("Please review the attached contract.", true),
            ("Send me the numbers when you have them.", true),
            ("Alex, call me tomorrow.", true),
            ("If you get a chance, check the server logs.", true),
            ("When will the budget be ready?", true),
            ("Let me know whether Tuesday works.", true),
            ("I need your signature on the form by noon.", true),
            ("Let's meet next week to discuss the plan.", true),
            ("It would be great if you could join us on Monday.", true),
            ("תוכלי לשלוח לי את הדוח עד יום חמישי?", true),
            ("נא לאשר את ההזמנה.", true),
            ("אשמח אם תעבור על החוזה.", true),
            ("מתי נוח לך להיפגש?", true),
            ("בבקשה שלח את החשבונית עד מחר.", true),
            ("Thanks for the report!", false),
            ("The report is attached.", false),
            ("Report is attached for your records.", false),
            ("Please find attached the minutes.", false),
            ("Please let me know if you have any questions.", false),
            ("FYI, the office is closed on Monday.", false),
            ("We moved the servers last night and they were fine.", false),
            ("No action is required from you.", false),
            ("תודה רבה על העזרה!", false),
            ("לידיעתך, המשרד סגור מחר.", false),
            ("מצורף הדוח הרבעוני.", false),
        ] {
            let scored = scored(text);
            let fired: Vec<_> = scored.features.iter().map(Feature::as_str).collect();
            assert_eq!(scored.asks(), asks, "{text} {:.2} {fired:?}", scored.score);
        }
    }

    #[test]
    fn the_reason_names_what_spoke_for_it() {
        let signals = scored("Alex, could you call?").strongest_signals();
        let named: Vec<_> = signals.iter().take(2).map(String::as_str).collect();
        assert!(["asks_you", "question"].iter().all(|name| named.contains(name)), "{signals:?}");
    }
}
