//! The writer of a mail by name: its "I" and "mine" are read by somebody else, in a list of things to do.
//!
//! Owns the swap of pronouns, per language. In German, where a line of a list has no person, "yours" is "mine".

use crate::reading::{
    language::Language,
    lexicon::Lexicon,
    sentence::text::{normalise, words},
};

/// The words with the writer called by name. `is_named`: the objective names them before these words.
pub(in crate::reading) fn name_writer(text: &str, person: &str, language: Language, is_named: bool) -> String {
    match language {
        Language::German => name_german_writer(text, person),
        Language::Hebrew => name_hebrew_writer(text, person),
        _ => EnglishSwap { person, is_named, is_subject: false }.swap(text),
    }
}

/// The first name of a person with two or three names; other names are not cut.
fn short_name(person: &str) -> &str {
    let is_name =
        |word: &str| word.starts_with(char::is_uppercase) && word.chars().all(|c| c.is_alphabetic() || c == '-');
    let parts: Vec<&str> = person.split(' ').collect();
    let is_person = (2..=3).contains(&parts.len()) && parts.iter().all(|part| is_name(part));
    parts.first().filter(|_| is_person).copied().unwrap_or(person)
}

/// Behind them a verb has no ending of its own.
const AUXILIARIES: &[&str] =
    &["should", "shall", "can", "could", "will", "would", "may", "might", "must", "do", "does", "did"];

struct EnglishSwap<'a> {
    person: &'a str,
    is_named: bool,
    /// The writer's name was put for "I", and the next verb belongs to it.
    is_subject: bool,
}

impl EnglishSwap<'_> {
    fn swap(mut self, text: &str) -> String {
        let mut said: Vec<String> = Vec::new();
        let mut previous = "";
        for word in text.split(' ') {
            let is_title = previous.starts_with(char::is_uppercase) && previous.ends_with(char::is_alphabetic);
            // "The four of us" are the reader and the writer.
            let is_both = previous == "of" && word.trim_end_matches(|c: char| !c.is_alphanumeric()) == "us";
            said.push(if is_both { word.to_owned() } else { self.swap_word(word, is_title && said.len() > 1) });
            // "Should I send it?" has its verb before.
            self.is_subject &= !AUXILIARIES.contains(&previous.to_ascii_lowercase().as_str());
            previous = word;
        }
        said.join(" ")
    }

    fn swap_word(&mut self, word: &str, is_numbered: bool) -> String {
        let core = word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '\''));
        let (head, tail) = word.split_once(core).filter(|_| !core.is_empty()).unwrap_or(("", ""));
        if core.is_empty() {
            return word.to_owned();
        }
        let was_subject = std::mem::replace(&mut self.is_subject, false);
        let swapped = match core {
            "me" | "us" | "myself" => self.name(),
            // "Part I" is a number.
            "I" if is_numbered => "I".to_owned(),
            "I" | "i" => {
                self.is_subject = true;
                self.name()
            }
            "I'm" | "i'm" => format!("{} is", self.name()),
            "I've" | "i've" => format!("{} has", self.name()),
            "I'll" | "i'll" => format!("{} will", self.name()),
            "I'd" | "i'd" => format!("{} would", self.name()),
            "my" | "My" | "mine" if self.is_named => "their".to_owned(),
            "my" | "My" | "mine" => format!("{}'s", self.name()),
            // Whose it is, the reader knows.
            "our" => "the".to_owned(),
            "Our" => "The".to_owned(),
            core if was_subject => self.conjugate(core),
            core => core.to_owned(),
        };
        format!("{head}{swapped}{tail}")
    }

    fn name(&mut self) -> String {
        let name = if self.is_named { short_name(self.person) } else { self.person };
        self.is_named = true;
        name.to_owned()
    }

    /// "I need" is "Dana needs".
    fn conjugate(&mut self, verb: &str) -> String {
        const STATES: &[&str] =
            &["need", "want", "like", "know", "think", "see", "leave", "hope", "feel", "love", "believe", "wish"];
        match verb {
            "am" => "is".to_owned(),
            "have" => "has".to_owned(),
            "do" => "does".to_owned(),
            "don't" => "doesn't".to_owned(),
            "haven't" => "hasn't".to_owned(),
            "just" | "also" | "still" | "really" | "already" | "only" => {
                self.is_subject = true;
                verb.to_owned()
            }
            verb if STATES.contains(&verb) || Lexicon::of(Language::English).is_verb(verb) => {
                let is_hissing = ["s", "sh", "ch", "x", "z", "o"].iter().any(|end| verb.ends_with(end));
                match verb.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
                    Some(stem) => format!("{stem}ies"),
                    None if is_hissing => format!("{verb}es"),
                    None => format!("{verb}s"),
                }
            }
            verb => verb.to_owned(),
        }
    }
}

fn name_hebrew_writer(text: &str, person: &str) -> String {
    let swap = |word: &str| {
        let core = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let tail = word.strip_prefix(core).unwrap_or_default();
        let swapped = match core {
            "לי" | "לנו" => format!("ל{person}"),
            "אותי" | "אותנו" => format!("את {person}"),
            "אליי" | "אלי" | "אלינו" => format!("אל {person}"),
            "איתי" | "אתי" | "איתנו" | "אתנו" => format!("עם {person}"),
            "ממני" | "מאיתנו" | "מאתנו" => format!("מ{person}"),
            "שלי" | "שלנו" => format!("של {person}"),
            "אצלי" | "אצלנו" => format!("אצל {person}"),
            // The present tense is the same in the first person and in the third.
            "אני" => person.to_owned(),
            "שאני" => format!("ש{person}"),
            "כשאני" => format!("כש{person}"),
            core => core.to_owned(),
        };
        format!("{swapped}{tail}")
    };
    text.split(' ').map(swap).collect::<Vec<_>>().join(" ")
}

fn name_german_writer(text: &str, person: &str) -> String {
    let has_own_subject = text.split(' ').any(|word| matches!(word, "du" | "Sie" | "ihr"));
    let mut in_main_clause = true;
    let swap = |word: &str| {
        // A clause that hangs behind has its own "du".
        let is_main = in_main_clause;
        in_main_clause &= !(has_own_subject && word.ends_with(','));
        let core = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let tail = word.strip_prefix(core).unwrap_or_default();
        match normalise(core).as_str() {
            "mir" | "mich" | "uns" => format!("{person}{tail}"),
            "mein" | "meine" | "meinen" | "meinem" | "meiner" | "meines" => {
                format!("{}{tail}", german_genitive(person))
            }
            _ if is_main => format!("{}{tail}", name_german_reader(core)),
            _ => word.to_owned(),
        }
    };
    text.split(' ').map(swap).collect::<Vec<_>>().join(" ")
}

/// "deine Unterschrift" is "meine Unterschrift" for whoever reads the list.
fn name_german_reader(core: &str) -> String {
    let own = |rest: &str| matches!(rest, "" | "e" | "en" | "em" | "er" | "es").then(|| format!("mein{rest}"));
    let possessive = core.strip_prefix("dein").or_else(|| core.strip_prefix("Dein")).and_then(own);
    let polite = || core.strip_prefix("Ihr").and_then(own);
    let many = || match core {
        "eure" | "eurer" | "eures" | "euren" | "eurem" => core.strip_prefix("eur").map(|rest| format!("unser{rest}")),
        "euer" => Some("unser".to_owned()),
        _ => None,
    };
    let object = || match core {
        "dir" | "Dir" | "Ihnen" => Some("mir".to_owned()),
        "dich" | "Dich" => Some("mich".to_owned()),
        "euch" => Some("uns".to_owned()),
        _ => None,
    };
    possessive.or_else(polite).or_else(many).or_else(object).unwrap_or_else(|| core.to_owned())
}

/// "Oles", but "Jonas'".
pub(in crate::reading) fn german_genitive(person: &str) -> String {
    let ending = if person.ends_with(['s', 'ß', 'x', 'z']) { "'" } else { "s" };
    format!("{person}{ending}")
}

/// Whether a text names the person, in full or by the first of the names.
pub(in crate::reading) fn names(text: &str, person: &str) -> bool {
    let first = normalise(short_name(person));
    text.contains(person) || words(&normalise(text)).any(|word| word == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_writer_is_called_by_name() {
        for (text, language, is_named, expected) in [
            ("water my plants while I'm away", Language::English, false, "water Dana Levi's plants while Dana is away"),
            ("sign it before I leave", Language::English, false, "sign it before Dana Levi leaves"),
            (
                "say whether it fits or should I escalate",
                Language::English,
                false,
                "say whether it fits or should Dana Levi escalate",
            ),
            ("set it up for the four of us", Language::English, false, "set it up for the four of us"),
            ("a copy of my deed", Language::English, true, "a copy of their deed"),
            ("take on two Part I assistants", Language::English, false, "take on two Part I assistants"),
            ("use our template (I like it)", Language::English, false, "use the template (Dana Levi likes it)"),
            ("deine Unterschrift", Language::German, false, "meine Unterschrift"),
            ("mir sagen, wann es Ihnen passt", Language::German, false, "Dana Levi sagen, wann es mir passt"),
            ("mir schreiben, was du dir wünschst", Language::German, false, "Dana Levi schreiben, was du dir wünschst"),
            ("Ihr Kind bei uns abholen", Language::German, false, "mein Kind bei Dana Levi abholen"),
            ("להעביר אליי עותק", Language::Hebrew, false, "להעביר אל Dana Levi עותק"),
        ] {
            assert_eq!(name_writer(text, "Dana Levi", language, is_named), expected);
        }
        assert_eq!(
            name_writer("call me, I need it", "Acme Billing 24", Language::English, false),
            "call Acme Billing 24, Acme Billing 24 needs it"
        );
    }
}
