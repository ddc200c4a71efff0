//! What an organizer says later about an event counts: its task follows, and no answer to what it was leaves the home.

use crate::{crash_matrix::approve_all, support::test_home::TestHome};

/// An invitation to one event, as calendars send it: the words stay, the calendar part tells the difference.
struct Event {
    id: &'static str,
    from: &'static str,
    method: &'static str,
    sequence: u32,
    start: &'static str,
    more: &'static str,
    verified: bool,
}

const FIRST: Event = Event {
    id: "m1",
    from: "tom@b.example",
    method: "REQUEST",
    sequence: 0,
    start: "20261201T100000Z",
    more: "",
    verified: true,
};
const MOVED: Event = Event { id: "m2", sequence: 1, start: "20261202T150000Z", ..FIRST };
const CANCELLED: Event = Event { id: "m3", method: "CANCEL", sequence: 1, ..FIRST };

impl Event {
    fn post(&self, home: &TestHome, name: &str) {
        let Event { id, from, method, sequence, start, more, verified } = self;
        let domain = from.rsplit_once('@').unwrap().1;
        let vouched = if *verified {
            format!("Authentication-Results: mx.home.example; dmarc=pass header.from={domain}\n")
        } else {
            String::new()
        };
        home.deliver(
            name,
            format!(
                "{vouched}From: Tom <{from}>\nTo: you@home.example\nSubject: Invitation: Lunch\nDate: Mon, 16 Nov 2026 07:00:00 +0000\n\
                 Message-ID: <{id}@b.example>\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=q\n\n\
                 --q\nContent-Type: text/plain\n\nYou are invited to Lunch.\n--q\nContent-Type: text/calendar; method={method}\n\n\
                 BEGIN:VCALENDAR\nMETHOD:{method}\nBEGIN:VEVENT\nUID:u1\nSEQUENCE:{sequence}\n{more}SUMMARY:Lunch\n\
                 ORGANIZER:mailto:{from}\nDTSTART:{start}\nDURATION:PT1H\nEND:VEVENT\nEND:VCALENDAR\n--q--\n"
            ),
        );
    }
}

async fn house_with(events: &[Event]) -> TestHome {
    let home = TestHome::active();
    for (nth, event) in events.iter().enumerate() {
        event.post(&home, &format!("event{nth}"));
        home.once().await;
        home.clock.advance(60);
    }
    home.must_be_sound().await;
    home
}

fn texts(home: &TestHome, query: &str) -> Vec<String> {
    home.sql(query).into_iter().flatten().collect()
}

const MAILS: &str = "SELECT state FROM ledger ORDER BY mail_id";
const ITEMS: &str = "SELECT state FROM item ORDER BY number";
const ANSWERS: &str = "SELECT state FROM outbox WHERE step = 'answer_invitation' ORDER BY generation";

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_event_is_answered_anew_and_never_at_its_old_time() {
    // With an id of its own, and with that of the invitation.
    for moved in [MOVED, Event { id: "m1", ..MOVED }, Event { sequence: 0, ..MOVED }] {
        let home = house_with(&[FIRST, moved]).await;
        assert_eq!(texts(&home, MAILS), ["task", "linked"], "{:?}", home.sql("SELECT reason FROM ledger"));
        assert_eq!(home.count("tasks"), 1);
        assert_eq!(texts(&home, ITEMS), ["void", "open"]);
        assert_eq!(texts(&home, ANSWERS), ["void", "parked"]);
        let deadline = "SELECT json_extract(context, '$.deadline') FROM tasks";
        assert_eq!(texts(&home, deadline), ["2026-12-02T15:00:00Z"]);
        assert_eq!(texts(&home, "SELECT due_at FROM task_facts"), ["2026-12-02T15:00:00Z"]);
        approve_all(&home);
        home.once().await;
        let sent = home.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        assert!(sent[0].contains("DTSTART:20261202T150000Z") && !sent[0].contains("20261201"), "{}", sent[0]);
        assert_eq!(texts(&home, "SELECT status FROM tasks"), ["DONE"]);
        assert!(home.run(&["mail", "show", "1"]).out.contains("task 1"), "the first mail still shows its task");
        for run in home.sql("SELECT run_id FROM run WHERE kind = 'mail'") {
            assert_eq!(home.json(&["runs", "replay", &run[0]])["identical"], true);
        }
        // The copy in Sent may have come after the look at the mailbox.
        home.once().await;
        home.must_be_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_event_is_not_accepted() {
    for cancelled in [CANCELLED, Event { sequence: 0, ..CANCELLED }, Event { id: "m1", ..CANCELLED }] {
        let home = house_with(&[FIRST, cancelled]).await;
        assert_eq!(texts(&home, MAILS), ["task", "linked"], "{:?}", home.sql("SELECT reason FROM ledger"));
        assert_eq!(texts(&home, ITEMS), ["void"]);
        assert_eq!(texts(&home, ANSWERS), ["void"]);
        assert_eq!(texts(&home, "SELECT status FROM tasks"), ["CANCELLED"]);
        let shown = home.run(&["tasks", "show", "1"]).out;
        assert!(shown.contains("the organizer has cancelled the event"), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_at_once_are_one_task_at_the_new_time() {
    let home = TestHome::active();
    FIRST.post(&home, "1");
    MOVED.post(&home, "2");
    home.once().await;
    assert_eq!(home.count("tasks"), 1, "{:?}", home.sql("SELECT reason FROM ledger"));
    assert_eq!(home.count("item WHERE state = 'open'"), 1);
    assert!(texts(&home, "SELECT action FROM outbox WHERE state = 'parked'")[0].contains("20261202T150000Z"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_changes_an_event() {
    let stranger = |event: Event| Event { from: "eve@evil.example", ..event };
    let forged = |event: Event| Event { verified: false, ..event };
    for (other, state, tasks) in [
        (stranger(MOVED), "task", 2),
        (stranger(CANCELLED), "no_task", 1),
        // A listed time is a thing to answer; a notice is only shown on its task.
        (forged(MOVED), "task", 2),
        (forged(CANCELLED), "linked", 1),
        // One event of a series is not the series.
        (Event { more: "RECURRENCE-ID:20261208T100000Z\n", ..CANCELLED }, "no_task", 1),
    ] {
        let home = house_with(&[FIRST, other]).await;
        assert_eq!(texts(&home, MAILS), ["task", state], "{:?}", home.sql("SELECT reason FROM ledger"));
        assert_eq!(home.count("tasks"), tasks);
        assert_eq!(home.count("item WHERE state = 'open'"), tasks);
        assert_eq!(texts(&home, ITEMS)[0], "open", "what was asked stays asked");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_late_or_again_changes_nothing() {
    let again = Event { id: "m4", more: "DTSTAMP:20261117T000000Z\n", ..MOVED };
    let late = Event { id: "m5", ..FIRST };
    let home = house_with(&[FIRST, MOVED, again, late]).await;
    assert_eq!(
        texts(&home, MAILS),
        ["task", "linked", "linked", "linked"],
        "{:?}",
        home.sql("SELECT reason FROM ledger")
    );
    assert_eq!(texts(&home, ITEMS), ["void", "open"]);
    assert_eq!(texts(&home, "SELECT due_at FROM task_facts"), ["2026-12-02T15:00:00Z"]);
}
