//! The entries that the nightly job may write into the rules file, and their one spelling.
//!
//! The grammar is closed. It has no word for a list, `lock`, `stop`, a policy or free text: an entry names a verified
//! sender or domain, a mailing list, or one word of a subject, and gives a level or says whether such a mail is a task.

use serde::{Deserialize, Serialize};

use crate::model::{Facts, Priority, ids::sha256_hex};
use crate::rules::grammar::limits::{MAX_NAME_CHARS, MAX_WHY_CHARS};

/// The shortest word that an entry may name; shorter ones occur in everything.
const MIN_WORD_CHARS: usize = 4;
/// The longest address, domain or list that an entry may name.
const MAX_VALUE_CHARS: usize = 120;

/// Which mails an entry is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// A verified address.
    Sender(String),
    /// A verified domain.
    Domain(String),
    /// A mailing list, in mail from a verified sender.
    ListId(String),
    /// One word of a subject, from a verified sender.
    Word(String),
    /// Mails of a verified domain whose subject begins with this word, such as a machine sends again and again.
    Template(String, String),
}

/// What an entry says about these mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryAct {
    /// Their level is at least this.
    Set(Priority),
    /// Their level is at most this.
    Cap(Priority),
    /// Such a mail is a task, or is none.
    Task(bool),
}

/// A learned rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LearnedEntry {
    pub reach: Reach,
    pub act: EntryAct,
}

/// One edit of the learned section, with the reason that the file will show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "snake_case")]
pub enum RulesEdit {
    Add {
        entry: LearnedEntry,
        why: String,
    },
    /// Replaces the entry of this name.
    Change {
        name: String,
        entry: LearnedEntry,
        why: String,
    },
    /// Removes the entry of this name.
    Retire {
        name: String,
        why: String,
    },
}

impl RulesEdit {
    /// Returns the entry that the edit writes; none when it removes one.
    pub fn entry(&self) -> Option<&LearnedEntry> {
        match self {
            RulesEdit::Add { entry, .. } | RulesEdit::Change { entry, .. } => Some(entry),
            RulesEdit::Retire { .. } => None,
        }
    }

    /// Returns the reason, which stands beside the entry in the file.
    pub fn why(&self) -> &str {
        match self {
            RulesEdit::Add { why, .. } | RulesEdit::Change { why, .. } | RulesEdit::Retire { why, .. } => why,
        }
    }

    /// Returns the name of the entry in the file.
    pub fn name(&self) -> String {
        match self {
            RulesEdit::Add { entry, .. } => entry.name(),
            RulesEdit::Change { name, .. } | RulesEdit::Retire { name, .. } => name.clone(),
        }
    }

    /// Returns the edit as a sentence, the same for lists, logs and questions.
    pub fn describe(&self) -> String {
        match self {
            RulesEdit::Add { entry, .. } => entry.describe(),
            RulesEdit::Change { name, entry, .. } => format!("{name} becomes: {}", entry.describe()),
            RulesEdit::Retire { name, .. } => format!("{name} is retired"),
        }
    }
}

impl EntryAct {
    /// Returns the key of the act in the file.
    pub const fn yaml_key(self) -> &'static str {
        match self {
            EntryAct::Set(_) => "set",
            EntryAct::Cap(_) => "cap",
            EntryAct::Task(_) => "task",
        }
    }
}

impl Reach {
    /// Returns whether the value has only characters that cannot break out of its place in the file. It comes from
    /// mail, so anything else is refused.
    pub fn is_safe_to_write(&self) -> bool {
        let fits = |text: &str, allowed: &dyn Fn(char) -> bool| {
            !text.is_empty() && text.chars().count() <= MAX_VALUE_CHARS && text.chars().all(allowed)
        };
        let name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_');
        let domain = |text: &str| fits(text, &name) && text.contains('.');
        match self {
            Reach::Sender(address) => address
                .split_once('@')
                .is_some_and(|(local, at)| fits(local, &|c| name(c) || matches!(c, '+' | '=')) && domain(at)),
            Reach::Domain(text) => domain(text),
            Reach::ListId(text) => fits(text, &name),
            Reach::Word(word) => is_valid_word(word),
            Reach::Template(at, word) => domain(at) && is_valid_word(word),
        }
    }

    /// Returns whether a mail with these facts is meant. It must agree with the condition that is written into the
    /// file; a test compares them.
    pub fn covers(&self, facts: &Facts) -> bool {
        let verified = facts.sender_verified;
        match self {
            Reach::Sender(address) => verified && facts.sender == *address,
            Reach::Domain(domain) => verified && facts.sender_domain == *domain,
            Reach::ListId(list) => verified && facts.list_id.as_ref().is_some_and(|id| id.to_lowercase() == *list),
            Reach::Word(word) => verified && subject_words(&facts.subject).any(|found| found == *word),
            Reach::Template(domain, word) => {
                verified
                    && facts.sender_domain == *domain
                    && subject_words(&facts.subject).next().as_ref() == Some(word)
            }
        }
    }

    /// Returns a text that identifies the reach, by which it is remembered when it was unlearned.
    pub fn key(&self) -> String {
        match self {
            Reach::Sender(value) => format!("sender:{value}"),
            Reach::Domain(value) => format!("domain:{value}"),
            Reach::ListId(value) => format!("list:{value}"),
            Reach::Word(value) => format!("word:{value}"),
            Reach::Template(domain, word) => format!("template:{domain}:{word}"),
        }
    }

    /// Returns which mails are meant, for a person.
    pub fn describe(&self) -> String {
        match self {
            Reach::Sender(value) => format!("mail from {value}"),
            Reach::Domain(value) => format!("mail from anyone at {value}"),
            Reach::ListId(value) => format!("mail on the list {value}"),
            Reach::Word(value) => format!("mail with '{value}' in its subject"),
            Reach::Template(domain, word) => format!("mail from {domain} whose subject begins with '{word}'"),
        }
    }

    /// Returns the `when` of the entry. Every form asks for the sender, so that it counts only for a verified one.
    fn condition_yaml(&self) -> String {
        match self {
            Reach::Sender(value) => format!("{{ sender: {{ is: \"{value}\" }} }}"),
            Reach::Domain(value) => format!("{{ sender_domain: {{ is: \"{value}\" }} }}"),
            Reach::ListId(value) => format!("{{ list_id: {{ is: \"{value}\" }}, sender: {{ exists: true }} }}"),
            Reach::Word(value) => {
                format!(
                    "{{ subject: {{ matches: '/(?:^|[^\\p{{L}}\\p{{N}}]){value}(?:$|[^\\p{{L}}\\p{{N}}])/i' }}, sender: {{ exists: true }} }}"
                )
            }
            Reach::Template(domain, value) => {
                format!(
                    "{{ sender_domain: {{ is: \"{domain}\" }}, subject: {{ matches: '/^[^\\p{{L}}\\p{{N}}]*{value}(?:$|[^\\p{{L}}\\p{{N}}])/i' }} }}"
                )
            }
        }
    }
}

/// Returns whether a word can be written into a regular expression as it is.
fn is_valid_word(word: &str) -> bool {
    let count = word.chars().count();
    (MIN_WORD_CHARS..=32).contains(&count)
        && word.chars().all(char::is_alphanumeric)
        && word.chars().any(char::is_alphabetic)
        && *word == word.to_lowercase()
}

/// Returns the words of a subject in lower case, as entries name them.
pub(crate) fn subject_words(subject: &str) -> impl Iterator<Item = String> {
    let words = subject.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

impl LearnedEntry {
    /// Returns a readable name that is always the same for the same reach and kind of act. Four digits of a digest tell
    /// apart values that look alike once their signs are replaced.
    pub fn name(&self) -> String {
        let key = self.reach.key();
        let act = self.act.yaml_key();
        let plain: String = key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let short: String = plain.chars().take(MAX_NAME_CHARS - 14).collect();
        let digest: String = sha256_hex(format!("{act} {key}").as_bytes()).chars().take(4).collect();
        format!("{act}-{}-{digest}", short.trim_end_matches('-'))
    }

    /// Returns the entry as a sentence.
    pub fn describe(&self) -> String {
        let reach = self.reach.describe();
        match self.act {
            EntryAct::Set(level) => format!("{reach} is at least {level}"),
            EntryAct::Cap(level) => format!("{reach} is at most {level}"),
            EntryAct::Task(true) => format!("{reach} is a task"),
            EntryAct::Task(false) => format!("{reach} is no task"),
        }
    }

    /// Returns the entry as it stands in the file. An entry that was changed keeps the name that it had before.
    pub(super) fn to_yaml(&self, name: &str, why: &str) -> String {
        let key = self.act.yaml_key();
        let value = match self.act {
            EntryAct::Set(level) | EntryAct::Cap(level) => level.as_str(),
            EntryAct::Task(true) => "true",
            EntryAct::Task(false) => "false",
        };
        let why: String =
            why.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).take(MAX_WHY_CHARS).collect();
        format!("name: {name}\nwhen: {}\n{key}: {value}\nwhy: \"{why}\"\n", self.reach.condition_yaml())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{
        RuleSet,
        fixture::{facts, now},
    };

    fn reaches() -> Vec<Reach> {
        vec![
            Reach::Sender("ann@shop.example".into()),
            Reach::Domain("shop.example".into()),
            Reach::ListId("l.shop.example".into()),
            Reach::Word("invoice".into()),
            Reach::Template("shop.example".into(), "your".into()),
        ]
    }

    #[test]
    fn the_file_reads_what_the_reach_covers() {
        for reach in reaches() {
            let entry = LearnedEntry { reach: reach.clone(), act: EntryAct::Set(Priority::Critical) };
            let body = entry.to_yaml(&entry.name(), "why").trim_end().replace('\n', "\n    ");
            let text = format!("rules: []\n# >>> learned\nlearned:\n  - {body}\n# <<< learned\n");
            let rules = RuleSet::parse("f", &text).unwrap_or_else(|error| panic!("{error}"));
            let mut told = facts();
            told.list_id = Some("l.shop.example".into());
            let mut forged = told.clone();
            forged.sender_verified = false;
            let mut other = told.clone();
            other.sender = "bob@else.example".into();
            other.sender_domain = "else.example".into();
            other.list_id = None;
            other.subject = "Yours, invoiced".into();
            for (facts, expected) in [(told, true), (forged, false), (other, false)] {
                assert_eq!(reach.covers(&facts), expected, "{reach:?}");
                assert_eq!(!rules.matching_learned_names(&facts, now()).is_empty(), expected, "{text}");
            }
        }
    }

    #[test]
    fn only_plain_values_can_be_written() {
        assert!(reaches().iter().all(Reach::is_safe_to_write));
        for value in [
            "a\"@b.example",
            "a@b\n.example",
            "a b@c.example",
            "@b.example",
            "a@",
            "a@b",
            "א@b.example",
            "a}@b.example",
        ] {
            assert!(!Reach::Sender(value.into()).is_safe_to_write(), "{value}");
        }
        for word in ["abc", "two words", "x#y:z", "", "1234", "UPPER", "quote'"] {
            assert!(!Reach::Word(word.into()).is_safe_to_write(), "{word}");
        }
        assert!(!Reach::Domain("localhost".into()).is_safe_to_write());
        assert!(Reach::Word("פגישה".into()).is_safe_to_write());
    }

    #[test]
    fn names_are_legal_and_tell_entries_apart() {
        let level =
            LearnedEntry { reach: Reach::Sender("ann@shop.example".into()), act: EntryAct::Set(Priority::High) };
        let task = LearnedEntry { act: EntryAct::Task(false), ..level.clone() };
        let cap = LearnedEntry { act: EntryAct::Cap(Priority::Low), ..level.clone() };
        let higher = LearnedEntry { act: EntryAct::Set(Priority::Critical), ..level.clone() };
        assert!(level.name() != task.name() && level.name() != cap.name());
        assert_eq!(level.name(), higher.name(), "one of a kind per reach");
        let long = LearnedEntry { reach: Reach::Sender(format!("{}@b.example", "x".repeat(100))), ..level };
        assert!(long.name().chars().count() <= MAX_NAME_CHARS);
    }
}
