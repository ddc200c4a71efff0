//! Tests conversations through the program: what is stored, that users and conversations do not mix, that what is said to
//! be done is in the history, and that a line that cannot be read ends nothing.

use std::{io::Write as _, process::Stdio};

use adjutant::{app::ChatInput, model::ChatProfile};
use serde_json::{Value, json};

use crate::support::test_home::{Kind, TestHome};

/// Sends lines to `adjutant chat --jsonl`. Returns the answers and the exit code.
fn jsonl(home: &TestHome, lines: &[String], options: &[&str]) -> (Vec<Value>, i32) {
    let arguments: Vec<&str> = ["chat", "--jsonl"].iter().chain(options).copied().collect();
    let mut child = home.command(&arguments).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = lines.join("\n");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    (answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), output.status.code().unwrap())
}

fn say(conversation: &str, user: &str, text: &str) -> String {
    json!({ "text": text, "conversation_id": conversation, "user_id": user }).to_string()
}

#[test]
fn json_lines_hold_what_the_reply_is_and_what_was_done() {
    let home = TestHome::real_time(Kind::Samples);
    let lines =
        [say("c", "dana", "add buy milk"), say("c", "dana", "mark it as done"), say("c", "dana", "show my tasks")];
    let (answers, code) = jsonl(&home, &lines, &[]);
    assert_eq!(code, 0);
    let [added, done, listed] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!(added["reply"], "I've added 'Buy milk' to your list.");
    assert_eq!((&added["raw"], &added["state"], &added["language"]), (&added["reply"], &Value::Null, &json!("en")));
    assert_eq!((&added["intent"], &added["conversation_id"]), (&json!("CREATE"), &json!("c")));
    assert_eq!(added["command"]["intent"], "add_task");
    assert_eq!(added["command"]["fields"]["title"], "buy milk");
    assert_eq!(added["tools"][0]["name"], "add_task");
    assert_eq!(added["tools"][0]["arguments"]["title"], "buy milk");
    let complete = done["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "complete_task").unwrap();
    // What the reply says was done is a line of the history.
    let recorded = &complete["result"]["changed"]["recorded"];
    assert_eq!(
        (&recorded["field"], &recorded["to"], &recorded["who"]),
        (&json!("status"), &json!("DONE"), &json!("person"))
    );
    let id = complete["arguments"]["task_id"].as_str().unwrap();
    assert_eq!(home.count(&format!("task_history WHERE task_id = '{id}' AND to_value = 'DONE'")), 1);
    assert_eq!(listed["reply"], "Here are all your tasks:\n1. ✓ Buy milk");
}

#[test]
fn a_guided_conversation_goes_on_in_another_process() {
    let home = TestHome::real_time(Kind::Samples);
    let mut states = Vec::new();
    for text in ["add task", "Buy milk", "urgent", "none"] {
        let (answers, code) = jsonl(&home, &[say("g", "dana", text)], &["--profile", "guided"]);
        assert_eq!(code, 0, "{answers:?}");
        states.push(answers[0]["state"].clone());
        let marker = answers[0]["state"].as_str().map(|state| format!("[[STATE:{state}]]"));
        assert_eq!(
            answers[0]["raw"].as_str().unwrap().lines().next_back().map(str::to_owned).filter(|_| marker.is_some()),
            marker
        );
        assert!(!answers[0]["reply"].as_str().unwrap().contains("[[STATE:"));
    }
    assert_eq!(
        states,
        [json!("CREATE:ASK_TITLE"), json!("CREATE:ASK_PRIORITY"), json!("CREATE:ASK_DEADLINE"), Value::Null]
    );
    assert_eq!(home.sql("SELECT objective, priority FROM tasks WHERE source = 'chat:g'"), [["Buy milk", "critical"]]);
}

#[test]
fn two_conversations_and_two_users_never_mix() {
    let home = TestHome::real_time(Kind::Samples);
    let lines = [
        say("one", "dana", "add buy milk"),
        say("two", "dana", "delete it"),
        say("one", "omer", "delete it"),
        say("one", "omer", "show my tasks"),
        say("one", "omer", "delete buy milk"),
        say("one", "omer", "delete task 1"),
        json!({ "text": "delete it", "user_id": "dana" }).to_string(),
        say("one", "dana", "delete it"),
    ];
    let (answers, _) = jsonl(&home, &lines, &[]);
    let which = "Which task would you like to delete? You can say the task number or title.";
    let replies: Vec<&str> = answers.iter().map(|answer| answer["reply"].as_str().unwrap()).collect();
    assert_eq!(
        replies,
        [
            "I've added 'Buy milk' to your list.",
            which,
            which,
            "You don't have any tasks. You're all caught up!",
            "I couldn't find a task matching 'buy milk'. You don't have any tasks.",
            "I couldn't find task 1. Would you like to see your current tasks?",
            which,
            "I've deleted 'Buy milk' from your list.",
        ]
    );
    let known: Vec<&str> = answers.iter().map(|answer| answer["conversation_id"].as_str().unwrap()).collect();
    assert!(!["one", "two"].contains(&known[6]), "a message without a conversation begins a new one");
}

#[test]
fn a_line_that_cannot_be_read_ends_nothing() {
    let home = TestHome::real_time(Kind::Samples);
    let long = "x".repeat(1_000_000);
    let lines = [
        "no json".to_owned(),
        say("../x", "dana", "hello"),
        say("c", "no body!", "hello"),
        say("c", "dana", &long),
        say("c", "dana", "\u{0}\u{1b}[2J\u{202e}"),
        say("c", "dana", "add buy milk"),
    ];
    let (answers, code) = jsonl(&home, &lines, &[]);
    assert_eq!(code, 4);
    for (answer, part) in answers.iter().zip(["not a message", "conversation_id", "user_id"]) {
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(part)), "{answer}");
    }
    assert!(answers[3]["reply"].as_str().unwrap().starts_with("That message is too long"));
    assert_eq!(answers[5]["reply"], "I've added 'Buy milk' to your list.");
    assert!(home.count("chat_messages WHERE length(content) > 100000") == 0, "a pasted file is not kept whole");
}

#[test]
fn a_pipe_is_answered_line_by_line_and_the_conversation_goes_on() {
    let home = TestHome::real_time(Kind::Samples);
    let mut answers = Vec::new();
    for text in ["add buy milk\n", "delete it\nundo\n"] {
        let mut child = home.command(&["chat"]).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        answers.extend(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>());
    }
    assert_eq!(
        answers,
        [
            "I've added 'Buy milk' to your list.",
            "I've deleted 'Buy milk' from your list.",
            "I've taken that back: 'Buy milk' is open again.",
        ]
    );
    assert_eq!(home.count("conversations"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_mail_has_opened_can_be_talked_about() {
    let home = TestHome::samples();
    home.once().await;
    let app = home.app().await;
    let ask = async |text: &str| {
        let input = ChatInput {
            text: text.into(),
            conversation_id: Some("c".into()),
            profile: Some(ChatProfile::Direct),
            ..ChatInput::default()
        };
        app.conversations().say(input).await.unwrap()
    };
    let listed = ask("what's pending?").await;
    assert!(listed.reply.starts_with("Here are your pending tasks:\n1. "), "{}", listed.reply);
    let waiting = ask("what's waiting for me?").await;
    let open = app.approvals().list().await.unwrap();
    assert!(!open.is_empty());
    assert_eq!(waiting.reply.lines().filter(|line| line.starts_with(char::is_numeric)).count(), open.len());
    assert!(ask("approve 1").await.reply.starts_with("I can't approve anything"));
    assert_eq!(app.approvals().list().await.unwrap().len(), open.len(), "nothing was approved");
    let first = app.tasks().list(false, 1).await.unwrap()[0].clone();
    let number = first.number.unwrap();
    let why = ask(&format!("why is task {number} {}?", first.task.priority)).await;
    assert!(why.reply.contains("because") && why.reply.contains(&format!("adjutant why {number}")), "{}", why.reply);
    let mail = app.tasks().list(false, 100).await.unwrap().into_iter().find(|row| row.mail_id.is_some()).unwrap();
    ask(&format!("task {} is not a task", mail.number.unwrap())).await;
    assert_eq!(app.tasks().find(&mail.task.task_id.to_string()).await.unwrap().task.status.as_str(), "CANCELLED");
    assert_eq!(home.count("correction WHERE kind = 'not_a_task'"), 1, "the nightly job learns from it");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_of_an_older_program_are_found_by_their_titles() {
    let home = TestHome::active();
    let app = home.app().await;
    let new = adjutant::app::NewTask { objective: "Renew the passport".into(), ..Default::default() };
    app.tasks().add(new).await.unwrap();
    drop(app);
    // As after the migration: the titles of tasks that were there before are not stored yet.
    home.database()
        .execute_batch(
            "DELETE FROM task_word; DELETE FROM task_title; DELETE FROM setting WHERE name = 'title_edition'",
        )
        .unwrap();
    let app = home.app().await;
    let input = ChatInput { text: "mark renew the pasport as done".into(), ..ChatInput::default() };
    assert_eq!(
        app.conversations().say(input).await.unwrap().reply,
        "Great job! I've marked 'Renew the passport' as complete."
    );
}
