//! Tests absurd times: a mail, a calendar, a file or a person may name any. Only 1970 to 9998 counts, everything else
//! is treated as absent, and a mail that arrived is worked.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::support::test_home::{Kind, SeededRandom, TestHome};

/// Through the real mail path, and everything a person asks after it.
#[test]
fn absurd_dates_leave_a_home_that_works() {
    let mut dice = SeededRandom::thrown("times");
    let home = TestHome::real_time(Kind::Active);
    let cases = std::env::var("IT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(24);
    let ask = "Hello Alex,\n\nCould we find time for a 30-min catch-up next week? Please answer by Friday.\n\nTom\n";
    for nth in 0..cases {
        let letter = home.letter(&format!("odd-{nth}")).from(&format!("Tom <tom{nth}@bakerand.example>")).body(ask);
        home.post(&letter.date(&odd_date(&mut dice)));
        home.deliver(&format!("invite-{nth}.eml"), invitation(nth, &mut dice));
    }
    let old = home.deliver("1.before-epoch.eml", home.letter("touched").question().text());
    let odd = SystemTime::UNIX_EPOCH - Duration::from_secs(86_400 * 365 * 500);
    // A file system may refuse it; then there is nothing to try.
    drop(std::fs::OpenOptions::new().write(true).open(old).unwrap().set_modified(odd));
    let said = |arguments: &[&str]| {
        let answered = home.run(arguments);
        assert_eq!(answered.code, 0, "{arguments:?}: {}", answered.err);
        answered.out
    };
    for command in [
        &["once"][..],
        &["once"],
        &["tasks"],
        &["hitl", "list"],
        &["hitl", "show", "1"],
        &["search", "catch-up"],
        &["search", "--rebuild", "catch-up"],
        &["mail"],
        &["mail", "list", "--limit", "1000"],
        &["runs", "list"],
        &["reflect", "--dry-run"],
        &["digest"],
    ] {
        said(command);
    }
    let health: Value = serde_json::from_str(&home.run(&["--json", "doctor"]).out).unwrap();
    assert_eq!((&health["unreadable"]["count"], &health["unaccounted"]), (&0.into(), &0.into()), "{health}");
    let lost = home
        .sql("SELECT mail_id, state, reason FROM ledger WHERE state NOT IN ('task', 'linked', 'no_task', 'duplicate')");
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(home.count("mail WHERE sent_at NOT BETWEEN '1970' AND '9999' OR length(sent_at) <> 20"), 0);
}

/// Any year, at any border, in the forms that parsers know.
fn odd_date(dice: &mut SeededRandom) -> String {
    let year = match dice.below(6) {
        0 => i64::try_from(dice.below(300_000)).unwrap() - 1,
        1 => 1960 + i64::try_from(dice.below(20)).unwrap(),
        2 => 9990 + i64::try_from(dice.below(20)).unwrap(),
        3 => 99_999,
        4 => i64::try_from(dice.below(100)).unwrap(),
        _ => 2_000_000_000_000,
    };
    let zone =
        ["+0000", "-0100", "+1400", "-1200", "+9999", "-9999", "GMT", ""][usize::try_from(dice.below(8)).unwrap()];
    match dice.below(5) {
        0 => format!("31 Dec {year} 23:59:59 {zone}"),
        1 => format!("1 Jan {year} 00:00:00 {zone}"),
        2 => format!("Thu, 1 Jan {year:04} 09:00:00 {zone}"),
        3 => format!("{year:04}-12-31T23:59:59-01:00"),
        _ => format!("{year:04}-01-01T00:00:00+14:00"),
    }
}

fn invitation(nth: u64, dice: &mut SeededRandom) -> String {
    let stamp = ["99991231T235959", "00010101T000000", "19691231T235959", "19700101T000000", "99990101T000000Z"]
        [usize::try_from(dice.below(5)).unwrap()];
    let zone = ["", ";TZID=America/New_York", ";TZID=Pacific/Kiritimati", ";TZID=Asia/Jerusalem"]
        [usize::try_from(dice.below(4)).unwrap()];
    format!(
        "From: Eve <eve{nth}@else.example>\nTo: you@home.example\nSubject: Lunch {nth}\nDate: {}\nMessage-ID: <i{nth}@x>\nMIME-Version: 1.0\n\
         Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:u{nth}\nSUMMARY:Lunch {nth}\n\
         ORGANIZER:mailto:eve{nth}@else.example\nDTSTART{zone}:{stamp}\nDTEND{zone}:{stamp}\nEND:VEVENT\nEND:VCALENDAR\n",
        odd_date(dice)
    )
}

/// It counts as written when it arrived, and its task says so.
#[test]
fn a_mail_of_the_year_99999_is_dated_by_its_arrival_and_says_so() {
    let home = TestHome::real_time(Kind::Active);
    home.post(&home.letter("odd").question().date("1 Jan 99999 09:00:00 +0000"));
    home.json(&["once"]);
    assert_eq!(home.count("mail m JOIN ledger l USING (mail_id) WHERE m.sent_at = l.arrived_at"), 1);
    let shown = home.run(&["tasks", "show", "1"]);
    assert!(shown.out.contains("its Date header names no time from 1970 to 9998"), "{}", shown.out);
    let planned = home.deliver("plan.eml", home.letter("plan").question().date("31 Dec 9999 23:59:59 -0100").text());
    let planned = home.run(&["plan", "--eml", &planned.to_string_lossy()]);
    assert!(planned.out.contains("its Date header names no time from 1970 to 9998"), "{}", planned.out);
}

/// What a person types is said to be wrong.
#[test]
fn a_time_a_person_types_that_does_not_count_is_an_error() {
    let home = TestHome::real_time(Kind::Active);
    home.json(&["tasks", "add", "Buy milk"]);
    for typed in ["99999-01-01", "1 Jan 99999", "0001-01-01", "9999-12-31 23:59", "1969-12-31"] {
        for arguments in [
            &["tasks", "add", "Buy bread", "--due", typed][..],
            &["tasks", "set", "1", "--due", typed],
            &["tasks", "snooze", "1", typed],
        ] {
            let answered = home.run(arguments);
            assert_ne!(answered.code, 0, "{arguments:?}: {}", answered.out);
            assert!(
                answered.err.contains(&format!("'{typed}' is no time to come that I understand")),
                "{}",
                answered.err
            );
        }
    }
    assert_eq!(home.count("tasks"), 1);
}

/// Old by its Date, new by its arrival: it is worked. A mailbox that was copied has old mail in new files, which is
/// not.
#[tokio::test]
async fn what_arrived_now_is_worked_however_old_its_date_is() {
    let home = TestHome::active();
    let received = |at: &str| format!("Received: from a by mx.home.example; {at}");
    let old = "Mon, 16 Nov 2020 08:00:00 +0000";
    home.post(&home.letter("wrong-clock").question().date(old));
    home.post(&home.letter("late").question().date(old).header(&received("Mon, 16 Nov 2026 07:59:00 +0000")));
    home.post(&home.letter("copied").question().date(old).header(&received(old)));
    home.deliver("1605513600.M1.host", home.letter("backfilled").question().date(old).text());
    home.deliver("1605513601.M2.host", home.letter("ahead").question().date("Mon, 16 Nov 2026 07:00:00 +0000").text());
    home.once().await;
    let states = home.sql(
        "SELECT m.message_id, CASE l.state WHEN 'task' THEN 'task' ELSE l.state || ' ' || l.reason END
         FROM ledger l JOIN mail m USING (mail_id) ORDER BY m.message_id",
    );
    let states: Vec<String> = states.iter().map(|row| row.join(" ")).collect();
    assert_eq!(
        states,
        [
            "<ahead@it.example> no_task old: written 2020-11-16",
            "<backfilled@it.example> no_task old: written 2020-11-16",
            "<copied@it.example> no_task old: written 2020-11-16",
            "<late@it.example> task",
            "<wrong-clock@it.example> task",
        ]
    );
}

/// Only the mails of a long conversation that are shown are read.
#[tokio::test]
async fn the_newest_mails_of_a_conversation_are_shown() {
    let home = TestHome::active();
    let begun = home.clock.now().utc() - chrono::Duration::hours(1);
    home.deliver(&format!("{}.first.eml", begun.timestamp()), home.letter("first").question().text());
    for nth in 0..30 {
        let sent = home.clock.now().utc() - chrono::Duration::minutes(40 - nth);
        let letter = home.letter(&format!("reply-{nth:02}")).answers("first").date(&sent.to_rfc2822());
        home.deliver(&format!("{}.{nth:02}.eml", sent.timestamp()), letter.text());
    }
    home.once().await;
    let app = home.app().await;
    let thread = home.sql_one("SELECT thread FROM mail LIMIT 1");
    let newest = app
        .store
        .read(move |reader| reader.mails().of_thread(&crate::support::test_home::WORK.into(), &thread, 20))
        .await
        .unwrap();
    let subjects: Vec<String> = newest.into_iter().map(|(_, mail)| mail.subject).collect();
    let expected: Vec<String> = (10..30).rev().map(|nth| format!("About reply-{nth:02}")).collect();
    assert_eq!(subjects, expected);
    let plan = home.sql(
        "EXPLAIN QUERY PLAN SELECT mail_id FROM mail WHERE account = 'a' AND thread = 't' AND direction = 'in' ORDER BY mail_id DESC LIMIT 20",
    );
    assert!(!plan.iter().any(|row| row.join(" ").contains("TEMP B-TREE")), "{plan:?}");
}
