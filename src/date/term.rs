//! The meanings that words of time have, whatever their language.

use chrono::Weekday;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Term {
    Number(i64),
    /// "3rd", "third", "3." in German.
    Ordinal(i64),
    Month(u32),
    Day(Weekday),
    /// A word that is a day only where its neighbours say so: "sat", "so", "שני".
    MaybeDay(Weekday),
    /// "Fridays", "freitags": a custom, unless it is counted ("two Fridays from now").
    PluralDay(Weekday),
    Unit(Unit),
    Clock(WrittenClock),
    Half(Half),
    Part(PartOfDay),
    /// Year, month and day in digits.
    Date(i32, u32, u32),
    /// "23.6": a day, or an hour.
    Dotted(u32, u32),
    /// "23/6": a day, or a part of an hour.
    Slashed(u32, u32),
    /// "18q4".
    QuarterOf(i32, i64),
    Zone(ZoneOffset),
    Dash,
    This,
    Next,
    AfterNext,
    Last,
    Upcoming,
    Of,
    /// "ב15 לחודש": of the month.
    OfMonth,
    In,
    Ago,
    Hence,
    Today,
    Tomorrow,
    Overmorrow,
    Yesterday,
    BeforeYesterday,
    Now,
    Noon,
    Midnight,
    HalfOf,
    Quarter,
    ThreeQuarters,
    Past,
    To,
    After,
    Before,
    And,
    Between,
    Oh,
    OClock,
    /// "EOD", "close of business".
    DayEnd,
    EndOf,
    MiddleOf,
    StartOf,
    Weekend,
    WeekNumber,
    Every,
    Since,
    /// "any day but", "außer".
    Except,
    /// "from 10 onwards".
    Onwards,
    /// A word that says nothing about time.
    Other,
}

/// Seconds east of Greenwich, as written behind a time.
pub(super) type ZoneOffset = i32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrittenClock {
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    /// Counted to twenty-four: "03:30", "15:30", "3h30".
    pub(super) is_24_hour: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Before,
    After,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartOfDay {
    Morning,
    Afternoon,
    Evening,
}

/// What the small words directly before a term were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lead(u8);

impl Lead {
    pub(super) const AT: Self = Self(1);
    pub(super) const ON: Self = Self(2);
    pub(super) const THE: Self = Self(4);
    pub(super) const LIMIT: Self = Self(8);
    pub(super) const FROM: Self = Self(16);
    /// The Hebrew prefix "to".
    pub(super) const TO: Self = Self(32);
    /// Any other word that may stand before a time and changes nothing.
    pub(super) const NONE: Self = Self(0);

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn has_any(self, others: &[Self]) -> bool {
        others.iter().any(|other| self.0 & other.0 != 0)
    }
}

impl Term {
    /// Reads a meaning as the files of words spell it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (name, value) = text.split_once(' ').unwrap_or((text, ""));
        Some(match name {
            "number" => Self::Number(value.parse().ok()?),
            "ordinal" => Self::Ordinal(value.parse().ok()?),
            "month" => Self::Month(value.parse().ok()?),
            "day" => Self::Day(value.parse().ok()?),
            "maybe_day" => Self::MaybeDay(value.parse().ok()?),
            "plural_day" => Self::PluralDay(value.parse().ok()?),
            "unit" => Self::Unit(Unit::parse(value)?),
            "half" => Self::Half(if value == "before" { Half::Before } else { Half::After }),
            "part" => Self::Part(PartOfDay::parse(value)?),
            name => Self::parse_plain(name)?,
        })
    }

    fn parse_plain(name: &str) -> Option<Self> {
        Some(match name {
            "this" => Self::This,
            "next" => Self::Next,
            "after_next" => Self::AfterNext,
            "last" => Self::Last,
            "upcoming" => Self::Upcoming,
            "of" => Self::Of,
            "of_month" => Self::OfMonth,
            "in" => Self::In,
            "ago" => Self::Ago,
            "hence" => Self::Hence,
            "today" => Self::Today,
            "tomorrow" => Self::Tomorrow,
            "overmorrow" => Self::Overmorrow,
            "yesterday" => Self::Yesterday,
            "before_yesterday" => Self::BeforeYesterday,
            "now" => Self::Now,
            "noon" => Self::Noon,
            "midnight" => Self::Midnight,
            "half_of" => Self::HalfOf,
            "quarter" => Self::Quarter,
            "three_quarters" => Self::ThreeQuarters,
            "past" => Self::Past,
            "to" => Self::To,
            "after" => Self::After,
            "before" => Self::Before,
            "and" => Self::And,
            "between" => Self::Between,
            "oh" => Self::Oh,
            "oclock" => Self::OClock,
            "day_end" => Self::DayEnd,
            "end_of" => Self::EndOf,
            "middle_of" => Self::MiddleOf,
            "start_of" => Self::StartOf,
            "weekend" => Self::Weekend,
            "week_number" => Self::WeekNumber,
            "every" => Self::Every,
            "since" => Self::Since,
            "except" => Self::Except,
            "onwards" => Self::Onwards,
            _ => return None,
        })
    }

    /// Whether a text without figures needs such a word to name a time. "Of" and "next" alone name none.
    pub(super) fn names_time(self) -> bool {
        matches!(
            self,
            Self::Number(2..)
                | Self::Month(_)
                | Self::Day(_)
                | Self::MaybeDay(_)
                | Self::PluralDay(_)
                | Self::Unit(_)
                | Self::Part(_)
                | Self::Ordinal(_)
                | Self::Today
                | Self::Tomorrow
                | Self::Overmorrow
                | Self::Yesterday
                | Self::BeforeYesterday
                | Self::Noon
                | Self::Midnight
                | Self::OClock
                | Self::DayEnd
                | Self::Weekend
        )
    }
}

impl Unit {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "second" => Self::Second,
            "minute" => Self::Minute,
            "hour" => Self::Hour,
            "day" => Self::Day,
            "week" => Self::Week,
            "month" => Self::Month,
            "quarter" => Self::Quarter,
            "year" => Self::Year,
            _ => return None,
        })
    }
}

impl PartOfDay {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "morning" => Self::Morning,
            "afternoon" => Self::Afternoon,
            "evening" => Self::Evening,
            _ => return None,
        })
    }
}
