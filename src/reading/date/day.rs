//! Days: calendar dates, names of days, and words like "tomorrow" or "in two weeks".

use chrono::{Datelike as _, Duration, NaiveDate, NaiveTime, Weekday};

use super::{
    ParsedDate, ReferenceTime, WeekdayOf as _, parse_number, plus_days, time_word::is_time_word,
    with_and_without_prefix,
};

/// Reads a day that starts at `at`; also says how many words it took.
pub(super) fn parse_day(tokens: &[&str], at: usize, base: &ReferenceTime<'_>) -> Option<(ParsedDate, usize)> {
    if !tokens.get(at).is_some_and(|word| may_start_day(word)) {
        return None;
    }
    let previous = at.checked_sub(1).and_then(|at| tokens.get(at)).copied().unwrap_or_default();
    let led = if previous == "on" { at.checked_sub(2).and_then(|at| tokens.get(at)).copied() } else { Some(previous) };
    if matches!(previous, "last" | "since" | "every" | "past" | "שעבר" | "כל") || led.is_some_and(is_past_tense) {
        return None;
    }
    let rest = tokens.get(at..)?;
    parse_calendar_date(rest, base)
        .or_else(|| parse_weekday_and_date(rest, base))
        .or_else(|| parse_numeric_date(rest, previous, base))
        .or_else(|| parse_relative_day(rest, base))
        .or_else(|| parse_weekday(rest, previous, base))
        .or_else(|| parse_offset(rest, previous, base))
        .or_else(|| parse_ordinal_day(rest, previous, base))
}

/// Most words open no day: an English one does only with a figure, as a word of time, or leading to one.
fn may_start_day(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || !c.is_ascii())
        || is_time_word(word)
        || matches!(word, "close" | "end" | "in" | "next" | "the" | "this" | "within")
}

/// "The request that landed Wednesday": what happened is no limit.
fn is_past_tense(word: &str) -> bool {
    const AHEAD: &[&str] = &["scheduled", "needed", "planned", "expected", "required", "moved", "postponed", "need"];
    matches!(
        word,
        "sent" | "met" | "came" | "went" | "spoke" | "was" | "were" | "had" | "did" | "got" | "held" | "left"
    ) || (word.len() > 4 && word.ends_with("ed") && !AHEAD.contains(&word))
}

const MONTHS: &[(&str, u32)] = &[
    ("january", 1),
    ("february", 2),
    ("march", 3),
    ("april", 4),
    ("may", 5),
    ("june", 6),
    ("july", 7),
    ("august", 8),
    ("september", 9),
    ("october", 10),
    ("november", 11),
    ("december", 12),
    ("jan", 1),
    ("feb", 2),
    ("mar", 3),
    ("apr", 4),
    ("jun", 6),
    ("jul", 7),
    ("aug", 8),
    ("sep", 9),
    ("sept", 9),
    ("oct", 10),
    ("nov", 11),
    ("dec", 12),
    ("ינואר", 1),
    ("פברואר", 2),
    ("מרץ", 3),
    ("מרס", 3),
    ("אפריל", 4),
    ("מאי", 5),
    ("יוני", 6),
    ("יולי", 7),
    ("אוגוסט", 8),
    ("ספטמבר", 9),
    ("אוקטובר", 10),
    ("נובמבר", 11),
    ("דצמבר", 12),
];

pub(super) fn parse_month(word: &str) -> Option<u32> {
    with_and_without_prefix(word)
        .find_map(|word| MONTHS.iter().find(|(name, _)| *name == word).map(|(_, month)| *month))
}

/// "23", "23rd", "ב-23".
fn parse_day_of_month(word: &str) -> Option<u32> {
    let word = with_and_without_prefix(word).last()?;
    let digits = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let suffix = word.strip_prefix(digits)?;
    let day = digits.parse().ok().filter(|day| (1..=31).contains(day))?;
    matches!(suffix, "" | "st" | "nd" | "rd" | "th").then_some(day)
}

/// "23 June 2026", "June 23rd", "the 23rd of June", "23 ביוני".
fn parse_calendar_date(rest: &[&str], base: &ReferenceTime<'_>) -> Option<(ParsedDate, usize)> {
    let word = |at: usize| rest.get(at).copied().unwrap_or_default();
    let (day, month, used) = if let Some(day) = parse_day_of_month(word(0)) {
        let of = usize::from(word(1) == "of");
        (day, parse_month(word(1 + of))?, 2 + of)
    } else {
        (parse_day_of_month(word(1))?, parse_month(word(0))?, 2)
    };
    let year = word(used).parse::<i32>().ok().filter(|year| (2000..2200).contains(year));
    let date = resolve_calendar_date(year, month, day, base)?;
    Some((ParsedDate::Day(date), used + usize::from(year.is_some())))
}

/// "Thursday 19 November": the date counts, the name of the day only belongs to it.
fn parse_weekday_and_date(rest: &[&str], base: &ReferenceTime<'_>) -> Option<(ParsedDate, usize)> {
    let (first, rest) = rest.split_first()?;
    WEEKDAYS.iter().find(|(name, _)| name == first)?;
    parse_calendar_date(rest, base)
        .or_else(|| parse_numeric_date(rest, "on", base))
        .map(|(when, used)| (when, used + 1))
}

/// Without a year: the coming one. A day just gone is past, not next year's.
fn resolve_calendar_date(year: Option<i32>, month: u32, day: u32, base: &ReferenceTime<'_>) -> Option<NaiveDate> {
    if let Some(year) = year {
        return NaiveDate::from_ymd_opt(year, month, day);
    }
    let today = base.today();
    let date = NaiveDate::from_ymd_opt(today.year(), month, day)?;
    if (today - date).num_days() > 180 { NaiveDate::from_ymd_opt(today.year() + 1, month, day) } else { Some(date) }
}

/// "2026-06-23", "23.6.2026", "23/6", the short ones only after a word that leads to a date.
fn parse_numeric_date(rest: &[&str], previous: &str, base: &ReferenceTime<'_>) -> Option<(ParsedDate, usize)> {
    let word = with_and_without_prefix(rest.first()?).last().filter(|word| word.contains(['-', '.', '/']))?;
    let parts = |separator| word.split(separator).map(str::parse::<u32>).collect::<Result<Vec<_>, _>>();
    let whole = |date: Option<NaiveDate>| date.map(|date| (ParsedDate::Day(date), 1));
    if let Ok([year, month, day]) = parts('-').as_deref() {
        return whole(NaiveDate::from_ymd_opt(i32::try_from(*year).ok().filter(|year| *year >= 1000)?, *month, *day));
    }
    let dotted = word.contains('.');
    match parts(if dotted { '.' } else { '/' }).as_deref() {
        Ok([first, second, year]) => {
            let year = i32::try_from(*year).ok().map(|year| if year < 100 { year + 2000 } else { year });
            let (day, month) = order_day_and_month(*first, *second, dotted, base);
            whole(resolve_calendar_date(year, month, day, base))
        }
        Ok([first, second]) if leads_to_date(previous, rest.first()?) => {
            let (day, month) = order_day_and_month(*first, *second, dotted, base);
            whole(resolve_calendar_date(None, month, day, base))
        }
        _ => None,
    }
}

fn leads_to_date(previous: &str, word: &str) -> bool {
    let leads = ["by", "on", "before", "until", "till", "due", "from", "עד", "בתאריך", "ביום", "לפני"];
    leads.contains(&previous) || word.starts_with(['ב', 'ל'])
}

fn order_day_and_month(first: u32, second: u32, dotted: bool, base: &ReferenceTime<'_>) -> (u32, u32) {
    let american = base.month_first && !dotted && first <= 12;
    if second > 12 || american { (second, first) } else { (first, second) }
}

const END_OF_MORNING: u32 = 12;
const END_OF_EVENING: u32 = 21;

/// Words and groups of words that name a day.
fn parse_relative_day(rest: &[&str], base: &ReferenceTime<'_>) -> Option<(ParsedDate, usize)> {
    let word = |at: usize| rest.get(at).copied().unwrap_or_default();
    let today = base.today();
    let day = |date: Option<NaiveDate>, used: usize| date.map(|date| (ParsedDate::Day(date), used));
    let hour = |date: Option<NaiveDate>, hour: u32, used: usize| {
        Some((ParsedDate::Hour(date?, NaiveTime::from_hms_opt(hour, 0, 0)?), used))
    };
    let next_week = || base.end_of_week(plus_days(base.end_of_week(today)?, 1)?);
    match (word(0), word(1), word(2)) {
        ("tomorrow", "morning", _) | ("מחר", "בבוקר", _) => hour(today.succ_opt(), END_OF_MORNING, 2),
        ("tomorrow", "night" | "evening", _) | ("מחר", "בערב", _) => hour(today.succ_opt(), END_OF_EVENING, 2),
        ("tomorrow" | "tmrw" | "מחר" | "למחר", ..) => day(today.succ_opt(), 1),
        ("מחרתיים", ..) => day(plus_days(today, 2), 1),
        ("day", "after", "tomorrow") => day(plus_days(today, 2), 3),
        ("this", "morning", _) => hour(Some(today), END_OF_MORNING, 2),
        ("tonight" | "הערב", ..) => hour(Some(today), END_OF_EVENING, 1),
        ("this", "evening", _) => hour(Some(today), END_OF_EVENING, 2),
        // "EOD Thursday" is Thursday.
        ("eod" | "cob", next, _) if names_day(next) => None,
        ("end", "of", "day") | ("close", "of", "business") if names_day(word(3)) => None,
        ("today" | "eod" | "cob" | "היום", ..) => day(Some(today), 1),
        ("end", "of", "day") | ("close", "of", "business") | ("this", "afternoon", _) => day(Some(today), 3),
        ("סוף", "היום", _) => day(Some(today), 2),
        ("this", "week", _) | ("סוף", "השבוע", _) | ("השבוע", ..) => day(base.end_of_week(today), 2),
        ("end", "of", "week") => day(base.end_of_week(today), 3),
        ("eow", ..) => day(base.end_of_week(today), 1),
        ("the", "week", _) => day(base.end_of_week(today), 2),
        ("next", "week", _) | ("בשבוע" | "שבוע", "הבא", _) => day(next_week(), 2),
        ("the", "month", _) | ("this", "month", _) | ("סוף", "החודש", _) => day(end_of_month(today), 2),
        ("eom", ..) => day(end_of_month(today), 1),
        _ => None,
    }
}

fn names_day(word: &str) -> bool {
    matches!(word, "tomorrow" | "on") || WEEKDAYS.iter().any(|(name, _)| *name == word)
}

/// "On the 30th": of this month, or of the next when it is past.
fn parse_ordinal_day(rest: &[&str], previous: &str, base: &ReferenceTime<'_>) -> Option<(ParsedDate, usize)> {
    let word = rest.first()?;
    let next = rest.get(1).copied().unwrap_or_default();
    let ends = ["st", "nd", "rd", "th"].iter().any(|end| word.ends_with(end));
    // "The 3rd draft" counts drafts.
    let closes =
        next.is_empty() || matches!(next, "at" | "and" | "or" | "so" | "if" | "to" | "for" | "by" | "from" | "in");
    if previous != "the" || !ends || !closes {
        return None;
    }
    let day = parse_day_of_month(word)?;
    let first = base.today().with_day(1)?;
    let months = (0..3).filter_map(|months| super::span::add_months(first, months)?.with_day(day));
    months.into_iter().find(|date| *date >= base.today()).map(|date| (ParsedDate::Day(date), 1))
}

fn end_of_month(today: NaiveDate) -> Option<NaiveDate> {
    let (year, month) = if today.month() == 12 { (today.year() + 1, 1) } else { (today.year(), today.month() + 1) };
    NaiveDate::from_ymd_opt(year, month, 1)?.pred_opt()
}

const WEEKDAYS: &[(&str, Weekday)] = &[
    ("monday", Weekday::Mon),
    ("tuesday", Weekday::Tue),
    ("wednesday", Weekday::Wed),
    ("thursday", Weekday::Thu),
    ("friday", Weekday::Fri),
    ("saturday", Weekday::Sat),
    ("sunday", Weekday::Sun),
    ("mon", Weekday::Mon),
    ("tue", Weekday::Tue),
    ("tues", Weekday::Tue),
    ("wed", Weekday::Wed),
    ("thu", Weekday::Thu),
    ("thur", Weekday::Thu),
    ("thurs", Weekday::Thu),
    ("fri", Weekday::Fri),
];

/// These are also ordinals ("the second"), so they count only after "day", "until" or with a prefix.
const HEBREW_DAYS: &[(&str, Weekday)] = &[
    ("ראשון", Weekday::Sun),
    ("שני", Weekday::Mon),
    ("שלישי", Weekday::Tue),
    ("רביעי", Weekday::Wed),
    ("חמישי", Weekday::Thu),
    ("שישי", Weekday::Fri),
    ("שבת", Weekday::Sat),
    ("א'", Weekday::Sun),
    ("ב'", Weekday::Mon),
    ("ג'", Weekday::Tue),
    ("ד'", Weekday::Wed),
    ("ה'", Weekday::Thu),
    ("ו'", Weekday::Fri),
];

/// An English name of a day, in full or short.
pub(super) fn parse_weekday_name(word: &str) -> Option<Weekday> {
    let short = match word {
        "sat" => Some(Weekday::Sat),
        "sun" => Some(Weekday::Sun),
        _ => None,
    };
    short.or_else(|| WEEKDAYS.iter().find(|(name, _)| *name == word).map(|(_, day)| *day))
}

fn parse_weekday(rest: &[&str], previous: &str, base: &ReferenceTime<'_>) -> Option<(ParsedDate, usize)> {
    let word = rest.first().copied()?;
    let find = |days: &[(&str, Weekday)], word: &str| days.iter().find(|(name, _)| *name == word).map(|(_, day)| *day);
    let hebrew = || {
        let led = matches!(previous, "יום" | "ביום" | "ליום" | "עד" | "מיום");
        let bare_word = if led { Some(word) } else { word.strip_prefix('ב') };
        bare_word.and_then(|word| find(HEBREW_DAYS, word))
    };
    let day = find(WEEKDAYS, word).or_else(hebrew)?;
    let next = previous == "next" || matches!(rest.get(1).copied(), Some("הבא"));
    let today = base.today();
    let ahead = i64::from((day.num_days_from_monday() + 7 - today.weekday_of().num_days_from_monday()) % 7);
    let ahead = if ahead == 0 { 7 } else { ahead };
    let same_week = day.num_days_from_monday() > today.weekday_of().num_days_from_monday();
    let date = plus_days(today, if next && same_week { ahead + 7 } else { ahead })?;
    Some((ParsedDate::Day(date), 1))
}

/// "in 3 days", "within the next 2 hours", "בעוד יומיים", "תוך שבוע".
fn parse_offset(rest: &[&str], previous: &str, base: &ReferenceTime<'_>) -> Option<(ParsedDate, usize)> {
    let word = |at: usize| rest.get(at).copied().unwrap_or_default();
    let hebrew = matches!(word(0), "בעוד" | "תוך" | "בתוך");
    if !matches!(word(0), "in" | "within") && !hebrew || previous == "been" {
        return None;
    }
    if hebrew && let Some(days) = parse_hebrew_day_count(word(1)) {
        return Some((ParsedDate::Day(plus_days(base.today(), days)?), 2));
    }
    let skip = match (word(1), word(2)) {
        ("the", "next") => 2,
        ("the", _) => 1,
        _ => 0,
    };
    let count = parse_number(word(1 + skip)).filter(|count| (1..=90).contains(count));
    let (count, unit, used) = match count {
        Some(count) => (count, word(2 + skip), 3 + skip),
        None => (1, word(1 + skip), 2 + skip),
    };
    apply_offset(i64::from(count), unit, base).map(|when| (when, used))
}

fn parse_hebrew_day_count(word: &str) -> Option<i64> {
    match word {
        "יום" => Some(1),
        "יומיים" => Some(2),
        "שבוע" => Some(7),
        "שבועיים" => Some(14),
        _ => None,
    }
}

fn apply_offset(count: i64, unit: &str, base: &ReferenceTime<'_>) -> Option<ParsedDate> {
    let later = |duration: Option<Duration>| Some(ParsedDate::Moment(base.local.checked_add_signed(duration?)?));
    match unit {
        "minute" | "minutes" | "min" | "mins" | "דקות" => later(Duration::try_minutes(count)),
        "hour" | "hours" | "hrs" | "שעה" | "שעות" => later(Duration::try_hours(count)),
        "day" | "days" | "ימים" => plus_days(base.today(), count).map(ParsedDate::Day),
        "month" | "months" | "חודש" | "חודשים" => {
            super::span::add_months(base.today(), count).map(ParsedDate::Day)
        }
        "week" | "weeks" | "שבועות" => plus_days(base.today(), count * 7).map(ParsedDate::Day),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_month_and_day_may_open_one() {
        let names = MONTHS.iter().map(|(name, _)| name).chain(WEEKDAYS.iter().map(|(name, _)| name));
        for name in names {
            assert!(may_start_day(name), "{name}");
        }
        assert!(!may_start_day("report"));
    }
}
