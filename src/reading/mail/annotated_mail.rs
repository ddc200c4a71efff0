//! A mail laid out for reading: its sentences scored, and what they show together.
//!
//! Owns the one walk over the text. Later questions are answered from here, never by matching again.

use std::collections::HashSet;

use super::{addressing::Addressing, category::is_machine_sender, injection::mark_orders_to_program};
use crate::model::{Mail, Me, SentenceScores};
use crate::reading::{
    language::{Language, LanguageScores},
    learned::is_organisation,
    lexicon::{Feature, FeatureSet, Lexicon, PhraseMatch, WordList, find_phrases},
    second_reading::apply_scores,
    sentence::{
        score::{ScoredSentence, score_sentence},
        text::{normalise, split_sentences_about, words},
    },
};

/// What is taken from a sentence of a longer mail that has none of the words or forms of a request: it asks only if much
/// of what was learned says so.
const WITHOUT_REQUEST_WORDS: f64 = 1.0;

pub(in crate::reading) struct AnnotatedMail<'a> {
    pub(in crate::reading) sentences: Vec<ScoredSentence<'a>>,
    pub(in crate::reading) subject: String,
    subject_matches: Vec<PhraseMatch>,
    features: FeatureSet,
    /// How often each feature was seen, by its number.
    feature_counts: Vec<u32>,
    pub(in crate::reading) language: Language,
    pub(in crate::reading) addressing: Addressing,
    /// Where what was handed on begins.
    forward_start: usize,
    /// What the mail says to a program that reads it, as it stands there.
    order_to_program: Option<String>,
    /// A firm or a machine writes, and nobody in particular.
    is_from_service: bool,
}

impl<'a> AnnotatedMail<'a> {
    pub(in crate::reading) fn new(mail: &'a Mail, me: &Me, second_reading: &[SentenceScores]) -> Self {
        let names = split_own_names(me);
        let subject = normalise(mail.subject.get(..mail.subject.floor_char_boundary(300)).unwrap_or_default());
        let (sentences, language) = split_sentences_about(&mail.text, &subject);
        let addressing = Addressing::new(mail, me, &names, &sentences);
        let mut sentences: Vec<_> = sentences.into_iter().map(|sentence| score_sentence(sentence, &names)).collect();
        apply_scores(&mut sentences, second_reading);
        let subject_matches = find_phrases(&subject, LanguageScores::of(&subject).decide_in(language));
        let order_to_program = mark_orders_to_program(mail, &mut sentences, &subject_matches);
        let (features, feature_counts) = collect_features(&sentences, &subject_matches);
        let forward_start = sentences
            .iter()
            .position(|scored| starts_forwarded_mail(&scored.sentence.normalised))
            .unwrap_or(sentences.len());
        Self {
            sentences,
            subject,
            subject_matches,
            features,
            feature_counts,
            language,
            addressing,
            forward_start,
            order_to_program,
            is_from_service: is_organisation(&mail.from)
                || is_machine_sender(&mail.from.addr)
                || mail.bulk_header.is_some(),
        }
    }

    /// Whether a firm or a machine writes, and nobody in particular.
    pub(in crate::reading) fn is_from_service(&self) -> bool {
        self.is_from_service
    }

    /// What the mail says to a program that reads it.
    pub(in crate::reading) fn order_to_program(&self) -> Option<&str> {
        self.order_to_program.as_deref()
    }

    /// Reads everything as meant for the person, because the person said so.
    pub(in crate::reading) fn take_as_genuine(&mut self) {
        self.order_to_program = None;
        self.sentences.iter_mut().for_each(|scored| scored.is_for_program = false);
        (self.features, self.feature_counts) = collect_features(&self.sentences, &self.subject_matches);
    }

    /// Whether a sentence may ask something of the person. Beside an order to a program only what asks in so many words
    /// does: the rest of such a mail is there to carry the order.
    pub(in crate::reading) fn may_ask_person(&self, scored: &ScoredSentence<'_>) -> bool {
        const WORDS_OF_REQUEST: usize = 5;
        let is_plain_request = || scored.asks_outright() && scored.sentence.words().count() >= WORDS_OF_REQUEST;
        !scored.is_for_program && (self.order_to_program.is_none() || is_plain_request())
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

    /// Whether the sentence with this number stands in what was handed on.
    pub(in crate::reading) fn is_forwarded(&self, at: usize) -> bool {
        at >= self.forward_start
    }

    /// Something is handed on in it.
    pub(in crate::reading) fn has_forwarded_part(&self) -> bool {
        self.forward_start < self.sentences.len()
    }

    /// Whether the mail is one sentence. It was written for that sentence: whatever it requests or proposes is what the
    /// mail is about, and nothing around it says otherwise.
    pub(in crate::reading) fn is_one_sentence(&self) -> bool {
        self.sentences.len() == 1
    }

    /// Returns how much a sentence asks of the reader, before the logistic. `bias` is what the mail as a whole says.
    pub(in crate::reading) fn request_logit(&self, scored: &ScoredSentence<'_>, bias: f64) -> f64 {
        // What the writer promises is theirs to do, and asks nothing of the reader.
        if self.is_one_sentence() && (scored.has_request_words() || !scored.has(Feature::Commits)) {
            return scored.logit_alone;
        }
        scored.logit_in_mail + bias - if scored.has_request_words() { 0.0 } else { WITHOUT_REQUEST_WORDS }
    }

    /// Whether a sentence asks somebody else than the reader of the mail. What names the reader is theirs in any case.
    pub(in crate::reading) fn asks_others(&self, scored: &ScoredSentence<'_>) -> bool {
        // "Could you bring the projector?" in a mail to the reader alone asks the reader, and so does what "you" are to
        // do: it takes an assignment by name to ask somebody else.
        let is_alone = self.addressing.is_to_reader_alone();
        let says_you = scored.features.has_any(&[Feature::ToYou, Feature::Please, Feature::Imperative]);
        let asks_reader = is_alone && (scored.has(Feature::AsksYou) || (says_you && !scored.is_assigned_to_others));
        let for_others = (scored.asks_others() && !asks_reader) || self.addressing.calls_other(&scored.sentence);
        let names_reader = scored.has(Feature::NamesYou) && scored.has_request_words();
        !names_reader && (for_others || self.addressing.asks_instead().is_some())
    }

    /// How many more questions to the reader the mail has, besides one that is quoted in these words.
    pub(in crate::reading) fn count_other_questions(&self, scored: &ScoredSentence<'_>, quoted: &str) -> usize {
        let is_other = |other: &&ScoredSentence<'_>| {
            other.sentence.raw.trim_end().ends_with('?')
                && other.asks()
                && !std::ptr::eq(*other, scored)
                && !quoted.contains(other.sentence.raw.trim())
                && !self.is_courtesy(other)
                && !self.asks_others(other)
                && self.may_ask_person(other)
        };
        self.sentences.iter().filter(is_other).count()
    }

    /// The numbers of the sentences that are for others in an answer on a list: all but those behind the reader's name, if
    /// the mail calls the reader by name.
    pub(in crate::reading) fn sentences_for_others_on_list(&self) -> HashSet<usize> {
        let calls_reader = |scored: &ScoredSentence<'_>| scored.has(Feature::NamesYou) && scored.asks_outright();
        if !self.addressing.is_answer_on_list() || !self.sentences.iter().any(calls_reader) {
            return HashSet::new();
        }
        let mut is_for_reader = false;
        let for_others = self.sentences.iter().enumerate().filter(|(_, scored)| {
            is_for_reader = calls_reader(scored) || (is_for_reader && !self.addressing.calls_other(&scored.sentence));
            !is_for_reader
        });
        for_others.map(|(at, _)| at).collect()
    }

    /// Whether a sentence is made of the words of requests and asks for nothing.
    pub(in crate::reading) fn is_courtesy(&self, scored: &ScoredSentence<'_>) -> bool {
        // "Call us if you cannot come", "rate your purchase": what a firm says to everybody.
        let is_for_everybody = self.is_from_service
            && !scored.features.has_any(&[Feature::Due, Feature::Deadline])
            && scored.features.has_any(&[Feature::OnlyIf, Feature::Survey]);
        is_for_everybody || (!self.is_one_sentence() && scored.is_courtesy())
    }

    /// How many phrases of a feature stand in the subject and the text.
    pub(in crate::reading) fn count(&self, feature: Feature) -> usize {
        let seen = self.feature_counts.get(feature as usize).filter(|_| self.has(feature));
        seen.map_or(0, |count| *count as usize)
    }

    /// The first sentence to the person with a feature.
    pub(in crate::reading) fn first_sentence_with(&self, feature: Feature) -> Option<&ScoredSentence<'a>> {
        self.sentences.iter().find(|scored| scored.has(feature) && !scored.is_for_program)
    }
}

/// What the subject and the sentences to the person show, and how often.
fn collect_features(sentences: &[ScoredSentence<'_>], subject_matches: &[PhraseMatch]) -> (FeatureSet, Vec<u32>) {
    let mut features = FeatureSet::default();
    let mut counts = vec![0; Feature::ALL.len()];
    let mut add = |hits: &[PhraseMatch]| {
        for hit in hits {
            if let Some(count) = counts.get_mut(hit.feature as usize) {
                *count += 1;
            }
        }
    };
    for scored in sentences.iter().filter(|scored| !scored.is_for_program) {
        features.insert_all(scored.features);
        add(&scored.phrase_matches);
    }
    subject_matches.iter().for_each(|hit| features.insert(hit.feature));
    add(subject_matches);
    (features, counts)
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
