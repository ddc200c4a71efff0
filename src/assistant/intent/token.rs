//! Cuts a message into words, each with its place and what stands before it.

use std::ops::Range;

/// Messages are read up to here; the last word that is read reaches to the end of a longer one.
const MAX_TOKENS: usize = 80;
/// Longer words are known by their beginning.
const LONGEST_WORD: usize = 32;

/// What stands between a word and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WordBreak {
    Nothing,
    /// A comma or a dash.
    Comma,
    /// The end of a sentence or of a line.
    Sentence,
}

/// A word or a number of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MessageToken {
    /// Lower case, without vowel points, with straight apostrophes.
    pub(super) text: String,
    /// Where it stands in the message, in bytes. That of a number takes in the `#` before it.
    pub(super) place: Range<usize>,
    pub(super) break_before: WordBreak,
    pub(super) is_number: bool,
    /// Stands between quotation marks, so that it belongs to a title.
    pub(super) is_quoted: bool,
    /// A question mark stands behind it.
    pub(super) ends_question: bool,
}

/// Returns the words of a message.
pub(super) fn tokenise(message: &str) -> Vec<MessageToken> {
    let mut tokens: Vec<MessageToken> = Vec::new();
    let mut chars = message.char_indices().peekable();
    let mut between = WordGap::default();
    let mut quote: Option<(char, usize)> = None;
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        if !c.is_alphanumeric() {
            let next = chars.peek().map_or(' ', |(_, next)| *next);
            quote = read_quote(c, before, next, quote, &mut tokens);
            if c == '?'
                && let Some(last) = tokens.last_mut()
            {
                last.ends_question = true;
            }
            between.see(at, c, next);
            before = c;
            continue;
        }
        if tokens.len() == MAX_TOKENS {
            if let Some(last) = tokens.last_mut() {
                last.place.end = message.trim_end().len();
            }
            break;
        }
        let (token, last) = read_word(message, at, &between);
        while chars.next_if(|(at, _)| *at < token.place.end).is_some() {}
        before = last;
        between = WordGap::default();
        tokens.push(token);
    }
    tokens
}

/// Reads the word that begins here. Returns it and its last character.
fn read_word(message: &str, start: usize, between: &WordGap) -> (MessageToken, char) {
    let mut token = MessageToken {
        text: String::new(),
        place: start..start,
        break_before: between.strength,
        is_number: true,
        is_quoted: false,
        ends_question: false,
    };
    let mut last = ' ';
    for (at, c) in message.get(start..).unwrap_or_default().char_indices() {
        if at > 0 && !is_inside_word(message, start + at, c, last) {
            break;
        }
        push_normalised(&mut token, c);
        token.place.end = start + at + c.len_utf8();
        last = c;
    }
    token.is_number &= !token.text.is_empty();
    if token.is_number
        && let Some(sign) = between.number_sign
    {
        token.place.start = sign;
    }
    (token, last)
}

/// What was seen since the last word.
struct WordGap {
    strength: WordBreak,
    /// Where a `#` stands that belongs to the next number.
    number_sign: Option<usize>,
}

impl Default for WordGap {
    fn default() -> Self {
        Self { strength: WordBreak::Nothing, number_sign: None }
    }
}

impl WordGap {
    fn see(&mut self, at: usize, c: char, next: char) {
        self.number_sign = if c == '#' { Some(at) } else { self.number_sign.filter(|_| c == ' ') };
        let strength = match c {
            '\n' | ';' | '!' | '?' | '…' => WordBreak::Sentence,
            '.' if !next.is_alphanumeric() => WordBreak::Sentence,
            ',' | '–' | '—' => WordBreak::Comma,
            '-' if next == ' ' => WordBreak::Comma,
            _ => WordBreak::Nothing,
        };
        self.strength = self.strength.max(strength);
    }
}

/// Returns whether a character continues a word: a letter or digit, an apostrophe or Hebrew quotation mark between
/// letters, a point or colon between digits, a vowel point.
fn is_inside_word(message: &str, at: usize, c: char, before: char) -> bool {
    if c.is_alphanumeric() || is_vowel_point(c) {
        return true;
    }
    let next = message.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
    match c {
        '\'' | '’' | '׳' => before.is_alphabetic() && next.is_alphabetic(),
        '"' | '״' | '”' => is_hebrew(before) && is_hebrew(next),
        '.' | ':' => before.is_ascii_digit() && next.is_ascii_digit(),
        _ => false,
    }
}

fn is_hebrew(c: char) -> bool {
    ('א'..='ת').contains(&c)
}

fn is_vowel_point(c: char) -> bool {
    ('\u{591}'..='\u{5c7}').contains(&c) && c != '\u{5be}'
}

fn push_normalised(token: &mut MessageToken, c: char) {
    token.is_number &= c.is_ascii_digit();
    if token.text.len() >= LONGEST_WORD || is_vowel_point(c) {
        return;
    }
    match c {
        '’' | '׳' => token.text.push('\''),
        '״' | '”' => token.text.push('"'),
        c => token.text.extend(c.to_lowercase()),
    }
}

/// Opens or closes a quotation. When it closes, the words in between become quoted.
fn read_quote(
    c: char,
    before: char,
    next: char,
    open: Option<(char, usize)>,
    tokens: &mut [MessageToken],
) -> Option<(char, usize)> {
    let closing = match c {
        '"' | '“' | '”' | '„' | '״' => '"',
        '\'' | '‘' | '’' => '\'',
        '«' | '»' => '»',
        _ => return open,
    };
    match open {
        Some((expected, from)) if expected == closing && !next.is_alphanumeric() => {
            tokens.iter_mut().skip(from).for_each(|token| token.is_quoted = true);
            None
        }
        None if !before.is_alphanumeric() && !next.is_whitespace() => Some((closing, tokens.len())),
        open => open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(message: &str) -> Vec<String> {
        tokenise(message).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn words_and_numbers() {
        for (message, expected) in [
            ("Add buy milk!", "add buy milk"),
            ("Don’t forget Dana's to-do", "don't forget dana's to do"),
            ("#3, task 12 at 8:30", "3 task 12 at 8:30"),
            ("תּוֹסִיף ד\"ר כהן ב-10", "תוסיף ד\"ר כהן ב 10"),
            ("  ", ""),
        ] {
            assert_eq!(texts(message).join(" "), expected, "{message}");
        }
    }

    #[test]
    fn a_number_takes_in_its_sign() {
        let message = "Delete #3";
        let last = tokenise(message).pop().unwrap();
        assert_eq!((last.text.as_str(), message.get(last.place), last.is_number), ("3", Some("#3"), true));
    }

    #[test]
    fn breaks_and_quotations_are_kept() {
        let tokens = tokenise("Add 'mom and dad', show all. Really? Yes");
        let breaks: Vec<_> = tokens.iter().map(|token| token.break_before).collect();
        use WordBreak::{Comma, Nothing, Sentence};
        assert_eq!(breaks, [Nothing, Nothing, Nothing, Nothing, Comma, Nothing, Sentence, Sentence]);
        let quoted: Vec<_> = tokens.iter().filter(|token| token.is_quoted).map(|token| token.text.as_str()).collect();
        assert_eq!(quoted, ["mom", "and", "dad"]);
        assert!(tokens[6].ends_question && !tokens[5].ends_question);
    }

    #[test]
    fn a_long_message_is_read_up_to_a_limit_and_kept_whole() {
        let message = "word ".repeat(100_000);
        let tokens = tokenise(&message);
        assert_eq!((tokens.len(), tokens.last().unwrap().place.end), (MAX_TOKENS, message.len() - 1));
        let word = "a".repeat(1_000_000);
        assert_eq!(tokenise(&word)[0].text.len(), LONGEST_WORD);
    }
}
