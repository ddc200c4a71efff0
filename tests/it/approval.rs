//! Nothing risky happens unapproved, and what is approved is what runs, once.

use std::{fs, path::Path};

use adjutant::{
    app::{App, DecisionInput, FindingCode},
    model::{AccountMode, Door, OutboxState},
    store::value::{ItemRow, Verdict},
};

use crate::house::{Dice, House, answer_first, approve_first, first, set_mode};

const MEETING: &str = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";

fn asked(id: &str) -> House {
    let house = House::active();
    house.post(&house.letter(id).body(MEETING));
    house
}

async fn item(app: &App) -> ItemRow {
    let items = app.items().await.unwrap();
    assert_eq!(items.len(), 1, "{items:?}");
    items.into_iter().next().unwrap()
}

async fn works(house: &House) {
    house.clock.advance(1);
    house.once().await;
}

fn state(house: &House) -> Vec<Vec<String>> {
    house.sql("SELECT state FROM outbox WHERE step = 'send_calendar_invite' ORDER BY generation")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_invitation_is_saved_once_and_never_said_to_be_sent() {
    let house = asked("one");
    house.once().await;
    assert_eq!(house.sql("SELECT status FROM tasks"), [["WAITING_HITL"]]);
    assert_eq!(house.sent(), [""; 0]);
    let app = house.app().await;
    let detail = first(&app).await;
    assert!(detail.on_yes.contains("not transmitted"), "{}", detail.on_yes);
    let mime = detail.action.as_ref().unwrap().action.effect.message().unwrap().mime.clone();
    assert!(mime.contains("METHOD:REQUEST") && mime.contains("method=\"REQUEST\""), "{mime}");
    approve_first(&app).await.unwrap();
    works(&house).await;
    works(&house).await;
    assert_eq!(house.sent(), [mime]);
    assert_eq!(
        house.sql("SELECT state, result FROM outbox WHERE step = 'send_calendar_invite'"),
        [["saved", "saved in Sent, not transmitted"]]
    );
    assert_eq!(house.sql("SELECT status FROM tasks"), [["DONE"]]);
    // The line of every move stands before the act it allows, and names its digest.
    let acts = house.sql("SELECT act FROM audit WHERE subject LIKE 'action:%' AND act <> 'effect_planned'");
    assert!(acts.contains(&vec!["approved".to_owned()]), "{acts:?}");
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transport_that_accepts_makes_it_sent() {
    let house = asked("one");
    let spool = house.root().join("spool");
    let script = house.root().join("sendmail");
    house.write("sendmail", &format!("#!/bin/sh\ncat > {}/$$\n", spool.display()));
    fs::create_dir(&spool).unwrap();
    make_runnable(&script);
    house.configure(&format!("sendmail = \"{} -i -t\"\n", script.display()));
    house.once().await;
    approve_first(&house.app().await).await.unwrap();
    works(&house).await;
    assert_eq!(state(&house), [["sent"]]);
    assert_eq!(fs::read_dir(spool).unwrap().count(), 1);
    assert_eq!(house.sent().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transport_that_fails_after_reading_asks_the_person() {
    let house = asked("one");
    let script = house.root().join("sendmail");
    house.write("sendmail", "#!/bin/sh\ncat >/dev/null\necho 'no such user' >&2\nexit 67\n");
    make_runnable(&script);
    house.configure(&format!("sendmail = \"{}\"\n", script.display()));
    house.once().await;
    approve_first(&house.app().await).await.unwrap();
    works(&house).await;
    // It may have been accepted for somebody else.
    assert_eq!(state(&house), [["needs_human"]]);
    let app = house.app().await;
    let failed = item(&app).await;
    assert!(failed.title.contains("no such user"), "{}", failed.title);
    assert_eq!(house.sent(), [""; 0]);
    // Trying again is a new action, and asks again.
    answer_first(&app, Verdict::Retry, "").await.unwrap();
    drop(app);
    works(&house).await;
    assert_eq!(state(&house).pop(), Some(vec!["parked".to_owned()]), "{:?}", state(&house));
}

fn make_runnable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_approved_while_its_account_only_observes() {
    let house = asked("one");
    house.once().await;
    let app = house.app().await;
    set_mode(&app, AccountMode::Observe).await;
    let error = approve_first(&app).await.unwrap_err();
    assert!(format!("{error:#}").contains("adjutant mail mode work active"), "{error:#}");
    works(&house).await;
    assert_eq!(state(&house), [["parked"]], "it still waits for a yes that counts");
    set_mode(&app, AccountMode::Active).await;
    approve_first(&app).await.unwrap();
    works(&house).await;
    assert_eq!(house.sent().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_that_expires_before_it_is_carried_out_asks_the_person_again() {
    let house = asked("one");
    house.policy("approvals: { grace_seconds: 10 }");
    house.once().await;
    let app = house.app().await;
    approve_first(&app).await.unwrap();
    assert_eq!(app.left_behind().await.unwrap(), 0, "its grace runs");
    house.clock.advance(3600);
    assert_eq!(app.left_behind().await.unwrap(), 1);
    let health = app.health().await.unwrap();
    let codes: Vec<FindingCode> = health.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [FindingCode::WorkWaits], "no daemon runs, and doctor says so");
    house.clock.advance(80 * 3600);
    house.once().await;
    assert_eq!(house.sent(), [""; 0], "an expired approval sends nothing");
    assert_eq!(state(&house), [["failed"]]);
    let asked = item(&app).await;
    assert!(asked.title.contains("you approved it, but it was not carried out: "), "{}", asked.title);
    answer_first(&app, Verdict::Retry, "").await.unwrap();
    works(&house).await;
    assert_eq!(state(&house), [["failed"], ["parked"]], "the new action asks again");
    approve_first(&app).await.unwrap();
    house.clock.advance(20);
    house.once().await;
    assert_eq!(house.sent().len(), 1);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_changes_while_the_grace_runs_asks_the_person_again() {
    let house = asked("one");
    house.policy("approvals: { grace_seconds: 10 }");
    house.once().await;
    let app = house.app().await;
    approve_first(&app).await.unwrap();
    house.policy("approvals: { grace_seconds: 10 }\ncaps: { messages_per_hour: 7 }");
    house.clock.advance(20);
    house.once().await;
    assert_eq!(house.sent(), [""; 0]);
    let asked = item(&app).await;
    assert!(asked.title.contains("the policy has changed since"), "{}", asked.title);
    answer_first(&app, Verdict::Retry, "").await.unwrap();
    works(&house).await;
    approve_first(&app).await.unwrap();
    house.clock.advance(20);
    house.once().await;
    assert_eq!(house.sent().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_can_be_taken_back_while_its_grace_runs() {
    let house = asked("one");
    house.policy("approvals: { grace_seconds: 10 }");
    house.once().await;
    let app = house.app().await;
    let asked = item(&app).await;
    approve_first(&app).await.unwrap();
    works(&house).await;
    assert_eq!((state(&house), house.sent().len()), (vec![vec!["held".to_owned()]], 0));
    let waits = app.list_deferred_runs().await.unwrap();
    assert!(waits[0].waits_for.contains("take it back"), "{waits:?}");
    app.revoke_approval(asked.item_id).await.unwrap();
    house.clock.advance(60);
    house.once().await;
    assert_eq!((state(&house), house.sent().len()), (vec![vec!["parked".to_owned()]], 0));
    assert_eq!(house.sql("SELECT status FROM tasks"), [["WAITING_HITL"]]);
    // Said again, it leaves, and then it is too late.
    approve_first(&app).await.unwrap();
    house.clock.advance(11);
    house.once().await;
    assert_eq!((state(&house), house.sent().len()), (vec![vec!["saved".to_owned()]], 1));
    assert_eq!(
        house.count("run WHERE status = 'done' AND wait_until IS NOT NULL"),
        0,
        "what has advanced waits no more"
    );
    let error = app.revoke_approval(asked.item_id).await.unwrap_err();
    assert!(format!("{error:#}").contains("too late"), "{error:#}");
    drop(app);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_that_was_taken_back_and_said_again_in_the_same_second_counts() {
    let house = asked("one");
    house.policy("approvals: { grace_seconds: 10 }");
    house.once().await;
    let app = house.app().await;
    let asked = item(&app).await;
    for _ in 0..3 {
        approve_first(&app).await.unwrap();
        works(&house).await;
        app.revoke_approval(asked.item_id).await.unwrap();
    }
    approve_first(&app).await.unwrap();
    house.clock.advance(11);
    house.once().await;
    assert_eq!((state(&house), house.sent().len()), (vec![vec!["saved".to_owned()]], 1));
    drop(app);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_a_new_action_that_is_asked_about() {
    let house = asked("one");
    house.once().await;
    let app = house.app().await;
    let before = first(&app).await;
    let old = before.action.unwrap().sha256;
    let new = app.edit_action(before.item.item_id, "Re: coffee", "Shall we say Thursday?\n").await.unwrap();
    assert_eq!(state(&house), [["void"], ["parked"]]);
    let error = app.decide(new, DecisionInput::at_terminal(Verdict::Approve, "", &old)).await.unwrap_err();
    assert!(format!("{error:#}").contains("not what you were shown"), "{error:#}");
    assert!(app.decide(before.item.item_id, DecisionInput::at_terminal(Verdict::Approve, "", &old)).await.is_err());
    approve_first(&app).await.unwrap();
    drop(app);
    works(&house).await;
    let sent = house.sent();
    assert!(sent.len() == 1 && sent[0].contains("Thursday") && sent[0].contains("METHOD:REQUEST"), "{sent:?}");
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_gives_the_step_to_the_person() {
    let house = asked("one");
    house.once().await;
    answer_first(&house.app().await, Verdict::Reject, "I will call her").await.unwrap();
    works(&house).await;
    assert_eq!(state(&house), [["void"]]);
    assert_eq!(house.sent(), [""; 0]);
    let tasks = house.sql("SELECT status, subtasks FROM tasks");
    assert_eq!(tasks[0][0], "IN_PROGRESS");
    assert!(tasks[0][1].contains("send_calendar_invite_by_hand"), "{tasks:?}");
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_answer_is_written_and_shown() {
    let house = House::active();
    house.post(&house.letter("q").question());
    house.once().await;
    assert_eq!(house.count("item"), 0, "a draft with a gap asks nobody");
    assert_eq!(house.sql("SELECT status FROM tasks"), [["IN_PROGRESS"]]);
    let wish =
        adjutant::store::value::TaskEditKind::InstructStep { step: "send_reply".into(), words: "On Friday.".into() };
    let app = house.app().await;
    app.edit_task("1", wish, "").await.unwrap();
    works(&house).await;
    let shown = first(&app).await;
    assert!(shown.action.unwrap().action.effect.message().unwrap().body.contains("On Friday."));
    answer_first(&app, Verdict::Respond, "On Saturday.").await.unwrap();
    works(&house).await;
    let shown = first(&app).await;
    assert!(shown.action.unwrap().action.effect.message().unwrap().body.contains("On Saturday."));
    approve_first(&app).await.unwrap();
    drop(app);
    works(&house).await;
    let sent = house.sent();
    assert!(sent.len() == 1 && sent[0].contains("On Saturday.") && sent[0].contains("In-Reply-To:"), "{sent:?}");
    assert_eq!(house.sql("SELECT status FROM tasks"), [["DONE"]]);
    assert!(house.drafts().is_empty(), "the draft was taken over");
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_means_no_and_a_snooze_does_not_put_it_off() {
    let house = asked("one");
    house.once().await;
    let app = house.app().await;
    let asked = item(&app).await;
    app.snooze_item(asked.item_id, Some(house.clock.now().plus(chrono::Duration::days(30)))).await.unwrap();
    assert!(app.items().await.unwrap().is_empty());
    house.clock.advance(61 * 3600);
    let soon = app.expire_overdue_items().await.unwrap();
    assert_eq!(soon.len(), 1, "told before it is void");
    assert!(app.expire_overdue_items().await.unwrap().is_empty(), "told once");
    house.clock.advance(12 * 3600);
    works(&house).await;
    assert_eq!(house.sql("SELECT state FROM item"), [["expired"]]);
    assert_eq!(state(&house), [["void"]]);
    let error = app.approve(&asked).await.unwrap_err();
    assert!(format!("{error:#}").contains("expired"), "{error:#}");
    drop(app);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_holds_everything_until_it_ends() {
    let house = asked("one");
    house.app().await.set_paused(true).await.unwrap();
    house.once().await;
    assert_eq!(house.drafts(), [""; 0]);
    let waits = house.app().await.list_deferred_runs().await.unwrap();
    assert!(waits.iter().all(|run| run.waits_for == "was paused") && !waits.is_empty(), "{waits:?}");
    house.app().await.set_paused(false).await.unwrap();
    house.clock.advance(5);
    house.once().await;
    assert_eq!(house.drafts().len(), 1);
    approve_first(&house.app().await).await.unwrap();
    house.app().await.set_paused(true).await.unwrap();
    house.clock.advance(60);
    house.once().await;
    assert_eq!(house.sent(), [""; 0]);
    house.app().await.set_paused(false).await.unwrap();
    house.clock.advance(60);
    house.once().await;
    assert_eq!(house.sent().len(), 1);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_observes_touches_nothing_and_never_catches_up() {
    let house = House::observing();
    house.post(&house.letter("one").body(MEETING));
    house.once().await;
    assert_eq!((house.drafts().len(), house.sent().len(), house.count("item")), (0, 0, 0));
    house.app().await.set_mode("work", adjutant::model::AccountMode::Active).await.unwrap();
    house.clock.advance(60);
    house.once().await;
    assert_eq!((house.drafts().len(), house.sent().len(), house.count("item")), (0, 0, 0));
    assert_eq!(house.count("outbox WHERE state <> 'withheld'"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_policy_asks_anew() {
    let house = asked("one");
    house.once().await;
    let app = house.app().await;
    let before = first(&app).await.action.unwrap().sha256;
    house.policy("allow: [tom@bakerand.example]");
    // Whoever approves what they saw under the old one is told to look again.
    let id = item(&app).await.item_id;
    let error = app.decide(id, DecisionInput::at_terminal(Verdict::Approve, "", &before)).await.unwrap_err();
    assert!(format!("{error:#}").contains("policy has changed"), "{error:#}");
    works(&house).await;
    let after = first(&app).await.action.unwrap();
    assert_ne!(after.sha256, before);
    assert_eq!(after.state, OutboxState::Parked, "an invitation is asked about, list or not");
    approve_first(&app).await.unwrap();
    drop(app);
    works(&house).await;
    assert_eq!(house.sent().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_allow_list_lets_verified_replies_go() {
    let house = House::active();
    house.policy("allow: [tom@bakerand.example]");
    house.post(&house.letter("q").verified().question());
    house.post(&house.letter("spoofed").question());
    house.once().await;
    let app = house.app().await;
    for task in ["1", "2"] {
        let wish = adjutant::store::value::TaskEditKind::InstructStep {
            step: "send_reply".into(),
            words: "On Friday.".into(),
        };
        app.edit_task(task, wish, "").await.unwrap();
    }
    drop(app);
    works(&house).await;
    let ended = house.sql(
        "SELECT o.state, f.sender_verified FROM outbox o JOIN task_facts f USING (task_id) WHERE step = 'send_reply' ORDER BY 2",
    );
    assert_eq!(ended, [["parked", "0"], ["saved", "1"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn over_a_cap_steps_wait_and_say_so() {
    let house = House::active();
    house.policy("caps: { messages_per_hour: 2, messages_per_sender_per_hour: 1, labels_per_minute: 600 }");
    for id in ["a", "b", "c"] {
        house.post(&house.letter(id).question());
    }
    house.once().await;
    assert_eq!(house.drafts().len(), 1);
    let waits = house.app().await.list_deferred_runs().await.unwrap();
    assert_eq!(waits.len(), 2);
    assert!(waits.iter().all(|run| run.waits_for.contains("per sender")), "{waits:?}");
    assert!(house.app().await.health().await.unwrap().is_well());
    for hour in 2..=3 {
        house.clock.advance(3601);
        house.once().await;
        assert_eq!(house.drafts().len(), hour);
    }
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_questions_waits_in_its_tasks() {
    let house = House::active();
    house.policy(
        "caps: { pending: 50, pending_per_sender: 3, messages_per_sender_per_hour: 1000, messages_per_hour: 1000 }",
    );
    for nth in 0..8 {
        house.post(&house.letter(&format!("m{nth}")).subject(&format!("Topic {nth}")).body(MEETING));
    }
    house.once().await;
    let app = house.app().await;
    assert_eq!(app.items().await.unwrap().len(), 3);
    let waits = app.list_deferred_runs().await.unwrap();
    assert_eq!(waits.len(), 5);
    assert!(waits[0].waits_for.contains("same sender"), "{waits:?}");
    // Each answer makes room for another.
    for round in 0..8 {
        let id = app.items().await.unwrap()[0].item_id.to_string();
        app.answer(&id, Verdict::Reject, "").await.unwrap();
        house.clock.advance(20);
        house.once().await;
        assert!(app.items().await.unwrap().len() <= 3, "round {round}");
    }
    assert_eq!(app.items().await.unwrap().len(), 0);
    drop(app);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_backup_voids_approvals_and_observes() {
    let house = asked("one");
    house.policy("approvals: { grace_seconds: 600 }");
    house.once().await;
    approve_first(&house.app().await).await.unwrap();
    works(&house).await;
    let backup = house.root().join("backup.db");
    house.database().execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
    house.clock.advance(700);
    house.once().await;
    assert_eq!(house.sent().len(), 1);
    restore(&house, &backup);
    house.once().await;
    assert_eq!(house.sent().len(), 1, "nothing is sent a second time");
    assert_eq!(state(&house), [["saved"]], "it was looked for, and found");
    assert_eq!(house.sql("SELECT mode FROM account WHERE account = 'work'"), [["observe"]]);
    assert_eq!(house.count("approval WHERE used_at IS NULL"), 0);
    house.must_be_sound().await;
}

/// The database as it was at some time, put in the place of the one there is now.
fn restore(house: &House, backup: &Path) {
    for file in ["tasks.db-wal", "tasks.db-shm", "tasks.db"] {
        drop(fs::remove_file(house.root().join("data").join(file)));
    }
    fs::copy(backup, house.root().join("data/tasks.db")).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waited_in_a_restored_backup_and_was_sent_since_is_not_sent_again() {
    let house = asked("one");
    house.policy("approvals: { grace_seconds: 0 }");
    house.once().await;
    let backup = house.root().join("backup.db");
    house.database().execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
    approve_first(&house.app().await).await.unwrap();
    works(&house).await;
    assert_eq!((house.sent().len(), state(&house)), (1, vec![vec!["saved".to_owned()]]));
    restore(&house, &backup);
    house.once().await;
    assert_eq!(state(&house), [["parked"]], "it still asks");
    let app = house.app().await;
    app.set_mode("work", AccountMode::Active).await.unwrap();
    approve_first(&app).await.unwrap();
    drop(app);
    works(&house).await;
    house.clock.advance(10);
    house.once().await;
    assert_eq!(state(&house), [["saved"]]);
    let looked = house.count("audit WHERE detail LIKE '%→ probe: its sending was begun before%'");
    assert!(looked > 0, "it was looked for");
    assert_eq!(house.sent().len(), 1, "and not sent a second time");
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_and_mcp_cannot_approve() {
    let house = asked("one");
    house.once().await;
    let app = house.app().await;
    let detail = first(&app).await;
    let sha256 = detail.action.unwrap().sha256;
    for door in [Door::Chat, Door::Mcp] {
        let said = DecisionInput { channel: door, ..DecisionInput::at_terminal(Verdict::Approve, "", &sha256) };
        assert!(app.decide(detail.item.item_id, said).await.is_err(), "{door}");
    }
    assert_eq!(state(&house), [["parked"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn small_effects_can_be_taken_back() {
    let house = House::active();
    house.post(&house.letter("q").question());
    house.post(&house.letter("i").invoice(3));
    house.once().await;
    assert_eq!((house.drafts().len(), house.count("label")), (1, 1));
    let app = house.app().await;
    let journal = app.list_undoable_effects(10).await.unwrap();
    assert_eq!(journal.len(), 2);
    for entry in &journal {
        app.undo_effect(entry.row.action.action_id).await.unwrap();
        assert!(app.undo_effect(entry.row.action.action_id).await.is_err(), "once");
    }
    assert_eq!((house.drafts().len(), house.count("label")), (0, 0));
    drop(app);
    house.must_be_sound().await;
}

/// Somebody the person has written to.
fn knows(house: &House, address: &str) {
    let sent = format!(
        "From: Alex Green <you@home.example>\nTo: {address}\nSubject: Hello\nDate: Mon, 09 Nov 2026 08:00:00 +0000\nMessage-ID: <to-{address}>\n\nHello!\n"
    );
    house.deliver_into(".Sent/cur", &format!("to-{address}:2,S"), sent);
}

/// Invented senders ask as much as they like: there is room for whoever is known, vouched for, or both.
#[tokio::test(flavor = "multi_thread")]
async fn forged_senders_do_not_close_the_queue_for_honest_ones() {
    let mut dice = Dice::thrown("forged senders");
    let house = House::active();
    house.policy("caps: { messages_per_sender_per_hour: 1000, messages_per_hour: 1000 }");
    let (friend, colleague) = ("friend@home.example", "dana@work.example");
    knows(&house, friend);
    knows(&house, colleague);
    house.once().await;
    let waits = |sender: &str| house.count(&format!("item WHERE state = 'open' AND sender = '{sender}'"));
    let ask = |id: &str, from: &str| {
        house.letter(id).from(&format!("X <{from}>")).subject(&format!("About {id}")).body(MEETING)
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
        house.post(&ask(&format!("f{nth}"), &from));
        forged.push(from);
    }
    house.once().await;
    let flooded = house.count("item WHERE state = 'open'");
    assert!((20..=40).contains(&flooded), "{flooded}");
    assert!(house.count("item WHERE state = 'open' AND sender LIKE '%@one.example'") <= 6);
    // A stranger the server vouches for; a known contact it vouches for, whose name was forged three times already.
    house.post(&ask("v", "new@shop.example").verified());
    house.post(&ask("d", colleague).verified());
    // Somebody known of whom nobody vouches, and who was not forged.
    knows(&house, "old@friend.example");
    house.clock.advance(1);
    house.once().await;
    house.post(&ask("o", "old@friend.example"));
    house.clock.advance(1);
    house.once().await;
    assert_eq!(waits("new@shop.example"), 1);
    assert_eq!(waits("old@friend.example"), 1);
    assert_eq!(waits(colleague), forged.iter().filter(|from| *from == colleague).count().min(3) as u64 + 1);
    house.must_be_sound().await;
}
