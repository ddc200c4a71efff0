//! Sentences and the times for a meeting that they allow, from `cases/asked.txt`.

use chrono::{Datelike as _, NaiveDate, Weekday};
use chrono_tz::Tz;

use super::{AskedTimesReader, ReferenceTime, tests::me};
use crate::model::{AskedTime, Instant};

/// The share of the expressions that must be read exactly as they were expected.
const LEAST_RIGHT: usize = 108;

#[test]
fn what_a_mail_says_about_the_time_of_a_meeting() {
    let (cases, wrong) = wrong_cases(include_str!("cases/asked.txt"));
    assert_eq!(cases, 120);
    println!("{} of {cases} right\n{}", cases - wrong.len(), wrong.join("\n"));
    assert!(cases - wrong.len() >= LEAST_RIGHT, "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_later_mails_said_about_the_time_of_a_meeting() {
    let (cases, wrong) = wrong_cases(include_str!("cases/asked_later.txt"));
    assert_eq!(cases, 12);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reads every case as a sentence of Tuesday 16 June 2026, 10:30 in Berlin. Returns how many there are, and what was read
/// otherwise than expected.
fn wrong_cases(file: &str) -> (usize, Vec<String>) {
    let me = me(Tz::Europe__Berlin);
    let now: Instant = "2026-06-16T08:30:00Z".parse().unwrap();
    let base = ReferenceTime::new(now, &me);
    let cases: Vec<_> = file.lines().filter_map(|line| line.split_once(" => ")).collect();
    let mut wrong = Vec::new();
    for (text, expected) in &cases {
        let mut reader = AskedTimesReader::new(&base);
        reader.read(text);
        let times = reader.finish().map(|asked| asked.times).unwrap_or_default();
        let found: Vec<String> = times.iter().map(|time| shown(*time, now)).collect();
        let wanted: Vec<String> = expected.split(" | ").flat_map(expand).collect();
        if found != wanted {
            wrong.push(format!("{text}\n  expected {wanted:?}\n  read     {found:?}"));
        }
    }
    (cases.len(), wrong)
}

fn shown(time: AskedTime, now: Instant) -> String {
    let local = |at: Instant| at.utc().with_timezone(&Tz::Europe__Berlin);
    let past = if time.is_past(now) { "past " } else { "" };
    match time {
        AskedTime::Start { start, end: None } => format!("{past}{}", local(start).format("%Y-%m-%dT%H:%M")),
        AskedTime::Start { start, end: Some(end) } => {
            format!("{past}{}-{}", local(start).format("%Y-%m-%d %H:%M"), local(end).format("%H:%M"))
        }
        AskedTime::Window { from, to } => {
            format!("{past}{}..{}", local(from).format("%Y-%m-%d %H:%M"), local(to).format("%H:%M"))
        }
    }
}

/// "2026-06-22..2026-06-26 09:00..18:00 !wed" is a window on each working day but Wednesday.
fn expand(expected: &str) -> Vec<String> {
    if expected == "-" {
        return Vec::new();
    }
    let Some((days, rest)) = expected.split_once(' ').filter(|(days, _)| days.contains("..")) else {
        return vec![expected.to_owned()];
    };
    let (first, last) = days.split_once("..").unwrap();
    let (hours, but) = rest.split_once(" !").unwrap_or((rest, ""));
    let (first, last): (NaiveDate, NaiveDate) = (first.parse().unwrap(), last.parse().unwrap());
    let but: Option<Weekday> = but.parse().ok();
    let works = |day: &NaiveDate| day.weekday().num_days_from_monday() < 5 && Some(day.weekday()) != but;
    let days = first.iter_days().take_while(|day| *day <= last).filter(works);
    days.map(|day| format!("{day} {hours}")).collect()
}
