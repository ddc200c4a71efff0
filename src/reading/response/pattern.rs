//! The phrases of a response, and how a text is compared with one.
//!
//! A phrase is compared word by word, whatever the case, so that what it names can be taken from the text as it was typed.

/// What a phrase leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Time,
    Period,
    Person,
    Place,
    /// One word: a pronoun or a name.
    Whom,
    Text,
    /// A subordinate clause.
    Clause,
    /// What the recipient is to do.
    Request,
}

/// A part of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Word(&'static str),
    /// What is left open, behind letters that are written together with its first word.
    Open(&'static str, Slot),
}

/// A phrase of the lexicon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResponsePhrase(Vec<Part>);

/// A word of the text, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TypedWord {
    pub(super) from: usize,
    pub(super) to: usize,
    /// In lower case and without punctuation, except for a colon behind it.
    pub(super) plain: String,
    /// Whether a phrase may end behind the word.
    pub(super) ends_phrase: bool,
}

/// What stands in the open places of a phrase: the words of each, and how many letters of the first are not part of it.
pub(super) type Captures = Vec<Capture>;

/// What stands in one open place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Capture {
    pub(super) slot: Slot,
    pub(super) first: usize,
    pub(super) end: usize,
    /// The bytes of the first word that belong to the phrase.
    pub(super) prefix: usize,
}

impl Slot {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "time" => Self::Time,
            "period" => Self::Period,
            "person" => Self::Person,
            "place" => Self::Place,
            "whom" => Self::Whom,
            "text" => Self::Text,
            "clause" => Self::Clause,
            "request" => Self::Request,
            _ => return None,
        })
    }
}

impl ResponsePhrase {
    /// Parses an entry of the lexicon; none if it names an unknown place.
    pub(super) fn parse(entry: &'static str) -> Option<Self> {
        let parts = entry.split_whitespace().map(|word| match word.split_once('{') {
            None => Some(Part::Word(word)),
            Some((prefix, slot)) => Some(Part::Open(prefix, Slot::parse(slot.strip_suffix('}')?)?)),
        });
        parts.collect::<Option<Vec<_>>>().map(Self)
    }

    /// Returns whether the phrase has a word of its own.
    pub(super) fn has_words(&self) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Word(_)))
    }

    /// Compares a part of a text with the phrase, from one word up to another. Returns what stands in the open places.
    pub(super) fn capture(&self, words: &[TypedWord], from: usize, to: usize) -> Option<Captures> {
        capture_parts(&self.0, words, from, to)
    }
}

fn capture_parts(parts: &[Part], words: &[TypedWord], from: usize, to: usize) -> Option<Captures> {
    let Some((part, others)) = parts.split_first() else { return (from == to).then(Captures::new) };
    let word = words.get(from).filter(|_| from < to)?;
    match *part {
        Part::Word(expected) => (word.plain == expected).then(|| capture_parts(others, words, from + 1, to)).flatten(),
        Part::Open(prefix, slot) => {
            let rest = word.plain.strip_prefix(prefix).filter(|rest| !rest.is_empty())?;
            if slot == Slot::Text && rest.ends_with(':') && from + 1 < to && others.is_empty() {
                // "say that: …" is no sentence that begins with "that:".
                return None;
            }
            // An open place has as many words as the rest of the phrase leaves.
            let longest = to.checked_sub(others.len())?;
            let ends = if slot == Slot::Whom { from + 1..=from + 1 } else { from + 1..=longest };
            ends.rev().find_map(|end| {
                let mut captures = capture_parts(others, words, end, to)?;
                captures.insert(0, Capture { slot, first: from, end, prefix: prefix.len() });
                Some(captures)
            })
        }
    }
}

/// Splits a text into words.
pub(super) fn split_words(text: &str) -> Vec<TypedWord> {
    let mut words = Vec::new();
    let mut from = None;
    for (at, c) in text.char_indices().chain(std::iter::once((text.len(), ' '))) {
        match (c.is_whitespace(), from) {
            (false, None) => from = Some(at),
            (true, Some(start)) => {
                words.extend(text.get(start..at).map(|raw| TypedWord {
                    from: start,
                    to: at,
                    plain: plain_word(raw),
                    ends_phrase: raw.ends_with([',', ';', '.', '!', '?', '–', '—']),
                }));
                from = None;
            }
            _ => {}
        }
    }
    // A dash between two words only parts them.
    for at in 1..words.len() {
        if words.get(at).is_some_and(|word: &TypedWord| word.plain.is_empty()) {
            words.get_mut(at - 1).into_iter().for_each(|before| before.ends_phrase = true);
        }
    }
    words.retain(|word| !word.plain.is_empty());
    words
}

fn plain_word(raw: &str) -> String {
    let is_mark =
        |c: char| matches!(c, ',' | ';' | '.' | '!' | '?' | '"' | '“' | '”' | '„' | '(' | ')' | '–' | '—' | '-' | '‘');
    let word = raw.trim_matches(is_mark).replace('’', "'");
    word.trim_matches('\'').to_lowercase()
}
