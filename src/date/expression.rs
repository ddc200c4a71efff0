//! Finds the expressions of time in a sentence: days, times and zones that belong together.
//!
//! Owns what an expression is. Inside a sentence a word counts as a time only where its neighbours leave no doubt; in a
//! text that is nothing but an expression, as people type it, every word must be understood.

use chrono::{NaiveDate, NaiveDateTime};

use super::{
    ReferenceTime,
    annotate::{Annotation, Word, annotate, detect_tongue},
    calendar::parse_day,
    clock::{ClockTime, parse_clock},
    figure::FigureStyle,
    language::Tongue,
    span::{Grain, Span},
    term::{Lead, PartOfDay, Term},
    token::Token,
    zone::{Zone, find_zone},
};

/// A time that a sentence names, before anything is decided about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NamedTime {
    /// When it begins, by the clock on the person's wall.
    pub(super) span: Span,
    /// The part of the day that was said without an hour.
    pub(super) part: Option<PartOfDay>,
    /// Whether the day was said, or only an hour.
    pub(super) has_day: bool,
    /// The end of the day, named as midnight.
    pub(super) is_midnight: bool,
    pub(super) role: Role,
}

/// How a sentence speaks of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// "by", "until", "due".
    Limit,
    /// "before".
    Before,
    Named,
    /// The day of something else: "who is coming on the 5th", "after Friday".
    OfOther,
    /// Gone, again and again, or only a name: "what came on Tuesday", "every Friday", "Wednesday's run".
    NotAhead,
}

pub(super) struct Parser<'p> {
    pub(super) tokens: &'p [Token<'p>],
    pub(super) words: Vec<Word>,
    all_terms: Vec<Term>,
    limits: Vec<usize>,
    pub(super) base: &'p ReferenceTime<'p>,
    pub(super) tongue: Tongue,
    /// The text is nothing but an expression of time.
    pub(super) alone: bool,
}

/// What was found side by side.
#[derive(Debug, Clone, Copy, Default)]
struct Pieces {
    day: Option<Span>,
    clock: Option<ClockTime>,
    part: Option<PartOfDay>,
    zone: Option<Zone>,
    is_day_end: bool,
    is_this_part: bool,
}

/// Pieces and the words they are made of.
#[derive(Debug, Clone, Copy)]
struct Expression {
    pieces: Pieces,
    from: usize,
    to: usize,
}

/// Words that say nothing about time between a day and its hour: "Friday, ideally by 5pm".
const MOST_WORDS_BETWEEN: usize = 2;
/// The hour of the only day of a sentence stands so many words behind it at most.
const MOST_WORDS_TO_HOUR: usize = 6;
/// A word of limit counts so many words before a time: "the deadline is Friday".
const LIMIT_REACH: usize = 3;
const RELATIVE_REACH: usize = 5;

impl<'p> Parser<'p> {
    pub(super) fn new(tokens: &'p [Token<'p>], base: &'p ReferenceTime<'p>, alone: bool) -> Self {
        let speaks_german = base.me.languages.first().is_some_and(|language| language.starts_with("de"));
        let tongue = detect_tongue(tokens, speaks_german);
        let Annotation { words, limits } = annotate(tokens, FigureStyle { tongue, month_first: base.month_first });
        let all_terms = words.iter().map(|word| word.term).collect();
        Self { tokens, words, all_terms, limits, base, tongue, alone }
    }

    /// The time that the whole text names; none when one of its words belongs to no time.
    pub(super) fn parse_alone(&self) -> Option<NamedTime> {
        let found = self.parse_expression(0).filter(|found| found.to == self.words.len())?;
        self.resolve(&found)
    }

    /// Every time that the sentence names, in its order.
    pub(super) fn parse_all(&self) -> Vec<NamedTime> {
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
        found.iter().filter_map(|expression| self.resolve(expression)).collect()
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
            )
        );
        is_last || is_time || self.tongue.may_follow(next.text)
    }

    fn parse_expression(&self, from: usize) -> Option<Expression> {
        let mut pieces = Pieces::default();
        let mut to = from;
        loop {
            let used = self.take_piece(&mut pieces, to);
            if used > 0 {
                to += used;
                continue;
            }
            let Some(hour) = self.find_hour_behind(&pieces, to) else { break };
            to = hour;
        }
        if !self.alone
            && pieces.day.is_none()
            && pieces.clock.is_some_and(ClockTime::is_bare)
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
    fn take_piece(&self, pieces: &mut Pieces, at: usize) -> usize {
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
            return used + self.end_of_range(at, used);
        }
        if pieces.clock.is_none()
            && let Some((clock, used)) = parse_clock(self, at)
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
    fn end_of_range(&self, at: usize, used: usize) -> usize {
        let end = at + used;
        if used == 1 && self.is_joined_day(at) {
            return 1;
        }
        let until = match self.terms(end) {
            [Term::Dash | Term::To, ..] => end + 1,
            _ if self.lead(end).has_any(&[Lead::LIMIT]) && self.lead(at).has_any(&[Lead::FROM]) => end,
            _ => return 0,
        };
        match parse_day(self, until) {
            Some((span, more)) if span.grain == Grain::Day => until + more - end,
            _ => 0,
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
            return 1;
        }
        let Some(token) = self.words.get(at).map(|word| word.token) else { return 0 };
        let behind = self.tokens.get(token..).unwrap_or_default();
        let Some((zone, tokens)) = find_zone(behind, self.tongue, self.base.me.time_zone) else { return 0 };
        pieces.zone = Some(zone);
        self.words.iter().skip(at).take_while(|word| word.token < token + tokens).count()
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

    /// "Tuesday or Wednesday at 3pm": the hour belongs to both. One day and one hour in a sentence belong together:
    /// "on Saturday we open the season at ten".
    fn share_hours(&self, found: &mut Vec<Expression>) {
        if let [first, second] = found.as_mut_slice()
            && first.pieces.day.is_some_and(|day| day.grain == Grain::Day)
            && first.pieces.clock.is_none()
            && first.pieces.part.is_none()
            && second.pieces.day.is_none()
            && second.from - first.to <= MOST_WORDS_TO_HOUR
        {
            first.pieces.clock = second.pieces.clock;
            first.pieces.zone = second.pieces.zone;
            found.truncate(1);
            return;
        }
        for at in (1..found.len()).rev() {
            let Some([first, second]) = found.get_mut(at - 1..=at) else { continue };
            let joined = first.to + 1 == second.from && self.term(first.to) == Some(Term::And);
            let bare = first.pieces.clock.is_none() && first.pieces.part.is_none() && first.pieces.day.is_some();
            if joined && bare && second.pieces.day.is_some() {
                first.pieces.clock = second.pieces.clock;
                first.pieces.zone = second.pieces.zone;
            }
        }
    }

    fn resolve(&self, found: &Expression) -> Option<NamedTime> {
        let Expression { pieces, from, to } = found;
        let role = self.role_of(*from, *to);
        let named = |span: Span| NamedTime {
            span,
            part: pieces.part.filter(|_| pieces.clock.is_none()),
            has_day: pieces.day.is_some() || pieces.clock.is_none(),
            is_midnight: pieces.clock.is_some_and(|clock| clock.is_midnight),
            role,
        };
        let day = pieces.day.or_else(|| pieces.is_day_end.then(|| Span::day(self.today())));
        match (pieces.clock, day) {
            // "Next week at 3pm" is a week; in a text of its own even a month may have an hour.
            (Some(_), Some(day)) if day.grain != Grain::Day && !self.alone => Some(named(day)),
            (Some(clock), day) => {
                let start = self.resolve_clock(clock, pieces, day.map(|day| day.start.date()))?;
                let is_just_past = day.is_some_and(|day| day.is_just_past);
                let unsure = day.filter(|day| day.grain == Grain::Unsure);
                Some(named(unsure.unwrap_or(Span { is_just_past, ..Span::moment(start) })))
            }
            (None, Some(day)) => Some(named(day)),
            (None, None) => Some(named(Span::day(self.today()))),
        }
    }

    fn resolve_clock(&self, clock: ClockTime, pieces: &Pieces, day: Option<NaiveDate>) -> Option<NaiveDateTime> {
        let Some(zone) = pieces.zone else { return clock.resolve(pieces.part, day, self.base.local) };
        let own = self.base.me.time_zone;
        let there = clock.resolve(pieces.part, day, zone.convert_back(self.base.local, own)?)?;
        zone.convert(there, own)
    }

    /// Whether the words before one end in an "'s": "this morning's call" names the call.
    fn is_possessive(&self, to: usize) -> bool {
        let last =
            to.checked_sub(1).and_then(|at| self.words.get(at)).and_then(|word| self.tokens.get(word.last_token));
        last.is_some_and(|token| token.text.is_ascii() && token.text.ends_with("'s"))
    }

    fn role_of(&self, from: usize, to: usize) -> Role {
        let before = from.checked_sub(1).and_then(|at| self.term(at));
        let first = self.words.get(from).map_or(0, |word| word.token);
        let text =
            |back: usize| first.checked_sub(back).and_then(|at| self.tokens.get(at)).map_or("", |token| token.text);
        let near = self.limits.partition_point(|limit| *limit < first.saturating_sub(LIMIT_REACH));
        let limits = self.limits.get(near).is_some_and(|limit| *limit <= first);
        let is_custom = matches!(before, Some(Term::Every | Term::Since | Term::Except));
        let verb = if text(1) == "on" { 2 } else { 1 };
        // "It should be settled on Monday" and "could be settled within a week" are ahead; "will be closed within 24 hours"
        // says what happens otherwise. "We are getting married on July 9" is ahead too.
        let is_going_on = matches!(text(verb + 1), "getting" | "being");
        let is_wanted = is_going_on || (text(verb + 1) == "be" && text(verb + 2) != "will");
        let is_past = is_past_tense(text(verb)) && !is_wanted;
        if is_custom || is_past {
            return Role::NotAhead;
        }
        if before == Some(Term::Before) {
            return Role::Before;
        }
        if limits {
            return Role::Limit;
        }
        if self.is_possessive(to) {
            return Role::NotAhead;
        }
        let is_after = before == Some(Term::After);
        let related = (1..=RELATIVE_REACH).any(|back| self.tongue.is_relative(text(back)));
        if related || is_after { Role::OfOther } else { Role::Named }
    }
}

/// "The request that landed Wednesday": what happened is no limit.
fn is_past_tense(word: &str) -> bool {
    const AHEAD: &[&str] = &["scheduled", "needed", "planned", "expected", "required", "moved", "postponed", "need"];
    matches!(
        word,
        "sent" | "met" | "came" | "went" | "spoke" | "was" | "were" | "had" | "did" | "got" | "held" | "left"
    ) || (word.len() > 4 && word.ends_with("ed") && !AHEAD.contains(&word))
}
