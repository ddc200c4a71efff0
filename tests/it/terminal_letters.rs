//! Tests what a person writes from a task: answers, forwards and new mails. Each waits for approval, with exactly the
//! words that were typed.

use crate::support::test_home::{ACCEPT, Kind, TestHome, field};

/// A home with a task whose template has no step that answers.
fn asked_home() -> TestHome {
    let home = TestHome::real_time(Kind::Active);
    home.transport(ACCEPT, None);
    home.post(&home.letter("ask").body("Hello Alex,\n\nPlease send me the price list by Friday.\n\nTom\n"));
    assert_eq!(home.run(&["once"]).code, 0);
    assert_eq!(home.json(&["tasks"]).as_array().unwrap().len(), 1);
    home
}

/// Returns the only item that waits.
fn waiting(home: &TestHome) -> serde_json::Value {
    let items = home.json(&["hitl", "list"]);
    assert_eq!(items.as_array().unwrap().len(), 1, "{items}");
    home.json(&["hitl", "show", &items[0]["number"].to_string()])
}

/// Approves the item exactly as it is shown, and returns what left.
fn approve(home: &TestHome, item: &serde_json::Value) -> Vec<String> {
    let digest = item["action_sha256"].as_str().unwrap();
    let approved = home.run(&["hitl", "approve", &item["number"].to_string(), "--sha256", digest]);
    assert_eq!(approved.code, 0, "{}", approved.err);
    home.spool()
}

fn body(item: &serde_json::Value) -> &str {
    item["action"]["action"]["effect"]["message"]["body"].as_str().unwrap_or_else(|| panic!("{item}"))
}

#[test]
fn every_task_with_a_mail_can_be_answered() {
    let home = asked_home();
    let answered = home.run(&["tasks", "reply", "1", "You will have it on Thursday."]);
    assert_eq!(answered.code, 0, "{}", answered.err);
    let item = waiting(&home);
    let text = body(&item);
    assert!(text.starts_with("Hi Tom,\n\nYou will have it on Thursday.\n\n"), "{text}");
    assert!(home.spool().is_empty(), "nothing leaves before it is approved");
    let sent = approve(&home, &item);
    assert_eq!(sent.len(), 1);
    assert!(field(&sent[0], "To").contains("tom@bakerand.example"));
}

#[test]
fn a_finished_letter_gets_no_second_greeting_or_signature() {
    for (words, expected) in [
        ("Hello Tom, yes, on Thursday. Best, Alex", "Hello Tom, yes, on Thursday. Best, Alex\n"),
        ("Dear Mr Baker,\n\nyes.\n\nKind regards\nAlex Green", "Dear Mr Baker,\n\nyes.\n\nKind regards\nAlex Green\n"),
        ("Yes, on Thursday. Alex", "Hi Tom,\n\nYes, on Thursday. Alex\n"),
    ] {
        let home = asked_home();
        assert_eq!(home.run(&["tasks", "reply", "1", words]).code, 0);
        assert_eq!(body(&waiting(&home)), expected);
    }
}

#[test]
fn a_mail_is_forwarded_only_after_approval_and_only_to_whom_the_person_named() {
    let home = asked_home();
    let forwarded = home.run(&["tasks", "forward", "1", "--to", "dana@work.example", "Please take this."]);
    assert_eq!(forwarded.code, 0, "{}", forwarded.err);
    let item = waiting(&home);
    assert_eq!(item["action"]["class"], "R3");
    assert!(body(&item).contains("Please take this.") && body(&item).contains("> Please send me the price list"));
    let sent = approve(&home, &item);
    assert_eq!((sent.len(), field(&sent[0], "To")), (1, "<dana@work.example>"));
    assert!(field(&sent[0], "Subject").starts_with("Fwd: "));
}

#[test]
fn a_new_mail_is_written_from_a_task_or_on_its_own() {
    for from_task in [true, false] {
        let home = asked_home();
        let task: &[&str] = if from_task { &["--task", "1"] } else { &[] };
        let written = ["tasks", "mail", "--to", "dana@work.example", "--subject", "Prices"];
        let command: Vec<&str> = written.iter().chain(task).chain(&["Which prices count?"]).copied().collect();
        let answered = home.run(&command);
        assert_eq!(answered.code, 0, "{}", answered.err);
        let item = waiting(&home);
        assert_eq!(item["action"]["class"], "R3");
        let sent = approve(&home, &item);
        assert_eq!((sent.len(), field(&sent[0], "Subject")), (1, "Prices"));
        assert!(sent[0].contains("Which prices count?"));
    }
}

#[test]
fn what_is_no_address_and_what_has_no_mail_is_refused() {
    let home = asked_home();
    let odd = home.run(&["tasks", "forward", "1", "--to", "dana", "x"]);
    assert!(odd.code == 2 && odd.err.contains("'dana' is not a mail address"), "{}", odd.err);
    home.run(&["tasks", "add", "buy milk"]);
    let none = home.run(&["tasks", "reply", "2", "x"]);
    assert!(none.code == 1 && none.err.contains("task 2 has no mail"), "{}", none.err);
    assert!(home.json(&["hitl", "list"]).as_array().unwrap().is_empty());
}

#[test]
fn the_mail_of_a_task_is_archived() {
    let home = asked_home();
    assert_eq!(home.run(&["tasks", "archive", "1"]).code, 0);
    assert!(home.maildir().join(".Archive/cur/ask.eml:2,").exists(), "{:?}", home.run(&["tasks", "show", "1"]));
    assert_ne!(home.json(&["tasks", "show", "1"])["status"], "DONE", "the work itself is still to be done");
}
