//! How much a sentence asks for something: named features, hand weights, one logistic.
//!
//! Owns the number. The same function scores a lone sentence, a sentence of a mail and the evaluation sets.

use std::cell::OnceCell;

use crate::reading::{
    date::{self, DueDate, ReferenceTime},
    language::Language,
    learned::{Head, SentenceWeights, emit_sentence_signals, weigh_sentence, weight_table},
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
    /// With what was learned about sentences that stand alone, before the logistic.
    pub(in crate::reading) logit_alone: f64,
    /// As part of a mail.
    pub(in crate::reading) logit_in_mail: f64,
    pub(in crate::reading) score: f64,
    due_date: OnceCell<Option<DueDate>>,
}

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

    /// Made of the words of requests, and asks for nothing: "let me know if you have any questions".
    pub(in crate::reading) fn is_courtesy(&self) -> bool {
        use Feature::{AsksYou, Boilerplate, HandsOver, LetMeKnow, Needs, NoAction, Question};
        self.features.has_any(&[Boilerplate, NoAction, HandsOver])
            && !self.features.has_any(&[Question, AsksYou, LetMeKnow, Needs])
            && self.hand_sum < 0.0
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
        let hand = table.hand_factor();
        let mut for_it: Vec<(f64, String)> = Vec::new();
        let features = self.features.iter().filter(|feature| *feature != Feature::Always);
        for_it.extend(features.map(|feature| {
            (feature.hand_weight() * hand + table.request_weight(feature), feature.as_str().to_owned())
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
        names
    }
}

/// Scores one sentence. `names` are the person's own, plain.
pub(in crate::reading) fn score_sentence<'a>(sentence: Sentence<'a>, names: &[String]) -> ScoredSentence<'a> {
    let mut hits = find_phrases(&sentence.normalised, sentence.language);
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
    let alone = compute_logit_alone(&sentence, &walk, features, hand);
    let sum = compute_logit_in_mail(&sentence, features, hand, alone);
    let (score, due) = (logistic(sum), OnceCell::new());
    ScoredSentence {
        sentence,
        phrase_matches: hits,
        weights: walk,
        features,
        imperative_at,
        is_assigned_to_others: for_others,
        hand_sum: hand,
        logit_alone: alone,
        logit_in_mail: sum,
        score,
        due_date: due,
    }
}

/// In a mail, where the writer's own promise asks nothing of the reader. What was learned is English, so a sentence in
/// another language has its hand-made sum; in Hebrew "בבקשה" alone is as often "here you are".
fn compute_logit_in_mail(sentence: &Sentence<'_>, features: FeatureSet, hand: f64, alone: f64) -> f64 {
    use Feature::{AsksYou, Commits, Hopes, Imperative, ImperativeLater, LetMeKnow, Needs, Please, Question};
    let asks = features.has_any(&[AsksYou, Imperative, ImperativeLater, LetMeKnow, Needs, Hopes, Question]);
    let promise = if features.has(Commits) && !asks { Commits.hand_weight() + 0.6 } else { 0.0 };
    if !is_learned_language(sentence) {
        let promise = if features.has(Commits) { Commits.hand_weight() + 0.6 } else { 0.0 };
        let courtesy = if features.has(Please) && !asks && sentence.has_hebrew_letters() { 1.0 } else { 0.0 };
        return hand - promise - courtesy;
    }
    HAND_SHARE * hand + (1.0 - HAND_SHARE) * alone + MAIL_BIAS - promise
}

/// Whether the learned weights know the words of the sentence.
fn is_learned_language(sentence: &Sentence<'_>) -> bool {
    sentence.language != Language::German && !sentence.has_hebrew_letters()
}

/// How much of a sentence's sum in a mail is hand-made: the sentences learned from were judged alone.
const HAND_SHARE: f64 = 0.85;

/// People write mails because they want something.
const MAIL_BIAS: f64 = 0.4;

/// By its words alone, as the sentences it was learned from were judged.
fn compute_logit_alone(sentence: &Sentence<'_>, walk: &SentenceWeights, features: FeatureSet, hand: f64) -> f64 {
    if !is_learned_language(sentence) {
        return hand;
    }
    let table = weight_table();
    let cues: f64 = features.iter().map(|feature| table.request_weight(feature)).sum();
    table.bias(Head::Asks) + hand * table.hand_factor() + walk.request_sum + cues
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
        assert!(
            scored("Alex, could you call?").strongest_signals().starts_with(&["asks_you".into(), "question".into()])
        );
    }
}
