//! Sentences and the deadlines they mean, from the files in `cases/`.

use chrono::{NaiveTime, Weekday};
use chrono_tz::Tz;

use super::*;
use crate::plain_text::normalise;

pub(crate) fn me(zone: Tz) -> Me {
    let time = |hour| NaiveTime::from_hms_opt(hour, 0, 0).unwrap();
    Me {
        names: vec!["Alex Green".into()],
        addresses: vec!["you@home.example".into()],
        time_zone: zone,
        work_start: time(9),
        work_end: time(18),
        work_days: vec![Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri],
        signature: String::new(),
        decline: String::new(),
        senders: std::collections::HashMap::new(),
        languages: vec!["en".into(), "he".into()],
    }
}

/// Reads every case as a mail of Tuesday 16 June 2026, 10:30 in Berlin.
fn check_cases(file: &str, least: usize) {
    let me = me(Tz::Europe__Berlin);
    let base = ReferenceTime::new("2026-06-16T08:30:00Z".parse().unwrap(), &me);
    let cases: Vec<_> = file.lines().filter_map(|line| line.split_once(" => ")).collect();
    assert!(cases.len() >= least, "{}", cases.len());
    let mut wrong = Vec::new();
    for (text, expected) in &cases {
        let found = find_due_date(&normalise(text), &base).map_or("-".to_owned(), |due| due.deadline);
        // To the minute, without seconds and offset.
        let found = found.get(..16).unwrap_or(&found);
        if found != *expected {
            wrong.push(format!("{text}: {expected}, read {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn german() {
    check_cases(include_str!("cases/german.txt"), 120);
}

#[test]
fn english() {
    check_cases(include_str!("cases/english.txt"), 100);
}

#[test]
fn hebrew() {
    check_cases(include_str!("cases/hebrew.txt"), 30);
}

#[test]
fn americans_write_the_month_first() {
    let me = me(Tz::America__New_York);
    let base = ReferenceTime::new("2026-06-01T12:00:00Z".parse().unwrap(), &me);
    assert_eq!(find_due_date("due 6/7/2026", &base).unwrap().deadline, "2026-06-07");
    assert_eq!(find_due_date("due 23/6/2026", &base).unwrap().deadline, "2026-06-23");
}

#[test]
fn a_date_means_the_end_of_the_working_day() {
    let me = me(Tz::Europe__Berlin);
    let base = ReferenceTime::new("2026-06-16T08:30:00Z".parse().unwrap(), &me);
    assert_eq!(find_due_date("by friday", &base).unwrap().at.to_string(), "2026-06-19T16:00:00Z");
}

/// Reads a text that is nothing but an expression. Now is Tuesday 16 June 2026, 10:30.
fn check_alone(cases: &[(&str, Option<&str>)]) {
    let me = me(Tz::UTC);
    let base = ReferenceTime::new("2026-06-16T10:30:00Z".parse().unwrap(), &me);
    for (text, expected) in cases {
        let found = find_start(&normalise(text), &base).map(|at| at.format("%Y-%m-%dT%H:%M").to_string());
        assert_eq!(found.as_deref(), *expected, "{text}");
    }
}

#[test]
fn english_alone() {
    check_alone(&[
        ("now", Some("2026-06-16T10:30")),
        ("tomorrow at 9", Some("2026-06-17T09:00")),
        ("9 tomorrow evening", Some("2026-06-17T21:00")),
        ("quarter past 3", Some("2026-06-16T15:15")),
        ("ten to noon", Some("2026-06-16T11:50")),
        ("8 am", Some("2026-06-17T08:00")),
        ("Friday at 17h30", Some("2026-06-19T17:30")),
        ("next Monday", Some("2026-06-22T00:00")),
        ("Wednesday of next week", Some("2026-06-24T00:00")),
        ("the first Monday of September", Some("2026-09-07T00:00")),
        ("last day of February 2028", Some("2028-02-29T00:00")),
        ("the third last week of 2026", Some("2026-12-07T00:00")),
        ("in three months", Some("2026-09-16T00:00")),
        ("two weeks ago", Some("2026-06-02T00:00")),
        ("in half an hour", Some("2026-06-16T11:00")),
        ("this quarter", Some("2026-04-01T00:00")),
        ("Fri, 26 June 2026 10:00", Some("2026-06-26T10:00")),
        ("the 24th", Some("2026-06-24T00:00")),
        ("14th April 15", Some("2015-04-14T00:00")),
        ("1974", None),
        ("32 June", None),
        ("the closest Monday to June", None),
        ("fourty-two sheep", None),
        ("", None),
    ]);
}

#[test]
fn hebrew_alone() {
    check_alone(&[
        ("מחר בעשר", Some("2026-06-17T10:00")),
        ("ביום רביעי הבא", Some("2026-06-24T00:00")),
        ("יום שני", Some("2026-06-22T00:00")),
        ("ביום ראשון בשמונה בבוקר", Some("2026-06-21T08:00")),
        ("השלישי באוקטובר", Some("2026-10-03T00:00")),
        ("23 ביולי 2026", Some("2026-07-23T00:00")),
        ("בעוד שבועיים", Some("2026-06-30T00:00")),
        ("בעוד רבע שעה", Some("2026-06-16T10:45")),
        ("רבע ל-12", Some("2026-06-16T11:45")),
        ("אתמול", Some("2026-06-15T00:00")),
        ("ראשון האחרון של יולי", Some("2026-07-26T00:00")),
        ("אוקטובר", None),
        ("שלום לכולם", None),
    ]);
}

#[test]
fn german_alone() {
    check_alone(&[
        ("morgen um 9", Some("2026-06-17T09:00")),
        ("nächsten Montag", Some("2026-06-22T00:00")),
        ("Dienstag nächster Woche", Some("2026-06-23T00:00")),
        ("halb drei", Some("2026-06-16T14:30")),
        ("in drei Monaten", Some("2026-09-16T00:00")),
        ("vor zwei Wochen", Some("2026-06-02T00:00")),
        ("der erste Montag im September", Some("2026-09-07T00:00")),
        ("Fr., 26. Juni 2026, 10:00 Uhr", Some("2026-06-26T10:00")),
        ("guten Tag", None),
    ]);
}

/// A day that a person types is the day that a mail means with the same words.
#[test]
fn a_typed_time_is_what_a_mail_means_by_it() {
    let me = me(Tz::Europe__Berlin);
    let base = ReferenceTime::new("2026-06-16T08:30:00Z".parse().unwrap(), &me);
    for text in [
        "friday",
        "tomorrow at 14:00",
        "23 June",
        "by 5pm",
        "the 24th",
        "Friday at 9",
        "in two weeks",
        "bis Freitag",
        "übermorgen um 9 Uhr",
        "Montag, den 22. Juni um 14 Uhr",
        "מחר ב-10:00",
        "ביום חמישי",
    ] {
        let said = normalise(text);
        assert_eq!(find_typed_due_date(&said, &base), find_due_date(&format!("send it {said}"), &base), "{text}");
    }
}
