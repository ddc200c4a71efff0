//! Figures: "15:30", "5pm", "23rd", "16.3", "2026-06-23", "31-Oct-74", "14april".

use super::{
    language::Tongue,
    term::{Half, Term, Unit, WrittenClock},
};

/// How the figures of a sentence are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct FigureStyle {
    pub(super) tongue: Tongue,
    /// 6/7 is June 7.
    pub(super) month_first: bool,
}

/// More digits are a number of something else.
const LONGEST_FIGURE: usize = 40;

/// The terms of a token that starts with a digit; `after_in` when "in" stands before it, so that "2h" is a length.
pub(super) fn read_figure(text: &str, style: FigureStyle, after_in: bool) -> Option<Vec<Term>> {
    if text.len() > LONGEST_FIGURE {
        return None;
    }
    if let Some(terms) = read_date_with_time(text).or_else(|| read_date_with_month_name(text, style.tongue)) {
        return Some(terms);
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.' | '/' | '-'))).unwrap_or(text.len());
    let (head, tail) = text.split_at_checked(end)?;
    // "4.30pm" keeps its full stop, "4.p" would not.
    let head = head.trim_end_matches(['.', '-', '/', ':']);
    if let Some(minutes) = tail.strip_prefix('h').filter(|_| head.len() <= 2 && !after_in)
        && (minutes.is_empty() || minutes.parse::<u32>().is_ok())
    {
        let minute = if minutes.is_empty() { 0 } else { minutes.parse().ok()? };
        return clock(head.parse().ok()?, minute, 0, true).map(|clock| vec![clock]);
    }
    if let Some(quarter) = tail.strip_prefix('q').and_then(|quarter| quarter.parse().ok()) {
        let year = full_year(head.parse().ok()?)?;
        return Some(vec![Term::QuarterOf(year, quarter)]);
    }
    let figure = read_plain_figure(head, style)?;
    let day = if let Term::Number(day) = figure { Some(day) } else { None };
    match (tail.trim_start_matches('-'), day) {
        ("", _) | ("ish", _) => Some(vec![figure]),
        ("st" | "nd" | "rd" | "th" | "ter" | "ten", Some(day)) => Some(vec![Term::Ordinal(day)]),
        ("a" | "am" | "a.m", _) => Some(vec![figure, Term::Half(Half::Before)]),
        ("p" | "pm" | "p.m", _) => Some(vec![figure, Term::Half(Half::After)]),
        ("h", _) => Some(vec![figure, Term::Unit(Unit::Hour)]),
        (tail, _) => {
            let meaning = style.tongue.find_word(tail).filter(|meaning| !meaning.terms.is_empty())?;
            Some(std::iter::once(figure).chain(meaning.terms.iter().copied()).collect())
        }
    }
}

fn read_plain_figure(text: &str, style: FigureStyle) -> Option<Term> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().filter(|_| text.len() <= 4).map(Term::Number);
    }
    if text.contains(':') {
        return read_clock(text);
    }
    let separator = if text.contains('/') {
        '/'
    } else if text.contains('.') {
        '.'
    } else {
        '-'
    };
    let mut parts = text.split(separator).map(|part| part.parse::<u32>().ok());
    match (parts.next()??, parts.next()??, parts.next(), parts.next()) {
        (year @ 1000.., month, Some(Some(day)), None) => date(i32::try_from(year).ok()?, month, day),
        (first, second, Some(Some(year)), None) => {
            let month_first = style.month_first && separator != '.' && first <= 12;
            let (day, month) = if second > 12 || month_first { (second, first) } else { (first, second) };
            date(full_year(i32::try_from(year).ok()?)?, month, day)
        }
        (first, second, None, None) if separator == '.' => Some(Term::Dotted(first, second)),
        (first, second, None, None) if separator == '/' => Some(Term::Slashed(first, second)),
        _ => None,
    }
}

/// "15:30", "15:23:24".
fn read_clock(text: &str) -> Option<Term> {
    let mut parts = text.split(':');
    let (hour, minute) = (parts.next()?, parts.next()?);
    let second = parts.next().map_or(Some(0), |second| second.parse().ok())?;
    if minute.len() != 2 || parts.next().is_some() {
        return None;
    }
    clock(hour.parse().ok()?, minute.parse().ok()?, second, hour.starts_with('0'))
}

fn clock(hour: u32, minute: u32, second: u32, is_24_hour: bool) -> Option<Term> {
    let is_24_hour = is_24_hour || hour > 12 || hour == 0;
    (hour <= 24 && minute < 60 && second < 60).then_some(Term::Clock(WrittenClock { hour, minute, second, is_24_hour }))
}

fn date(year: i32, month: u32, day: u32) -> Option<Term> {
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(Term::Date(year, month, day))
}

/// "74" is 1974 and "26" is 2026.
fn full_year(year: i32) -> Option<i32> {
    match year {
        0..50 => Some(year + 2000),
        50..100 => Some(year + 1900),
        1000.. => Some(year),
        _ => None,
    }
}

/// "2026-06-23t17:00z", "2026-06-23t17:00:00+03:00".
fn read_date_with_time(text: &str) -> Option<Vec<Term>> {
    let (day, time) = text.split_once('t').filter(|(day, _)| day.len() == 10)?;
    let mut parts = day.split('-');
    let day = date(parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?)?;
    let (clock, zone) = match time.strip_suffix('z') {
        Some(clock) => (clock, Some(0)),
        None => match time.find(['+', '-']).and_then(|at| time.split_at_checked(at)) {
            Some((clock, offset)) => (clock, Some(parse_offset(offset)?)),
            None => (time, None),
        },
    };
    let Term::Clock(clock) = read_clock(clock.split('.').next()?)? else { return None };
    let clock = Term::Clock(WrittenClock { is_24_hour: true, ..clock });
    Some([day, clock].into_iter().chain(zone.map(Term::Zone)).collect())
}

/// "+02:00", "-5", "+0530": seconds east of Greenwich.
pub(super) fn parse_offset(text: &str) -> Option<i32> {
    let (sign, digits) = match text.strip_prefix('+') {
        Some(digits) => (1, digits),
        None => (-1, text.strip_prefix(['-', '−'])?),
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
        None => (digits, "0"),
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    // Anything can stand behind a sign: only what can be an offset is multiplied.
    ((0..=14).contains(&hours) && (0..60).contains(&minutes)).then(|| sign * (hours * 3600 + minutes * 60))
}

/// "31-oct-74", "31/oct/1974".
fn read_date_with_month_name(text: &str, tongue: Tongue) -> Option<Vec<Term>> {
    let mut parts = text.split(['-', '/']);
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let Some([Term::Month(month)]) = tongue.find_word(month).map(|meaning| meaning.terms.as_slice()) else {
        return None;
    };
    date(full_year(year.parse().ok()?)?, *month, day.parse().ok()?).map(|date| vec![date])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        let style = FigureStyle { tongue: Tongue::English, month_first: false };
        let hour = |hour, minute, is_24_hour| Term::Clock(WrittenClock { hour, minute, second: 0, is_24_hour });
        for (text, expected) in [
            ("12", Some(vec![Term::Number(12)])),
            ("23rd", Some(vec![Term::Ordinal(23)])),
            ("15:30", Some(vec![hour(15, 30, true)])),
            ("3:30", Some(vec![hour(3, 30, false)])),
            ("17h", Some(vec![hour(17, 0, true)])),
            ("3h18", Some(vec![hour(3, 18, true)])),
            ("5pm", Some(vec![Term::Number(5), Term::Half(Half::After)])),
            ("16.3", Some(vec![Term::Dotted(16, 3)])),
            ("6/7/2026", Some(vec![Term::Date(2026, 7, 6)])),
            ("10/31/74", Some(vec![Term::Date(1974, 10, 31)])),
            ("31-oct-74", Some(vec![Term::Date(1974, 10, 31)])),
            ("14april", Some(vec![Term::Number(14), Term::Month(4)])),
            ("18q4", Some(vec![Term::QuarterOf(2018, 4)])),
            ("2026-13-40", None),
            ("25:99", None),
            ("12345", None),
            ("5xyz", None),
            ("1.2.3.4", None),
        ] {
            assert_eq!(read_figure(text, style, false), expected, "{text}");
        }
    }

    #[test]
    fn offsets() {
        for (text, expected) in [("+2", Some(7200)), ("-03:30", Some(-12_600)), ("+0530", Some(19_800)), ("+99", None)]
        {
            assert_eq!(parse_offset(text), expected, "{text}");
        }
    }
}
