//! The responses in `tests/responses/`, and what they mean.

use super::*;
use crate::date::tests::me;

const NOW: &str = "2026-11-16T08:00:00Z";

fn read(text: &str) -> String {
    let wishes = read_response(text, &me(chrono_tz::UTC), NOW.parse().unwrap());
    wishes.map_or_else(|| "editor".to_owned(), |wishes| wishes.iter().map(describe).collect::<Vec<_>>().join("; "))
}

fn describe(wish: &ResponseWish) -> String {
    match wish {
        ResponseWish::SendNothing => "nothing".into(),
        ResponseWish::AskLater { at: None } => "later".into(),
        ResponseWish::AskLater { at: Some(at) } => format!("later {at}"),
        ResponseWish::Answer { answer, period: None } => answer.to_string(),
        ResponseWish::Answer { answer, period: Some(period) } => format!("{answer} {period}"),
        ResponseWish::Move(NamedMoment { day, time, .. }) => {
            let day = day.map_or("-".to_owned(), |day| day.to_string());
            format!("move {day} {}", time.map_or("-".to_owned(), |time| time.format("%H:%M").to_string()))
        }
        ResponseWish::Place { place } => format!("place {place}"),
        ResponseWish::SendTo { who, is_added } => format!("{} {who}", if *is_added { "also" } else { "to" }),
        ResponseWish::Say { text } => format!("say {text}"),
        ResponseWish::Append { text } => format!("append {text}"),
        ResponseWish::Shorten => "shorten".into(),
    }
}

#[test]
fn responses_in_words_mean_what_they_say() {
    let cases: Vec<Vec<&str>> = include_str!("../../../tests/responses/responses.psv")
        .lines()
        .map(|line| line.split(" | ").collect())
        .collect();
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let (text, expected) = (case[1], case[2]);
        let found = read(text);
        // A time to be asked again is compared as far as it is written down.
        let is_right = found == expected || expected.starts_with("later 2") && found.starts_with(expected);
        if !is_right {
            wrong.push(format!("{text}: {expected}, read {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn no_instruction_becomes_a_text() {
    for text in [
        "tell her nothing new and send it to Marc",
        "say it in German",
        "tell him about the delay",
        "tell her she can come",
        "tell her that she should call me",
        "write a longer answer",
        "say so more politely",
        "sag ihr, dass sie kommen kann",
        "sag etwas Nettes",
        "tell him the new price",
        "tell her I am ill, send it to Marc",
        "תגיד לה שהיא יכולה לבוא",
    ] {
        assert_eq!(read(text), "editor", "{text}");
    }
}

#[test]
fn long_and_odd_input_is_no_instruction() {
    // Words that may each be skipped, end a part, or begin another one.
    let (joined, skipped) = (format!("say {}", "then, ".repeat(59)), format!("say {}", "please and ".repeat(29)));
    for text in ["", "   ", ",,, –", "“”", "{time}", &"and then ".repeat(2000), &"to ".repeat(59), &joined, &skipped]
    {
        assert_eq!(read(text), "editor", "{}", text.chars().take(20).collect::<String>());
    }
}

#[test]
fn the_name_of_a_day_is_told_from_a_date() {
    for (text, expected) in [
        ("make it Thursday at three", true),
        ("lieber Freitag um 10 Uhr", true),
        ("make it tomorrow at 9", false),
        ("make it 24 November at 9", false),
        ("at 4pm instead", false),
    ] {
        let wishes = read_response(text, &me(chrono_tz::UTC), NOW.parse().unwrap()).unwrap();
        assert!(
            matches!(&wishes[..], [ResponseWish::Move(moment)] if moment.is_weekday == expected),
            "{text}: {wishes:?}"
        );
    }
}
