//! Which language a text is in: by its letters, and by the small words that every sentence needs.
//!
//! Owns the set of languages that can be told apart, and which of them are read. A mail in another one is said to be so.
#![allow(unreachable_pub, reason = "the macro writes `pub`; the module keeps it in the reading")]

mod scores;

use crate::model::text_enum::text_enum;
pub(super) use scores::{FUNCTION_WORDS, LanguageScores};

text_enum! {
    /// A language by its ISO 639-1 code; its name in English is the name of the variant.
    Language {
        English = "en",
        German = "de",
        Hebrew = "he",
        French = "fr",
        Spanish = "es",
        Italian = "it",
        Portuguese = "pt",
        Dutch = "nl",
        Polish = "pl",
        Russian = "ru",
        Ukrainian = "uk",
        Swedish = "sv",
        Turkish = "tr",
        Arabic = "ar",
        Japanese = "ja",
        Chinese = "zh",
        Korean = "ko",
        Greek = "el",
        /// Many words, and none of a language that is known. ISO 639-2 has a code for that, ISO 639-1 has none.
        Undetermined = "und",
    }
}

impl Language {
    /// The languages whose requests are understood.
    pub(super) const READ: [Self; 3] = [Self::English, Self::German, Self::Hebrew];

    pub(super) fn is_read(self) -> bool {
        Self::READ.contains(&self)
    }

    /// "Polish", or words that stand for it.
    pub(super) fn english_name(self) -> String {
        match self {
            Self::Undetermined => "a language that is not known".into(),
            known => format!("{known:?}"),
        }
    }
}

/// The language of a text that stands alone.
pub fn detect_language(text: &str) -> Language {
    LanguageScores::of(&super::sentence::text::normalise(text)).decide()
}
