//! The words that the assistant listens for, beside those that decide an intent: pronouns, ordinals, answers, fields.
//!
//! The lists are data (`words/`). Those of both languages are used for every message, because their letters differ and
//! people mix them.

use std::{collections::HashMap, sync::LazyLock};

use super::phrase::{self, is_word_char};

/// The phrases of each list, the longest first.
static LISTS: LazyLock<HashMap<&'static str, Vec<String>>> = LazyLock::new(|| {
    let mut lists: HashMap<&'static str, Vec<String>> = HashMap::new();
    for text in [include_str!("words/english.txt"), include_str!("words/hebrew.txt")] {
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, phrases)) = line.split_once('=') else { continue };
            let phrases = phrases.split('|').map(|phrase| phrase.trim().to_owned());
            lists.entry(name.trim()).or_default().extend(phrases);
        }
    }
    lists.values_mut().for_each(|phrases| phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len())));
    lists
});

/// The name of a list, as it stands in the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PhraseList(pub(super) &'static str);

impl PhraseList {
    /// Returns the phrases, the longest first; empty for a name that no file has, which a test rules out.
    pub(super) fn phrases(self) -> &'static [String] {
        LISTS.get(self.0).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the text is one of the phrases, apart from case, punctuation around it and courtesies.
    pub(super) fn is(self, text: &str) -> bool {
        let text = phrase::fold(text);
        self.phrases().contains(&text)
    }

    /// Returns what follows the phrase at the beginning of the text; none if there is no such phrase.
    pub(super) fn strip_start(self, text: &str) -> Option<&str> {
        self.phrases().iter().find_map(|known| strip_phrase_at_start(text, known))
    }

    /// Returns what stands before the phrase at the end of the text; none if there is no such phrase.
    pub(super) fn strip_end(self, text: &str) -> Option<&str> {
        let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '!' | ',' | '?'));
        self.phrases().iter().find_map(|known| strip_phrase_at_end(text, known))
    }

    /// Returns whether one of the phrases stands in the text as whole words. The text must be folded.
    pub(super) fn is_in(self, folded: &str) -> bool {
        self.phrases().iter().any(|known| contains_phrase(folded, known))
    }
}

/// Returns what follows `phrase` at the beginning of the text, if whole words are equal apart from case.
fn strip_phrase_at_start<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    let start = text.get(..phrase.len())?;
    let rest = text.get(phrase.len()..)?;
    let ends = phrase.chars().next_back().is_none_or(|c| !is_word_char(c)) || !rest.starts_with(is_word_char);
    (start.eq_ignore_ascii_case(phrase) && ends).then(|| rest.trim_start_matches([' ', ',', ':', '\t']))
}

/// Returns what stands before `phrase` at the end of the text, if whole words are equal apart from case.
fn strip_phrase_at_end<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    let start = text.len().checked_sub(phrase.len())?;
    let (before, end) = (text.get(..start)?, text.get(start..)?);
    let begins = phrase.chars().next().is_none_or(|c| !is_word_char(c)) || !before.ends_with(is_word_char);
    (end.eq_ignore_ascii_case(phrase) && begins).then(|| before.trim_end_matches([' ', ',', '\t']))
}

/// Returns whether the phrase stands in the folded text as whole words.
fn contains_phrase(folded: &str, phrase: &str) -> bool {
    folded.match_indices(phrase).any(|(at, found)| {
        let before = folded.get(..at).and_then(|text| text.chars().next_back());
        let after = folded.get(at + found.len()..).and_then(|text| text.chars().next());
        // "don't" holds "n't", which is no word of its own.
        let begins = phrase.starts_with("n'") || before.is_none_or(|c| !is_word_char(c));
        begins && after.is_none_or(|c| !is_word_char(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_that_the_code_names_has_phrases_and_no_other_is_in_the_data() {
        let mut code = String::new();
        let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/assistant"))];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    code.push_str(&std::fs::read_to_string(path).unwrap());
                }
            }
        }
        let pattern = regex::Regex::new(r#"PhraseList\("([a-z_0-9]+)"\)"#).unwrap();
        let named: std::collections::BTreeSet<&str> =
            pattern.captures_iter(&code).map(|found| found.get(1).unwrap().as_str()).collect();
        let known: std::collections::BTreeSet<&str> = LISTS.keys().copied().collect();
        assert_eq!(named, known);
    }

    #[test]
    fn phrases_are_whole_words() {
        assert_eq!(PhraseList("create_filler").strip_start("A task to buy milk"), Some("buy milk"));
        assert_eq!(PhraseList("create_filler").strip_start("tomatoes"), None);
        assert_eq!(PhraseList("from_list").strip_end("buy milk from my list."), Some("buy milk"));
        assert!(PhraseList("cancel").is("Never mind!") && !PhraseList("cancel").is("cancel the meeting"));
        assert!(PhraseList("negation").is_in("i don't") && !PhraseList("negation").is_in("note"));
    }
}
