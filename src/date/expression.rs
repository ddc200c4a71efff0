//! Finds the expressions of time in a sentence: days, times and zones that belong together.
//!
//! Owns what an expression is. Inside a sentence a word counts as a time only where its neighbours leave no doubt; in a
//! text that is nothing but an expression, as people type it, every word must be understood.

use chrono::NaiveDate;

use super::{
    ReferenceTime,
    annotate::{Annotation, Word, annotate, detect_tongue},
    calendar::parse_day,
    clock::{ClockRange, Edge, parse_bound, parse_clock},
    figure::FigureStyle,
    language::Tongue,
    span::{Grain, Span},
    term::{Lead, PartOfDay, Term},
    token::Token,
    zone::{Zone, find_zone},
};

pub(super) struct Parser<'p> {
    pub(super) tokens: &'p [Token<'p>],
    pub(super) words: Vec<Word>,
    all_terms: Vec<Term>,
    pub(super) limits: Vec<usize>,
    pub(super) base: &'p ReferenceTime<'p>,
    pub(super) tongue: Tongue,
    /// The text is nothing but an expression of time.
    pub(super) alone: bool,
}

/// What was found side by side.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pieces {
    pub(super) day: Option<Span>,
    /// The last day of "Monday to Friday".
    pub(super) last_day: Option<Span>,
    pub(super) clock: Option<ClockRange>,
    pub(super) part: Option<PartOfDay>,
    pub(super) zone: Option<Zone>,
    /// The first word of the zone, and the word behind its last.
    pub(super) zone_words: (usize, usize),
    pub(super) is_day_end: bool,
    is_this_part: bool,
}

/// Pieces and the words they are made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expression {
    pub(super) pieces: Pieces,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Words that say nothing about time between a day and its hour: "Friday, ideally by 5pm".
const MOST_WORDS_BETWEEN: usize = 2;

impl<'p> Parser<'p> {
    pub(super) fn new(tokens: &'p [Token<'p>], base: &'p ReferenceTime<'p>, alone: bool) -> Self {
        let speaks_german = base.me.languages.first().is_some_and(|language| language.starts_with("de"));
        let tongue = detect_tongue(tokens, speaks_german);
        let Annotation { words, limits } = annotate(tokens, FigureStyle { tongue, month_first: base.month_first });
        let all_terms = words.iter().map(|word| word.term).collect();
        Self { tokens, words, all_terms, limits, base, tongue, alone }
    }

    /// What the whole text names; none when one of its words belongs to no time.
    pub(super) fn find_whole(&self) -> Option<Expression> {
        self.parse_expression(0).filter(|found| found.to == self.words.len())
    }

    /// Every expression of time in the sentence, in its order.
    pub(super) fn find_expressions(&self) -> Vec<Expression> {
        let mut found: Vec<Expression> = Vec::new();
        let mut at = 0;
        while at < self.words.len() {
            match self.parse_expression(at) {
                Some(expression) => {
                    at = expression.to.max(at + 1);
                    found.push(expression);
                }
                None => at += 1,
            }
        }
        self.share_hours(&mut found);
        found
    }

    pub(super) fn terms(&self, at: usize) -> &[Term] {
        self.all_terms.get(at..).unwrap_or_default()
    }

    pub(super) fn term(&self, at: usize) -> Option<Term> {
        self.all_terms.get(at).copied()
    }

    /// What leads to a word. "From" is a term of its own, for "two weeks from now".
    pub(super) fn lead(&self, at: usize) -> Lead {
        let is_from = at.checked_sub(1).and_then(|at| self.term(at)) == Some(Term::Hence);
        let lead = self.words.get(at).map_or(Lead::NONE, |word| word.lead);
        if is_from { lead.with(Lead::FROM) } else { lead }
    }

    pub(super) fn today(&self) -> NaiveDate {
        self.base.today()
    }

    /// Whether a phrase may end behind a word: "at 5 on Friday", and not "at 5 locations".
    pub(super) fn closes(&self, at: usize) -> bool {
        let Some(word) = self.words.get(at) else { return false };
        let is_last = self.tokens.get(word.last_token).is_none_or(|token| token.is_last_of_phrase);
        let Some(next) = self.tokens.get(word.last_token + 1) else { return true };
        let is_time = matches!(
            self.term(at + 1),
            Some(
                Term::Today
                    | Term::Tomorrow
                    | Term::Overmorrow
                    | Term::Day(_)
                    | Term::MaybeDay(_)
                    | Term::Clock(_)
                    | Term::Part(_)
                    | Term::Noon
                    | Term::This
                    | Term::Next
                    | Term::Except
            )
        );
        is_last || is_time || self.tongue.may_follow(next.text)
    }

    fn parse_expression(&self, from: usize) -> Option<Expression> {
        let mut pieces = Pieces::default();
        let mut to = from;
        loop {
            let used = self.take_piece(&mut pieces, from, to);
            if used > 0 {
                to += used;
                continue;
            }
            let hour = self.find_hour_behind(&pieces, to).filter(|_| !self.is_excluded(from));
            let Some(hour) = hour else { break };
            to = hour;
        }
        if !self.alone
            && pieces.day.is_none()
            && pieces.clock.is_some_and(|clock| clock.from.is_bare())
            && !self.is_hour_led(from)
        {
            return None;
        }
        let is_named = pieces.day.is_some() || pieces.clock.is_some() || pieces.is_day_end || pieces.is_this_part;
        is_named.then_some(Expression { pieces, from, to })
    }

    /// Whether something before or behind a time says that it is one.
    fn is_hour_led(&self, at: usize) -> bool {
        self.lead(at).has_any(&[Lead::AT, Lead::LIMIT, Lead::FROM, Lead::ON])
            || !matches!(self.term(at), Some(Term::Clock(_)))
            || self.closes(at)
    }

    /// Takes one piece at a word; returns how many words it took.
    fn take_piece(&self, pieces: &mut Pieces, from: usize, at: usize) -> usize {
        let is_moment = pieces.day.is_some_and(|day| day.grain == Grain::Moment);
        if is_moment {
            return 0;
        }
        if pieces.day.is_none()
            && let Some((day, used)) =
                parse_day(self, at).filter(|(day, _)| day.grain != Grain::Moment || at == 0 || pieces.clock.is_none())
        {
            let day = if self.is_custom_range(at) { Span { grain: Grain::Unsure, ..day } } else { day };
            pieces.day = Some(day);
            let (last, more) = self.end_of_range(at, used);
            pieces.last_day = last;
            return used + more;
        }
        // "Any day but Wednesday, after 2pm": the bound is not that of the day left out.
        let bound = || pieces.day.filter(|_| !self.is_excluded(from)).and_then(|_| parse_bound(self, at));
        if pieces.clock.is_none()
            && let Some((clock, used)) = parse_clock(self, at).or_else(bound)
            && (clock.edge == Edge::At || pieces.day.is_none() || !self.is_excluded(from))
        {
            pieces.clock = Some(clock);
            return used + self.take_zone(pieces, at + used);
        }
        let named = pieces.day.is_some() || pieces.clock.is_some();
        let (part, used) = match self.terms(at) {
            [Term::Part(part), ..] if named => (*part, 1),
            [Term::In | Term::StartOf, Term::Part(part), ..] if named => (*part, 2),
            [Term::StartOf, Term::Part(part), ..] | [Term::Part(part), ..] if self.alone => {
                (*part, if matches!(self.term(at), Some(Term::Part(_))) { 1 } else { 2 })
            }
            [Term::This, Term::Part(part), ..] => {
                pieces.is_this_part = true;
                (*part, 2)
            }
            [Term::DayEnd, ..] if !pieces.is_day_end => {
                pieces.is_day_end = true;
                return 1;
            }
            _ => return 0,
        };
        if pieces.part.is_some() {
            return 0;
        }
        pieces.part = Some(part);
        used
    }

    /// "Monday to Friday", "vom 22. bis zum 24. Juni", "20.6. - 22.6.": the end of a range is no time of its own.
    fn end_of_range(&self, at: usize, used: usize) -> (Option<Span>, usize) {
        let end = at + used;
        if used == 1 && self.is_joined_day(at) {
            return (None, 1);
        }
        let is_between = at.checked_sub(1).and_then(|at| self.term(at)) == Some(Term::Between);
        let until = match self.terms(end) {
            [Term::Dash | Term::To, ..] => end + 1,
            [Term::And, ..] if is_between => end + 1,
            _ if self.lead(end).has_any(&[Lead::LIMIT]) && self.lead(at).has_any(&[Lead::FROM]) => end,
            _ => return (None, 0),
        };
        match parse_day(self, until) {
            Some((span, more)) if span.grain == Grain::Day => (Some(span), until + more - end),
            _ => (None, 0),
        }
    }

    /// "Mon-Fri" in one word.
    fn is_joined_day(&self, at: usize) -> bool {
        let token = |at: usize| self.words.get(at).map(|word| word.token);
        matches!(self.term(at + 1), Some(Term::Day(_) | Term::MaybeDay(_))) && token(at) == token(at + 1)
    }

    /// "Mon-Fri", "Wed to Fri": days on which something is the case, and no day.
    fn is_custom_range(&self, at: usize) -> bool {
        let is_day = |at: usize| matches!(self.term(at), Some(Term::Day(_) | Term::MaybeDay(_)));
        let parted = matches!(self.term(at + 1), Some(Term::Dash | Term::To)) && is_day(at + 2);
        is_day(at) && (parted || self.is_joined_day(at)) && !self.lead(at).has_any(&[Lead::FROM])
    }

    /// Takes the zone behind a time; returns how many words it took.
    fn take_zone(&self, pieces: &mut Pieces, at: usize) -> usize {
        if let [Term::Zone(seconds), ..] = self.terms(at) {
            pieces.zone = Some(Zone::Offset(*seconds));
            pieces.zone_words = (at, at + 1);
            return 1;
        }
        let Some(token) = self.words.get(at).map(|word| word.token) else { return 0 };
        let behind = self.tokens.get(token..).unwrap_or_default();
        let Some((zone, tokens)) = find_zone(behind, self.tongue, self.base.me.time_zone) else { return 0 };
        pieces.zone = Some(zone);
        let used = self.words.iter().skip(at).take_while(|word| word.token < token + tokens).count();
        pieces.zone_words = (at, at + used);
        used
    }

    /// Where the hour of a day stands, when a word or two stand between.
    fn find_hour_behind(&self, pieces: &Pieces, at: usize) -> Option<usize> {
        let day = pieces.day.filter(|day| day.grain == Grain::Day && pieces.clock.is_none() && !self.alone)?;
        let others =
            self.terms(at).iter().take(MOST_WORDS_BETWEEN + 1).take_while(|term| **term == Term::Other).count();
        let is_clear = |at: usize| {
            matches!(
                self.terms(at),
                [Term::Clock(_) | Term::Noon, ..] | [Term::Number(_), Term::Half(_) | Term::OClock, ..]
            )
        };
        let close = (1..=MOST_WORDS_BETWEEN).contains(&others) && !day.is_end;
        (close && is_clear(at + others)).then_some(at + others)
    }
}
