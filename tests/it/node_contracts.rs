//! Tests which node may write what: the table of the specification, checked on everything that the samples leave
//! behind.

use std::collections::BTreeSet;

use adjutant::{
    graph::node::writable_fields,
    model::{NodeName, TaskStatus, WrittenField},
};

use crate::support::test_home::TestHome;

/// Who may set which step of the life cycle. Cancelling is a person's, and completing by hand walks through all.
fn setters(from: &str, to: &str) -> &'static [&'static str] {
    match (from, to) {
        ("", "NEW") => &["plan_step", "person"],
        ("NEW", "READY") => &["prioritise", "person"],
        ("READY", "IN_PROGRESS") | ("IN_PROGRESS", "WAITING_HITL") => &["execute_tool", "person"],
        ("WAITING_HITL", "IN_PROGRESS") => &["person"],
        ("IN_PROGRESS", "DONE") => &["generate_response", "person"],
        (_, "CANCELLED") => &["person"],
        _ => &[],
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_node_writes_what_it_may_and_nothing_else() {
    let home = TestHome::samples();
    home.once().await;
    // A task whose last step is the agent's, so that the graph completes it.
    let folder = home.letter("folder").from("Alex Green <you@home.example>");
    home.post(&folder.body("Create a folder for the Acme project.\n"));
    home.once().await;
    let app = home.app().await;
    let mut seen: BTreeSet<(NodeName, WrittenField)> = BTreeSet::new();
    for run in app.runs().list(None, 1000).await.unwrap() {
        let detail = app.runs().detail(&run.run_id.to_string()).await.unwrap();
        assert!(!detail.checkpoints.is_empty(), "{}", run.run_id);
        for checkpoint in detail.checkpoints {
            for change in &checkpoint.changes {
                let field = change.written_field();
                assert!(writable_fields(checkpoint.node).contains(&field), "{} wrote {field}", checkpoint.node);
                seen.insert((checkpoint.node, field));
            }
        }
    }
    let expected: BTreeSet<(NodeName, WrittenField)> =
        NodeName::ALL.iter().flat_map(|node| writable_fields(*node).iter().map(move |field| (*node, *field))).collect();
    assert_eq!(seen, expected, "these mails let every node write everything it may");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_step_of_the_life_cycle_is_set_by_who_may_set_it() {
    let home = TestHome::samples();
    home.once().await;
    let rows = home
        .sql("SELECT from_value, to_value, who, count(*) FROM task_history WHERE field = 'status' GROUP BY 1, 2, 3");
    assert!(rows.len() >= 4, "{rows:?}");
    for row in rows {
        let (from, to, who) = (row[0].as_str(), row[1].as_str(), row[2].as_str());
        assert!(setters(from, to).contains(&who), "{who} set {from} → {to}");
        assert_ne!(who, "person", "nobody was there");
        if !from.is_empty() {
            assert!(
                TaskStatus::ALLOWED_TRANSITIONS.contains(&(from.parse().unwrap(), to.parse().unwrap())),
                "{from} → {to}"
            );
        }
    }
    // Each line of history continues the one before it and ends where the task stands.
    for task in home.sql("SELECT task_id, status FROM tasks") {
        let steps = home.sql(&format!(
            "SELECT from_value, to_value FROM task_history WHERE field = 'status' AND task_id = '{}' ORDER BY entry",
            task[0]
        ));
        let mut at = String::new();
        for step in steps {
            assert_eq!(step[0], at, "{}", task[0]);
            at.clone_from(&step[1]);
        }
        assert_eq!(at, task[1]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_transition_and_every_effect_has_its_audit_line() {
    let home = TestHome::samples();
    home.once().await;
    let transitions = home.count("task_history WHERE field = 'status'");
    assert_eq!(home.count("audit WHERE act LIKE 'task_%' AND detail LIKE '%→%'"), transitions);
    assert_eq!(home.count("audit WHERE act = 'effect_planned'"), home.count("outbox"));
    let unplanned = "outbox o WHERE NOT EXISTS (SELECT 1 FROM audit p WHERE p.act = 'effect_planned' AND p.subject = 'action:' || o.action_id)";
    assert_eq!(home.count(unplanned), 0);
    let moved = home.count("audit WHERE act = 'effect_moved'");
    // A later mail names another time, so what was asked about the first is void.
    assert_eq!(moved, home.count("outbox WHERE state IN ('applied', 'void')"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_with_a_persons_step_is_never_completed_by_the_graph() {
    let home = TestHome::samples();
    home.once().await;
    for row in home.sql("SELECT status, subtasks FROM tasks") {
        let open = row[1].contains("\"done\":false");
        assert_eq!(row[0] == "DONE", !open, "{row:?}");
        assert!(["DONE", "READY", "IN_PROGRESS", "WAITING_HITL"].contains(&row[0].as_str()), "{row:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reflections_stand_in_the_file_and_hold_no_mail_text() {
    let home = TestHome::samples();
    home.once().await;
    let days = home.sql("SELECT DISTINCT day FROM reflection");
    assert_eq!(days, [["2026-11-16"]]);
    let text = home.read("data/reflections/2026-11-16.jsonl");
    let mut lines: Vec<&str> = text.lines().collect();
    let mut rows: Vec<String> = home.sql("SELECT line FROM reflection").into_iter().flatten().collect();
    lines.sort_unstable();
    rows.sort_unstable();
    assert_eq!(lines, rows);
    assert_eq!(rows.len() as u64, home.count("run WHERE kind = 'task' AND status = 'done'"));
    for word in ["Schedule", "furniture", "@clinic.example", "catch-up"] {
        assert!(!text.contains(word), "{word}");
    }
}
