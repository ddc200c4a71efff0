//! The word lists of `words.txt`, and phrases at the beginning of a text.

use std::{collections::HashMap, sync::LazyLock};

/// A list of words and phrases, by their first word.
#[derive(Default)]
pub(in crate::planner) struct Phrases(HashMap<&'static str, Vec<Vec<&'static str>>>);

/// The lists, of both languages together: no word of one means something in the other.
#[derive(Default)]
pub(in crate::planner) struct WordLists {
    pub(in crate::planner) question: Phrases,
    pub(in crate::planner) imperative: Phrases,
    pub(in crate::planner) scope: Phrases,
    pub(in crate::planner) task: Phrases,
    pub(in crate::planner) polite: Phrases,
}

pub(in crate::planner) static WORDS: LazyLock<WordLists> = LazyLock::new(|| {
    let mut lists = WordLists::default();
    for line in include_str!("words.txt").lines().filter(|line| !line.starts_with('#')) {
        let Some((head, words)) = line.split_once(':') else { continue };
        let list = match head.split_whitespace().next() {
            Some("question") => &mut lists.question,
            Some("imperative") => &mut lists.imperative,
            Some("scope") => &mut lists.scope,
            Some("task") => &mut lists.task,
            _ => &mut lists.polite,
        };
        words.split(',').for_each(|phrase| list.add(phrase.trim()));
    }
    lists
});

impl Phrases {
    fn add(&mut self, phrase: &'static str) {
        let words: Vec<&str> = phrase.split_whitespace().collect();
        if let Some(first) = words.first() {
            let list = self.0.entry(first).or_default();
            list.push(words);
            // The longest phrase counts, so that nothing of it is left over.
            list.sort_by_key(|words| std::cmp::Reverse(words.len()));
        }
    }

    /// Returns how many words of the phrase that the words begin with; none if they begin with no phrase.
    pub(in crate::planner) fn starts(&self, words: &[RequestWord<'_>]) -> Option<usize> {
        let first = words.first()?;
        let phrases = self.0.get(first.text.as_ref())?;
        let begins = |phrase: &&Vec<&str>| {
            phrase.len() <= words.len() && phrase.iter().zip(words).all(|(wanted, word)| *wanted == word.text)
        };
        phrases.iter().find(begins).map(Vec::len)
    }
}

/// A word of a text in lower case, with where it begins and ends in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::planner) struct RequestWord<'a> {
    pub(in crate::planner) text: std::borrow::Cow<'a, str>,
    pub(in crate::planner) start: usize,
    pub(in crate::planner) end: usize,
}

/// Returns the words of a text. An apostrophe, a hyphen or a Hebrew quote inside of a word belongs to it.
pub(in crate::planner) fn split_words(text: &str) -> Vec<RequestWord<'_>> {
    let mut words = Vec::new();
    let mut start = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = matches!(c, '\'' | '’' | '-' | '"' | '״' | '׳' | '_')
            && start.is_some()
            && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if c.is_alphanumeric() || joins {
            start.get_or_insert(at);
            continue;
        }
        if let Some(from) = start.take() {
            words.extend(new_word(text, from, at));
        }
    }
    if let Some(from) = start {
        words.extend(new_word(text, from, text.len()));
    }
    words
}

fn new_word(text: &str, start: usize, end: usize) -> Option<RequestWord<'_>> {
    let slice = text.get(start..end)?;
    let is_plain = slice.chars().all(|c| !c.is_uppercase() && c != '’');
    let text = if is_plain { slice.into() } else { slice.to_lowercase().replace('’', "'").into() };
    Some(RequestWord { text, start, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lowered_and_know_their_place() {
        let words = split_words("Don’t BUILD tic-tac-toe, ועכשיו פיצ'ר!");
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_ref()).collect();
        assert_eq!(texts, ["don't", "build", "tic-tac-toe", "ועכשיו", "פיצ'ר"]);
        assert_eq!((words[1].start, words[1].end), (8, 13));
    }

    #[test]
    fn the_longest_phrase_counts() {
        assert_eq!(WORDS.polite.starts(&split_words("could you please do it")), Some(3));
        assert_eq!(WORDS.imperative.starts(&split_words("set up a page")), Some(2));
        assert_eq!(WORDS.imperative.starts(&split_words("settle up")), None);
    }
}
