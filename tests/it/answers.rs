//! Tests when an answer is drafted, and that every mail of a task can be answered in the person's own words.

use adjutant::{app::App, model::TaskEditKind};

use crate::support::test_home::{TestHome, approve_first, first};

const PLAIN: &str = "Hello Alex,\n\nWhen will you be back at the house? I have the keys.\n\nTom\n";
const RECEIPT: &str = "Hello Alex,\n\nattached is the order. Please confirm receipt of this mail.\n\nTom\n";
const WORK: &str = "Hello Alex,\n\nPlease send me the insurance form by Friday.\n\nTom\n";
const MEETING: &str = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";

async fn posted(body: &str) -> TestHome {
    let home = TestHome::active();
    home.post(&home.letter("one").body(body));
    home.once().await;
    home
}

async fn works(home: &TestHome) {
    home.clock.advance(1);
    home.once().await;
}

async fn reply(home: &TestHome, words: &str) -> App {
    let app = home.app().await;
    let wish = TaskEditKind::InstructStep { step: "send_reply".into(), words: words.into(), message: None };
    app.tasks().edit("1", wish, "").await.unwrap();
    works(home).await;
    app
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_question_waits_for_the_person_without_a_draft() {
    let home = posted(PLAIN).await;
    assert!(home.drafts().is_empty());
    assert_eq!(home.count("outbox"), 0);
    assert_eq!(home.count("item"), 0);
    let task = home.sql("SELECT status, subtasks, result_summary FROM tasks");
    assert_eq!(
        task,
        [["READY", r#"[{"step":"answer_mail","done":false}]"#, "Waits for you: answer mail."]],
        "an open step of the person keeps the task open"
    );
    assert!(home.run(&["tasks"]).out.contains("you: answer mail"));
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_is_drafted_and_asked_about() {
    let home = posted(RECEIPT).await;
    assert_eq!(home.drafts().len(), 1);
    let app = home.app().await;
    let message = first(&app).await.action.unwrap().action.effect.message().unwrap().body.clone();
    assert_eq!(message, "Hi Tom,\n\nThank you for your mail, it has arrived.\n\nBest regards,\nAlex Green\n");
    approve_first(&app).await.unwrap();
    drop(app);
    works(&home).await;
    assert_eq!(home.sent().len(), 1);
    assert!(home.drafts().is_empty(), "the draft was taken over");
    assert_eq!(home.sql("SELECT status FROM tasks"), [["DONE"]]);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mail_of_a_task_can_be_answered() {
    for (body, status) in [(PLAIN, "DONE"), (WORK, "IN_PROGRESS"), (MEETING, "DONE")] {
        let home = posted(body).await;
        let app = reply(&home, "Dear Tom,\n\non Friday.\n\nKind regards\nAlex").await;
        let shown = first(&app).await;
        let message = shown.action.unwrap().action.effect.message().unwrap().body.clone();
        assert_eq!(message, "Dear Tom,\n\non Friday.\n\nKind regards\nAlex\n", "nothing is added to a finished letter");
        assert_eq!(home.sent(), [""; 0], "nothing is sent before it is approved");
        approve_first(&app).await.unwrap();
        drop(app);
        works(&home).await;
        assert_eq!(home.sent().len(), 1, "{body}");
        assert!(!home.sent()[0].contains("METHOD:REQUEST"), "an answer in own words takes the place of an invitation");
        assert_eq!(home.sql("SELECT status FROM tasks"), [[status]], "{body}: what is left to do stays open");
        assert_eq!(home.count("item WHERE state = 'open'"), 0, "{body}");
        home.must_be_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_without_a_mail_has_nothing_to_answer() {
    let home = TestHome::active();
    assert_eq!(home.run(&["tasks", "add", "Buy milk"]).code, 0);
    let refused = home.run(&["tasks", "reply", "1", "Yes."]);
    assert!(refused.code != 0 && refused.err.contains("has no mail"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_says_when_or_declines() {
    let home = posted(WORK).await;
    assert_eq!(home.run(&["tasks", "reply", "1", "--when"]).code, 0);
    let body = |shown: adjutant::app::ItemDetail| shown.action.unwrap().action.effect.message().unwrap().body.clone();
    let said = body(first(&home.app().await).await);
    assert!(said.contains("It will be done by Friday 20 November 2026."), "{said}");
    let refused = home.run(&["tasks", "reply", "1", "--decline"]);
    assert!(refused.code != 0 && refused.err.contains("set decline of [me]"), "{refused:?}");
    let nothing = home.run(&["tasks", "reply", "1"]);
    assert!(nothing.code != 0 && nothing.err.contains("say what to answer"), "{nothing:?}");
    let config = home.read("adjutant.toml").replacen("[me]\n", "[me]\ndecline = \"I cannot do that, sorry.\"\n", 1);
    home.write("adjutant.toml", &config);
    assert_eq!(home.run(&["tasks", "reply", "1", "--decline"]).code, 0);
    let said = body(first(&home.app().await).await);
    assert!(said.contains("I cannot do that, sorry."), "{said}");
}
