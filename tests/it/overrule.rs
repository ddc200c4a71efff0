//! Tests that a person's decision overrules the reading of a mail, and that task numbers keep their meaning.

use adjutant::{
    app::NewTask,
    model::{MailId, Priority, TaskEditKind, TaskStatus},
};

use crate::support::test_home::{Kind, TestHome};

#[tokio::test(flavor = "multi_thread")]
async fn not_a_task_takes_it_back_and_voids_what_was_pending() {
    let home = TestHome::active();
    home.post(&home.letter("one").question());
    home.once().await;
    let app = home.app().await;
    app.mail().mark_not_a_task(MailId(1), "spam to me").await.unwrap();
    assert_eq!(home.sql("SELECT state, reason FROM ledger"), [["no_task", "a person said: not a task"]]);
    assert_eq!(home.sql("SELECT status FROM tasks"), [["CANCELLED"]]);
    assert_eq!(
        home.sql("SELECT kind, from_value, to_value, why FROM correction"),
        [["not_a_task", "task", "no_task", "spam to me"]]
    );
    let again = app.mail().mark_not_a_task(MailId(1), "").await.unwrap_err();
    assert!(format!("{again:#}").contains("no task to take back"), "{again:#}");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn make_task_opens_one_and_only_where_there_is_none() {
    let home = TestHome::active();
    home.post(&home.letter("one").body("Hello Alex,\n\nthe hall is closed on Sunday.\n\nTom\n"));
    home.once().await;
    assert_eq!(home.sql_one("SELECT state FROM ledger"), "no_task");
    let app = home.app().await;
    app.mail().make_task(MailId(1), "it is one to me").await.unwrap();
    app.worker().finish_runs().await.unwrap();
    assert_eq!(home.sql_one("SELECT state FROM ledger"), "task");
    let open = app.tasks().list(false, 10).await.unwrap();
    assert_eq!(open.len(), 1);
    assert_ne!(open[0].task.status, TaskStatus::New);
    assert!(app.mail().make_task(MailId(1), "").await.is_err());
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_can_be_a_task_again_after_it_was_none() {
    let home = TestHome::active();
    home.post(&home.letter("one").question());
    home.once().await;
    let app = home.app().await;
    app.mail().mark_not_a_task(MailId(1), "").await.unwrap();
    home.clock.advance(60);
    app.mail().make_task(MailId(1), "I was wrong").await.unwrap();
    app.worker().finish_runs().await.unwrap();
    let open = app.tasks().list(false, 10).await.unwrap();
    assert_eq!(open.len(), 1, "{:?}", home.sql("SELECT task_id, status FROM tasks"));
    assert_eq!(home.sql_one("SELECT task_id FROM ledger"), open[0].task.task_id.to_string());
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_muted_sender_opens_no_task_until_unmuted() {
    let home = TestHome::active();
    home.post(&home.letter("one").question());
    home.once().await;
    let app = home.app().await;
    app.mail().set_sender_muted(MailId(1), true).await.unwrap();
    home.post(&home.letter("two").question());
    home.once().await;
    assert_eq!(
        home.sql("SELECT state, reason FROM ledger WHERE mail_id = 2"),
        [["no_task", "a person muted this sender"]]
    );
    app.mail().set_sender_muted(MailId(1), false).await.unwrap();
    home.post(&home.letter("three").question());
    home.once().await;
    assert_eq!(home.sql_one("SELECT state FROM ledger WHERE mail_id = 3"), "task");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_by_hand_is_walked_to_done_and_back_under_its_number() {
    let home = TestHome::active();
    let app = home.app().await;
    for objective in ["Buy milk", "Call Anna", "Buy milk"] {
        app.tasks().add(NewTask { objective: objective.into(), ..NewTask::default() }).await.unwrap();
    }
    let first = app.tasks().find("1").await.unwrap();
    assert_eq!((first.task.status, first.task.source.as_str()), (TaskStatus::Ready, "chat:local"));
    app.tasks().edit("2", TaskEditKind::Done, "said done").await.unwrap();
    let history = app.tasks().detail("2").await.unwrap().history;
    let walked: Vec<String> = history
        .iter()
        .filter(|entry| entry.field == "status")
        .map(|entry| format!("{} {}", entry.to, entry.who))
        .collect();
    assert_eq!(walked, ["NEW person", "READY person", "IN_PROGRESS person", "DONE person"]);
    let ended = app.tasks().find("2").await.unwrap();
    home.clock.advance(60);
    let again = app.tasks().edit("2", TaskEditKind::Reopen, "").await.unwrap();
    assert_ne!(again.task.task_id, ended.task.task_id);
    assert_eq!((again.number, again.task.objective.as_str()), (Some(2), "Call Anna"));
    assert_eq!(again.task.context.more["reopened_from"], ended.task.task_id.to_string());
    let old = app.tasks().find(&ended.task.task_id.to_string()).await.unwrap();
    assert_eq!((old.task.status, old.number), (TaskStatus::Done, None));
    // The next number is a new one, and the old row cannot be reopened a second time.
    assert_eq!(
        app.tasks().add(NewTask { objective: "Fourth".into(), ..NewTask::default() }).await.unwrap().number,
        Some(4)
    );
    home.clock.advance(60);
    let twice = app.tasks().edit(&ended.task.task_id.to_string(), TaskEditKind::Reopen, "").await;
    assert!(twice.is_err(), "{:?}", home.sql("SELECT task_id, number FROM task_owner"));
    assert!(app.tasks().edit("2", TaskEditKind::Reopen, "").await.is_err(), "it is open");
    assert_eq!(app.tasks().list(false, 10).await.unwrap().len(), 4);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_goes_back_to_where_the_task_stood() {
    let home = TestHome::active();
    home.post(&home.letter("one").question());
    home.once().await;
    let app = home.app().await;
    assert_eq!(app.tasks().find("1").await.unwrap().task.status, TaskStatus::InProgress);
    for wish in [TaskEditKind::Cancel, TaskEditKind::Done] {
        let before = app.tasks().find("1").await.unwrap();
        app.tasks().edit("1", wish.clone(), "").await.unwrap();
        home.clock.advance(60);
        let after = app.tasks().edit("1", TaskEditKind::Reopen, "").await.unwrap();
        assert_eq!(
            (after.task.status, &after.task.subtasks, &after.task.tool_output),
            (before.task.status, &before.task.subtasks, &before.task.tool_output),
            "{wish:?}"
        );
        assert_eq!(after.task.priority, before.task.priority);
    }
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_level_set_by_hand_stands_against_rules_and_follow_ups() {
    let home = TestHome::active();
    home.post(&home.letter("one").question());
    home.once().await;
    let app = home.app().await;
    app.tasks().edit("1", TaskEditKind::Priority(Priority::Low), "not so urgent").await.unwrap();
    assert_eq!(home.sql("SELECT kind, to_value FROM correction"), [["priority", "low"]]);
    home.rules("lists: {}\nrules:\n  - name: all\n    when: { kind: { exists: true } }\n    set: high\n    why: everything\ndefault: low\n");
    home.clock.advance(60);
    home.post(
        &home
            .letter("two")
            .answers("one")
            .body("Hello Alex,\n\nWhen will you be back at the house about one? It is urgent!\n\nTom\n"),
    );
    home.once().await;
    assert_eq!(home.sql("SELECT priority, rule FROM tasks JOIN task_owner USING (task_id)"), [["low", "set by hand"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_task_is_not_edited() {
    let home = TestHome::active();
    let app = home.app().await;
    app.tasks().add(NewTask { objective: "Buy milk".into(), ..NewTask::default() }).await.unwrap();
    app.tasks().edit("1", TaskEditKind::Cancel, "").await.unwrap();
    let before = home.dump();
    for wish in [
        TaskEditKind::Done,
        TaskEditKind::Cancel,
        TaskEditKind::Priority(Priority::High),
        TaskEditKind::Objective("x".into()),
    ] {
        let error = app.tasks().edit("1", wish, "").await.unwrap_err();
        assert!(format!("{error:#}").contains("tasks undo"), "{error:#}");
    }
    assert_eq!(home.dump(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snoozed_task_is_hidden_until_then() {
    let home = TestHome::active();
    let app = home.app().await;
    app.tasks().add(NewTask { objective: "Buy milk".into(), ..NewTask::default() }).await.unwrap();
    app.tasks().edit("1", TaskEditKind::Snooze(Some("2026-11-17T08:00:00Z".parse().unwrap())), "").await.unwrap();
    assert!(app.tasks().list(false, 10).await.unwrap().is_empty());
    assert_eq!(app.tasks().list(true, 10).await.unwrap().len(), 1);
    home.clock.advance(86_400);
    assert_eq!(app.tasks().list(false, 10).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn muting_a_forged_mail_does_not_mute_the_person_whose_name_it_bears() {
    let home = TestHome::active();
    home.post(&home.letter("forged").question());
    home.once().await;
    let said = home.app().await.mail().set_sender_muted(MailId(1), true).await.unwrap();
    assert!(said.contains("verified mail of tom@bakerand.example still opens tasks"), "{said}");
    home.post(&home.letter("forged-again").question());
    home.post(&home.letter("genuine").verified().question());
    home.once().await;
    let state = |id: &str| home.sql_one(&format!("SELECT state FROM ledger WHERE source_key LIKE '%{id}%'"));
    assert_eq!((state("forged-again").as_str(), state("genuine").as_str()), ("no_task", "task"));
    // Muted by a mail of their own, they are, whoever vouches; and a forged one does not undo it.
    let genuine = home.sql_one("SELECT mail_id FROM ledger WHERE source_key LIKE '%genuine%'").parse().unwrap();
    let app = home.app().await;
    let said = app.mail().set_sender_muted(MailId(genuine), true).await.unwrap();
    assert!(said.contains("its mail opens no task"), "{said}");
    app.mail().set_sender_muted(MailId(1), true).await.unwrap();
    drop(app);
    home.post(&home.letter("later").verified().question());
    home.once().await;
    assert_eq!(state("later"), "no_task");
    home.must_be_sound().await;
}

#[test]
fn the_command_says_whom_a_mute_is_about() {
    let home = TestHome::real_time(Kind::Active);
    home.post(&home.letter("forged").question());
    assert_eq!(home.run(&["once"]).code, 0);
    let said = home.run(&["mail", "mute", "1"]);
    assert!(said.out.contains("unverified mail of tom@bakerand.example is muted"), "{}{}", said.out, said.err);
    assert!(home.json(&["mail", "mute", "1", "--off"])["muted"].as_str().unwrap().contains("is not muted"));
}
