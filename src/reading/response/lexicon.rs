//! What responses are made of, one file per language.
#![allow(unreachable_pub, reason = "the macro writes `pub`; the module keeps it in the reading")]

use std::{collections::HashMap, sync::LazyLock};

use super::pattern::ResponsePhrase;
use crate::model::{DeclinedPeriod, text_enum::text_enum};

text_enum! {
    /// What a phrase means. They are tried in this order.
    PhraseMeaning {
        SendNothing = "send_nothing",
        Decline = "decline",
        Tentative = "tentative",
        Accept = "accept",
        Shorter = "shorter",
        Later = "later",
        Append = "append",
        Move = "move",
        RecipientAdded = "recipient_added",
        Place = "place",
        Say = "say",
        SayNot = "say_not",
        Recipient = "recipient",
    }
}

impl PhraseMeaning {
    /// Returns whether a phrase of this meaning quotes a text.
    pub(super) const fn is_text(self) -> bool {
        matches!(self, Self::Append | Self::Say | Self::SayNot)
    }
}

/// The phrases and words of one language.
pub(super) struct ResponseLexicon {
    /// The phrases, each with its meaning, in the order in which they are tried.
    pub(super) phrases: Vec<(PhraseMeaning, ResponsePhrase)>,
    pub(super) periods: Vec<(DeclinedPeriod, Vec<&'static str>)>,
    lists: HashMap<&'static str, Vec<&'static str>>,
}

static ALL: LazyLock<[ResponseLexicon; 3]> = LazyLock::new(|| {
    [include_str!("english.txt"), include_str!("german.txt"), include_str!("hebrew.txt")].map(ResponseLexicon::parse)
});

impl ResponseLexicon {
    /// Returns the lexicons of all languages. A person may answer in any of them.
    pub(super) fn all() -> &'static [Self] {
        ALL.as_slice()
    }

    /// Returns whether a list of words has this one.
    pub(super) fn has(&self, list: &str, word: &str) -> bool {
        self.lists.get(list).is_some_and(|words| words.contains(&word))
    }

    /// Returns the entries of a list.
    pub(super) fn list(&self, name: &str) -> &[&'static str] {
        self.lists.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns a fixed form of the language.
    pub(super) fn form(&self, name: &str) -> &'static str {
        let forms = self.list("forms").iter().filter_map(|line| line.split_once(" = "));
        forms.into_iter().find(|(key, _)| *key == name).map_or("", |(_, form)| form)
    }

    fn parse(file: &'static str) -> Self {
        let mut lists: HashMap<&'static str, Vec<&'static str>> = HashMap::new();
        let mut section = "";
        for line in file.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                Some(title) => section = title,
                None if matches!(section, "periods" | "forms") => lists.entry(section).or_default().push(line),
                None => lists.entry(section).or_default().extend(line.split(" | ")),
            }
        }
        let mut phrases = Vec::new();
        for meaning in PhraseMeaning::ALL {
            let entries = lists.remove(meaning.as_str()).unwrap_or_default();
            phrases.extend(entries.into_iter().filter_map(|entry| Some((*meaning, ResponsePhrase::parse(entry)?))));
        }
        let periods = lists.remove("periods").unwrap_or_default();
        let period = |line: &'static str| {
            let (name, words) = line.split_once(" = ")?;
            Some((name.parse().ok()?, words.split(" | ").collect()))
        };
        Self { phrases, periods: periods.into_iter().filter_map(period).collect(), lists }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_every_language_is_understood() {
        let files = [include_str!("english.txt"), include_str!("german.txt"), include_str!("hebrew.txt")];
        for (lexicon, file) in ResponseLexicon::all().iter().zip(files) {
            let mut section = "";
            let mut phrases = 0;
            for line in file.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
                match line.strip_prefix('[') {
                    Some(title) => section = title.trim_end_matches(']'),
                    None if section.parse::<PhraseMeaning>().is_ok() => phrases += line.split(" | ").count(),
                    None => {}
                }
            }
            assert_eq!(lexicon.phrases.len(), phrases, "each phrase is parsed:\n{file}");
            assert_eq!(lexicon.periods.len(), DeclinedPeriod::ALL.len());
            for meaning in PhraseMeaning::ALL {
                let has = lexicon.phrases.iter().any(|(of, _)| of == meaning);
                assert!(has || *meaning == PhraseMeaning::SayNot, "{meaning} has no phrase");
            }
            assert!(!lexicon.form("please").is_empty() && !lexicon.list("statement").is_empty());
        }
    }
}
