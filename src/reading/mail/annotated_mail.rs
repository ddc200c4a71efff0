//! A mail laid out for reading: its sentences scored, and what they show together.
//!
//! Owns the one walk over the text. Later questions are answered from here, never by matching again.

use crate::model::{Mail, Me};
use crate::reading::{
    lexicon::{Feature, FeatureSet, PhraseMatch, find_phrases},
    sentence::{
        score::{ScoredSentence, score_sentence},
        text::{normalise, split_sentences, words},
    },
};

pub(in crate::reading) struct AnnotatedMail<'a> {
    pub(in crate::reading) sentences: Vec<ScoredSentence<'a>>,
    pub(in crate::reading) subject: String,
    subject_matches: Vec<PhraseMatch>,
    features: FeatureSet,
    /// How often each feature was seen, by its number.
    feature_counts: Vec<u32>,
    pub(in crate::reading) language: &'static str,
    /// Where what was handed on begins.
    forward_start: usize,
}

impl<'a> AnnotatedMail<'a> {
    pub(in crate::reading) fn new(mail: &'a Mail, me: &Me) -> Self {
        let names = split_own_names(me);
        let sentences: Vec<_> =
            split_sentences(&mail.text).into_iter().map(|sentence| score_sentence(sentence, &names)).collect();
        let subject = normalise(mail.subject.get(..mail.subject.floor_char_boundary(300)).unwrap_or_default());
        let subject_matches = find_phrases(&subject);
        let mut features = FeatureSet::default();
        let mut feature_counts = vec![0; Feature::ALL.len()];
        for scored in &sentences {
            features.insert_all(scored.features);
        }
        for hit in &subject_matches {
            features.insert(hit.feature);
        }
        for hit in sentences.iter().flat_map(|scored| &scored.phrase_matches).chain(&subject_matches) {
            if let Some(count) = feature_counts.get_mut(hit.feature as usize) {
                *count += 1;
            }
        }
        let language = detect_language(&sentences, &subject);
        let forward_start = sentences
            .iter()
            .position(|scored| starts_forwarded_mail(&scored.sentence.normalised))
            .unwrap_or(sentences.len());
        Self { sentences, subject, subject_matches, features, feature_counts, language, forward_start }
    }

    pub(in crate::reading) fn features(&self) -> FeatureSet {
        self.features
    }

    /// Somewhere in the subject or the text.
    pub(in crate::reading) fn has(&self, feature: Feature) -> bool {
        self.features.has(feature)
    }

    pub(in crate::reading) fn subject_has(&self, feature: Feature) -> bool {
        self.subject_matches.iter().any(|hit| hit.feature == feature)
    }

    /// The sender only hands something on for the reader to know; what it asks, it asks of others.
    pub(in crate::reading) fn is_fyi_forward(&self) -> bool {
        let own = self.sentences.get(..self.forward_start).unwrap_or_default();
        let told = own.iter().any(|scored| scored.features.has_any(&[Feature::Fyi, Feature::NoAction]));
        self.forward_start < self.sentences.len() && told && !own.iter().any(|scored| scored.asks())
    }

    /// How many phrases of a feature stand in the subject and the text.
    pub(in crate::reading) fn count(&self, feature: Feature) -> usize {
        let seen = self.feature_counts.get(feature as usize).filter(|_| self.has(feature));
        seen.map_or(0, |count| *count as usize)
    }

    /// The first sentence with a feature.
    pub(in crate::reading) fn first_sentence_with(&self, feature: Feature) -> Option<&ScoredSentence<'a>> {
        self.sentences.iter().find(|scored| scored.has(feature))
    }
}

/// The first line of a forwarded mail.
fn starts_forwarded_mail(plain: &str) -> bool {
    const ENGLISH: &[&str] = &["forwarded message", "begin forwarded", "forwarded by"];
    const HEBREW: &[&str] = &["הודעה שהועברה", "הודעה מועברת"];
    let head = plain.get(..plain.floor_char_boundary(120)).unwrap_or_default();
    let marked = |marks: &[&str]| marks.iter().any(|mark| head.contains(mark));
    (head.contains("forwarded") && marked(ENGLISH))
        || head.starts_with("from: ")
        || (!head.is_ascii() && (marked(HEBREW) || head.starts_with("מאת: ")))
}

/// Hebrew when most of its letters are. A few sentences tell.
fn detect_language(sentences: &[ScoredSentence<'_>], subject: &str) -> &'static str {
    let texts = sentences.iter().take(12).map(|scored| scored.sentence.normalised.as_str());
    let (mut hebrew, mut other) = (0, 0);
    for text in texts.chain([subject]) {
        if text.is_ascii() {
            other += text.bytes().filter(u8::is_ascii_alphabetic).count();
            continue;
        }
        for letter in text.chars().filter(|c| c.is_alphabetic()) {
            if ('א'..='ת').contains(&letter) { hebrew += 1 } else { other += 1 }
        }
    }
    if hebrew > other { "he" } else { "en" }
}

/// Every word of the person's names that is long enough to be told from others.
fn split_own_names(me: &Me) -> Vec<String> {
    let plain: Vec<String> = me.names.iter().map(|name| normalise(name)).collect();
    let parts = plain.iter().flat_map(|name| words(name)).filter(|word| word.chars().count() >= 2);
    parts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_what_was_handed_on_begins() {
        for (raw, begins) in [
            ("---------- Forwarded message ---------", true),
            ("From: Anna <anna@acme.example>", true),
            ("From:\tAnna <anna@acme.example>", true),
            ("הודעה שהועברה", true),
            ("From Anna I heard nothing.", false),
            ("It was forwarded to Tom.", false),
        ] {
            assert_eq!(starts_forwarded_mail(&normalise(raw)), begins, "{raw}");
        }
    }
}
