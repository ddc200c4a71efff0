//! The tokenizer of BERT (uncased): text to the numbers of its word pieces.

use std::collections::HashMap;

use unicode_categories::UnicodeCategories as _;
use unicode_normalization::UnicodeNormalization as _;

use super::asset::EncoderError;

/// A longer word is unknown.
const WORD_CHARACTERS: usize = 100;

pub(super) struct Tokenizer {
    /// Pieces that begin a word, and pieces that go on with one (`##` in the vocabulary), by their text.
    beginnings: HashMap<&'static str, usize>,
    continuations: HashMap<&'static str, usize>,
    /// The length in bytes of the longest piece.
    longest: usize,
    unknown: usize,
    start: usize,
    end: usize,
}

impl Tokenizer {
    pub(super) fn new(pieces: &[&'static str]) -> Result<Self, EncoderError> {
        let (mut beginnings, mut continuations) = (HashMap::new(), HashMap::new());
        for (id, piece) in pieces.iter().enumerate() {
            match piece.strip_prefix("##").filter(|rest| !rest.is_empty()) {
                Some(rest) => continuations.insert(rest, id),
                None => beginnings.insert(*piece, id),
            };
        }
        let special = |name| beginnings.get(name).copied().ok_or(EncoderError::Inconsistent("special pieces"));
        Ok(Self {
            unknown: special("[UNK]")?,
            start: special("[CLS]")?,
            end: special("[SEP]")?,
            longest: pieces.iter().map(|piece| piece.len()).max().unwrap_or_default(),
            beginnings,
            continuations,
        })
    }

    /// Returns the numbers of a text's pieces between those of start and end, at most `limit` in all.
    pub(super) fn tokenize(&self, text: &str, limit: usize) -> Vec<usize> {
        let room = limit.saturating_sub(1);
        let (mut ids, mut word) = (vec![self.start], String::new());
        for character in normalised_characters(text) {
            let stands_alone = is_punctuation(character) || is_chinese(character);
            if stands_alone || character.is_whitespace() {
                self.push_word(&word, &mut ids);
                word.clear();
            } else {
                word.push(character);
            }
            if stands_alone {
                self.push_word(character.encode_utf8(&mut [0; 4]), &mut ids);
            }
            if ids.len() >= room {
                break;
            }
        }
        self.push_word(&word, &mut ids);
        ids.truncate(room);
        ids.push(self.end);
        ids
    }

    /// Appends the pieces of a word: the longest that fits, again and again. If none fits, the whole word is unknown.
    fn push_word(&self, word: &str, ids: &mut Vec<usize>) {
        let before = ids.len();
        let mut rest = if word.chars().nth(WORD_CHARACTERS).is_none() { word } else { "" };
        let mut table = &self.beginnings;
        while let Some((id, after)) = longest_piece(table, rest, self.longest) {
            ids.push(id);
            (rest, table) = (after, &self.continuations);
        }
        let is_spelled = rest.is_empty() && ids.len() > before;
        if !is_spelled && !word.is_empty() {
            ids.truncate(before);
            ids.push(self.unknown);
        }
    }
}

/// Returns the longest piece that `text` begins with, and what comes after it.
fn longest_piece<'a>(table: &HashMap<&str, usize>, text: &'a str, longest: usize) -> Option<(usize, &'a str)> {
    let ends = (1..=text.len().min(longest)).rev();
    ends.filter_map(|end| text.split_at_checked(end)).find_map(|(piece, rest)| Some((*table.get(piece)?, rest)))
}

/// Returns the text in lower case without accents and control characters.
fn normalised_characters(text: &str) -> impl Iterator<Item = char> {
    let is_space = |character: char| matches!(character, '\t' | '\n' | '\r') || character.is_whitespace();
    let is_removed = move |character: char| character == '\u{FFFD}' || (character.is_other() && !is_space(character));
    let kept = text.chars().filter(move |character| !is_removed(*character));
    kept.nfd().filter(|character| !character.is_mark_nonspacing()).flat_map(char::to_lowercase)
}

fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation() || (!character.is_ascii() && character.is_punctuation())
}

/// Returns whether each character is a word of its own, as in Chinese.
fn is_chinese(character: char) -> bool {
    matches!(u32::from(character), 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x2CEAF | 0x2F800..=0x2FA1F)
}
