//! The words of mail programs, lawyers and list servers in many languages, read once from `mail_clients.txt`.
//!
//! Owns the lists and nothing else: what a phrase means for a line is decided where it is asked for.

use std::{collections::HashMap, sync::LazyLock};

use super::phrase_set::{Languages, PhraseSet, fold};

const TEXT: &str = include_str!("mail_clients.txt");

/// A kind of phrase, named in the file as here but in lower case with underscores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    From,
    Sent,
    Date,
    To,
    Cc,
    Subject,
    Field,
    Attribution,
    Weekday,
    Wrote,
    WroteBefore,
    Original,
    Forwarded,
    ForwardLine,
    ForwardSubject,
    ReplySubject,
    SignOff,
    Thanks,
    Afterthought,
    FirstPerson,
    Asks,
    When,
    DeviceStart,
    Device,
    LegalStart,
    LegalSign,
    LegalWord,
    Register,
    Footer,
    FooterWord,
    FooterLine,
    FooterLink,
    Tagline,
    Banner,
    BannerWord,
    ListSign,
}

/// Every kind with its name in the file.
const KINDS: &[(&str, Kind)] = &[
    ("from", Kind::From),
    ("sent", Kind::Sent),
    ("date", Kind::Date),
    ("to", Kind::To),
    ("cc", Kind::Cc),
    ("subject", Kind::Subject),
    ("field", Kind::Field),
    ("attribution", Kind::Attribution),
    ("weekday", Kind::Weekday),
    ("wrote", Kind::Wrote),
    ("wrote_before", Kind::WroteBefore),
    ("original", Kind::Original),
    ("forwarded", Kind::Forwarded),
    ("forward_line", Kind::ForwardLine),
    ("forward_subject", Kind::ForwardSubject),
    ("reply_subject", Kind::ReplySubject),
    ("sign_off", Kind::SignOff),
    ("thanks", Kind::Thanks),
    ("afterthought", Kind::Afterthought),
    ("first_person", Kind::FirstPerson),
    ("asks", Kind::Asks),
    ("when", Kind::When),
    ("device_start", Kind::DeviceStart),
    ("device", Kind::Device),
    ("legal_start", Kind::LegalStart),
    ("legal_sign", Kind::LegalSign),
    ("legal_word", Kind::LegalWord),
    ("register", Kind::Register),
    ("footer", Kind::Footer),
    ("footer_word", Kind::FooterWord),
    ("footer_line", Kind::FooterLine),
    ("footer_link", Kind::FooterLink),
    ("tagline", Kind::Tagline),
    ("banner", Kind::Banner),
    ("banner_word", Kind::BannerWord),
    ("list_sign", Kind::ListSign),
];

/// The kinds that are names of header fields.
const FIELDS: &[Kind] = &[Kind::From, Kind::Sent, Kind::Date, Kind::To, Kind::Cc, Kind::Subject, Kind::Field];

/// The kinds that a notice or a footer begins with.
const NOTICE_STARTS: &[Kind] = &[
    Kind::DeviceStart,
    Kind::LegalStart,
    Kind::Register,
    Kind::Footer,
    Kind::FooterLine,
    Kind::FooterLink,
    Kind::Tagline,
    Kind::Banner,
];

/// The phrases of all languages together, by kind.
pub(super) struct ClientWords {
    sets: HashMap<Kind, PhraseSet>,
    /// The header fields by their names.
    fields: HashMap<String, Kind>,
    /// All that a notice or a footer begins with: most sentences begin with none, and are not looked at closely.
    notice_starts: PhraseSet,
    none: PhraseSet,
}

pub(super) static WORDS: LazyLock<ClientWords> = LazyLock::new(|| ClientWords::parse(TEXT));

impl ClientWords {
    fn parse(text: &'static str) -> Self {
        let mut phrases: HashMap<Kind, Vec<(&str, Languages)>> = HashMap::new();
        let mut sections = 0;
        for line in text.lines() {
            sections += u32::from(line.starts_with('['));
            if let Some((kind, listed)) = parse_line(line) {
                let language = Languages::nth(sections);
                phrases.entry(kind).or_default().extend(listed.split(" | ").map(|phrase| (phrase.trim(), language)));
            }
        }
        let mut fields = HashMap::new();
        for kind in FIELDS {
            fields.extend(phrases.remove(kind).unwrap_or_default().into_iter().map(|(name, _)| (fold(name), *kind)));
        }
        let starts: Vec<_> = NOTICE_STARTS.iter().filter_map(|kind| phrases.get(kind)).flatten().copied().collect();
        let notice_starts = PhraseSet::new(&starts);
        let sets = phrases.into_iter().map(|(kind, phrases)| (kind, PhraseSet::new(&phrases))).collect();
        Self { sets, fields, notice_starts, none: PhraseSet::default() }
    }

    pub(super) fn of(&self, kind: Kind) -> &PhraseSet {
        self.sets.get(&kind).unwrap_or(&self.none)
    }

    /// Returns whether a notice or a footer may begin with this folded text, by its first letters.
    pub(super) fn may_start_notice(&self, text: &str) -> bool {
        self.notice_starts.may_start(text)
    }

    /// Returns which header field has this folded name.
    pub(super) fn field(&self, name: &str) -> Option<Kind> {
        self.fields.get(name).copied()
    }
}

/// Returns the kind and the phrases of a line; none of a comment, an empty line and the head of a section.
fn parse_line(line: &str) -> Option<(Kind, &str)> {
    let (name, listed) = line.split_once(": ").filter(|_| !line.starts_with('#'))?;
    KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| (*kind, listed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_is_understood() {
        let section = |line: &str| line.starts_with('[') && line.ends_with(']');
        for line in TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#') && !section(line)) {
            let (kind, listed) = parse_line(line).unwrap_or_else(|| panic!("{line}"));
            assert!(listed.split(" | ").all(|phrase| !fold(phrase).is_empty()), "{kind:?}: {line}");
        }
    }

    #[test]
    fn every_kind_has_phrases() {
        for (name, kind) in KINDS {
            let listed = WORDS.sets.contains_key(kind) || WORDS.fields.values().any(|field| field == kind);
            assert!(listed, "{name}");
        }
    }

    #[test]
    fn the_languages_that_are_read_have_every_field() {
        for section in TEXT.split("\n[").skip(1).take(13) {
            for name in ["from", "sent", "date", "to", "cc", "subject", "wrote", "original", "forwarded", "sign_off"] {
                assert!(section.contains(&format!("\n{name}: ")), "{name} of {section:.2}");
            }
        }
    }
}
