//! A mail laid out for reading: its sentences scored, and what they show together.
//!
//! Owns the one walk over the text. Later questions are answered from here, never by matching again.

use crate::model::{Mail, Me};
use crate::reading::{
    language::{Language, LanguageScores},
    lexicon::{Feature, FeatureSet, Lexicon, PhraseMatch, WordList, find_phrases},
    sentence::{
        score::{ScoredSentence, score_sentence},
        text::{normalise, split_sentences_about, words},
    },
};

pub(in crate::reading) struct AnnotatedMail<'a> {
    pub(in crate::reading) sentences: Vec<ScoredSentence<'a>>,
    pub(in crate::reading) subject: String,
    subject_matches: Vec<PhraseMatch>,
    features: FeatureSet,
    /// How often each feature was seen, by its number.
    feature_counts: Vec<u32>,
    pub(in crate::reading) language: Language,
    /// Where what was handed on begins.
    forward_start: usize,
}

impl<'a> AnnotatedMail<'a> {
    pub(in crate::reading) fn new(mail: &'a Mail, me: &Me) -> Self {
        let names = split_own_names(me);
        let subject = normalise(mail.subject.get(..mail.subject.floor_char_boundary(300)).unwrap_or_default());
        let (sentences, language) = split_sentences_about(&mail.text, &subject);
        let sentences: Vec<_> = sentences.into_iter().map(|sentence| score_sentence(sentence, &names)).collect();
        let subject_matches = find_phrases(&subject, LanguageScores::of(&subject).decide_in(language));
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
        self.has_forwarded_part() && told && !own.iter().any(|scored| scored.asks())
    }

    /// Something is handed on in it.
    pub(in crate::reading) fn has_forwarded_part(&self) -> bool {
        self.forward_start < self.sentences.len()
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
    let head = plain.get(..plain.floor_char_boundary(120)).unwrap_or_default();
    // Whoever forwards a mail, their program may speak another language.
    [Language::English, Language::German].into_iter().map(Lexicon::of).any(|lexicon| {
        lexicon.words(WordList::ForwardMarks).iter().any(|mark| head.contains(mark.as_str()))
            || lexicon
                .words(WordList::HeaderFrom)
                .iter()
                .any(|from| head.strip_prefix(from.as_str()).is_some_and(|rest| rest.starts_with(' ')))
    })
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
            ("---------- Weitergeleitete Nachricht ---------", true),
            ("Von: Anna <anna@acme.example>", true),
            ("Von Anna habe ich nichts gehört.", false),
            ("From Anna I heard nothing.", false),
            ("It was forwarded to Tom.", false),
        ] {
            assert_eq!(starts_forwarded_mail(&normalise(raw)), begins, "{raw}");
        }
    }
}
