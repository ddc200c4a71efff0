//! Tests that a person decides about a failed step (retry, skip or cancel), exactly once.

use adjutant::model::{DecisionKind, TaskStatus};

use crate::{
    engine_faults::spoil,
    support::test_home::{Kind, TestHome, answer_first, once},
};

/// A home whose one mail failed in the named node; the node works again afterwards.
async fn failed_in(node: &str) -> TestHome {
    let home = TestHome::active();
    home.post(&home.letter("one").question());
    let node = node.to_owned();
    let worker = home
        .rigged(|rig| {
            let slot = match node.as_str() {
                "plan_step" => &mut rig.nodes.plan_step,
                "prioritise" => &mut rig.nodes.prioritise,
                "generate_response" => &mut rig.nodes.generate_response,
                _ => &mut rig.nodes.execute_tool,
            };
            spoil(slot, |_| Some(Err(anyhow::anyhow!("out of order"))));
        })
        .await;
    once(worker).await;
    assert_eq!(home.count("item WHERE state = 'open' AND kind = 'failed_step'"), 1);
    home
}

async fn decide(home: &TestHome, verdict: DecisionKind) {
    home.clock.advance(60);
    let app = home.app().await;
    answer_first(&app, verdict, "said so").await.unwrap();
    app.worker().finish_runs().await.unwrap();
    assert!(app.approvals().list().await.unwrap().is_empty());
    assert_eq!(
        home.sql("SELECT state, decision, decided_by, reason FROM item"),
        [["decided", verdict.as_str(), "person", "said so"]]
    );
    assert_eq!(home.count(&format!("audit WHERE act = 'decided_{verdict}'")), 1);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parked_mail_is_read_again_or_left() {
    let home = failed_in("plan_step").await;
    decide(&home, DecisionKind::Retry).await;
    assert_eq!(home.sql("SELECT state FROM ledger"), [["task"]]);
    assert_eq!(home.drafts().len(), 1);
    for verdict in [DecisionKind::Skip, DecisionKind::Cancel] {
        let home = failed_in("plan_step").await;
        decide(&home, verdict).await;
        assert_eq!(home.sql("SELECT state, reason FROM ledger"), [["no_task", "said so"]]);
        assert_eq!(home.count("tasks"), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_parked_before_the_tools_goes_on_where_it_stopped() {
    let home = failed_in("prioritise").await;
    assert_eq!(home.sql("SELECT status FROM tasks"), [["NEW"]]);
    decide(&home, DecisionKind::Retry).await;
    assert_eq!(
        home.sql("SELECT status, rule FROM tasks JOIN task_owner USING (task_id)"),
        [["IN_PROGRESS", "default"]]
    );
    assert_eq!(home.drafts().len(), 1);
    let run = home.sql("SELECT parent_run IS NOT NULL, status FROM run WHERE kind = 'decision'");
    assert_eq!(run, [["1", "done"]]);

    let home = failed_in("prioritise").await;
    decide(&home, DecisionKind::Skip).await;
    assert_eq!(home.sql("SELECT status FROM tasks"), [["NEW"]]);
    let home = failed_in("prioritise").await;
    decide(&home, DecisionKind::Cancel).await;
    assert_eq!(home.sql("SELECT status FROM tasks"), [["CANCELLED"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_tool_step_waits_and_is_retried_skipped_or_given_up() {
    let home = failed_in("execute_tool").await;
    assert_eq!(home.sql("SELECT status FROM tasks"), [["WAITING_HITL"]]);
    decide(&home, DecisionKind::Retry).await;
    assert_eq!(
        home.sql("SELECT status, result_summary FROM tasks"),
        [["IN_PROGRESS", "Done: draft reply. Waits for you: answer mail."]]
    );
    assert_eq!(home.drafts().len(), 1);

    let home = failed_in("execute_tool").await;
    decide(&home, DecisionKind::Skip).await;
    assert_eq!(
        home.sql("SELECT status, result_summary FROM tasks"),
        [["IN_PROGRESS", "Skipped: draft reply. Waits for you: answer mail."]]
    );
    assert_eq!(home.drafts().len(), 0);

    let home = failed_in("execute_tool").await;
    decide(&home, DecisionKind::Cancel).await;
    assert_eq!(home.sql("SELECT status FROM tasks"), [["CANCELLED"]]);
    assert_eq!(home.drafts().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_that_failed_is_really_tried_again() {
    let home = TestHome::active();
    // The drafts folder cannot be made where a file is.
    home.write("mail/.Drafts", "in the way");
    home.post(&home.letter("one").question());
    home.once().await;
    assert_eq!(home.sql("SELECT status FROM tasks"), [["WAITING_HITL"]]);
    assert_eq!(home.sql("SELECT state, generation FROM outbox"), [["failed", "0"]]);
    // Still in the way: it fails again, and asks again.
    let app = home.app().await;
    home.clock.advance(60);
    answer_first(&app, DecisionKind::Retry, "").await.unwrap();
    app.worker().finish_runs().await.unwrap();
    assert_eq!(home.sql("SELECT status FROM tasks"), [["WAITING_HITL"]]);
    assert_eq!(
        home.sql("SELECT state, generation FROM outbox ORDER BY generation"),
        [["failed", "0"], ["failed", "1"]]
    );
    std::fs::remove_file(home.maildir().join(".Drafts")).unwrap();
    home.clock.advance(60);
    answer_first(&app, DecisionKind::Retry, "").await.unwrap();
    app.worker().finish_runs().await.unwrap();
    assert_eq!(
        home.sql("SELECT status, result_summary FROM tasks"),
        [["IN_PROGRESS", "Done: draft reply. Waits for you: answer mail."]]
    );
    assert_eq!(home.sql("SELECT state FROM outbox ORDER BY generation"), [["failed"], ["failed"], ["applied"]]);
    assert_eq!(home.drafts().len(), 1);
    drop(app);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_counts_once() {
    let home = failed_in("execute_tool").await;
    let app = home.app().await;
    let item = app.approvals().list().await.unwrap()[0].item_id.to_string();
    app.approvals().answer(&item, DecisionKind::Skip, "").await.unwrap();
    let error = app.approvals().answer(&item, DecisionKind::Cancel, "").await.unwrap_err();
    assert!(format!("{error:#}").contains("decided already"), "{error:#}");
    assert_eq!(app.tasks().find("1").await.unwrap().task.status, TaskStatus::InProgress);
}

#[tokio::test(flavor = "multi_thread")]
async fn completing_a_waiting_task_voids_what_it_waited_for() {
    let home = failed_in("execute_tool").await;
    let app = home.app().await;
    app.tasks().edit("1", adjutant::model::TaskEditKind::Done, "did it myself").await.unwrap();
    assert_eq!(home.sql("SELECT state FROM item"), [["void"]]);
    let steps = home.sql("SELECT to_value FROM task_history WHERE field = 'status' ORDER BY entry");
    assert_eq!(steps, [["NEW"], ["READY"], ["IN_PROGRESS"], ["WAITING_HITL"], ["IN_PROGRESS"], ["DONE"]]);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rewording_a_waiting_task_leaves_its_question_open() {
    let home = failed_in("execute_tool").await;
    let app = home.app().await;
    app.tasks().edit("1", adjutant::model::TaskEditKind::Objective("Tell Tom".into()), "").await.unwrap();
    assert_eq!(home.sql("SELECT state FROM item"), [["open"]]);
    assert_eq!(home.sql("SELECT status FROM tasks"), [["WAITING_HITL"]]);
    drop(app);
    decide(&home, DecisionKind::Retry).await;
    assert_eq!(home.drafts().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_at_the_end_leaves_the_task_open_and_can_be_mended() {
    let home = failed_in("generate_response").await;
    assert_eq!(home.sql("SELECT status FROM tasks"), [["IN_PROGRESS"]]);
    decide(&home, DecisionKind::Retry).await;
    assert_eq!(home.sql("SELECT result_summary FROM tasks"), [["Done: draft reply. Waits for you: answer mail."]]);
    assert_eq!(home.drafts().len(), 1, "the draft is not made again");
}

#[test]
fn the_command_line_decides_too() {
    let home = TestHome::real_time(Kind::Active);
    home.write("mail/.Drafts", "in the way");
    home.post(&home.letter("one").question());
    assert_eq!(home.run(&["once"]).code, 0);
    let items = home.json(&["hitl", "list"]);
    let item = items[0]["item_id"].as_str().unwrap();
    assert!(items[0]["title"].as_str().unwrap().starts_with("draft_reply failed"), "{items}");
    let shown = home.run(&["hitl", "show", "1"]);
    assert!(shown.out.contains("retry does it again"), "{}", shown.out);
    let skipped = home.run(&["hitl", "skip", item, "--reason", "later"]);
    assert_eq!(
        (skipped.code, skipped.out.as_str()),
        (0, "Decided: skip. The task is IN_PROGRESS now.\n"),
        "{}",
        skipped.err
    );
    assert_eq!(home.run(&["hitl", "retry", item]).code, 1);
    assert_eq!(home.run(&["hitl", "retry", "9"]).code, 3);
}
