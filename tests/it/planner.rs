//! Tests of requests with several steps: how `ask` plans them, works them side by side, asks about failures, and goes on.

use adjutant::{
    app::App,
    model::{DecisionKind, ItemKind, TaskId},
};
use serde_json::Value;

use crate::support::test_home::{Kind, TestHome, answer_first, finish_with};

/// Prepares a request and opens its task, as `ask --yes` does.
async fn open(app: &App, text: &str) -> TaskId {
    let prepared = app.plans().prepare(text, None).await.unwrap();
    app.plans().open(prepared).await.unwrap()
}

/// Opens a request and works it until nothing is left to do here.
async fn ask(home: &TestHome, text: &str) -> TaskId {
    let app = home.app().await;
    let task_id = open(&app, text).await;
    app.worker().finish_runs().await.unwrap();
    task_id
}

fn steps(home: &TestHome) -> Vec<Vec<String>> {
    home.sql("SELECT step_number, status, coalesce(tool, '') FROM plan_step ORDER BY task_id, step_number")
}

fn statuses(home: &TestHome) -> Vec<String> {
    steps(home).into_iter().map(|row| row[1].clone()).collect()
}

fn folders(home: &TestHome) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(home.home().files())
        .map(|entries| entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect())
        .unwrap_or_default();
    names.retain(|name| !name.starts_with('.') && name != "README.md");
    names.sort_unstable();
    names
}

/// The lines of JSON that a command printed.
fn events(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_numbered_request_is_done_step_by_step() {
    let home = TestHome::observing();
    ask(&home, "1. create folder Alpha 2. create folder Beta 3. remind me on 1 December 2026 to look into them").await;
    assert_eq!(
        steps(&home),
        [["1", "completed", "create_folder"], ["2", "completed", "create_folder"], ["3", "completed", "remind"]]
    );
    assert_eq!(folders(&home), ["Alpha", "Beta"]);
    assert_eq!(home.sql("SELECT status, account FROM tasks JOIN task_owner USING (task_id)"), [["DONE", "local"]]);
    assert_eq!(home.sql("SELECT status, origin FROM plan"), [["completed", "words"]]);
    assert!(home.sql_one("SELECT source FROM tasks").starts_with("ask:"));
    assert_eq!(home.sql_one("SELECT substr(due_at, 1, 10) FROM reminder"), "2026-12-01");
    assert_eq!(home.count("run WHERE kind = 'step' AND status = 'done'"), 3);
    // Every step is done in the task, too, and every run can be replayed.
    let subtasks: Value = serde_json::from_str(&home.sql_one("SELECT subtasks FROM tasks")).unwrap();
    assert!(subtasks.as_array().unwrap().iter().all(|subtask| subtask["done"] == true), "{subtasks}");
    let app = home.app().await;
    for row in home.sql("SELECT run_id FROM run") {
        let replay = app.runs().replay(&row[0]).await.unwrap();
        assert!(replay.identical, "{replay:?}");
    }
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_begins_only_after_those_that_it_needs() {
    let home = TestHome::observing();
    ask(&home, "1. create folder One 2. create folder Two after step 3 3. create folder Three after step 1 4. create folder Four").await;
    assert_eq!(statuses(&home), ["completed"; 4]);
    assert_eq!(folders(&home), ["Four", "One", "Three", "Two"]);
    // A run is opened by the one that ended the last step it waited for.
    let opened_by = home.sql(
        "SELECT json_extract(i.state, '$.plan_step'), coalesce(json_extract(p.state, '$.plan_step'), 0)
         FROM run r JOIN run_input i USING (run_id) JOIN run_input p ON p.run_id = r.parent_run
         WHERE r.kind = 'step' ORDER BY 1",
    );
    assert_eq!(opened_by, [["1", "0"], ["2", "3"], ["3", "1"], ["4", "0"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_write_twice_is_done_once() {
    let home = TestHome::observing();
    ask(&home, "1. create folder Twice 2. then create folder Twice").await;
    assert_eq!(statuses(&home), ["completed", "completed"]);
    assert_eq!(home.count("outbox"), 1);
    let result = home.sql_one("SELECT result FROM plan_step WHERE step_number = 2");
    assert!(result.contains("\"repeats_step\":1"), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_results_of_a_step_go_into_the_mail_of_the_next() {
    let home = TestHome::active();
    let letter = home.letter("invoice").invoice(7);
    home.post(&letter);
    home.once().await;
    assert_eq!(home.count("invoice"), 1);
    ask(&home, "1. collect this month's invoices 2. draft a summary to dana@work.example 3. remind me Friday").await;
    assert_eq!(statuses(&home), ["completed", "in_progress", "completed"]);
    assert_eq!(home.sql("SELECT status FROM tasks ORDER BY task_id DESC LIMIT 1"), [["WAITING_HITL"]]);
    let action = home.sql_one("SELECT action FROM outbox WHERE state = 'parked'");
    let action: Value = serde_json::from_str(&action).unwrap();
    assert_eq!(action["effect"]["message"]["to"][0]["addr"], "dana@work.example");
    let body = action["effect"]["message"]["body"].as_str().unwrap();
    assert!(body.contains("Total: "), "{body}");
    assert_eq!(action["tool"], "send_mail");
    // What the person approves is done in the plan's own run, and ends it.
    let app = home.app().await;
    let item = app.approvals().list().await.unwrap().remove(0);
    app.approvals().approve(&item).await.unwrap();
    app.worker().finish_runs().await.unwrap();
    assert_eq!(statuses(&home), ["completed", "completed", "completed"]);
    assert_eq!(home.sql("SELECT status FROM tasks ORDER BY task_id DESC LIMIT 1"), [["DONE"]]);
    assert_eq!(home.sent().len(), 1);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_step_asks_and_the_others_go_on() {
    for verdict in [DecisionKind::Retry, DecisionKind::Skip, DecisionKind::Cancel] {
        let home = TestHome::observing();
        // A folder name with a slash is refused by the policy.
        let task = ask(&home, "1. create folder a/b 2. create folder Good 3. create folder Later after step 1").await;
        assert_eq!(statuses(&home), ["failed", "completed", "pending"]);
        assert_eq!(home.sql("SELECT status FROM plan"), [["failed"]]);
        assert_eq!(home.sql("SELECT status FROM tasks"), [["WAITING_HITL"]]);
        assert_eq!(folders(&home), ["Good"]);
        let app = home.app().await;
        let items = app.plans().items(task).await.unwrap();
        assert_eq!(items.len(), 1);
        assert_eq!(items[0].kind, ItemKind::FailedStep);
        home.clock.advance(60);
        answer_first(&app, verdict, "").await.unwrap();
        app.worker().finish_runs().await.unwrap();
        let (plan, task, expected) = match verdict {
            DecisionKind::Retry => ("failed", "WAITING_HITL", ["failed", "completed", "pending"]),
            DecisionKind::Skip => ("completed", "DONE", ["skipped", "completed", "completed"]),
            _ => ("cancelled", "CANCELLED", ["failed", "completed", "pending"]),
        };
        assert_eq!(home.sql("SELECT status FROM plan"), [[plan]], "{verdict}");
        assert_eq!(home.sql("SELECT status FROM tasks"), [[task]], "{verdict}");
        assert_eq!(statuses(&home), expected, "{verdict}");
        home.must_be_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_of_the_person_holds_back_only_what_waits_for_it() {
    let home = TestHome::observing();
    let task = ask(&home, "1. call the bank 2. create folder Now 3. create folder Then after step 1").await;
    assert_eq!(statuses(&home), ["pending", "completed", "pending"]);
    assert_eq!(home.sql("SELECT status FROM tasks"), [["IN_PROGRESS"]]);
    let app = home.app().await;
    let done = adjutant::model::TaskEditKind::StepDone("1. Call the bank".into());
    app.tasks().edit(&task.to_string(), done, "called").await.unwrap();
    app.worker().finish_runs().await.unwrap();
    assert_eq!(statuses(&home), ["completed", "completed", "completed"]);
    assert_eq!(home.sql("SELECT status FROM tasks"), [["DONE"]]);
}

#[test]
fn a_plan_is_shown_before_it_is_executed() {
    let home = TestHome::real_time(Kind::Observing);
    let shown = home.run(&["ask", "1. create folder Asked 2. call Ann"]);
    assert_eq!(shown.code, 2, "{}", shown.err);
    assert!(shown.out.contains("Complexity") && shown.out.contains("create folder: Asked"), "{}", shown.out);
    assert!(shown.err.contains("--yes"), "{}", shown.err);
    assert_eq!(home.count("tasks"), 0);
    let done = home.run(&["ask", "--yes", "1. create folder Asked 2. call Ann"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("1. calls create_folder") && done.out.contains("Yours: 2. Call Ann"), "{}", done.out);
    assert_eq!(folders(&home), ["Asked"]);
}

#[test]
fn a_simple_request_is_executed_directly_and_a_question_is_not() {
    let home = TestHome::real_time(Kind::Observing);
    let made = home.run(&["ask", "Create folder TestFolder"]);
    assert_eq!(made.code, 0, "{}", made.err);
    assert_eq!(folders(&home), ["TestFolder"]);
    assert_eq!(home.sql("SELECT tool, score FROM plan JOIN plan_step USING (task_id)"), [["create_folder", "0"]]);
    for question in ["What is 2+2?", "What does 'create' mean?"] {
        let answered = home.run(&["ask", question]);
        assert_eq!(answered.code, 0);
        assert!(answered.out.contains("a question"), "{}", answered.out);
    }
    assert_eq!(home.count("tasks"), 1);
}

#[test]
fn json_prints_one_event_per_line() {
    let home = TestHome::real_time(Kind::Observing);
    let done = home.run(&["--json", "ask", "--yes", "1. create folder Json 2. create folder a/b"]);
    assert_eq!(done.code, 1, "{}", done.err);
    let events = events(&done.out);
    let of = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!((of("plan"), of("step_started"), of("tool_call")), (1, 2, 2), "{events:?}");
    assert_eq!((of("step_completed"), of("step_failed"), of("plan_ended")), (1, 1, 1), "{events:?}");
    let last = events.last().unwrap();
    assert_eq!(last["status"], "failed");
    assert_eq!(last["task_status"], "WAITING_HITL");
}

#[test]
fn files_are_attached_before_the_request_is_read() {
    let home = TestHome::real_time(Kind::Observing);
    home.write("data/files/notes.txt", &"word ".repeat(60));
    let prepared = home.run(&["--json", "ask", "look into @notes.txt for me"]);
    assert_eq!(prepared.code, 2, "{}", prepared.err);
    let event = &events(&prepared.out)[0];
    assert_eq!(event["request"]["complexity"]["reasons"], serde_json::json!(["long_request"]));
    assert_eq!(event["request"]["files"][0]["path"], "notes.txt");
    std::os::unix::fs::symlink("/etc/passwd", home.home().files().join("link.txt")).unwrap();
    for (request, why) in [
        ("look into @link.txt", "symbolic link"),
        ("look into @../tasks.db", "only inside of"),
        ("look into @none.txt", "no such file"),
    ] {
        let refused = home.run(&["ask", request]);
        assert_eq!(refused.code, 2, "{}", refused.out);
        assert!(refused.err.contains(why), "{}", refused.err);
    }
}

#[test]
fn a_running_daemon_does_the_work() {
    let home = TestHome::real_time(Kind::Observing);
    let daemon = home.daemon();
    let done = home.run(&["ask", "--yes", "1. create folder Daemon 2. create folder Other"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(folders(&home), ["Daemon", "Other"]);
    assert_eq!(daemon.stop("TERM").0, 0);
}

#[test]
fn without_planning_everything_is_one_step() {
    let home = TestHome::real_time(Kind::Observing);
    home.configure("\n[planner]\nenableTaskPlanning = false\n");
    let done = home.run(&["ask", "1. create folder Solo 2. call Ann"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(home.count("plan_step"), 1);
}

#[test]
fn the_json_of_models_is_scored_by_the_parser_that_reads_calls() {
    let home = TestHome::real_time(Kind::Observing);
    let lines = [
        serde_json::json!({ "id": "a", "input": "Sure: {'name': 'find', 'parameters': {'words': 'lease',}}" }),
        serde_json::json!({ "id": "b", "input": "no JSON at all" }),
    ];
    let input = lines.map(|line| line.to_string()).join("\n");
    let answered = finish_with(home.command(&["eval", "calls"]), input.as_bytes());
    assert_eq!(answered.code, 0, "{}", answered.err);
    let events = events(&answered.out);
    assert_eq!(events[0]["value"], serde_json::json!({ "name": "find", "parameters": { "words": "lease" } }));
    assert!(events[1]["error"].is_string() && events[1]["id"] == "b", "{events:?}");
}
