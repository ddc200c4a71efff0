//! Times of day: "5pm", "17:30", "noon", "בשעה 10", "בעשר בבוקר".

use chrono::NaiveTime;

use super::{parse_number, with_and_without_prefix};

/// A time up to three words before or after the day at `at`, which took `used` words.
pub(super) fn near(tokens: &[&str], at: usize, used: usize) -> Option<NaiveTime> {
    let after = at + used..(at + used + 3).min(tokens.len());
    let before = at.saturating_sub(3)..at;
    after.chain(before).find_map(|at| parse_time_of_day(tokens, at).map(|(time, _)| time))
}

/// A time that starts at `at`, and how many words it took.
pub(super) fn parse_time_of_day(tokens: &[&str], at: usize) -> Option<(NaiveTime, usize)> {
    let word = tokens.get(at).copied()?;
    // Most words are no time: an English one is only as a figure or a name of these two.
    if !word.starts_with(|c: char| c.is_ascii_digit() || !c.is_ascii() || matches!(c, 'n' | 'm')) {
        return None;
    }
    let next = tokens.get(at + 1).copied().unwrap_or_default();
    let previous = at.checked_sub(1).and_then(|at| tokens.get(at)).copied().unwrap_or_default();
    if matches!(word, "noon" | "midday" | "בצהריים") {
        return Some((NaiveTime::from_hms_opt(12, 0, 0)?, 1));
    }
    if matches!(word, "midnight" | "בחצות") {
        return Some((NaiveTime::from_hms_opt(23, 59, 0)?, 1));
    }
    with_and_without_prefix(word)
        .find_map(|word| parse_clock_time(word, next, previous))
        .or_else(|| parse_hebrew_hour(word, next, previous))
}

/// "10:00", "5pm", "5:30 p.m"; a bare number only after "בשעה".
fn parse_clock_time(word: &str, next: &str, previous: &str) -> Option<(NaiveTime, usize)> {
    let (clock, half) = match word.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => (word.get(..at)?, Some(parse_english_meridiem(word.get(at..)?)?)),
        None => (word, None),
    };
    let apart = if half.is_none() { parse_meridiem(next) } else { None };
    let (hour, minute) = match clock.split_once(':') {
        Some((hour, minute)) if minute.len() == 2 => (hour.parse::<u32>().ok()?, minute.parse::<u32>().ok()?),
        Some(_) => return None,
        None if half.or(apart).is_some() || matches!(previous, "בשעה" | "השעה" | "שעה") => {
            (clock.parse().ok()?, 0)
        }
        None => return None,
    };
    let hour = match half.or(apart) {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(Meridiem::Am) => hour % 12,
        Some(Meridiem::Pm) => hour % 12 + 12,
        None => hour,
    };
    Some((NaiveTime::from_hms_opt(hour, minute, 0)?, 1 + usize::from(apart.is_some())))
}

#[derive(Clone, Copy)]
enum Meridiem {
    Am,
    Pm,
}

fn parse_english_meridiem(word: &str) -> Option<Meridiem> {
    match word {
        "am" | "a.m" => Some(Meridiem::Am),
        "pm" | "p.m" => Some(Meridiem::Pm),
        _ => None,
    }
}

fn parse_meridiem(next: &str) -> Option<Meridiem> {
    match next {
        "בבוקר" => Some(Meridiem::Am),
        "בערב" | "אחה\"צ" | "אחרי" => Some(Meridiem::Pm),
        _ => parse_english_meridiem(next),
    }
}

/// "בעשר", "בשמונה בערב". Between one and six in the working day means the afternoon.
fn parse_hebrew_hour(word: &str, next: &str, previous: &str) -> Option<(NaiveTime, usize)> {
    let led = if matches!(previous, "בשעה" | "עד" | "השעה") { Some(word) } else { word.strip_prefix('ב') };
    let hour = led.filter(|word| word.starts_with(|c: char| !c.is_ascii())).and_then(parse_number)?;
    let hour = match parse_meridiem(next) {
        Some(Meridiem::Am) => hour,
        Some(Meridiem::Pm) => hour % 12 + 12,
        None if (1..=6).contains(&hour) => hour + 12,
        None => hour,
    };
    // "שני" is Monday and "שתי" counts things; neither is an hour.
    let is_hour = !matches!(led, Some("שני" | "שתי" | "אחד"));
    is_hour.then(|| NaiveTime::from_hms_opt(hour, 0, 0).map(|time| (time, 1)))?
}
