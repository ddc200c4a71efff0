//! The fixed words of letters, one file per language.

use std::{collections::HashMap, sync::LazyLock};

/// The words of one language, by their name in its file.
pub(in crate::tool) struct LetterWording(HashMap<&'static str, &'static str>);

static ENGLISH: LazyLock<LetterWording> = LazyLock::new(|| LetterWording::parse(include_str!("english.txt")));
static GERMAN: LazyLock<LetterWording> = LazyLock::new(|| LetterWording::parse(include_str!("german.txt")));
static HEBREW: LazyLock<LetterWording> = LazyLock::new(|| LetterWording::parse(include_str!("hebrew.txt")));

/// What the name of a phrase ends with that is for people who are called by their first name.
const FAMILIAR: &str = "_familiar";

impl LetterWording {
    /// The languages that have words of their own.
    pub(in crate::tool) const LANGUAGES: [&'static str; 3] = ["en", "de", "he"];

    /// Returns the words of a language; the English ones where it has none.
    pub(in crate::tool) fn of(language: &str) -> &'static Self {
        match language {
            "de" => &GERMAN,
            "he" => &HEBREW,
            _ => &ENGLISH,
        }
    }

    /// Returns the words of every language. A person may answer in another one than they were asked in.
    pub(super) fn all() -> [&'static Self; 3] {
        [&ENGLISH, &GERMAN, &HEBREW]
    }

    fn parse(file: &'static str) -> Self {
        let lines = file.lines().filter(|line| !line.starts_with('#'));
        Self(lines.filter_map(|line| line.split_once('=')).map(|(name, text)| (name.trim(), text.trim())).collect())
    }

    /// Returns a phrase; empty if the language has none of this name.
    pub(in crate::tool) fn phrase(&self, name: &str) -> &'static str {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Returns a phrase in the form for familiar people, where the language tells them apart.
    pub(in crate::tool) fn phrase_for(&self, name: &str, is_familiar: bool) -> &'static str {
        let familiar = is_familiar.then(|| self.0.get(format!("{name}{FAMILIAR}").as_str()).copied()).flatten();
        familiar.unwrap_or_else(|| self.phrase(name))
    }

    /// Returns the entries of a list.
    pub(in crate::tool) fn list(&self, name: &str) -> impl Iterator<Item = &'static str> + use<> {
        self.phrase(name).split(" | ").filter(|entry| !entry.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_every_phrase() {
        let english = LetterWording::of("en");
        for wording in LetterWording::all() {
            for name in english.0.keys() {
                assert!(wording.0.contains_key(name), "{name}");
            }
        }
        assert_eq!(LetterWording::of("de").phrase_for("closing", true), "Viele Grüße");
        assert_eq!(LetterWording::of("en").phrase_for("closing", true), "Best regards,");
    }
}
