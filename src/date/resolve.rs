//! What an expression of time means where it stands: its day and hour as one time, and how the sentence speaks of it.

use chrono::{NaiveDate, NaiveDateTime};

use super::{
    clock::{ClockRange, ClockTime, Edge},
    expression::{Expression, Parser, Pieces},
    span::{Grain, Span},
    term::{PartOfDay, Term},
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
    /// "Any day but Wednesday".
    Excluded,
    /// Gone, again and again, or only a name: "what came on Tuesday", "every Friday", "Wednesday's run".
    NotAhead,
}

/// The hour of the only day of a sentence stands so many words behind it at most.
const MOST_WORDS_TO_HOUR: usize = 6;
/// A word of limit counts so many words before a time: "the deadline is Friday".
const LIMIT_REACH: usize = 3;
const RELATIVE_REACH: usize = 5;

impl Expression {
    pub(super) fn take_zone_of(&mut self, other: &Self) {
        self.pieces.zone = other.pieces.zone;
        self.pieces.zone_words = other.pieces.zone_words;
    }
}

impl Parser<'_> {
    /// The time that the whole text names.
    pub(super) fn parse_alone(&self) -> Option<NamedTime> {
        self.resolve(&self.find_whole()?)
    }

    /// Every time that the sentence names, in its order.
    pub(super) fn parse_all(&self) -> Vec<NamedTime> {
        self.find_expressions().iter().filter_map(|expression| self.resolve(expression)).collect()
    }

    pub(super) fn is_excluded(&self, from: usize) -> bool {
        from.checked_sub(1).and_then(|at| self.term(at)) == Some(Term::Except)
    }

    /// The clock of an expression, bounded by the word in front of it: "after 2pm".
    pub(super) fn with_outer_edge(&self, found: &Expression) -> Option<ClockRange> {
        let clock = found.pieces.clock?;
        let edge = match found.from.checked_sub(1).and_then(|at| self.term(at)) {
            Some(Term::After | Term::Past) if clock.until.is_none() => Edge::After,
            Some(Term::Before) if clock.until.is_none() => Edge::Before,
            _ => clock.edge,
        };
        Some(ClockRange { edge, ..clock })
    }

    /// "Tuesday or Wednesday at 3pm": the hour belongs to both. One day and one hour in a sentence belong together:
    /// "on Saturday we open the season at ten".
    pub(super) fn share_hours(&self, found: &mut Vec<Expression>) {
        if let [first, second] = found.as_mut_slice()
            && first.pieces.day.is_some_and(|day| day.grain == Grain::Day)
            && first.pieces.clock.is_none()
            && first.pieces.part.is_none()
            && second.pieces.day.is_none()
            && second.from - first.to <= MOST_WORDS_TO_HOUR
            && !self.is_excluded(first.from)
        {
            first.pieces.clock = self.with_outer_edge(second);
            first.take_zone_of(second);
            found.truncate(1);
            return;
        }
        for at in (1..found.len()).rev() {
            let Some([first, second]) = found.get_mut(at - 1..=at) else { continue };
            let joined = first.to + 1 == second.from && self.term(first.to) == Some(Term::And);
            let bare = first.pieces.clock.is_none() && first.pieces.part.is_none() && first.pieces.day.is_some();
            if joined && bare && second.pieces.day.is_some() {
                first.pieces.clock = second.pieces.clock;
                first.take_zone_of(second);
            }
        }
    }

    pub(super) fn resolve(&self, found: &Expression) -> Option<NamedTime> {
        let Expression { pieces, from, to } = found;
        let role = self.role_of(*from, *to);
        let named = |span: Span| NamedTime {
            span,
            part: pieces.part.filter(|_| pieces.clock.is_none()),
            has_day: pieces.day.is_some() || pieces.clock.is_none(),
            is_midnight: pieces.clock.is_some_and(|clock| clock.from.is_midnight),
            role,
        };
        let day = pieces.day.or_else(|| pieces.is_day_end.then(|| Span::day(self.today())));
        match (pieces.clock, day) {
            // "Next week at 3pm" is a week; in a text of its own even a month may have an hour.
            (Some(_), Some(day)) if day.grain != Grain::Day && !self.alone => Some(named(day)),
            (Some(clock), day) => {
                let start = self.resolve_clock(clock.from, pieces, day.map(|day| day.start.date()))?;
                let is_just_past = day.is_some_and(|day| day.is_just_past);
                let unsure = day.filter(|day| day.grain == Grain::Unsure);
                Some(named(unsure.unwrap_or(Span { is_just_past, ..Span::moment(start) })))
            }
            (None, Some(day)) => Some(named(day)),
            (None, None) => Some(named(Span::day(self.today()))),
        }
    }

    pub(super) fn resolve_clock(
        &self,
        clock: ClockTime,
        pieces: &Pieces,
        day: Option<NaiveDate>,
    ) -> Option<NaiveDateTime> {
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

    pub(super) fn role_of(&self, from: usize, to: usize) -> Role {
        let before = from.checked_sub(1).and_then(|at| self.term(at));
        let first = self.words.get(from).map_or(0, |word| word.token);
        let text =
            |back: usize| first.checked_sub(back).and_then(|at| self.tokens.get(at)).map_or("", |token| token.text);
        let near = self.limits.partition_point(|limit| *limit < first.saturating_sub(LIMIT_REACH));
        let limits = self.limits.get(near).is_some_and(|limit| *limit <= first);
        let is_custom = matches!(before, Some(Term::Every | Term::Since));
        let verb = if text(1) == "on" { 2 } else { 1 };
        // "It should be settled on Monday" and "could be settled within a week" are ahead; "will be closed within 24 hours"
        // says what happens otherwise. "We are getting married on July 9" is ahead too.
        let is_going_on = matches!(text(verb + 1), "getting" | "being");
        let is_wanted = is_going_on || (text(verb + 1) == "be" && text(verb + 2) != "will");
        let is_past = is_past_tense(text(verb)) && !is_wanted;
        if self.is_excluded(from) {
            return Role::Excluded;
        }
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
