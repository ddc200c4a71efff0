//! The words of an expression of time, each by what it means. English and Hebrew.

use chrono::Weekday;

use super::{
    day::{parse_month, parse_weekday_name},
    parse_number, with_and_without_prefix,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Term {
    Number(i64),
    /// "3rd", "third".
    Ordinal(i64),
    Month(u32),
    Day(Weekday),
    Unit(Unit),
    /// As written with a colon, an "h" or a half of the day.
    Clock(u32, u32, u32),
    Half(Half),
    Part(PartOfDay),
    /// Year, month and day in digits.
    Date(i32, u32, u32),
    /// Month and day in digits.
    Short(u32, u32),
    /// Minutes of an hour: "1/2", "3/4".
    Fraction(i64),
    This,
    Next,
    Last,
    Upcoming,
    Of,
    In,
    Ago,
    Hence,
    Today,
    Tomorrow,
    Overmorrow,
    Yesterday,
    Now,
    Noon,
    Midnight,
    HalfOf,
    Quarter,
    Past,
    To,
    After,
    Before,
    Oh,
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

/// Every word of a short expression; none when one of them has no meaning here.
pub(super) fn terms(plain: &str) -> Option<Vec<Term>> {
    const LONGEST: usize = 80;
    if plain.len() > LONGEST {
        return None;
    }
    let spaced =
        plain.replace("'s ", " ").replace("o'clock", " ").replace("in the am", "am").replace("in the pm", "pm");
    let spaced = spaced.replace(['@', ',', '(', ')'], " ").replace("p m", "pm").replace("a m", "am");
    let mut terms = Vec::new();
    for word in spaced.split_whitespace() {
        read(word.trim_end_matches('.'), &mut terms)?;
    }
    Some(terms)
}

const FILLERS: &[&str] = &[
    "the",
    "at",
    "on",
    "for",
    "around",
    "about",
    "approximately",
    "exactly",
    "sharp",
    "precisely",
    "ad",
    "more",
    "ish",
    "early",
    "a",
    "an",
    "right",
    "oclock",
    "ב",
    "ביום",
    "יום",
    "בשעה",
    "שעה",
    "בתאריך",
    "ה",
    "בערך",
];

fn read(word: &str, terms: &mut Vec<Term>) -> Option<()> {
    // "שעה" after "half" or "in" is a length, elsewhere it leads to a time of day.
    let length =
        word == "שעה" && matches!(terms.last(), Some(Term::In | Term::HalfOf | Term::Quarter | Term::Number(_)));
    if FILLERS.contains(&word) && !length {
        return Some(());
    }
    if let Some(found) = several(word) {
        terms.extend_from_slice(found);
        return Some(());
    }
    if matches!(word, "עשר" | "עשרה")
        && let Some(Term::Number(ones @ 1..=9)) = terms.last().copied()
    {
        terms.pop();
        terms.push(Term::Number(ones + 10));
        return Some(());
    }
    let before = matches!(terms.last(), Some(Term::Quarter | Term::Number(_) | Term::Unit(Unit::Minute)));
    if before && let Some(hour) = word.strip_prefix('ל').and_then(|rest| rest.trim_start_matches('-').parse().ok()) {
        terms.extend([Term::To, Term::Number(hour)]);
        return Some(());
    }
    if let Some((Term::Clock(hour, minute, second), true)) = clock(word).map(|clock| (clock, word.contains('h'))) {
        terms.push(Term::Clock(hour, minute, second));
        // Whoever writes 3h18 counts to twenty-four.
        terms.extend((hour <= 12).then_some(Term::Half(if hour < 12 { Half::Before } else { Half::After })));
        return Some(());
    }
    let one = named(word).or_else(|| hebrew(word)).or_else(|| digits(word)).or_else(|| clock(word));
    if let Some(term) = one {
        terms.push(term);
        return Some(());
    }
    let parted = word.split(['-', '–']).filter(|part| !part.is_empty()).count() >= 2 && !word.is_empty();
    if parted {
        return word.split(['-', '–']).try_for_each(|part| read(part, terms));
    }
    let at = word.find(|c: char| c.is_ascii_alphabetic()).filter(|at| *at > 0)?;
    let (head, tail) = word.split_at_checked(at)?;
    read(head, terms)?;
    match tail {
        "ish" => Some(()),
        "a" => {
            terms.push(Term::Half(Half::Before));
            Some(())
        }
        tail => read(tail, terms),
    }
}

/// Words that say a number and a unit at once.
fn several(word: &str) -> Option<&'static [Term]> {
    Some(match word {
        "tonight" | "tonite" | "הערב" | "הלילה" => &[Term::Today, Term::Part(PartOfDay::Evening)],
        "fortnight" => &[Term::Number(14), Term::Unit(Unit::Day)],
        "יומיים" => &[Term::Number(2), Term::Unit(Unit::Day)],
        "שבועיים" => &[Term::Number(2), Term::Unit(Unit::Week)],
        "שעתיים" => &[Term::Number(2), Term::Unit(Unit::Hour)],
        "חודשיים" => &[Term::Number(2), Term::Unit(Unit::Month)],
        _ => return None,
    })
}

fn named(word: &str) -> Option<Term> {
    Some(match word {
        "this" | "current" | "הזה" | "הזו" | "זה" | "זו" => Term::This,
        "next" | "following" | "הבא" | "הבאה" => Term::Next,
        "last" | "previous" | "past" if word != "past" => Term::Last,
        "האחרון" | "האחרונה" | "שעבר" | "שעברה" => Term::Last,
        "upcoming" | "coming" | "הקרוב" | "הקרובה" => Term::Upcoming,
        "of" | "של" => Term::Of,
        "in" | "within" | "בעוד" | "תוך" | "בתוך" | "עוד" => Term::In,
        "ago" => Term::Ago,
        "hence" => Term::Hence,
        "from" => Term::Hence,
        "today" | "היום" => Term::Today,
        "tomorrow" | "tmrw" | "מחר" | "למחר" => Term::Tomorrow,
        "מחרתיים" => Term::Overmorrow,
        "yesterday" | "אתמול" => Term::Yesterday,
        "now" | "immediately" | "עכשיו" | "כעת" | "מיד" | "מייד" => Term::Now,
        "noon" | "midday" | "בצהריים" => Term::Noon,
        "midnight" | "בחצות" | "חצות" => Term::Midnight,
        "half" | "חצי" | "וחצי" => Term::HalfOf,
        "quarter" | "qtr" | "רבע" | "ורבע" | "רבעון" => Term::Quarter,
        "past" | "אחרי" => Term::Past,
        "to" | "till" => Term::To,
        "after" => Term::After,
        "before" => Term::Before,
        "oh" | "zero" => Term::Oh,
        "am" | "a.m" => Term::Half(Half::Before),
        "pm" | "p.m" | "p" => Term::Half(Half::After),
        "morning" | "בבוקר" => Term::Part(PartOfDay::Morning),
        "afternoon" | "אחה\"צ" => Term::Part(PartOfDay::Afternoon),
        "evening" | "night" | "בערב" | "בלילה" => Term::Part(PartOfDay::Evening),
        "couple" => Term::Number(2),
        _ => return unit(word).map(Term::Unit),
    })
}

fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "second" | "seconds" | "sec" | "secs" | "שניות" if word != "second" => Unit::Second,
        "minute" | "minutes" | "min" | "mins" | "דקה" | "דקות" => Unit::Minute,
        "hour" | "hours" | "hr" | "hrs" | "h" | "שעה" | "שעות" => Unit::Hour,
        "day" | "days" | "יום" | "ימים" => Unit::Day,
        "week" | "weeks" | "שבוע" | "שבועות" | "השבוע" | "בשבוע" => Unit::Week,
        "month" | "months" | "חודש" | "חודשים" | "החודש" | "בחודש" => Unit::Month,
        "quarters" => Unit::Quarter,
        "year" | "years" | "yr" | "yrs" => Unit::Year,
        _ => return None,
    })
}

const ORDINALS: &[&str] = &[
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
];

fn digits(word: &str) -> Option<Term> {
    if let Some(at) = ORDINALS.iter().position(|ordinal| *ordinal == word) {
        return Some(Term::Ordinal(at as i64 + 1));
    }
    if let Some(tens) = tens(word) {
        return Some(Term::Number(tens));
    }
    if let Some(month) = parse_month(word) {
        return Some(Term::Month(month));
    }
    if let Some(day) = parse_weekday_name(word) {
        return Some(Term::Day(day));
    }
    let end = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
    if matches!(word.strip_prefix(end)?, "st" | "nd" | "rd" | "th") {
        return end.parse().ok().map(Term::Ordinal);
    }
    let parts = |separator: char| -> Option<Vec<i64>> { word.split(separator).map(|part| part.parse().ok()).collect() };
    for separator in ['-', '/', '.'] {
        match parts(separator).as_deref() {
            Some([year @ 1000..=2999, month, day]) => return date(*year, *month, *day),
            Some([1, 2]) if separator == '/' => return Some(Term::Fraction(30)),
            Some([quarters @ (1 | 3), 4]) if separator == '/' => return Some(Term::Fraction(quarters * 15)),
            Some([first, second, year]) if separator != '-' => {
                let year = if *year >= 100 { *year } else { year + if *year < 50 { 2000 } else { 1900 } };
                let (month, day) = if *second > 12 || first == second { (first, second) } else { return None };
                return date(year, *month, *day);
            }
            Some([month @ 1..=12, day @ 13..=31]) if separator == '/' => {
                return Some(Term::Short(u32::try_from(*month).ok()?, u32::try_from(*day).ok()?));
            }
            _ => {}
        }
    }
    parse_number(word).map(|value| Term::Number(i64::from(value)))
}

fn date(year: i64, month: i64, day: i64) -> Option<Term> {
    Some(Term::Date(i32::try_from(year).ok()?, u32::try_from(month).ok()?, u32::try_from(day).ok()?))
}

fn tens(word: &str) -> Option<i64> {
    const TENS: &[(&str, i64)] = &[
        ("eleven", 11),
        ("twelve", 12),
        ("fifteen", 15),
        ("twenty", 20),
        ("thirty", 30),
        ("forty", 40),
        ("forty-five", 45),
        ("fifty", 50),
    ];
    TENS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

/// "15:30", "15:23:24", "15h15", "15h".
fn clock(word: &str) -> Option<Term> {
    let (hour, rest) = word.split_once([':', 'h'])?;
    let (minute, second) = match rest.split_once(':') {
        Some((minute, second)) => (minute, second.parse().ok()?),
        None => (rest, 0),
    };
    let tail = minute.trim_start_matches(|c: char| c.is_ascii_digit());
    if !tail.is_empty() {
        return None;
    }
    let minute = if minute.is_empty() && word.ends_with('h') { 0 } else { minute.parse().ok()? };
    let clock = (hour.parse().ok()?, minute, second);
    (clock.0 <= 24 && clock.1 < 60 && clock.2 < 60).then_some(Term::Clock(clock.0, clock.1, clock.2))
}

/// With one prefix letter: "ביוני", "בתשע", "השלישי", "בשבת".
fn hebrew(word: &str) -> Option<Term> {
    const DAYS: [Weekday; 7] =
        [Weekday::Sun, Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri, Weekday::Sat];
    const NAMES: [&str; 7] = ["ראשון", "שני", "שלישי", "רביעי", "חמישי", "שישי", "שבת"];
    if word.is_ascii() {
        return None;
    }
    let place = |word: &str| NAMES.iter().position(|name| *name == word);
    if let Some(at) = word.strip_prefix('ה').and_then(place).filter(|at| *at < 6) {
        return Some(Term::Ordinal(at as i64 + 1));
    }
    with_and_without_prefix(word).find_map(|word| {
        let day = place(word).and_then(|at| DAYS.get(at)).copied().map(Term::Day);
        let month = || parse_month(word).map(Term::Month);
        let count = || parse_number(word).map(|value| Term::Number(i64::from(value)));
        day.or_else(month).or_else(count)
    })
}
