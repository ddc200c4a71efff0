//! Tests what is prepared for a mail that names the time of a meeting, from the mail to the bytes that wait for approval.

use adjutant::model::Action;

use crate::{
    meeting_mails::berlin_home,
    support::test_home::{TestHome, approve_first, first},
};

async fn posted(body: &str) -> TestHome {
    let home = berlin_home();
    home.post(&home.letter("one").subject("The plans").body(&format!("Hi Alex,\n\n{body}\n\nTom\n")));
    home.once().await;
    home
}

fn waiting(home: &TestHome) -> Vec<Action> {
    let rows = home.sql("SELECT action FROM outbox WHERE state = 'parked' ORDER BY action_id");
    rows.into_iter().map(|row| serde_json::from_str(&row[0]).unwrap()).collect()
}

fn text(action: &Action) -> &str {
    &action.effect.message().unwrap().body
}

fn mime(action: &Action) -> &str {
    &action.effect.message().unwrap().mime
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_in_another_zone_is_shown_in_both() {
    let home = posted("Could we have a call on Thursday at 10:00 am EST?").await;
    let waiting = waiting(&home);
    assert_eq!(waiting.len(), 1);
    assert!(mime(&waiting[0]).contains("DTSTART:20261119T150000Z"), "{}", mime(&waiting[0]));
    let both = "Thursday 19 November 2026, 16:00–16:30 (UTC+01:00; 10:00–10:30 EST)";
    assert!(text(&waiting[0]).contains(both), "{}", text(&waiting[0]));
    let page = home.run(&["hitl", "show", "1"]).out;
    assert!(page.contains("When     Thu 19 Nov 2026, 16:00–16:30 (Europe/Berlin)"), "{page}");
    assert!(page.contains("Asked    Could we have a call on Thursday at 10:00 am EST?"), "{page}");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_hour_is_not_promised_twice() {
    let home = berlin_home();
    for id in ["one", "two", "three"] {
        let letter = home.letter(id).from(&format!("{id} <{id}@{id}.example>")).subject(&format!("About {id}"));
        home.post(&letter.body(&format!("Hi Alex,\n\ncould we meet on Wednesday at 14:00 about {id}?\n\n{id}\n")));
    }
    home.once().await;
    let waiting = waiting(&home);
    assert_eq!(waiting.len(), 3);
    let invited: Vec<_> = waiting.iter().filter(|action| action.step == "send_calendar_invite").collect();
    assert_eq!(invited.len(), 1, "{:?}", waiting.iter().map(text).collect::<Vec<_>>());
    assert!(mime(invited[0]).contains("DTSTART:20261118T130000Z"));
    let offered: Vec<&str> = waiting
        .iter()
        .filter(|action| action.step == "send_reply")
        .flat_map(|action| text(action).lines().filter(|line| line.starts_with("- ")))
        .collect();
    assert_eq!(offered.len(), 6, "{offered:?}");
    let mut different = offered.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 6, "no time is offered to two people: {offered:?}");
    let shown: String = ["1", "2", "3"].map(|number| home.run(&["hitl", "show", number]).out).concat();
    assert!(shown.contains("But      that time is held for"), "{shown}");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_that_has_passed_asks_for_a_new_one() {
    let home = posted("Could we meet on 12 November 2026 at 10:00?").await;
    let waiting = waiting(&home);
    assert_eq!(waiting.len(), 1, "{:?}", home.sql("SELECT objective, subtasks FROM tasks"));
    assert_eq!(waiting[0].step, "send_reply");
    assert!(text(&waiting[0]).contains("has already passed; could you name a new one?"), "{}", text(&waiting[0]));
    assert!(!mime(&waiting[0]).contains("VCALENDAR"));
    let app = home.app().await;
    approve_first(&app).await.unwrap();
    drop(app);
    home.clock.advance(1);
    home.once().await;
    assert_eq!(home.sent().len(), 1);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_hour_outside_the_working_hours_is_not_accepted() {
    let home = posted("Could we have a call on Thursday at 21:00 about the budget of the project?").await;
    let waiting = waiting(&home);
    assert_eq!(waiting[0].step, "send_reply", "{}", text(&waiting[0]));
    assert!(text(&waiting[0]).contains("outside my working hours"), "{}", text(&waiting[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_moves_the_event_and_what_is_held() {
    let home = posted("Could we meet on Thursday at 15:00?").await;
    let app = home.app().await;
    let seen = first(&app).await;
    let moved = app
        .approvals()
        .edit_action(
            seen.item.item_id,
            "Re: The plans",
            "Hi Tom,\n\nlet us meet on Friday 20 November at 11:00.\n\nAlex Green\n",
        )
        .await
        .unwrap();
    let shown = app.approvals().detail(&moved.to_string()).await.unwrap();
    let action = shown.action.unwrap().action;
    assert!(mime(&action).contains("DTSTART:20261120T100000Z") && mime(&action).contains("DTEND:20261120T103000Z"));
    assert_eq!(
        home.sql("SELECT starts_at, ends_at FROM held_time"),
        [["2026-11-20T10:00:00Z", "2026-11-20T10:30:00Z"]],
        "the old time is free again"
    );
    for refused in [
        "Hi Tom,\n\nFriday at 11:00 or Friday at 14:00?\n\nAlex",
        "Hi Tom,\n\nlet us meet on 12 November 2026 at 11:00.\n\nAlex",
        "Hi Tom,\n\nlet us meet on Friday at 25:00.\n\nAlex",
    ] {
        let error = app.approvals().edit_action(moved, "Re: The plans", refused).await.unwrap_err().to_string();
        assert!(error.starts_with("nothing was changed: "), "{refused}: {error}");
    }
    approve_first(&app).await.unwrap();
    drop(app);
    home.clock.advance(1);
    home.once().await;
    assert!(home.sent()[0].contains("DTSTART:20261120T100000Z"), "{}", home.sent()[0]);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_task_frees_its_time() {
    let home = posted("Could we meet on Thursday at 15:00?").await;
    assert_eq!(home.run(&["tasks", "cancel", "1"]).code, 0);
    home.post(
        &home
            .letter("two")
            .from("Ann <ann@ann.example>")
            .subject("Budget")
            .body("Hi Alex,\n\nare you free on Thursday at 15:00 for a call?\n\nAnn\n"),
    );
    home.clock.advance(60);
    home.once().await;
    let waiting = waiting(&home);
    assert_eq!(waiting.len(), 1);
    assert!(mime(&waiting[0]).contains("DTSTART:20261119T140000Z"), "{}", text(&waiting[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_time_in_a_later_mail_is_answered_in_place_of_the_first() {
    let home = posted("Could we meet on Thursday at 15:00?").await;
    let body = "Hi Alex,\n\nsorry, could we meet on Friday at 11:00 instead?\n\nTom\n";
    home.clock.advance(60);
    home.post(&home.letter("two").subject("Re: The plans").answers("one").body(body));
    home.once().await;
    assert_eq!(home.count("tasks"), 1, "{:?}", home.sql("SELECT objective FROM tasks"));
    let waiting = waiting(&home);
    assert_eq!(waiting.len(), 1, "{:?}", home.sql("SELECT step, state, result FROM outbox"));
    assert!(mime(&waiting[0]).contains("DTSTART:20261120T100000Z"), "{}", text(&waiting[0]));
    assert_eq!(home.sql("SELECT starts_at FROM held_time"), [["2026-11-20T10:00:00Z"]]);
    home.must_be_sound().await;
}
