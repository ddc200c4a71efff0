//! Tests that nothing risky happens without an approval, and that what is approved is carried out exactly once.

use std::{fs, path::Path};

use adjutant::{
    app::{App, DecisionInput, FindingCode},
    model::{AccountMode, DecisionChannel, DecisionKind, ItemRow, OutboxState},
};

use crate::support::test_home::{SeededRandom, TestHome, answer_first, approve_first, first, set_mode};

const MEETING: &str = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";

fn asked(id: &str) -> TestHome {
    let home = TestHome::active();
    home.post(&home.letter(id).body(MEETING));
    home
}

async fn item(app: &App) -> ItemRow {
    let items = app.approvals().list().await.unwrap();
    assert_eq!(items.len(), 1, "{items:?}");
    items.into_iter().next().unwrap()
}

async fn works(home: &TestHome) {
    home.clock.advance(1);
    home.once().await;
}

fn state(home: &TestHome) -> Vec<Vec<String>> {
    home.sql("SELECT state FROM outbox WHERE step = 'send_calendar_invite' ORDER BY generation")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_invitation_is_saved_once_and_never_said_to_be_sent() {
    let home = asked("one");
    home.once().await;
    assert_eq!(home.sql("SELECT status FROM tasks"), [["WAITING_HITL"]]);
    assert_eq!(home.sent(), [""; 0]);
    let app = home.app().await;
    let detail = first(&app).await;
    assert!(detail.on_yes.contains("not transmitted"), "{}", detail.on_yes);
    let mime = detail.action.as_ref().unwrap().action.effect.message().unwrap().mime.clone();
    assert!(mime.contains("METHOD:REQUEST") && mime.contains("method=\"REQUEST\""), "{mime}");
    approve_first(&app).await.unwrap();
    works(&home).await;
    works(&home).await;
    assert_eq!(home.sent(), [mime]);
    assert_eq!(
        home.sql("SELECT state, result FROM outbox WHERE step = 'send_calendar_invite'"),
        [["saved", "saved in Sent, not transmitted"]]
    );
    assert_eq!(home.sql("SELECT status FROM tasks"), [["DONE"]]);
    // The line of every move stands before the act it allows, and names its digest.
    let acts = home.sql("SELECT act FROM audit WHERE subject LIKE 'action:%' AND act <> 'effect_planned'");
    assert!(acts.contains(&vec!["approved".to_owned()]), "{acts:?}");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transport_that_accepts_makes_it_sent() {
    let home = asked("one");
    let spool = home.root().join("spool");
    let script = home.root().join("sendmail");
    home.write("sendmail", &format!("#!/bin/sh\ncat > {}/$$\n", spool.display()));
    fs::create_dir(&spool).unwrap();
    make_runnable(&script);
    home.configure(&format!("sendmail = \"{} -i -t\"\n", script.display()));
    home.once().await;
    approve_first(&home.app().await).await.unwrap();
    works(&home).await;
    assert_eq!(state(&home), [["sent"]]);
    assert_eq!(fs::read_dir(spool).unwrap().count(), 1);
    assert_eq!(home.sent().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transport_that_fails_after_reading_asks_the_person() {
    let home = asked("one");
    let script = home.root().join("sendmail");
    home.write("sendmail", "#!/bin/sh\ncat >/dev/null\necho 'no such user' >&2\nexit 67\n");
    make_runnable(&script);
    home.configure(&format!("sendmail = \"{}\"\n", script.display()));
    home.once().await;
    approve_first(&home.app().await).await.unwrap();
    works(&home).await;
    // It may have been accepted for somebody else.
    assert_eq!(state(&home), [["needs_human"]]);
    let app = home.app().await;
    let failed = item(&app).await;
    assert!(failed.title.contains("no such user"), "{}", failed.title);
    assert_eq!(home.sent(), [""; 0]);
    // Trying again is a new action, and asks again.
    answer_first(&app, DecisionKind::Retry, "").await.unwrap();
    drop(app);
    works(&home).await;
    assert_eq!(state(&home).pop(), Some(vec!["parked".to_owned()]), "{:?}", state(&home));
}

fn make_runnable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_approved_while_its_account_only_observes() {
    let home = asked("one");
    home.once().await;
    let app = home.app().await;
    set_mode(&app, AccountMode::Observe).await;
    let error = approve_first(&app).await.unwrap_err();
    assert!(format!("{error:#}").contains("adjutant mail mode work active"), "{error:#}");
    works(&home).await;
    assert_eq!(state(&home), [["parked"]], "it still waits for a yes that counts");
    set_mode(&app, AccountMode::Active).await;
    approve_first(&app).await.unwrap();
    works(&home).await;
    assert_eq!(home.sent().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_that_expires_before_it_is_carried_out_asks_the_person_again() {
    let home = asked("one");
    home.policy("approvals: { grace_seconds: 10 }");
    home.once().await;
    let app = home.app().await;
    approve_first(&app).await.unwrap();
    assert_eq!(app.runs().count_left_behind().await.unwrap(), 0, "its grace runs");
    home.clock.advance(3600);
    assert_eq!(app.runs().count_left_behind().await.unwrap(), 1);
    let health = app.health().check().await.unwrap();
    let codes: Vec<FindingCode> = health.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [FindingCode::WorkWaits], "no daemon runs, and doctor says so");
    home.clock.advance(80 * 3600);
    home.once().await;
    assert_eq!(home.sent(), [""; 0], "an expired approval sends nothing");
    assert_eq!(state(&home), [["failed"]]);
    let asked = item(&app).await;
    assert!(asked.title.contains("you approved it, but it was not carried out: "), "{}", asked.title);
    answer_first(&app, DecisionKind::Retry, "").await.unwrap();
    works(&home).await;
    assert_eq!(state(&home), [["failed"], ["parked"]], "the new action asks again");
    approve_first(&app).await.unwrap();
    home.clock.advance(20);
    home.once().await;
    assert_eq!(home.sent().len(), 1);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_changes_while_the_grace_runs_asks_the_person_again() {
    let home = asked("one");
    home.policy("approvals: { grace_seconds: 10 }");
    home.once().await;
    let app = home.app().await;
    approve_first(&app).await.unwrap();
    home.policy("approvals: { grace_seconds: 10 }\ncaps: { messages_per_hour: 7 }");
    home.clock.advance(20);
    home.once().await;
    assert_eq!(home.sent(), [""; 0]);
    let asked = item(&app).await;
    assert!(asked.title.contains("the policy has changed since"), "{}", asked.title);
    answer_first(&app, DecisionKind::Retry, "").await.unwrap();
    works(&home).await;
    approve_first(&app).await.unwrap();
    home.clock.advance(20);
    home.once().await;
    assert_eq!(home.sent().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_can_be_taken_back_while_its_grace_runs() {
    let home = asked("one");
    home.policy("approvals: { grace_seconds: 10 }");
    home.once().await;
    let app = home.app().await;
    let asked = item(&app).await;
    approve_first(&app).await.unwrap();
    works(&home).await;
    assert_eq!((state(&home), home.sent().len()), (vec![vec!["held".to_owned()]], 0));
    let waits = app.runs().list_deferred().await.unwrap();
    assert!(waits[0].waits_for.contains("take it back"), "{waits:?}");
    app.approvals().revoke(asked.item_id).await.unwrap();
    home.clock.advance(60);
    home.once().await;
    assert_eq!((state(&home), home.sent().len()), (vec![vec!["parked".to_owned()]], 0));
    assert_eq!(home.sql("SELECT status FROM tasks"), [["WAITING_HITL"]]);
    // Said again, it leaves, and then it is too late.
    approve_first(&app).await.unwrap();
    home.clock.advance(11);
    home.once().await;
    assert_eq!((state(&home), home.sent().len()), (vec![vec!["saved".to_owned()]], 1));
    assert_eq!(
        home.count("run WHERE status = 'done' AND wait_until IS NOT NULL"),
        0,
        "what has advanced waits no more"
    );
    let error = app.approvals().revoke(asked.item_id).await.unwrap_err();
    assert!(format!("{error:#}").contains("too late"), "{error:#}");
    drop(app);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_that_was_taken_back_and_said_again_in_the_same_second_counts() {
    let home = asked("one");
    home.policy("approvals: { grace_seconds: 10 }");
    home.once().await;
    let app = home.app().await;
    let asked = item(&app).await;
    for _ in 0..3 {
        approve_first(&app).await.unwrap();
        works(&home).await;
        app.approvals().revoke(asked.item_id).await.unwrap();
    }
    approve_first(&app).await.unwrap();
    home.clock.advance(11);
    home.once().await;
    assert_eq!((state(&home), home.sent().len()), (vec![vec!["saved".to_owned()]], 1));
    drop(app);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_a_new_action_that_is_asked_about() {
    let home = asked("one");
    home.once().await;
    let app = home.app().await;
    let before = first(&app).await;
    let old = before.action.unwrap().sha256;
    let new = app.approvals().edit_action(before.item.item_id, "Re: coffee", "Shall we say Thursday?\n").await.unwrap();
    assert_eq!(state(&home), [["void"], ["parked"]]);
    let error =
        app.approvals().decide(new, DecisionInput::at_terminal(DecisionKind::Approve, "", &old)).await.unwrap_err();
    assert!(format!("{error:#}").contains("not what you were shown"), "{error:#}");
    assert!(
        app.approvals()
            .decide(before.item.item_id, DecisionInput::at_terminal(DecisionKind::Approve, "", &old))
            .await
            .is_err()
    );
    approve_first(&app).await.unwrap();
    drop(app);
    works(&home).await;
    let sent = home.sent();
    assert!(sent.len() == 1 && sent[0].contains("Thursday") && sent[0].contains("METHOD:REQUEST"), "{sent:?}");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_gives_the_step_to_the_person() {
    let home = asked("one");
    home.once().await;
    answer_first(&home.app().await, DecisionKind::Reject, "I will call her").await.unwrap();
    works(&home).await;
    assert_eq!(state(&home), [["void"]]);
    assert_eq!(home.sent(), [""; 0]);
    let tasks = home.sql("SELECT status, subtasks FROM tasks");
    assert_eq!(tasks[0][0], "IN_PROGRESS");
    assert!(tasks[0][1].contains("send_calendar_invite_by_hand"), "{tasks:?}");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_answer_is_written_and_shown() {
    let home = TestHome::active();
    home.post(&home.letter("q").question());
    home.once().await;
    assert_eq!(home.count("item"), 0, "a draft that is half an answer asks nobody");
    assert_eq!(home.sql("SELECT status FROM tasks"), [["IN_PROGRESS"]]);
    let wish = adjutant::model::TaskEditKind::InstructStep {
        step: "send_reply".into(),
        words: "On Friday.".into(),
        message: None,
    };
    let app = home.app().await;
    app.tasks().edit("1", wish, "").await.unwrap();
    works(&home).await;
    let shown = first(&app).await;
    assert!(shown.action.unwrap().action.effect.message().unwrap().body.contains("On Friday."));
    answer_first(&app, DecisionKind::Respond, "say: On Saturday.").await.unwrap();
    works(&home).await;
    let shown = first(&app).await;
    assert!(shown.action.unwrap().action.effect.message().unwrap().body.contains("On Saturday."));
    approve_first(&app).await.unwrap();
    drop(app);
    works(&home).await;
    let sent = home.sent();
    assert!(sent.len() == 1 && sent[0].contains("On Saturday.") && sent[0].contains("In-Reply-To:"), "{sent:?}");
    assert_eq!(home.sql("SELECT status FROM tasks"), [["DONE"]]);
    assert!(home.drafts().is_empty(), "the draft was taken over");
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_means_no_and_a_snooze_does_not_put_it_off() {
    let home = asked("one");
    home.once().await;
    let app = home.app().await;
    let asked = item(&app).await;
    app.approvals().snooze(asked.item_id, Some(home.clock.now().plus(chrono::Duration::days(30)))).await.unwrap();
    assert!(app.approvals().list().await.unwrap().is_empty());
    home.clock.advance(61 * 3600);
    let soon = app.approvals().expire_overdue().await.unwrap();
    assert_eq!(soon.len(), 1, "told before it is void");
    assert!(app.approvals().expire_overdue().await.unwrap().is_empty(), "told once");
    home.clock.advance(12 * 3600);
    works(&home).await;
    assert_eq!(home.sql("SELECT state FROM item"), [["expired"]]);
    assert_eq!(state(&home), [["void"]]);
    let error = app.approvals().approve(&asked).await.unwrap_err();
    assert!(format!("{error:#}").contains("expired"), "{error:#}");
    drop(app);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_holds_everything_until_it_ends() {
    let home = asked("one");
    home.app().await.effects().set_paused(true).await.unwrap();
    home.once().await;
    assert_eq!(home.drafts(), [""; 0]);
    let waits = home.app().await.runs().list_deferred().await.unwrap();
    assert!(waits.iter().all(|run| run.waits_for == "was paused") && !waits.is_empty(), "{waits:?}");
    home.app().await.effects().set_paused(false).await.unwrap();
    home.clock.advance(5);
    home.once().await;
    assert_eq!(home.drafts().len(), 1);
    approve_first(&home.app().await).await.unwrap();
    home.app().await.effects().set_paused(true).await.unwrap();
    home.clock.advance(60);
    home.once().await;
    assert_eq!(home.sent(), [""; 0]);
    home.app().await.effects().set_paused(false).await.unwrap();
    home.clock.advance(60);
    home.once().await;
    assert_eq!(home.sent().len(), 1);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_observes_touches_nothing_and_never_catches_up() {
    let home = TestHome::observing();
    home.post(&home.letter("one").body(MEETING));
    home.once().await;
    assert_eq!((home.drafts().len(), home.sent().len(), home.count("item")), (0, 0, 0));
    home.app().await.accounts().set_mode("work", adjutant::model::AccountMode::Active).await.unwrap();
    home.clock.advance(60);
    home.once().await;
    assert_eq!((home.drafts().len(), home.sent().len(), home.count("item")), (0, 0, 0));
    assert_eq!(home.count("outbox WHERE state <> 'withheld'"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_policy_asks_anew() {
    let home = asked("one");
    home.once().await;
    let app = home.app().await;
    let before = first(&app).await.action.unwrap().sha256;
    home.policy("allow: [tom@bakerand.example]");
    // Whoever approves what they saw under the old one is told to look again.
    let id = item(&app).await.item_id;
    let error =
        app.approvals().decide(id, DecisionInput::at_terminal(DecisionKind::Approve, "", &before)).await.unwrap_err();
    assert!(format!("{error:#}").contains("policy has changed"), "{error:#}");
    works(&home).await;
    let after = first(&app).await.action.unwrap();
    assert_ne!(after.sha256, before);
    assert_eq!(after.state, OutboxState::Parked, "an invitation is asked about, list or not");
    approve_first(&app).await.unwrap();
    drop(app);
    works(&home).await;
    assert_eq!(home.sent().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_allow_list_lets_verified_replies_go() {
    let home = TestHome::active();
    home.policy("allow: [tom@bakerand.example]");
    home.post(&home.letter("q").verified().question());
    home.post(&home.letter("spoofed").question());
    home.once().await;
    let app = home.app().await;
    for task in ["1", "2"] {
        let wish = adjutant::model::TaskEditKind::InstructStep {
            step: "send_reply".into(),
            words: "On Friday.".into(),
            message: None,
        };
        app.tasks().edit(task, wish, "").await.unwrap();
    }
    drop(app);
    works(&home).await;
    let ended = home.sql(
        "SELECT o.state, f.sender_verified FROM outbox o JOIN task_facts f USING (task_id) WHERE step = 'send_reply' ORDER BY 2",
    );
    assert_eq!(ended, [["parked", "0"], ["saved", "1"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn over_a_cap_steps_wait_and_say_so() {
    let home = TestHome::active();
    home.policy("caps: { messages_per_hour: 2, messages_per_sender_per_hour: 1, labels_per_minute: 600 }");
    for id in ["a", "b", "c"] {
        home.post(&home.letter(id).question());
    }
    home.once().await;
    assert_eq!(home.drafts().len(), 1);
    let waits = home.app().await.runs().list_deferred().await.unwrap();
    assert_eq!(waits.len(), 2);
    assert!(waits.iter().all(|run| run.waits_for.contains("per sender")), "{waits:?}");
    assert!(home.app().await.health().check().await.unwrap().is_well());
    for hour in 2..=3 {
        home.clock.advance(3601);
        home.once().await;
        assert_eq!(home.drafts().len(), hour);
    }
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_questions_waits_in_its_tasks() {
    let home = TestHome::active();
    home.policy(
        "caps: { pending: 50, pending_per_sender: 3, messages_per_sender_per_hour: 1000, messages_per_hour: 1000 }",
    );
    for nth in 0..8 {
        home.post(&home.letter(&format!("m{nth}")).subject(&format!("Topic {nth}")).body(MEETING));
    }
    home.once().await;
    let app = home.app().await;
    assert_eq!(app.approvals().list().await.unwrap().len(), 3);
    let waits = app.runs().list_deferred().await.unwrap();
    assert_eq!(waits.len(), 5);
    assert!(waits[0].waits_for.contains("same sender"), "{waits:?}");
    // Each answer makes room for another.
    for round in 0..8 {
        let id = app.approvals().list().await.unwrap()[0].item_id.to_string();
        app.approvals().answer(&id, DecisionKind::Reject, "").await.unwrap();
        home.clock.advance(20);
        home.once().await;
        assert!(app.approvals().list().await.unwrap().len() <= 3, "round {round}");
    }
    assert_eq!(app.approvals().list().await.unwrap().len(), 0);
    drop(app);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_backup_voids_approvals_and_observes() {
    let home = asked("one");
    home.policy("approvals: { grace_seconds: 600 }");
    home.once().await;
    approve_first(&home.app().await).await.unwrap();
    works(&home).await;
    let backup = home.root().join("backup.db");
    home.database().execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
    home.clock.advance(700);
    home.once().await;
    assert_eq!(home.sent().len(), 1);
    restore(&home, &backup);
    home.once().await;
    assert_eq!(home.sent().len(), 1, "nothing is sent a second time");
    assert_eq!(state(&home), [["saved"]], "it was looked for, and found");
    assert_eq!(home.sql("SELECT mode FROM account WHERE account = 'work'"), [["observe"]]);
    assert_eq!(home.count("approval WHERE used_at IS NULL"), 0);
    home.must_be_sound().await;
}

/// The database as it was at some time, put in the place of the one there is now.
fn restore(home: &TestHome, backup: &Path) {
    for file in ["tasks.db-wal", "tasks.db-shm", "tasks.db"] {
        drop(fs::remove_file(home.root().join("data").join(file)));
    }
    fs::copy(backup, home.root().join("data/tasks.db")).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waited_in_a_restored_backup_and_was_sent_since_is_not_sent_again() {
    let home = asked("one");
    home.policy("approvals: { grace_seconds: 0 }");
    home.once().await;
    let backup = home.root().join("backup.db");
    home.database().execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
    approve_first(&home.app().await).await.unwrap();
    works(&home).await;
    assert_eq!((home.sent().len(), state(&home)), (1, vec![vec!["saved".to_owned()]]));
    restore(&home, &backup);
    home.once().await;
    assert_eq!(state(&home), [["parked"]], "it still asks");
    let app = home.app().await;
    app.accounts().set_mode("work", AccountMode::Active).await.unwrap();
    approve_first(&app).await.unwrap();
    drop(app);
    works(&home).await;
    home.clock.advance(10);
    home.once().await;
    assert_eq!(state(&home), [["saved"]]);
    let looked = home.count("audit WHERE detail LIKE '%→ probe: its sending was begun before%'");
    assert!(looked > 0, "it was looked for");
    assert_eq!(home.sent().len(), 1, "and not sent a second time");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_and_mcp_cannot_approve() {
    let home = asked("one");
    home.once().await;
    let app = home.app().await;
    let detail = first(&app).await;
    let sha256 = detail.action.unwrap().sha256;
    for door in [DecisionChannel::Chat, DecisionChannel::Mcp] {
        let said = DecisionInput { channel: door, ..DecisionInput::at_terminal(DecisionKind::Approve, "", &sha256) };
        assert!(app.approvals().decide(detail.item.item_id, said).await.is_err(), "{door}");
    }
    assert_eq!(state(&home), [["parked"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn small_effects_can_be_taken_back() {
    let home = TestHome::active();
    home.post(&home.letter("q").question());
    home.post(&home.letter("i").invoice(3));
    home.once().await;
    assert_eq!((home.drafts().len(), home.count("label")), (1, 1));
    let app = home.app().await;
    let journal = app.effects().list_undoable(10).await.unwrap();
    assert_eq!(journal.len(), 2);
    for entry in &journal {
        app.effects().undo(entry.row.action.action_id).await.unwrap();
        assert!(app.effects().undo(entry.row.action.action_id).await.is_err(), "once");
    }
    assert_eq!((home.drafts().len(), home.count("label")), (0, 0));
    drop(app);
    home.must_be_sound().await;
}

/// Somebody the person has written to.
fn knows(home: &TestHome, address: &str) {
    let sent = format!(
        "From: Alex Green <you@home.example>\nTo: {address}\nSubject: Hello\nDate: Mon, 09 Nov 2026 08:00:00 +0000\nMessage-ID: <to-{address}>\n\nHello!\n"
    );
    home.deliver_into(".Sent/cur", &format!("to-{address}:2,S"), sent);
}

/// Invented senders ask as much as they like: there is room for whoever is known, vouched for, or both.
#[tokio::test(flavor = "multi_thread")]
async fn forged_senders_do_not_close_the_queue_for_honest_ones() {
    let mut dice = SeededRandom::thrown("forged senders");
    let home = TestHome::active();
    home.policy("caps: { messages_per_sender_per_hour: 1000, messages_per_hour: 1000 }");
    let (friend, colleague) = ("friend@home.example", "dana@work.example");
    knows(&home, friend);
    knows(&home, colleague);
    home.once().await;
    let waits = |sender: &str| home.count(&format!("item WHERE state = 'open' AND sender = '{sender}'"));
    let ask = |id: &str, from: &str| {
        home.letter(id).from(&format!("X <{from}>")).subject(&format!("About {id}")).body(MEETING)
    };
    let mut forged = Vec::new();
    for nth in 0..90 {
        // Strangers of many domains, of one domain, and names of people the person knows.
        let from = match dice.below(6) {
            0 => format!("s{nth}@one.example"),
            1 => colleague.to_owned(),
            2 => friend.to_owned(),
            _ => format!("s{nth}@d{}.example", dice.below(1_000)),
        };
        home.post(&ask(&format!("f{nth}"), &from));
        forged.push(from);
    }
    home.once().await;
    let flooded = home.count("item WHERE state = 'open'");
    assert!((20..=40).contains(&flooded), "{flooded}");
    assert!(home.count("item WHERE state = 'open' AND sender LIKE '%@one.example'") <= 6);
    // A stranger the server vouches for; a known contact it vouches for, whose name was forged three times already.
    home.post(&ask("v", "new@shop.example").verified());
    home.post(&ask("d", colleague).verified());
    // Somebody known of whom nobody vouches, and who was not forged.
    knows(&home, "old@friend.example");
    home.clock.advance(1);
    home.once().await;
    home.post(&ask("o", "old@friend.example"));
    home.clock.advance(1);
    home.once().await;
    assert_eq!(waits("new@shop.example"), 1);
    assert_eq!(waits("old@friend.example"), 1);
    assert_eq!(waits(colleague), forged.iter().filter(|from| *from == colleague).count().min(3) as u64 + 1);
    home.must_be_sound().await;
}
