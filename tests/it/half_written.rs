//! Tests that a mail which is read while it is still being written is read again when it is complete, and answered
//! once.

use crate::{crash_matrix::approve_all, support::test_home::TestHome};

const DANA: &str = "dana@work.example";

fn head(kind: &str) -> String {
    format!(
        "Authentication-Results: mx.home.example; dmarc=pass header.from=work.example\nFrom: Dana <{DANA}>\nTo: you@home.example\nSubject: x\n\
         Message-ID: <i@e>\nDate: Mon, 16 Nov 2026 07:00:00 +0000\nMIME-Version: 1.0\nContent-Type: {kind}\n\n"
    )
}

fn calendar(summary: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:u1\nORGANIZER:mailto:{DANA}\nDTSTART:20270301T100000Z\nSUMMARY:{summary}\n\
         DTEND:20270301T110000Z\nEND:VEVENT\nEND:VCALENDAR\n"
    )
}

/// Delivers the beginning of a mail up to these words, lets it be worked, and then the whole.
async fn deliver_in_two(home: &TestHome, whole: &str, pause_behind: &str) {
    let at = whole.find(pause_behind).unwrap() + pause_behind.len();
    home.deliver("slow", &whole[..at]);
    home.once().await;
    home.clock.advance(60);
    home.deliver("slow", whole);
    home.once().await;
    home.must_be_sound().await;
}

fn states(home: &TestHome) -> Vec<String> {
    home.sql("SELECT state FROM ledger WHERE direction = 'in' ORDER BY mail_id").into_iter().flatten().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn half_an_invitation_is_read_whole() {
    let home = TestHome::active();
    let whole = head("text/calendar; method=REQUEST") + &calendar("Lunch with the board about the merger");
    deliver_in_two(&home, &whole, "about the mer").await;
    assert_eq!(states(&home), ["no_task", "task"], "{:?}", home.sql("SELECT reason FROM ledger"));
    let open = home.sql("SELECT objective FROM tasks WHERE status <> 'CANCELLED'");
    assert_eq!(open.len(), 1);
    assert!(open[0][0].contains("the merger"), "{open:?}");
    assert_eq!(home.count("item WHERE state = 'open'"), 1);
}

/// The listed person is answered as soon as the calendar part is there; the rest is no reason to answer again.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_half_is_not_answered_again_whole() {
    let mixed = |text: &str| {
        let (head, calendar) = (head("multipart/mixed; boundary=q"), calendar("Lunch"));
        format!(
            "{head}--q\nContent-Type: text/calendar; method=REQUEST\n\n{calendar}--q\nContent-Type: text/plain\n\n{text}\n--q--\n"
        )
    };
    let alone = head("text/calendar; method=REQUEST") + &calendar("Lunch");
    for (whole, pause) in [
        (mixed("Hello Alex, see you there. Bring the numbers."), "Hello"),
        (mixed("Hello Alex, see you there."), "--q\nContent-Type: text/plain"),
        (alone, "SUMMARY:Lunch\n"),
    ] {
        let home = TestHome::active();
        home.policy(&format!("allow: [{DANA}]"));
        deliver_in_two(&home, &whole, pause).await;
        assert_eq!(home.sent().len(), 1, "{pause}: {:?}", home.sent());
        assert_eq!(states(&home), ["task", "linked"], "{pause}: {:?}", home.sql("SELECT reason FROM ledger"));
        home.once().await;
        assert_eq!(home.sent().len(), 1, "{pause}");
    }
}

/// What the rest asks for beside that is a task, and its answer waits for a yes whoever wrote it.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_in_the_rest_is_asked_about() {
    let home = TestHome::active();
    home.policy(&format!("allow: [{DANA}]"));
    let whole = head("text/plain")
        + "Hi Alex,\n\nThanks for yesterday.\n\nCould we find time for a 30-min catch-up next week?\n\nDana\n";
    deliver_in_two(&home, &whole, "yesterday.").await;
    assert_eq!(home.count("tasks WHERE status <> 'CANCELLED'"), 1, "{:?}", home.sql("SELECT reason FROM ledger"));
    approve_all(&home);
}
