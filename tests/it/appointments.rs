//! Times that only mail knows: what the person wrote from their own program and what somebody confirmed is not promised a
//! second time, in whatever order the mails are read.

use adjutant::model::Action;

use crate::{meeting_mails::berlin_home, support::test_home::TestHome};

const ASKS: &str = "Hi Alex,\n\nCould we meet on Thursday at 15:00?\n\nTom\n";

/// Puts a mail of the person into their Sent folder. The number stands in front of its name.
fn write_own(home: &TestHome, id: &str, to: &str, head: &str, body: &str) {
    let date = (home.clock.now().utc() - chrono::Duration::hours(2)).to_rfc2822();
    home.deliver_into(
        ".Sent/cur",
        &format!("{id}.eml:2,S"),
        format!(
            "From: Alex Green <you@home.example>\nTo: {to}\nSubject: {id}\nDate: {date}\nMessage-ID: <{id}@it.example>\n{head}MIME-Version: 1.0\n\
             Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{body}"
        ),
    );
}

fn post(home: &TestHome, id: &str, from: &str, body: &str) {
    home.post(&home.letter(id).from(from).subject(&format!("About {id}")).body(body));
}

/// The messages that wait for approval because of a mail.
fn waiting(home: &TestHome, id: &str) -> Vec<Action> {
    let sql = format!(
        "SELECT b.action FROM outbox b JOIN tasks t USING (task_id) WHERE b.state = 'parked' AND t.source = 'email:<{id}@it.example>'"
    );
    home.sql(&sql).into_iter().map(|row| serde_json::from_str(&row[0]).unwrap()).collect()
}

/// Whether Thursday at three is offered or accepted in the one answer that waits.
fn takes_thursday_at_three(home: &TestHome, id: &str) -> bool {
    let waiting = waiting(home, id);
    assert_eq!(waiting.len(), 1, "{:?}", home.sql("SELECT objective, subtasks, context FROM tasks"));
    waiting[0].effect.message().unwrap().body.contains("19 November 2026, 15:00–")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_person_wrote_to_others_is_not_promised_again() {
    for (own, is_taken) in [
        ("Hi Ann,\n\nI'm at the fair in Ulm on Thursday 19 November all day.\n\nAlex\n", true),
        ("Hi Ann,\n\nsee you on Thursday at 14:30 then, it will take an hour.\n\nAlex\n", true),
        ("Liebe Ann,\n\nich komme am Donnerstag, 19.11. von 14 bis 16 Uhr vorbei.\n\nAlex\n", true),
        ("היי אן,\n\nניפגש ביום חמישי 19.11 בשעה 15:00.\n\nאלכס\n", true),
        ("Hi Ann,\n\nwould Thursday at 15:00 or Friday at 10:00 suit you?\n\nAlex\n", true),
        ("Hi Ann,\n\nsee you on Thursday at 9:00.\n\nAlex\n", false),
        ("Hi Ann,\n\nyou will have the list by Thursday at 15:00.\n\nAlex\n", false),
        ("Hi Ann,\n\nif it rains on Thursday at 15:00, stay at home.\n\nAlex\n", false),
        ("Hi Ann,\n\nI have to cancel our lunch on Thursday at 15:00.\n\nAlex\n", false),
    ] {
        let home = berlin_home();
        write_own(&home, "plans", "Ann <ann@c.example>", "", own);
        post(&home, "ask", "Tom Baker <tom@bakerand.example>", ASKS);
        home.once().await;
        assert_eq!(takes_thursday_at_three(&home, "ask"), !is_taken, "{own}");
        let page = home.run(&["hitl", "show", "1"]).out;
        assert_eq!(page.contains("But      that time is held for"), is_taken, "{own}{page}");
        home.must_be_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmed_appointment_takes_its_time_until_it_is_called_off() {
    let home = berlin_home();
    let booked = "Dear Alex Green,\n\nyour check-up is confirmed for Thursday 19 November 2026 at 15:00. Please be on time.\n\nYour practice\n";
    let practice = "Oak Practice <no-reply@practice.example>";
    post(&home, "booked", practice, booked);
    post(&home, "ask", "Tom Baker <tom@bakerand.example>", ASKS);
    home.once().await;
    assert!(!takes_thursday_at_three(&home, "ask"));
    assert_eq!(home.sql("SELECT kind, starts_at FROM mail_time"), [["booked", "2026-11-19T14:00:00Z"]]);
    assert!(waiting(&home, "booked").is_empty(), "nothing about a time that stands is answered");

    home.clock.advance(7_200);
    let off = "Dear Alex Green,\n\nyour check-up on Thursday 19 November 2026 at 15:00 has been cancelled.\n\nYour practice\n";
    post(&home, "off", practice, off);
    post(&home, "again", "Eve <eve@e.example>", &ASKS.replace("Tom", "Eve"));
    home.once().await;
    assert!(takes_thursday_at_three(&home, "again"), "the hour is free again");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_agreed_in_one_conversation_counts_in_others_and_not_in_itself() {
    let home = berlin_home();
    let first = "Hi Alex,\n\nCould we meet on Thursday at 15:00 for an hour?\n\nAnn\n";
    post(&home, "first", "Ann <ann@c.example>", first);
    home.once().await;
    assert!(takes_thursday_at_three(&home, "first"));
    home.clock.advance(10_800);
    let head = "In-Reply-To: <first@it.example>\nReferences: <first@it.example>\n";
    write_own(&home, "agreed", "Ann <ann@c.example>", head, "Hi Ann,\n\nworks for me.\n\nAlex\n");
    // The mail that asks is read in the same pass, and its name comes first.
    post(&home, "ask", "Tom Baker <tom@bakerand.example>", &ASKS.replace("15:00", "15:30"));
    home.once().await;
    assert_eq!(
        home.sql("SELECT kind, starts_at, ends_at FROM mail_time"),
        [["written", "2026-11-19T14:00:00Z", "2026-11-19T15:00:00Z"]]
    );
    let offered = waiting(&home, "ask");
    assert!(!offered[0].effect.message().unwrap().body.contains("19 November 2026, 15:30"), "{offered:?}");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_at_a_time_that_is_taken_is_declined_with_the_reason() {
    let home = berlin_home();
    write_own(&home, "plans", "Ann <ann@c.example>", "", "Hi Ann,\n\nsee you on Thursday at 15:00.\n\nAlex\n");
    let date = home.clock.now().utc().to_rfc2822();
    home.deliver(
        "invite",
        format!(
            "From: Tom <tom@b.example>\nTo: you@home.example\nSubject: Invitation: Lunch\nDate: {date}\nMessage-ID: <invite@it.example>\nMIME-Version: 1.0\n\
             Content-Type: multipart/alternative; boundary=q\n\n--q\nContent-Type: text/plain\n\nYou are invited to Lunch.\n--q\n\
             Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:u1\nSEQUENCE:0\nSUMMARY:Lunch\n\
             ORGANIZER:mailto:tom@b.example\nDTSTART:20261119T140000Z\nDURATION:PT1H\nEND:VEVENT\nEND:VCALENDAR\n--q--\n"
        ),
    );
    home.once().await;
    let answers = waiting(&home, "invite");
    assert_eq!(answers.len(), 1, "{:?}", home.sql("SELECT objective, subtasks, tool_output FROM tasks"));
    assert!(answers[0].effect.message().unwrap().body.contains("Declined: Lunch"));
    let page = home.run(&["hitl", "show", "1"]).out;
    assert!(page.contains("see you on Thursday at 15:00"), "{page}");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_invitation_to_what_was_agreed_with_the_same_person_is_accepted() {
    let home = berlin_home();
    write_own(&home, "plans", "Tom <tom@bakerand.example>", "", "Hi Tom,\n\nsee you on Thursday at 15:00.\n\nAlex\n");
    post(&home, "ask", "Tom Baker <tom@bakerand.example>", ASKS);
    home.once().await;
    assert!(takes_thursday_at_three(&home, "ask"));
}
