//! Tests that the nightly job reads what `generate_response` writes: which rule and urgency were in force when a person
//! corrected a task, and what became of the messages of each tool.

use adjutant::{
    app::App,
    model::{DecisionKind, ItemKind, Priority, TaskEditKind},
};

use crate::support::{
    model_server::{Server, with_model},
    test_home::{Kind, TestHome},
};

const SHIPPED: &str = include_str!("../../guidelines.txt");

/// A question of a verified sender, whose answer is written and then turned down. A day passes.
async fn reject_answer(home: &TestHome, id: &str, from: &str) -> App {
    home.post(&home.letter(id).from(from).question().verified());
    home.once().await;
    let app = home.app().await;
    let task = home.sql_one(&format!("SELECT task_id FROM tasks WHERE source = 'email:<{id}@it.example>'"));
    let wish = TaskEditKind::InstructStep { step: "send_reply".into(), words: "On Thursday.".into(), message: None };
    app.tasks().edit(&task, wish, "answered").await.unwrap();
    home.once().await;
    let items = app.approvals().list().await.unwrap();
    let item = items.iter().find(|item| item.kind == ItemKind::Action).unwrap_or_else(|| panic!("{id}: {items:?}"));
    app.approvals().answer(&item.item_id.to_string(), DecisionKind::Reject, "I call").await.unwrap();
    home.once().await;
    home.clock.advance(24 * 3600);
    app
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_adds_a_guideline_that_precedes_the_prompt_and_can_be_taken_back() {
    let home = TestHome::active();
    for nth in 0..3 {
        reject_answer(&home, &format!("q{nth}"), "Tom Baker <tom@bakerand.example>").await;
    }
    assert_eq!(home.read("guidelines.txt"), SHIPPED);
    let app = home.app().await;
    app.nightly().run_unless_done_today().await.unwrap();
    let line = "- Replies to bakerand.example were rejected by the user in 3 of 3 cases: draft none unasked.";
    let learned = home.read("guidelines.txt");
    assert!(learned.contains(&format!("# >>> learned\n{line}\n# <<< learned\n")), "{learned}");
    assert_eq!(learned.replace(&format!("{line}\n"), ""), SHIPPED, "and nothing else is changed");
    let history = home.run(&["rules", "history"]).out;
    assert!(history.contains("version 2 (now)") && history.contains("by night: guidelines"), "{history}");
    // It stands before the prompt of a model.
    let server = Server::kind();
    with_model(&home, &server, "");
    home.post(&home.letter("next").from("Ann <ann@lee.example>").question());
    home.once().await;
    let asked = server.asked();
    assert!(!asked.is_empty());
    for question in &asked {
        assert!(question.system.starts_with(&learned), "{}", question.system);
    }
    // It goes by one command, and does not come back from the same rejections.
    let back = home.run(&["rules", "rollback"]);
    assert_eq!(back.code, 0, "{}", back.err);
    assert_eq!(home.read("guidelines.txt"), SHIPPED);
    home.clock.advance(24 * 3600);
    app.nightly().run_unless_done_today().await.unwrap();
    assert_eq!(home.read("guidelines.txt"), SHIPPED);
    home.must_be_sound().await;
}

/// The same by commands alone; the days are moved, not waited for.
#[test]
fn the_command_reflect_writes_and_tells_the_line() {
    let home = TestHome::real_time(Kind::Active);
    let must = |arguments: &[&str]| {
        let answered = home.run(arguments);
        assert_eq!(answered.code, 0, "{arguments:?}: {}{}", answered.out, answered.err);
        answered.out
    };
    for nth in 1..=3 {
        home.post(&home.letter(&format!("q{nth}")).question().verified());
        must(&["once"]);
        must(&["tasks", "reply", &nth.to_string(), "On", "Thursday."]);
        let item = home.sql_one("SELECT item_id FROM item WHERE state = 'open' AND kind = 'action'");
        must(&["hitl", "reject", &item, "--reason", "I call"]);
        must(&["once"]);
    }
    let past = "UPDATE correction SET at = strftime('%Y-%m-%dT%H:%M:%SZ', at, '-' || correction || ' days')";
    home.database().execute_batch(past).unwrap();
    let told = must(&["reflect"]);
    let line = "- Replies to bakerand.example were rejected by the user in 3 of 3 cases: draft none unasked.";
    assert!(told.contains(&format!("Guideline: {line}")) && told.contains("send_reply: 3 messages"), "{told}");
    assert!(home.read("guidelines.txt").contains(&format!("# >>> learned\n{line}\n# <<< learned\n")));
    assert!(must(&["rules", "history"]).contains("by night: guidelines"));
    must(&["rules", "rollback"]);
    assert_eq!(home.read("guidelines.txt"), SHIPPED);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_whose_messages_are_always_turned_down_gets_a_line() {
    let home = TestHome::active();
    for nth in 0..2 {
        reject_answer(&home, &format!("a{nth}"), "Tom Baker <tom@bakerand.example>").await;
        reject_answer(&home, &format!("b{nth}"), "Ann Lee <ann@lee.example>").await;
    }
    let lines = home.sql("SELECT line FROM reflection");
    let rejected = lines.iter().filter(|line| line[0].contains(r#"{"tool":"send_reply","fate":"rejected"}"#)).count();
    assert_eq!(rejected, 4, "{lines:?}");
    let app = home.app().await;
    let line = "- Messages of the tool send_reply were changed or rejected by the user in 4 of 4 cases: propose it only where it is asked for.";
    let preview = app.nightly().preview().await.unwrap();
    assert_eq!(preview.guidelines_lines, [line]);
    let tool = preview.runs.tools.iter().find(|tool| tool.tool == "send_reply").unwrap();
    assert_eq!((tool.messages, tool.edited, tool.rejected), (4, 0, 4), "{tool:?}");
    // What it knows, it knows from the reflections.
    let kept = home.copied();
    kept.database().execute("DELETE FROM reflection", []).unwrap();
    assert!(kept.app().await.nightly().preview().await.unwrap().guidelines_lines.is_empty());
    app.nightly().run_unless_done_today().await.unwrap();
    assert!(home.read("guidelines.txt").contains(line));
    app.rules().roll_back(None).await.unwrap();
    home.clock.advance(24 * 3600);
    app.nightly().run_unless_done_today().await.unwrap();
    assert_eq!(home.read("guidelines.txt"), SHIPPED, "taken back is taken back");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_evidence_of_an_entry_names_the_rule_and_the_urgency_that_had_decided() {
    let home = TestHome::active();
    for nth in 0..3 {
        let letter = home.letter(&format!("r{nth}")).from("Ann <ann@shop.example>").verified();
        home.post(&letter.body(&format!("Hello Alex,\n\nPlease write the summary of project {nth}.\n\nAnn\n")));
        home.once().await;
        let task = home.sql_one(&format!("SELECT task_id FROM tasks WHERE source = 'email:<r{nth}@it.example>'"));
        home.app().await.tasks().edit(&task, TaskEditKind::Priority(Priority::High), "").await.unwrap();
        home.clock.advance(24 * 3600);
    }
    let lines = home.sql("SELECT DISTINCT line ->> 'rule', printf('%.2f', line ->> 'urgency') FROM reflection");
    let [rule, urgency] = &lines[0][..] else { panic!("{lines:?}") };
    let app = home.app().await;
    let report = app.nightly().preview().await.unwrap();
    let record = report.runs.rules.iter().find(|record| record.rule == *rule).unwrap();
    assert_eq!(record.tasks, 3, "{record:?}");
    app.nightly().run_unless_done_today().await.unwrap();
    let rules = home.read("rules/priority.yml");
    let why = format!("you said so 3 times on 3 days: corrections 1, 2, 3; decided by {rule}, urgency {urgency}");
    assert!(rules.contains(&why), "{why}\n{rules}");
    assert!(home.run(&["rules", "history"]).out.contains(&format!("decided by {rule}")));
    assert!(home.sql_one("SELECT report FROM nightly").contains("\"runs\""));
    home.must_be_sound().await;
}
