//! Tests what a person sees of the nightly job: the answer to each correction, what-if, history, the digest, and
//! reflections that are written again when they are lost.

use std::fs;

use adjutant::{
    model::{MailId, Priority, TaskEditKind},
    rules::BUILT_IN,
};
use serde_json::Value;

use crate::support::test_home::{Kind, TestHome, files_in};

fn lines(home: &TestHome) -> Vec<Value> {
    let folder = home.home().reflections();
    let text: String = files_in(&folder).iter().map(|name| fs::read_to_string(folder.join(name)).unwrap()).collect();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the number of the task that a mail opened: tasks opened together are numbered in no fixed order.
fn number(home: &TestHome, id: &str) -> String {
    home.sql_one(&format!(
        "SELECT number FROM task_owner JOIN tasks USING (task_id) WHERE source = 'email:<{id}@it.example>'"
    ))
}

#[test]
fn every_correction_says_what_it_teaches() {
    let home = TestHome::real_time(Kind::Active);
    for nth in 0..4 {
        home.post(&home.letter(&format!("a{nth}")).from("Ann <ann@shop.example>").question().verified());
    }
    home.post(&home.letter("zforged").from("Ann <ann@shop.example>").question());
    assert_eq!(home.run(&["once"]).code, 0);
    let said = |id: &str| home.run(&["tasks", "set", &number(&home, id), "--priority", "high"]).out;
    let rule = "mail from ann@shop.example is at least high";
    let first = said("a0");
    assert!(first.contains(&format!("noted; 2 more on another day and tonight's rule would be: {rule}")), "{first}");
    said("a1");
    let third = said("a2");
    assert!(third.contains(&format!("noted; one more on another day and tonight's rule would be: {rule}")), "{third}");
    home.database().execute_batch("UPDATE correction SET at = strftime('%Y-%m-%dT%H:%M:%SZ', at, '-1 days')").unwrap();
    let fourth = said("a3");
    assert!(fourth.contains(&format!("noted; tonight's rule: {rule}")), "{fourth}");
    let forged = said("zforged");
    assert!(forged.contains("the sender is not verified"), "{forged}");
    let json = home.json(&["tasks", "set", &number(&home, "a3"), "--priority", "high"]);
    assert!(json["teaches"].as_str().unwrap().contains(rule), "{json}");
    let mail = home.sql_one("SELECT mail_id FROM mail WHERE message_id = '<a0@it.example>'");
    let none = home.run(&["mail", "not-a-task", &mail]);
    assert!(none.out.contains("mail from ann@shop.example is no task"), "{}", none.out);
    let dry = home.json(&["reflect", "--dry-run"]);
    assert_eq!(dry["adopted"].as_array().unwrap().len(), 1, "{dry}");
}

#[test]
fn what_if_lists_what_would_change_and_tells_a_script() {
    let home = TestHome::real_time(Kind::Active);
    for nth in 0..3 {
        home.post(&home.letter(&format!("a{nth}")).question());
    }
    assert_eq!(home.run(&["once"]).code, 0);
    home.write("same.yml", BUILT_IN);
    let same = home.run(&["rules", "what-if", &home.root().join("same.yml").display().to_string()]);
    assert_eq!(same.code, 0, "{}{}", same.out, same.err);
    assert!(same.out.contains("3 tasks looked at: 0 raised, 0 lowered"), "{}", same.out);
    home.run(&["tasks", "set", "3", "--priority", "low"]);
    let other =
        BUILT_IN.replace("rules:\n", "rules:\n  - { name: all, when: { kind: { is: question } }, set: critical }\n");
    home.write("other.yml", &other);
    let path = home.root().join("other.yml").display().to_string();
    let changed = home.run(&["rules", "what-if", &path]);
    assert_eq!(changed.code, 4, "{}{}", changed.out, changed.err);
    assert!(changed.out.contains("2 raised, 0 lowered, 1 against your own word"), "{}", changed.out);
    home.write("broken.yml", "rules: 3\n");
    let broken = home.run(&["rules", "what-if", &home.root().join("broken.yml").display().to_string()]);
    assert_eq!(broken.code, 1, "{}", broken.err);
    assert!(broken.err.contains("a sequence of rules"), "{}", broken.err);
    assert_eq!(home.read("rules/priority.yml"), BUILT_IN);
}

#[tokio::test(flavor = "multi_thread")]
async fn reflections_of_both_kinds_are_written_again_when_they_are_lost() {
    let home = TestHome::active();
    home.post(&home.letter("one").question().verified());
    home.post(
        &home
            .letter("two")
            .body("Hello Alex,\n\nthe hall is closed on Sunday because of the secret parade.\n\nTom\n")
            .verified(),
    );
    home.once().await;
    let app = home.app().await;
    app.tasks().edit("1", TaskEditKind::Priority(Priority::High), "it matters").await.unwrap();
    app.mail().make_task(MailId(2), "").await.unwrap();
    app.worker().finish_runs().await.unwrap();
    app.tasks().edit("1", TaskEditKind::Cancel, "").await.unwrap();
    home.clock.advance(60);
    app.tasks().edit("1", TaskEditKind::Reopen, "").await.unwrap();
    app.rules().log_and_explain_correction(|_| true).await.unwrap();
    home.once().await;
    let before = lines(&home);
    let what: Vec<&str> =
        before.iter().filter(|line| line["kind"] == "correction").map(|line| line["what"].as_str().unwrap()).collect();
    for kind in ["priority", "make_task", "undo"] {
        assert!(what.contains(&kind), "{what:?}");
    }
    let run = before.iter().find(|line| line["kind"] == "run").unwrap();
    for field in ["schema", "rule", "urgency", "tools", "approvals", "draft_changed", "seconds", "task_id"] {
        assert!(!run[field].is_null(), "{field}: {run}");
    }
    assert!(before.iter().all(|line| !line.to_string().contains("parade")), "no mail text");
    for name in files_in(&home.home().reflections()) {
        fs::remove_file(home.home().reflections().join(name)).unwrap();
    }
    home.once().await;
    let after = lines(&home);
    assert_eq!(after.len(), before.len());
    for line in before {
        assert!(after.contains(&line), "lost: {line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn not_a_task_and_should_have_been_one_are_learned_and_heeded() {
    let home = TestHome::active();
    for nth in 0..5 {
        home.post(
            &home
                .letter(&format!("n{nth}"))
                .from("Pia <pia@hall.example>")
                .body("Hello Alex,\n\nthe hall is closed on Sunday.\n\nPia\n")
                .verified(),
        );
        home.once().await;
        let app = home.app().await;
        if nth < 3 {
            app.mail().make_task(MailId(nth + 1), "").await.unwrap();
            app.worker().finish_runs().await.unwrap();
        }
        home.clock.advance(24 * 3600);
        app.nightly().run_unless_done_today().await.unwrap();
    }
    let states: Vec<String> = home.sql("SELECT state FROM ledger ORDER BY mail_id").into_iter().flatten().collect();
    assert_eq!(states, ["task"; 5], "{:?}", home.sql("SELECT state, reason FROM ledger"));
    assert!(
        home.sql_one("SELECT reason FROM ledger WHERE mail_id = 5")
            .starts_with("learned (task-sender-pia-hall-example")
    );
    // The same name without a server's word is nobody's.
    home.post(
        &home
            .letter("forged")
            .from("Pia <pia@hall.example>")
            .body("Hello Alex,\n\nthe hall is closed on Sunday.\n\nPia\n"),
    );
    home.once().await;
    assert_eq!(home.sql_one("SELECT state FROM ledger WHERE mail_id = 6"), "no_task");
    home.must_be_sound().await;
}

#[test]
fn the_digest_tells_what_happened() {
    let home = TestHome::real_time(Kind::Active);
    home.post(&home.letter("one").question().verified());
    home.post(&home.letter("two").body("Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n"));
    assert_eq!(home.run(&["once"]).code, 0);
    assert_eq!(home.run(&["tasks", "done", &number(&home, "one")]).code, 0);
    let digest = home.json(&["digest"]);
    assert_eq!(digest["done"].as_array().unwrap().len(), 1, "{digest}");
    assert_eq!(digest["waiting"].as_array().unwrap().len(), 1, "{digest}");
    for part in ["overdue", "learned", "archived", "cancelled_duplicates"] {
        assert!(digest[part].is_array(), "{part}");
    }
    let shown = home.run(&["digest"]);
    assert!(shown.out.contains("Done: 1") && shown.out.contains("Archived: 0"), "{}", shown.out);
    let history = home.run(&["rules", "history"]);
    assert!(history.out.contains("Nothing was learned yet"), "{}", history.out);
}
