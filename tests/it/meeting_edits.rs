//! Text, subject and calendar part of an invitation name the same time, whatever a person edits: the event follows the
//! text, or the edit is refused with a sentence.

use adjutant::{
    model::{
        Address, Effect, Facts, Instant, Mail, Me, Task,
        action::{ComposedMessage, SendKind},
    },
    reading::{Relation, collect_facts},
    tool::{
        BusyTimes, InvitationMove, MeetingSpan, Registry, ToolInput, ToolOutcome, edit_message, event_of,
        move_invitation,
    },
};
use chrono::{
    DateTime, Datelike as _, Duration, NaiveDate, NaiveDateTime, NaiveTime, TimeZone as _, Timelike as _, Utc,
};
use chrono_tz::Tz;
use serde_json::json;

use crate::{
    fuzz_entry::{me, read_parsed_mail},
    reply_bytes::verdict_on,
    support::test_home::SeededRandom,
};

const OWN: Tz = Tz::Europe__Berlin;
const EDITS: usize = 600;

fn now() -> Instant {
    "2026-11-16T08:00:00Z".parse().unwrap()
}

fn person() -> Me {
    Me { time_zone: OWN, ..me().clone() }
}

fn mail(subject: &str) -> Mail {
    Mail {
        message_id: Some("<q@bakerand.example>".into()),
        from: Address { name: Some("Tom Baker".into()), addr: "tom@bakerand.example".into() },
        to: vec![Address { name: None, addr: "you@home.example".into() }],
        subject: subject.into(),
        text: "Could we meet?\n\nTom".into(),
        ..Mail::default()
    }
}

/// The invitation that the tool makes for a time.
fn invitation(mail: &Mail, language: &str, start: DateTime<Utc>, minutes: i64) -> ComposedMessage {
    let end = start + Duration::minutes(minutes);
    let task: Task = serde_json::from_value(json!({
        "task_id": "01JYD3A8P0WQ5M4T6R2P0N1M4K", "created_at": "2025-06-23T03:15:00Z", "source": "email:1", "objective": "Meet",
        "priority": "low", "status": "READY", "last_updated": "2025-06-23T03:15:00Z",
        "tool_output": { "propose_time_slots": { "answer": "accept", "slots": [{ "start": start.to_rfc3339(), "end": end.to_rfc3339() }] } },
    }))
    .unwrap();
    let facts = Facts {
        language: language.into(),
        ..collect_facts(mail, &read_parsed_mail(mail), "work", &Relation::default())
    };
    let me = person();
    let input = ToolInput {
        invoices: &[],
        documents: &[],
        material: None,
        arguments: None,
        task: &task,
        facts: &facts,
        mail: Some(mail),
        thread: &[],
        busy_times: &BusyTimes::None,
        held_times: &[],
        in_calendar: &adjutant::source::CalendarLookup::NoCalendar,
        letters: &[],
        wording: None,
        me: &me,
        own: "you@home.example",
        now: now(),
        idempotency_key: "01TOKEN",
    };
    match Registry::shipped().get("send_calendar_invite").unwrap().run(&input).unwrap() {
        ToolOutcome::Effect(wished) => match wished.effect {
            Effect::Send { kind: SendKind::Invite, message, .. } => message,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// What the policy says of sending it.
fn verdict(message: &ComposedMessage, mail: &Mail) -> Result<(), String> {
    let effect = Effect::Send { kind: SendKind::Invite, message: message.clone(), replaces: None };
    verdict_on("send_calendar_invite", effect, mail)
}

fn start_of(message: &ComposedMessage) -> DateTime<Utc> {
    event_of(message).expect("it has an event").start.utc()
}

fn utc(local: NaiveDateTime) -> DateTime<Utc> {
    OWN.from_local_datetime(&local).unwrap().to_utc()
}

fn some_time(dice: &mut SeededRandom) -> NaiveDateTime {
    let day = NaiveDate::from_ymd_opt(2026, 11, 17).unwrap() + Duration::days(dice.below(60) as i64);
    day.and_time(NaiveTime::from_hms_opt(8 + dice.below(11) as u32, 15 * dice.below(4) as u32, 0).unwrap())
}

/// A time as a person may type it.
fn typed(time: NaiveDateTime, dice: &mut SeededRandom) -> String {
    let months = [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ];
    let (twelve, half) = ((time.hour() + 11) % 12 + 1, if time.hour() < 12 { "am" } else { "pm" });
    let minute = time.minute();
    match dice.below(7) {
        0 => time.format("on %-d %B %Y at %H:%M").to_string(),
        1 => time.format("on %A, %B %-d, %Y at %H:%M").to_string(),
        2 => format!("on {} at {twelve}:{minute:02} {half}", time.format("%-d %B %Y")),
        3 => format!(
            "am {}. {} {} um {} Uhr",
            time.day(),
            months[time.month0() as usize],
            time.year(),
            time.format("%H:%M")
        ),
        4 => time.format("am %d.%m.%Y um %H:%M Uhr").to_string(),
        5 => time.format("ב-%-d.%-m.%Y בשעה %H:%M").to_string(),
        _ => time.format("%Y-%m-%d %H:%M").to_string(),
    }
}

fn letter(words: &str) -> String {
    format!("Hi Tom,\n\n{words}\n\nBest regards,\nAlex Green\n")
}

#[test]
fn every_edit_moves_the_event_or_is_refused() {
    let mut dice = SeededRandom::thrown("every_edit_moves_the_event_or_is_refused");
    let mut moved = 0;
    for nth in 0..EDITS {
        let (was, new) = (some_time(&mut dice), some_time(&mut dice));
        if was == new {
            continue;
        }
        let mail = mail(["The plans", "Meeting on Friday at 3pm?", "Call tomorrow"][dice.below(3) as usize]);
        let language = ["en", "de", "he"][dice.below(3) as usize];
        let message = invitation(&mail, language, utc(was), 30 + 15 * dice.below(4) as i64);
        assert_eq!(verdict(&message, &mail), Ok(()), "{}", message.body);
        let edit = |text: &str| edit_message(&message, "01AGAIN", &message.subject, text, now());
        let agrees = |edited: &ComposedMessage, expected: DateTime<Utc>, text: &str| {
            assert_eq!(start_of(edited), expected, "edit {nth}: {text}");
            assert_eq!(verdict(edited, &mail), Ok(()), "edit {nth}: {text}");
            let length = |message: &ComposedMessage| event_of(message).map(|event| event.end.utc() - event.start.utc());
            assert_eq!(length(edited), length(&message), "edit {nth}: {text}");
        };
        match dice.below(5) {
            // Another time.
            0..3 => {
                let text = letter(&format!("Let us meet {}. The agenda follows.", typed(new, &mut dice)));
                if let Ok(edited) = edit(&text) {
                    moved += 1;
                    agrees(&edited, utc(new), &text);
                }
            }
            // No time, or the same time in other words.
            3 => {
                let text = letter(
                    ["I am looking forward to it.", &format!("See you {}.", typed(was, &mut dice))]
                        [dice.below(2) as usize],
                );
                let edited = edit(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
                agrees(&edited, utc(was), &text);
            }
            // Two times: nobody can tell which is meant.
            _ => {
                let text =
                    letter(&format!("Let us meet {}. Or better {}.", typed(was, &mut dice), typed(new, &mut dice)));
                let refused = edit(&text).expect_err(&text).to_string();
                assert!(refused.starts_with("nothing was changed: "), "{refused}");
            }
        }
        // A program that changes only one of the two is stopped.
        let forged = ComposedMessage {
            mime: message.mime.replace(
                &utc(was).format("DTSTART:%Y%m%dT%H%M%SZ").to_string(),
                &utc(new).format("DTSTART:%Y%m%dT%H%M%SZ").to_string(),
            ),
            ..message.clone()
        };
        let text =
            forged.mime.split("BEGIN:VCALENDAR").nth(1).and_then(|rest| rest.split("END:VCALENDAR").next()).unwrap();
        let calendar = format!("BEGIN:VCALENDAR{text}END:VCALENDAR\r\n");
        let mut forged = forged.clone();
        forged.attachments[0].sha256 = adjutant::model::ids::sha256_hex(calendar.as_bytes());
        let denied = verdict(&forged, &mail).expect_err("the text names another time");
        assert!(denied.contains("calendar part disagree"), "{denied}");
    }
    println!("{moved} edits moved the event");
    assert!(moved * 10 >= EDITS * 3 / 5 * 9 * 9 / 10, "{moved}: an edit that names one time is seldom refused");
}

#[test]
fn a_move_rewrites_text_subject_and_calendar_part() {
    let mut dice = SeededRandom::thrown("a_move_rewrites_text_subject_and_calendar_part");
    for _ in 0..200 {
        let (was, new) = (some_time(&mut dice), some_time(&mut dice));
        let mail = mail(["The plans", "Meeting on Friday at 3pm?", "Call tomorrow"][dice.below(3) as usize]);
        let message = invitation(&mail, ["en", "de", "he"][dice.below(3) as usize], utc(was), 30);
        let to = MeetingSpan {
            start: Instant::new(utc(new)).unwrap(),
            end: Instant::new(utc(new) + Duration::minutes(45)).unwrap(),
        };
        let wanted = InvitationMove { token: "01AGAIN", to, their_zone: None, now: now() };
        let moved = move_invitation(&message, &wanted).unwrap();
        assert_eq!(start_of(&moved), utc(new));
        assert!(moved.body.contains(&new.format("%H:%M").to_string()), "{}", moved.body);
        assert!(was == new || !moved.body.contains(&was.format("%d.%m.%Y, %H:%M").to_string()), "{}", moved.body);
        assert_eq!(verdict(&moved, &mail), Ok(()), "{}\n{}", moved.subject, moved.body);
    }
}
