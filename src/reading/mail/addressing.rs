//! Whose job a mail is: whom it greets, who is only copied, whom a sentence calls by name.
//!
//! Owns the answer to "is the reader meant". In doubt the reader is: a request that is missed costs more than one too many.

use crate::model::{Address, Mail, Me};
use crate::reading::{
    language::{Language, LanguageScores},
    lexicon::{Lexicon, WordList},
    sentence::text::{Sentence, normalise, words},
};

/// The most words of a greeting.
const LONGEST_GREETING: usize = 6;

/// Who else reads the mail, and whether it speaks to the reader.
#[derive(Debug, Default)]
pub(in crate::reading) struct Addressing {
    /// The words of the other recipients' names.
    others: Vec<String>,
    own: Vec<String>,
    /// The reader is not among the recipients in To, but in Cc.
    is_copied: bool,
    /// More people than the reader get the mail, or it came through a list.
    is_group: bool,
    /// It came through a list, as an answer to somebody.
    is_answer_on_list: bool,
    /// Whom the greeting names, when it is not the reader.
    greeted: Option<String>,
}

impl Addressing {
    pub(in crate::reading) fn new(mail: &Mail, me: &Me, own: &[String], sentences: &[Sentence<'_>]) -> Self {
        let mine = |address: &&Address| me.is_me(address);
        // Whoever is in neither line got the mail through a list or in Bcc: the names in To are then the list's.
        let is_named = mail.to.iter().chain(&mail.cc).any(|address| me.is_me(address));
        let others = mail.to.iter().chain(&mail.cc).filter(|address| is_named && !me.is_me(address));
        let others = others.flat_map(name_words).filter(|word| !own.contains(word)).collect();
        let is_copied = !mail.to.iter().any(|to| me.is_me(to)) && mail.cc.iter().any(|cc| mine(&cc));
        let is_group = !is_named || mail.to.len() + mail.cc.len() > 1 || mail.list_id.is_some();
        let is_answer_on_list = (!is_named || mail.list_id.is_some()) && !mail.references.is_empty();
        let mut addressing = Self { others, own: own.to_vec(), is_copied, is_group, is_answer_on_list, greeted: None };
        addressing.greeted = sentences.first().and_then(|first| addressing.find_other_in_greeting(first));
        addressing
    }

    /// Returns whom the mail asks, when that is not its reader: it greets somebody else, or the reader is only copied.
    pub(in crate::reading) fn asks_instead(&self) -> Option<String> {
        match &self.greeted {
            Some(name) => Some(name.clone()),
            None => self.is_copied.then(|| "somebody else: you are only copied".to_owned()),
        }
    }

    /// Whether nobody else gets the mail.
    pub(in crate::reading) fn is_to_reader_alone(&self) -> bool {
        !self.is_group
    }

    /// Whether the mail came through a list, as an answer to somebody.
    pub(in crate::reading) fn is_answer_on_list(&self) -> bool {
        self.is_answer_on_list
    }

    /// Whether a sentence calls another reader of the mail by name: "Marc, could you …".
    pub(in crate::reading) fn calls_other(&self, sentence: &Sentence<'_>) -> bool {
        let lexicon = Lexicon::of(sentence.language);
        let plain = sentence.normalised.as_str();
        // "And Piotr, please …" calls him too.
        let plain = plain
            .split_once(' ')
            .filter(|(first, _)| matches!(*first, "and" | "also" | "und" | "auch") && lexicon.is_lead_in(first))
            .map_or(plain, |(_, rest)| rest);
        let own = |called: &str| words(called).any(|word| self.own.iter().any(|own| own == word));
        if let Some((called, _)) = split_before_courtesy(plain)
            && !own(called)
            && words(called).any(|word| self.is_other(word))
        {
            return true;
        }
        let dash = plain.split_once(" - ").filter(|(called, _)| words(called).count() <= 2);
        let Some((called, rest)) = dash.or_else(|| plain.split_once([',', ':', '–'])) else { return false };
        let called = called.trim_start_matches('@');
        if words(called).count() > 2 || rest.trim().is_empty() || own(called) {
            return false;
        }
        let is_led_in = plain.len() < sentence.normalised.len();
        words(called).any(|word| self.is_other(word))
            || (self.is_group
                && looks_like_name(sentence, called, rest)
                && (!is_led_in || is_written_large(sentence.raw, called)))
    }

    fn is_other(&self, word: &str) -> bool {
        self.others.iter().any(|name| name == word) && !self.own.iter().any(|name| name == word)
    }

    /// Returns the name in a greeting that is neither the reader's nor everybody's.
    fn find_other_in_greeting(&self, first: &Sentence<'_>) -> Option<String> {
        let head = first.raw.split([',', '!', '\n', '–', ':']).next()?;
        let plain = normalise(head);
        let all: Vec<&str> = words(&plain).collect();
        let is_greeting = |word: &str| is_listed(WordList::Greetings, word, first.language);
        let greets = all.first().is_some_and(|word| is_greeting(word));
        let stands_alone = head.len() < first.raw.len() || all.len() <= 2;
        if all.is_empty() || all.len() > LONGEST_GREETING || !(greets || stands_alone) {
            return None;
        }
        let named: Vec<&str> = all.iter().copied().filter(|word| !is_greeting(word)).collect();
        let to_reader = |word: &&str| {
            is_listed(WordList::Everybody, word, first.language) || self.own.iter().any(|own| own == word)
        };
        if named.is_empty() || named.iter().any(to_reader) {
            return None;
        }
        // A name that nobody on the mail bears may be a pet name of the reader.
        named.into_iter().find(|word| self.is_other(word)).map(|name| capitalise(name, head))
    }
}

/// "Kim please forward it": a name without a comma, if the word before the courtesy is one.
fn split_before_courtesy(plain: &str) -> Option<(&str, &str)> {
    let plain = plain.trim_start_matches(['(', '"']);
    let (called, rest) = plain.split_once(' ')?;
    (rest.starts_with("please ") || rest.starts_with("bitte ")).then_some((called, rest))
}

/// Whether a word opens a letter, in any language that is read.
pub(in crate::reading) fn is_greeting_word(word: &str) -> bool {
    let languages = [Language::English, Language::German, Language::Hebrew];
    languages.iter().any(|language| Lexicon::of(*language).has_word(WordList::Greetings, word))
}

/// Whether a word is on a list of its language, or of English: people greet in both.
fn is_listed(list: WordList, word: &str, language: Language) -> bool {
    [language, Language::English].iter().any(|language| Lexicon::of(*language).has_word(list, word))
}

/// Whether what stands before the comma is written like a name and is no word of the language. Hebrew has no large letters:
/// there an order must follow.
fn looks_like_name(sentence: &Sentence<'_>, called: &str, rest: &str) -> bool {
    let raw = sentence.raw.trim_start_matches(['@', '-', '*', ' ', '"']);
    let lexicon = Lexicon::of(sentence.language);
    let mut named = words(called).filter(|word| !is_listed(WordList::Greetings, word, sentence.language)).peekable();
    let is_written_as_name = raw.starts_with(char::is_uppercase)
        || (sentence.language == Language::Hebrew && words(rest).next().is_some_and(is_said_to_one));
    is_written_as_name
        && named.peek().is_some()
        && named.all(|word| {
            let is_known =
                lexicon.has_word(WordList::LeadIns, word) || is_listed(WordList::Everybody, word, sentence.language);
            !is_known && word.chars().all(char::is_alphabetic) && !LanguageScores::is_function_word(word)
        })
}

/// Whether a Hebrew clause begins with "you" or with what "you" shall do.
fn is_said_to_one(word: &str) -> bool {
    const SHORTEST: usize = 4;
    matches!(word, "אתה" | "את" | "אתם") || (word.starts_with('ת') && word.chars().count() >= SHORTEST)
}

/// Whether the first of these words is written with a capital in the text.
fn is_written_large(text: &str, called: &str) -> bool {
    let first = words(called).next();
    words(text).any(|word| word.starts_with(char::is_uppercase) && Some(normalise(word).as_str()) == first)
}

/// Returns the word as it is written in `text`.
fn capitalise(word: &str, text: &str) -> String {
    let found = words(text).find(|one| normalise(one) == word);
    found.map_or_else(|| word.to_owned(), str::to_owned)
}

/// Returns the words by which people call somebody: of the name, or of the address if there is none.
fn name_words(address: &Address) -> Vec<String> {
    let local = address.addr.split('@').next().unwrap_or_default().replace(['.', '_', '-'], " ");
    let text = normalise(address.name.as_deref().unwrap_or(&local));
    words(&text).filter(|word| word.chars().count() >= 2).map(str::to_owned).collect()
}
