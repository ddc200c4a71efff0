//! A failed step is a person's to decide, once.

use adjutant::{model::Status, store::value::Verdict};

use crate::{
    engine_faults::spoil,
    house::{House, Kind, answer_first, once},
};

/// A house whose one mail failed in the named node; the node works again afterwards.
async fn failed_in(node: &str) -> House {
    let house = House::active();
    house.post(&house.letter("one").question());
    let node = node.to_owned();
    let worker = house
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
    assert_eq!(house.count("item WHERE state = 'open' AND kind = 'failed_step'"), 1);
    house
}

async fn decide(house: &House, verdict: Verdict) {
    house.clock.advance(60);
    let app = house.app().await;
    answer_first(&app, verdict, "said so").await.unwrap();
    app.finish_runs().await.unwrap();
    assert!(app.items().await.unwrap().is_empty());
    assert_eq!(
        house.sql("SELECT state, decision, decided_by, reason FROM item"),
        [["decided", verdict.as_str(), "person", "said so"]]
    );
    assert_eq!(house.count(&format!("audit WHERE act = 'decided_{verdict}'")), 1);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parked_mail_is_read_again_or_left() {
    let house = failed_in("plan_step").await;
    decide(&house, Verdict::Retry).await;
    assert_eq!(house.sql("SELECT state FROM ledger"), [["task"]]);
    assert_eq!(house.drafts().len(), 1);
    for verdict in [Verdict::Skip, Verdict::Cancel] {
        let house = failed_in("plan_step").await;
        decide(&house, verdict).await;
        assert_eq!(house.sql("SELECT state, reason FROM ledger"), [["no_task", "said so"]]);
        assert_eq!(house.count("tasks"), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_parked_before_the_tools_goes_on_where_it_stopped() {
    let house = failed_in("prioritise").await;
    assert_eq!(house.sql("SELECT status FROM tasks"), [["NEW"]]);
    decide(&house, Verdict::Retry).await;
    assert_eq!(
        house.sql("SELECT status, rule FROM tasks JOIN task_owner USING (task_id)"),
        [["IN_PROGRESS", "default"]]
    );
    assert_eq!(house.drafts().len(), 1);
    let run = house.sql("SELECT parent_run IS NOT NULL, status FROM run WHERE kind = 'decision'");
    assert_eq!(run, [["1", "done"]]);

    let house = failed_in("prioritise").await;
    decide(&house, Verdict::Skip).await;
    assert_eq!(house.sql("SELECT status FROM tasks"), [["NEW"]]);
    let house = failed_in("prioritise").await;
    decide(&house, Verdict::Cancel).await;
    assert_eq!(house.sql("SELECT status FROM tasks"), [["CANCELLED"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_tool_step_waits_and_is_retried_skipped_or_given_up() {
    let house = failed_in("execute_tool").await;
    assert_eq!(house.sql("SELECT status FROM tasks"), [["WAITING_HITL"]]);
    decide(&house, Verdict::Retry).await;
    assert_eq!(
        house.sql("SELECT status, result_summary FROM tasks"),
        [["IN_PROGRESS", "Done: draft reply. Waits for you: send reply."]]
    );
    assert_eq!(house.drafts().len(), 1);

    let house = failed_in("execute_tool").await;
    decide(&house, Verdict::Skip).await;
    assert_eq!(
        house.sql("SELECT status, result_summary FROM tasks"),
        [["IN_PROGRESS", "Skipped: draft reply. Waits for you: send reply."]]
    );
    assert_eq!(house.drafts().len(), 0);

    let house = failed_in("execute_tool").await;
    decide(&house, Verdict::Cancel).await;
    assert_eq!(house.sql("SELECT status FROM tasks"), [["CANCELLED"]]);
    assert_eq!(house.drafts().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_that_failed_is_really_tried_again() {
    let house = House::active();
    // The drafts folder cannot be made where a file is.
    house.write("mail/.Drafts", "in the way");
    house.post(&house.letter("one").question());
    house.once().await;
    assert_eq!(house.sql("SELECT status FROM tasks"), [["WAITING_HITL"]]);
    assert_eq!(house.sql("SELECT state, generation FROM outbox"), [["failed", "0"]]);
    // Still in the way: it fails again, and asks again.
    let app = house.app().await;
    house.clock.advance(60);
    answer_first(&app, Verdict::Retry, "").await.unwrap();
    app.finish_runs().await.unwrap();
    assert_eq!(house.sql("SELECT status FROM tasks"), [["WAITING_HITL"]]);
    assert_eq!(
        house.sql("SELECT state, generation FROM outbox ORDER BY generation"),
        [["failed", "0"], ["failed", "1"]]
    );
    std::fs::remove_file(house.maildir().join(".Drafts")).unwrap();
    house.clock.advance(60);
    answer_first(&app, Verdict::Retry, "").await.unwrap();
    app.finish_runs().await.unwrap();
    assert_eq!(
        house.sql("SELECT status, result_summary FROM tasks"),
        [["IN_PROGRESS", "Done: draft reply. Waits for you: send reply."]]
    );
    assert_eq!(house.sql("SELECT state FROM outbox ORDER BY generation"), [["failed"], ["failed"], ["applied"]]);
    assert_eq!(house.drafts().len(), 1);
    drop(app);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_counts_once() {
    let house = failed_in("execute_tool").await;
    let app = house.app().await;
    let item = app.items().await.unwrap()[0].item_id.to_string();
    app.answer(&item, Verdict::Skip, "").await.unwrap();
    let error = app.answer(&item, Verdict::Cancel, "").await.unwrap_err();
    assert!(format!("{error:#}").contains("decided already"), "{error:#}");
    assert_eq!(app.find_task("1").await.unwrap().task.status, Status::InProgress);
}

#[tokio::test(flavor = "multi_thread")]
async fn completing_a_waiting_task_voids_what_it_waited_for() {
    let house = failed_in("execute_tool").await;
    let app = house.app().await;
    app.edit_task("1", adjutant::store::value::TaskEditKind::Done, "did it myself").await.unwrap();
    assert_eq!(house.sql("SELECT state FROM item"), [["void"]]);
    let steps = house.sql("SELECT to_value FROM task_history WHERE field = 'status' ORDER BY entry");
    assert_eq!(steps, [["NEW"], ["READY"], ["IN_PROGRESS"], ["WAITING_HITL"], ["IN_PROGRESS"], ["DONE"]]);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rewording_a_waiting_task_leaves_its_question_open() {
    let house = failed_in("execute_tool").await;
    let app = house.app().await;
    app.edit_task("1", adjutant::store::value::TaskEditKind::Objective("Tell Tom".into()), "").await.unwrap();
    assert_eq!(house.sql("SELECT state FROM item"), [["open"]]);
    assert_eq!(house.sql("SELECT status FROM tasks"), [["WAITING_HITL"]]);
    drop(app);
    decide(&house, Verdict::Retry).await;
    assert_eq!(house.drafts().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_at_the_end_leaves_the_task_open_and_can_be_mended() {
    let house = failed_in("generate_response").await;
    assert_eq!(house.sql("SELECT status FROM tasks"), [["IN_PROGRESS"]]);
    decide(&house, Verdict::Retry).await;
    assert_eq!(house.sql("SELECT result_summary FROM tasks"), [["Done: draft reply. Waits for you: send reply."]]);
    assert_eq!(house.drafts().len(), 1, "the draft is not made again");
}

#[test]
fn the_command_line_decides_too() {
    let house = House::real_time(Kind::Active);
    house.write("mail/.Drafts", "in the way");
    house.post(&house.letter("one").question());
    assert_eq!(house.run(&["once"]).code, 0);
    let items = house.json(&["hitl", "list"]);
    let item = items[0]["item_id"].as_str().unwrap();
    assert!(items[0]["title"].as_str().unwrap().starts_with("draft_reply failed"), "{items}");
    let shown = house.run(&["hitl", "show", "1"]);
    assert!(shown.out.contains("retry does it again"), "{}", shown.out);
    let skipped = house.run(&["hitl", "skip", item, "--reason", "later"]);
    assert_eq!(
        (skipped.code, skipped.out.as_str()),
        (0, "Decided: skip. The task is IN_PROGRESS now.\n"),
        "{}",
        skipped.err
    );
    assert_eq!(house.run(&["hitl", "retry", item]).code, 1);
    assert_eq!(house.run(&["hitl", "retry", "9"]).code, 3);
}
