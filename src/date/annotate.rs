//! From tokens to terms: every word by what it means for times, with the small words before it.

use super::{
    figure::{FigureStyle, parse_offset, read_figure},
    language::{Meaning, Tongue, is_english_sign, is_german_sign},
    term::{Lead, Term, Unit},
    token::Token,
};

/// A term where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub(super) term: Term,
    pub(super) lead: Lead,
    /// The first and the last token it was made of.
    pub(super) token: usize,
    pub(super) last_token: usize,
}

/// The language of the words of a sentence. Without a sign of one, it is the person's.
pub(super) fn detect_tongue(tokens: &[Token<'_>], speaks_german: bool) -> Tongue {
    let is_hebrew = |token: &Token<'_>| token.text.chars().any(|c| ('א'..='ת').contains(&c));
    if tokens.iter().any(is_hebrew) {
        return Tongue::Hebrew;
    }
    let (mut german, mut english) = (0, 0);
    for token in tokens {
        german += usize::from(is_german_sign(token.text));
        english += usize::from(is_english_sign(token.text));
    }
    if german > english || (german == english && speaks_german) { Tongue::German } else { Tongue::English }
}

/// The terms of a sentence, and the tokens that say that a limit follows.
#[derive(Debug, Default)]
pub(super) struct Annotation {
    pub(super) words: Vec<Word>,
    pub(super) limits: Vec<usize>,
}

pub(super) fn annotate(tokens: &[Token<'_>], style: FigureStyle) -> Annotation {
    let found = Annotation { words: Vec::with_capacity(tokens.len()), limits: Vec::new() };
    let mut annotator = Annotator { tokens, style, found, lead: Lead::NONE };
    let mut at = 0;
    while at < tokens.len() {
        at += annotator.read(at).max(1);
    }
    annotator.found
}

struct Annotator<'t> {
    tokens: &'t [Token<'t>],
    style: FigureStyle,
    found: Annotation,
    lead: Lead,
}

impl Annotator<'_> {
    fn last(&self) -> Option<Term> {
        self.found.words.last().map(|word| word.term)
    }

    fn push(&mut self, term: Term, token: usize, used: usize) {
        let lead = std::mem::take(&mut self.lead);
        self.found.words.push(Word { term, lead, token, last_token: token + used - 1 });
    }

    /// Reads what starts at a token and returns how many tokens it took.
    fn read(&mut self, at: usize) -> usize {
        let Some(token) = self.tokens.get(at) else { return 1 };
        if token.text == "-" {
            self.push(Term::Dash, at, 1);
            return 1;
        }
        let phrase = self.tokens.get(at..).unwrap_or_default().iter().map(|token| token.text);
        if let Some((meaning, used)) = self.style.tongue.find(phrase) {
            self.take(meaning, at, used);
            return used;
        }
        let used = match self.read_piece(token.text, at) {
            0 => self.read_pieces(token.text, at),
            used => used,
        };
        if used == 0 {
            self.lead = Lead::NONE;
            self.push(Term::Other, at, 1);
        }
        used
    }

    fn take(&mut self, meaning: &Meaning, at: usize, used: usize) {
        if let Some(lead) = meaning.lead {
            self.lead = self.lead.with(lead);
        }
        self.found.limits.extend(meaning.is_limit.then_some(at));
        for term in &meaning.terms {
            let is_named_day = matches!(term, Term::MaybeDay(_) | Term::Day(_));
            // "יום שני" is Monday, where "שני דברים" are two things.
            if self.style.tongue == Tongue::Hebrew && is_named_day && self.last() == Some(Term::Unit(Unit::Day)) {
                let day = self.found.words.pop();
                self.lead = self.lead.with(Lead::ON).with(day.map_or(Lead::NONE, |day| day.lead));
            }
            self.push(*term, at, used);
        }
    }

    /// One word or figure: as it is, without an "'s", or without a Hebrew prefix. Returns how many tokens it took.
    fn read_piece(&mut self, text: &str, at: usize) -> usize {
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            return usize::from(self.read_number(text, at));
        }
        if let Some(offset) = text.strip_prefix("utc").or_else(|| text.strip_prefix("gmt")).or(Some(text))
            && offset.starts_with(['+', '-', '−'])
            && let Some(seconds) = parse_offset(offset)
        {
            self.push(Term::Zone(seconds), at, 1);
            return 1;
        }
        if let Some(meaning) = text.strip_suffix("'s").and_then(|word| self.style.tongue.find_word(word)) {
            self.take(meaning, at, 1);
            return 1;
        }
        self.read_with_prefix(text, at)
    }

    fn read_number(&mut self, text: &str, at: usize) -> bool {
        let Some(terms) = read_figure(text, self.style, self.last() == Some(Term::In)) else { return false };
        let has_stop = self.tokens.get(at).is_some_and(|token| token.has_stop);
        let is_ordinal = self.style.tongue == Tongue::German && has_stop && !self.lead.has_any(&[Lead::AT]);
        for term in terms {
            let term = match term {
                Term::Number(day @ 1..=53) if is_ordinal => Term::Ordinal(day),
                term => term,
            };
            self.push(term, at, 1);
        }
        true
    }

    /// "ביוני", "ב-10:00", "ה-4", "ל-12".
    fn read_with_prefix(&mut self, text: &str, at: usize) -> usize {
        let mut letters = text.chars();
        let Some(prefix) = letters.next().filter(|c| matches!(c, 'ב' | 'ל' | 'ה' | 'מ' | 'ו' | 'ש')) else {
            return 0;
        };
        let rest = letters.as_str().trim_start_matches(['-', '־']);
        let lead = match prefix {
            'ב' => Lead::AT.with(Lead::ON),
            'ל' => Lead::TO,
            'ה' => Lead::THE,
            'מ' => Lead::FROM,
            _ => Lead::NONE,
        };
        let counts =
            matches!(self.last(), Some(Term::Quarter | Term::Number(_) | Term::Unit(Unit::Minute) | Term::Clock(_)));
        let is_figure = rest.starts_with(|c: char| c.is_ascii_digit());
        // "רבע ל-12" and "בין 14:00 ל-16:00".
        if prefix == 'ל' && is_figure && counts {
            self.push(Term::To, at, 1);
        }
        self.lead = self.lead.with(lead);
        if is_figure {
            return usize::from(self.read_number(rest, at));
        }
        let behind = self.tokens.get(at + 1..).unwrap_or_default().iter().map(|token| token.text);
        let Some((meaning, used)) = self.style.tongue.find(std::iter::once(rest).chain(behind)) else { return 0 };
        self.take(meaning, at, used);
        used
    }

    /// "Twelve-oh-three", "mid-July": every piece must be known.
    fn read_pieces(&mut self, text: &str, at: usize) -> usize {
        if !text.contains('-') {
            return 0;
        }
        let (count, lead) = (self.found.words.len(), self.lead);
        for piece in text.split('-').filter(|piece| !piece.is_empty()) {
            let meaning = self.style.tongue.find_word(piece);
            if let Some(meaning) = meaning {
                self.take(meaning, at, 1);
            } else if self.read_piece(piece, at) != 1 {
                self.found.words.truncate(count);
                self.lead = lead;
                return 0;
            }
        }
        1
    }
}
