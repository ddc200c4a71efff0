//! How much a sentence asks for something: named features, hand weights, one logistic.
//!
//! Owns the number. The same function scores a lone sentence, a sentence of a mail and the evaluation sets.

use super::{
    lexicon::{Feature, Features, Hit, hits, is_lead_in, is_verb},
    text::{Sentence, words},
};

/// From here on something is asked.
pub(super) const THRESHOLD: f64 = 0.5;

/// A sentence with what was seen in it.
#[derive(Debug, Clone)]
pub(super) struct Scored<'a> {
    pub(super) sentence: Sentence<'a>,
    pub(super) hits: Vec<Hit>,
    pub(super) features: Features,
    /// Where the order starts, when the sentence is one.
    pub(super) imperative_at: Option<usize>,
    /// The sum of the weights, before the logistic.
    pub(super) sum: f64,
    pub(super) score: f64,
}

pub(super) fn logistic(sum: f64) -> f64 {
    1.0 / (1.0 + (-sum).exp())
}

impl Scored<'_> {
    pub(super) fn has(&self, feature: Feature) -> bool {
        self.features.has(feature)
    }

    pub(super) fn asks(&self) -> bool {
        self.score >= THRESHOLD
    }

    /// Asks in so many words, not only by being a question or a hope.
    pub(super) fn asks_outright(&self) -> bool {
        use Feature::{AsksYou, Imperative, ImperativeLater, Needs, Please};
        self.asks() && self.features.any(&[AsksYou, Imperative, ImperativeLater, Needs, Please])
    }

    /// The names of what spoke for it, for the reason.
    pub(super) fn named(&self) -> Vec<&'static str> {
        let for_it = self.features.iter().filter(|feature| *feature != Feature::Always && feature.weight() > 0.0);
        for_it.map(Feature::as_str).collect()
    }
}

/// Scores one sentence. `names` are the person's own, plain.
pub(super) fn score<'a>(sentence: Sentence<'a>, names: &[String]) -> Scored<'a> {
    let mut hits = hits(&sentence.plain);
    hits.retain(|hit| !taken_back(&sentence.plain, hit));
    let mut features = Features::default();
    features.insert(Feature::Always);
    for hit in &hits {
        features.insert(hit.feature);
    }
    let imperative_at = find_imperative(&sentence, &mut features);
    shape(&sentence, names, &mut features);
    let sum: f64 = features.iter().map(Feature::weight).sum();
    Scored { sentence, hits, features, imperative_at, sum, score: logistic(sum) }
}

/// The words beside a phrase can take it back: "when will you …" wants an answer and not an act, "I need to go" and
/// "to make sure" want nothing, "אי אפשר ל…" says that it cannot be done.
fn taken_back(plain: &str, hit: &Hit) -> bool {
    let before = || plain.get(..hit.start).unwrap_or_default().trim_end().rsplit(' ').next().unwrap_or_default();
    match hit.feature {
        Feature::AsksYou => {
            matches!(before(), "when" | "where" | "how" | "what" | "why" | "which" | "time" | "long" | "אי" | "לא")
        }
        Feature::Needs => {
            let (said, after) = plain.split_at_checked(hit.end).unwrap_or_default();
            before() == "to" || (said.ends_with("i need") && after.starts_with(" to "))
        }
        _ => false,
    }
}

fn shape(sentence: &Sentence<'_>, names: &[String], features: &mut Features) {
    let mut count = 0;
    let mut to_you = false;
    for word in sentence.words() {
        if count < 3 && names.iter().any(|name| name == word) {
            features.insert(Feature::NamesYou);
        }
        to_you |= matches!(word, "you" | "your" | "לך" | "לכם" | "אתה" | "את");
        count += 1;
    }
    if sentence.is_question() {
        features.insert(Feature::Question);
        if to_you {
            features.insert(Feature::QuestionToYou);
        }
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

/// After such a word a verb at the head was a noun: "Report is attached".
const NOT_AFTER_ORDER: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "had", "of", "will", "would", "from", "you", "we", "they", "i", "he",
    "she",
];

fn find_imperative(sentence: &Sentence<'_>, features: &mut Features) -> Option<usize> {
    let plain = sentence.plain.as_str();
    let mut found = None;
    let mut at = 0;
    let mut previous = "";
    let mut leading = true;
    for (index, word) in plain.split(' ').enumerate() {
        let (start, before_word) = (at, previous);
        at += word.len() + 1;
        previous = word;
        // Orders stand at the head, after a comma or after a courtesy; elsewhere nothing needs looking up.
        let comma = before_word.as_bytes().last() == Some(&b',');
        let head = leading || (index <= 4 && (comma || before_word.ends_with([':', '-', '–', '—', ';'])));
        let later = comma || matches!(before_word, "please" | "then" | "kindly" | "pls");
        leading = leading && index < 3 && is_lead_in(word);
        if !(head || later) {
            continue;
        }
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if !is_verb(bare) || word.ends_with(['.', ':']) || !goes_on(plain.get(at..).unwrap_or_default()) {
            continue;
        }
        let start = start + word.find(bare).unwrap_or(0);
        let before = plain.get(..start).unwrap_or_default();
        if head {
            features.insert(Feature::Imperative);
            return Some(start);
        }
        if found.is_none() && opens_clause(before) {
            features.insert(Feature::ImperativeLater);
            found = Some(start);
        }
    }
    found
}

/// An order has something after it that is not the verb of another sentence.
fn goes_on(after: &str) -> bool {
    words(after).next().is_some_and(|next| !NOT_AFTER_ORDER.contains(&next))
}

/// After a courtesy, or after a comma that closed a condition.
fn opens_clause(before: &str) -> bool {
    let before = before.trim_end();
    let conditional = matches!(words(before).next().unwrap_or_default(), "if" | "when" | "once" | "to" | "for" | "in");
    !before.ends_with(',') || conditional
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::text::sentences;

    fn scored(text: &str) -> Scored<'_> {
        score(sentences(text).into_iter().next().unwrap(), &["alex".into(), "green".into()])
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
        assert_eq!(scored("Alex, could you call?").named(), ["question", "question_to_you", "names_you", "asks_you"]);
    }
}
