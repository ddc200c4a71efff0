//! Tests the calendar of a Gmail account: no time is proposed at which the person is busy, and an approved invitation
//! or answer is entered exactly once.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use adjutant::{model::Instant, source::gmail};
use serde_json::{Value, json};

use crate::support::{
    gmail_home::{sign_in_for, signed_in, turn_on},
    google::{Fault, Google, Trouble, YOU},
    test_home::{TestHome, WORK, approve_first, first},
};

const MEETING: &str = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";

async fn active(google: &Google) -> TestHome {
    let home = signed_in(google, YOU, "trusted_servers = [\"mx.home.example\"]");
    turn_on(&home).await;
    home
}

async fn invited(google: &Google) -> TestHome {
    let home = active(google).await;
    let letter = home.letter("one").verified().body(MEETING);
    google.person(YOU).receives(letter.text().replace('\n', "\r\n"));
    home
}

fn output(home: &TestHome, step: &str) -> Value {
    let output: Value = serde_json::from_str(&home.sql_one("SELECT tool_output FROM tasks")).unwrap();
    output[step].clone()
}

/// Somebody invites the person to a meeting two days after `now`: the mail, and the event as Gmail enters it on its
/// own.
pub(crate) fn kick_off(google: &Google, address: &str, now: Instant) {
    let you = google.person(address);
    let day = |days| (now.utc() + chrono::Duration::days(days)).date_naive();
    let (from, to) = (format!("{}T10:00:00Z", day(2)), format!("{}T11:00:00Z", day(2)));
    let attendees = json!([{ "email": "lena@studio.example", "organizer": true }, { "email": address, "self": true }]);
    let event = json!({ "summary": "Website kick-off", "start": { "dateTime": from }, "end": { "dateTime": to }, "attendees": attendees });
    you.is_invited("kickoff-1@studio.example", event);
    kick_off_mail(google, address, now);
}

/// Only the mail.
fn kick_off_mail(google: &Google, address: &str, now: Instant) {
    let you = google.person(address);
    let day = |days| (now.utc() + chrono::Duration::days(days)).date_naive();
    let mail = include_str!("../../samples/11-invitation.eml")
        .replace("mx.samples.example", "mx.home.example")
        .replace("you@home.example", address)
        .replace("{{date:-1d 09:30}}", &format!("{} 09:30:00 +0000", day(-1).format("%a, %d %b %Y")))
        .replace("{{ics:-1d 09:30}}", &day(-1).format("%Y%m%dT093000Z").to_string())
        .replace("{{ics:+2d 10:00}}", &day(2).format("%Y%m%dT100000Z").to_string())
        .replace("{{ics:+2d 11:00}}", &day(2).format("%Y%m%dT110000Z").to_string());
    you.receives(mail.replace('\n', "\r\n"));
}

/// The answer was sent once, and stands in the calendar.
pub(crate) fn must_have_accepted(google: &Google, address: &str) {
    let you = google.person(address);
    let sent = you.sent();
    assert_eq!(sent.len(), 1);
    assert!(sent[0].text().contains("METHOD:REPLY") && sent[0].text().contains("PARTSTAT=ACCEPTED"));
    let events = you.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["attendees"][1]["responseStatus"], "accepted", "{events:?}");
    assert_eq!(events[0]["attendees"].as_array().unwrap().len(), 2);
}

async fn approve(home: &TestHome) {
    approve_first(&home.app().await).await.unwrap();
    home.clock.advance(1);
    home.once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_time_is_not_proposed_and_an_approved_invitation_is_an_event() {
    let google = Google::start();
    let home = invited(&google).await;
    let you = google.person(YOU);
    // The first time of next week is Monday at ten.
    you.is_busy("2026-11-23T09:45:00Z", "2026-11-23T10:15:00Z");
    home.once().await;
    let slots = output(&home, "propose_time_slots");
    assert_eq!(slots["slots"][0]["start"], "2026-11-23T10:30:00+00:00", "{slots}");
    assert_eq!(you.events().len(), 1, "nothing is entered before the yes");
    let shown = first(&home.app().await).await;
    assert!(shown.on_yes.contains("tom@bakerand.example") && shown.on_yes.contains("calendar"), "{}", shown.on_yes);
    approve(&home).await;
    let sent = you.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].text(), shown.action.unwrap().action.effect.message().unwrap().mime);
    let events = you.events();
    assert_eq!(events.len(), 2, "{events:?}");
    let event = events.iter().find(|event| event["summary"] == "About one").unwrap();
    assert_eq!(event["start"]["dateTime"], "2026-11-23T10:30:00Z");
    assert_eq!(event["attendees"][0]["email"], "tom@bakerand.example");
    // Answers to the invitation name it by the id Google gives its own events.
    let ids = home.sql("SELECT action_id FROM outbox WHERE step = 'send_calendar_invite'");
    let id = ids[0][0].parse::<adjutant::model::ActionId>().unwrap().event_id();
    let calendar = sent[0].text().replace("\r\n ", "");
    assert!(calendar.contains(&format!("UID:{id}@google.com")), "{calendar}");
    let result = home.sql_one("SELECT result FROM outbox WHERE step = 'send_calendar_invite'");
    assert_eq!(result, "accepted by Gmail; its event is in the calendar");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_calendar_said_is_recorded_and_never_asked_again() {
    let google = Google::start();
    let home = invited(&google).await;
    home.once().await;
    let asked = google.calls("POST", "/freeBusy");
    assert_eq!(asked, 1);
    let app = home.app().await;
    for run in home.sql("SELECT run_id FROM run") {
        let replay = app.runs().replay(&run[0]).await.unwrap();
        assert!(replay.identical, "{replay:?}");
    }
    assert_eq!(google.calls("POST", "/freeBusy"), asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_calendar_stops_nobody_and_is_said() {
    let google = Google::start();
    let home = invited(&google).await;
    google.breaks(Fault::on("POST", "/freeBusy", Trouble::ErrorBefore(503)).times(9));
    home.once().await;
    let slots = output(&home, "propose_time_slots");
    assert!(slots["not_asked"].as_str().unwrap().contains("503"), "{slots}");
    assert_eq!(slots["slots"].as_array().unwrap().len(), 1, "the first time of next week");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_consent_to_the_calendar_mail_goes_on() {
    let google = Google::start();
    let home = invited(&google).await;
    sign_in_for(&[gmail::SCOPE_NAME], &home, &google, WORK, YOU);
    home.once().await;
    assert!(output(&home, "propose_time_slots")["not_asked"].is_string());
    approve(&home).await;
    let rows = home.sql("SELECT state, result FROM outbox WHERE step = 'send_calendar_invite'");
    assert_eq!(rows[0][0], "sent", "{rows:?}");
    assert!(rows[0][1].contains("what goes with it was not done"), "{rows:?}");
    assert_eq!((google.person(YOU).sent().len(), google.person(YOU).events().len()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_entered_once_whatever_the_network_does() {
    for trouble in [Trouble::ErrorAfter(503), Trouble::ResetAfter, Trouble::ErrorBefore(500), Trouble::Slow(2)] {
        let google = Google::start();
        let home = invited(&google).await;
        home.once().await;
        google.breaks(Fault::on("POST", "/events", trouble));
        approve(&home).await;
        assert_eq!(google.person(YOU).events().len(), 1, "{trouble:?}");
        assert_eq!(google.person(YOU).sent().len(), 1, "{trouble:?}");
    }
}

const INVITATION: &str = "SELECT state || ': ' || result FROM outbox WHERE step = 'send_calendar_invite'";
const SETTLED: &str = "sent: accepted by Gmail; its event is in the calendar";

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_with_a_message_is_done_once_there_is_a_way() {
    for (path, trouble, (events, drafts)) in [
        ("/events", Trouble::ErrorBefore(503), (0, 0)),
        ("/events", Trouble::TooMany(40), (0, 0)),
        ("/events", Trouble::Unauthorized, (0, 0)),
        ("/trash", Trouble::TooMany(40), (1, 1)),
    ] {
        let google = Google::start();
        let home = invited(&google).await;
        home.once().await;
        assert_eq!(google.person(YOU).drafts().len(), 1);
        google.breaks(Fault::on("POST", path, trouble).times(9));
        approve(&home).await;
        assert_eq!(home.sql_one(INVITATION), "settling: accepted by Gmail", "{path} {trouble:?}");
        let you = google.person(YOU);
        assert_eq!((you.events().len(), you.sent().len()), (events, 1), "{path} {trouble:?}");
        // Too many calls stop all calls.
        assert!(you.drafts().len() == drafts || trouble == Trouble::TooMany(40), "{path} {trouble:?}");
        let shown = home.run(&["tasks", "show", "1"]).out;
        assert!(shown.contains("sent; what goes with it is still to be done"), "{shown}");
        google.mends();
        home.clock.advance(120);
        home.once().await;
        assert_eq!(home.sql_one(INVITATION), SETTLED, "{path} {trouble:?}");
        assert_eq!((you.events().len(), you.sent().len(), you.drafts().len()), (1, 1, 0), "{path} {trouble:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_left_is_never_in_doubt_again_however_long_google_is_away() {
    let google = Google::start();
    let home = invited(&google).await;
    home.once().await;
    let gone = Arc::new(AtomicBool::new(false));
    let left = Arc::clone(&gone);
    google.guards(move |_, path| {
        let silent = left.load(Ordering::Relaxed).then_some(Trouble::ErrorBefore(503));
        left.fetch_or(path.contains("/drafts/send"), Ordering::Relaxed);
        silent
    });
    approve(&home).await;
    for _ in 0..4 {
        home.clock.advance(20 * 60);
        home.once().await;
        assert_eq!(home.sql_one(INVITATION), "settling: accepted by Gmail");
    }
    // The person sees it among the sent and calls it done.
    assert_eq!(home.run(&["tasks", "done", "1"]).code, 0);
    home.clock.advance(60);
    home.once().await;
    assert_eq!(home.count("run WHERE status = 'running'"), 1, "it is still to be settled");
    google.guards(|_, _| None);
    home.clock.advance(600);
    home.once().await;
    assert_eq!(home.sql_one(INVITATION), SETTLED);
    assert_eq!((google.person(YOU).events().len(), google.person(YOU).sent().len()), (1, 1));
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_answer_stands_in_the_calendar() {
    let google = Google::start();
    let home = active(&google).await;
    kick_off(&google, YOU, home.clock.now());
    home.once().await;
    approve(&home).await;
    must_have_accepted(&google, YOU);
    let result = home.sql_one("SELECT result FROM outbox WHERE step = 'answer_invitation'");
    assert_eq!(result, "accepted by Gmail; the calendar knows your answer");
}

/// The calendar's own events, and what an approved answer to one invitation did to them.
async fn answered(there: &[(&str, Value)]) -> (Google, TestHome, String) {
    let google = Google::start();
    let home = active(&google).await;
    for (uid, event) in there {
        google.person(YOU).is_invited(uid, event.clone());
    }
    kick_off_mail(&google, YOU, home.clock.now());
    home.once().await;
    let page = home.app().await.approvals().detail("1").await.unwrap();
    let facts = page.item.body["planned"]["invitation"]["in_calendar"].to_string();
    approve(&home).await;
    (google, home, facts)
}

fn event(summary: &str, organizer: &str, (from, to): (&str, &str)) -> Value {
    let attendees = json!([{ "email": organizer, "organizer": true }, { "email": YOU, "self": true }]);
    json!({ "summary": summary, "start": { "dateTime": from }, "end": { "dateTime": to }, "attendees": attendees })
}

/// Whoever writes an invitation chooses its id, also that of another event.
#[tokio::test(flavor = "multi_thread")]
async fn answering_an_invitation_leaves_another_event_with_its_id_alone() {
    const UID: &str = "kickoff-1@studio.example";
    const TIME: (&str, &str) = ("2026-11-18T10:00:00Z", "2026-11-18T11:00:00Z");
    let lena = "lena@studio.example";
    for (there, why) in [
        (event("Board meeting", "boss@work.example", TIME), "another organizer"),
        (event("Board meeting", lena, TIME), "another title"),
        (event("Website kick-off", lena, ("2026-11-19T10:00:00Z", "2026-11-19T11:00:00Z")), "another time"),
    ] {
        let (google, home, shown) = answered(&[(UID, there)]).await;
        assert!(shown.contains(why), "{why} is said before the yes: {shown}");
        let you = google.person(YOU);
        assert_eq!(you.sent().len(), 1, "the answer itself was approved");
        let events = you.events();
        assert_eq!(events.len(), 1);
        assert_ne!(events[0]["attendees"][1]["responseStatus"], "accepted", "{why}: {events:?}");
        assert_eq!(google.calls("PATCH", "/events/"), 0, "{why}");
        let result = home.sql_one("SELECT result FROM outbox WHERE step = 'answer_invitation'");
        assert!(result.contains("the calendar was left alone") && result.contains(why), "{result}");
    }
    // Of two with the same id, as of a series, the one that was answered.
    let there = [
        (UID, event("Website kick-off", lena, ("2026-11-11T10:00:00Z", "2026-11-11T11:00:00Z"))),
        (UID, event("Website kick-off", lena, TIME)),
    ];
    let (google, _, shown) = answered(&there).await;
    assert!(!shown.contains("another"), "{shown}");
    let answers: Vec<(bool, bool)> = google
        .person(YOU)
        .events()
        .iter()
        .map(|event| {
            let second = event["start"]["dateTime"].as_str().unwrap().starts_with("2026-11-18");
            (second, event["attendees"][1]["responseStatus"] == "accepted")
        })
        .collect();
    assert!(answers.contains(&(true, true)) && answers.contains(&(false, false)), "{answers:?}");
}
