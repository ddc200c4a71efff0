//! What the assistant says. Every sentence is in `english.txt` and `hebrew.txt`; nothing else words a reply.

mod list;
mod text;
mod when;

use std::{collections::HashMap, sync::LazyLock};

pub(super) use list::{number_options, number_tasks, shown_options};
pub use text::ReplyText;
pub(super) use text::shown_title;
pub(super) use when::{format_deadline, format_instant};

use super::ChatLanguage;

/// The sentences of a language by their names; a name with several lines has variations.
type Sentences = HashMap<&'static str, Vec<String>>;

static ENGLISH: LazyLock<Sentences> = LazyLock::new(|| parse_sentences(include_str!("english.txt")));
static HEBREW: LazyLock<Sentences> = LazyLock::new(|| parse_sentences(include_str!("hebrew.txt")));

fn parse_sentences(text: &'static str) -> Sentences {
    let mut sentences = Sentences::new();
    for (name, sentence) in text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "))
    {
        sentences.entry(name).or_default().push(sentence.replace("\\n", "\n"));
    }
    sentences
}

/// The name of a sentence, as it stands in the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReplySentence(pub(super) &'static str);

/// A value that takes the place of a name in braces.
pub(super) enum Value<'a> {
    /// Text of a person, which is shown safely and set apart on a screen.
    Title(&'a str),
    Text(String),
}

impl ReplySentence {
    /// Returns the variation of the sentence with this number, counted around.
    fn template(self, language: ChatLanguage, variation: usize) -> &'static str {
        let sentences = match language {
            ChatLanguage::English => &*ENGLISH,
            ChatLanguage::Hebrew => &*HEBREW,
        };
        // A name that the data lack is ruled out by a test.
        let variations = sentences.get(self.0).map(Vec::as_slice).unwrap_or_default();
        variations.get(variation.checked_rem(variations.len()).unwrap_or_default()).map_or("", String::as_str)
    }

    /// Returns the sentence with its values.
    pub(super) fn say(self, language: ChatLanguage, values: &[(&str, Value<'_>)]) -> ReplyText {
        self.vary(language, 0, values)
    }

    /// Returns a variation of the sentence with its values.
    pub(super) fn vary(self, language: ChatLanguage, variation: usize, values: &[(&str, Value<'_>)]) -> ReplyText {
        let mut said = ReplyText::default();
        let mut rest = self.template(language, variation);
        while let Some((before, after)) = rest.split_once('{') {
            said.push(before);
            let Some((name, behind)) = after.split_once('}') else { break };
            match values.iter().find(|(known, _)| *known == name) {
                Some((_, Value::Title(title))) => said.push_title(title),
                Some((_, Value::Text(text))) => said.push(text),
                None => {}
            }
            rest = behind;
        }
        said.push(rest);
        said
    }

    /// Returns the sentence without values as plain text.
    pub(super) fn plain(self, language: ChatLanguage) -> String {
        self.template(language, 0).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn names_in_braces(sentence: &str) -> BTreeSet<&str> {
        sentence.split('{').skip(1).filter_map(|part| part.split('}').next()).collect()
    }

    #[test]
    fn both_languages_have_the_same_sentences_with_the_same_values() {
        let names: BTreeSet<_> = ENGLISH.keys().chain(HEBREW.keys()).collect();
        for name in names {
            let (english, hebrew) = (ENGLISH.get(name), HEBREW.get(name));
            let (Some(english), Some(hebrew)) = (english, hebrew) else { panic!("{name} is in one language only") };
            assert_eq!(english.len(), hebrew.len(), "{name} has as many variations in each language");
            for (english, hebrew) in english.iter().zip(hebrew) {
                assert_eq!(names_in_braces(english), names_in_braces(hebrew), "{name}");
                assert_eq!(english.matches('?').count(), hebrew.matches('?').count(), "{name} asks as much in each");
            }
        }
    }

    #[test]
    fn every_sentence_that_the_code_names_exists() {
        let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/assistant"))];
        let pattern = regex::Regex::new(r#"ReplySentence\("([a-z_]+)"\)"#).unwrap();
        let mut named = BTreeSet::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let code = std::fs::read_to_string(path).unwrap();
                    named.extend(pattern.captures_iter(&code).map(|found| found[1].to_owned()));
                }
            }
        }
        let known: BTreeSet<String> = ENGLISH.keys().map(|name| (*name).to_owned()).collect();
        assert_eq!(named, known);
    }

    #[test]
    fn a_title_is_shown_safely_and_with_a_capital() {
        let said =
            ReplySentence("created").say(ChatLanguage::English, &[("title", Value::Title("buy [[STATE:X]] milk"))]);
        assert_eq!(said.plain(), "I've added 'Buy [ [STATE:X]] milk' to your list.");
        assert_eq!(said.isolated(), "I've added '\u{2068}Buy [ [STATE:X]] milk\u{2069}' to your list.");
    }
}
