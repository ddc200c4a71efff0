//! "Das Boot liegt in der Halle, can you pick it up on Thursday?": a sentence that goes on in another language is two.
//!
//! Owns where such a sentence is cut. Each part is then read in its own language.

use super::text::{Sentence, normalise};
use crate::reading::language::{Language, LanguageScores};

/// The most places of a sentence that are tried.
const MOST_PLACES: usize = 8;

/// Cuts the sentences that change their language, where one of `scores` says that one may.
pub(super) fn cut_at_changes<'a>(sentences: Vec<Sentence<'a>>, scores: &[LanguageScores]) -> Vec<Sentence<'a>> {
    let mut parts = Vec::with_capacity(sentences.len() + 1);
    for (sentence, scores) in sentences.into_iter().zip(scores) {
        match Some(&sentence).filter(|_| scores.is_mixed()).and_then(find_change) {
            Some((first, second)) => {
                let part = |raw: &'a str| Sentence { raw, normalised: normalise(raw), ..sentence.clone() };
                parts.extend([part(first), part(second)]);
            }
            None => parts.push(sentence),
        }
    }
    parts
}

/// Returns the parts before and after the first mark at which the language plainly changes.
fn find_change<'a>(sentence: &Sentence<'a>) -> Option<(&'a str, &'a str)> {
    let marks = sentence.raw.match_indices([',', ';', ':', '–', '—', '(']).take(MOST_PLACES);
    marks.map(|(at, mark)| sentence.raw.split_at(at + mark.len())).find_map(|(before, after)| {
        let language = |raw| LanguageScores::of(&normalise(raw)).decide_plainly();
        let is_change = matches!(
            (language(before)?, language(after)?),
            (Language::German, Language::English) | (Language::English, Language::German)
        );
        is_change.then(|| (before.trim_end_matches([',', ';', ':', '–', '—', '(', ' ']).trim(), after.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::text::split_sentences;

    #[test]
    fn a_sentence_that_goes_on_in_another_language_is_two() {
        for (text, expected) in [
            (
                "Das Boot liegt noch in der Halle und der Schlüssel ist bei mir, can you pick it up on Thursday?",
                vec!["de", "en"],
            ),
            (
                "The numbers are all here and I am happy with them, kannst du mir bitte den Vertrag schicken?",
                vec!["en", "de"],
            ),
            ("Kannst du bitte den Sales Report und das Update bis Freitag schicken, wie besprochen?", vec!["de"]),
            ("Could you please send me the Kassenbericht by Friday, as we said?", vec!["en"]),
        ] {
            let read: Vec<String> = split_sentences(text).iter().map(|part| part.language.to_string()).collect();
            assert_eq!(read, expected, "{text}");
        }
    }
}
