//! Tests what is known about a task: it is embedded and found, it names every message of its conversation, and what was
//! found for the task is shown with it.

use adjutant::{
    app::{App, NewTask},
    memory::MatchKind,
    model::{AccountId, Actor, Task, TaskContext, TaskEdit, TaskEditKind, TaskId},
    store::Write,
};
use serde_json::json;

use crate::support::test_home::TestHome;

const LOCAL: &str = "local";

/// Adds a task with this context beside one that is typed in the same words, and embeds both.
async fn add_task(app: &App, objective: &str, context: serde_json::Value) -> String {
    let typed = app.tasks().add(NewTask { objective: objective.into(), ..NewTask::default() }).await.unwrap();
    let facts = app.tasks().detail(&typed.task.task_id.to_string()).await.unwrap().facts.unwrap();
    let now = app.clock.now();
    let task_id = TaskId::derive(now, &[objective, &context.to_string()]);
    let context: TaskContext = serde_json::from_value(context).unwrap();
    let task = Task { task_id, context, status: adjutant::model::TaskStatus::New, ..typed.task };
    let edit = TaskEdit {
        task_id,
        account: AccountId::from(LOCAL),
        user: app.user.clone(),
        who: Actor::Person,
        kind: TaskEditKind::Add { task: Box::new(task), facts: Box::new(facts), remind: None },
        why: String::new(),
        at: now,
        remind_at: None,
    };
    app.store.write(Write::EditTask(vec![edit])).await.unwrap();
    app.memory.embed_due_documents().await.unwrap();
    format!("task:{task_id}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_found_by_what_stands_only_in_its_context() {
    let home = TestHome::active();
    let app = home.app().await;
    let context = json!({
        "person": "Zuzana Kratochvil", "deadline": "2026-11-27", "evidence": "the deposit for the marquee is due",
        "amount": 7315.0, "currency": "EUR", "invoice_number": "MQ-88213", "threads": ["<a@b.example>"],
    });
    let doc = add_task(&app, "Settle the matter", context).await;
    for other in ["Buy milk", "Call the plumber about the pipe", "Book a flight to Lisbon"] {
        add_task(&app, other, json!({ "person": "Tom Baker", "deadline": "2027-02-01", "amount": 20.0 })).await;
    }
    for question in ["Kratochvil", "7315", "7315 EUR", "88213", "Friday November", "marquee deposit"] {
        let found = app.search().find(question, 3).await.unwrap();
        assert_eq!(found.trouble, None);
        let first = found.found.first().unwrap_or_else(|| panic!("{question}: nothing was found"));
        assert_eq!(first.doc, doc, "{question}: {found:?}");
    }
    for question in ["Kratochvil", "7315 EUR", "27 November", "a deposit for the tent"] {
        let near = app.memory.search_dense(&AccountId::from(LOCAL), question, 3).await.unwrap();
        assert_eq!(near.first().map(|near| near.doc.as_str()), Some(doc.as_str()), "{question}: {near:?}");
    }
    let reasons = app.search().find("marquee deposit", 1).await.unwrap().found.remove(0).reasons;
    assert!(reasons.iter().any(|reason| reason.by == MatchKind::Meaning), "{reasons:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_gives_its_task_a_context_that_is_embedded_and_follows_changes() {
    let home = TestHome::active();
    home.post(&home.letter("one").invoice(2041).verified());
    home.once().await;
    let pieces =
        "SELECT v.number FROM search_vector v JOIN search_doc d USING (doc_id) WHERE d.doc LIKE 'task:%' ORDER BY 1";
    assert_eq!(home.sql(pieces), [["0"], ["1"]], "the objective and what is known about it");
    let app = home.app().await;
    let task = format!("task:{}", home.sql_one("SELECT task_id FROM tasks"));
    let tasks = |text: &'static str| {
        let app = &app;
        async move {
            let mut found = app.search().find(text, 5).await.unwrap().found;
            found.retain(|found| found.reasons.iter().any(|reason| reason.by == MatchKind::Words));
            found.into_iter().map(|found| found.doc).filter(|doc| doc.starts_with("task:")).collect::<Vec<_>>()
        }
    };
    assert_eq!(tasks("Wednesday").await, [task.as_str()], "its deadline is a Wednesday");
    // A new date is a new piece.
    assert!(tasks("December").await.is_empty());
    let (deadline, at) = app.tasks().parse_deadline("2026-12-31").unwrap();
    app.tasks().edit("1", TaskEditKind::Deadline(Some(deadline), Some(at)), "").await.unwrap();
    assert_eq!(home.count("search_due"), 1);
    assert_eq!(tasks("December").await, [task.as_str()]);
    home.once().await;
    assert_eq!(home.count("search_due"), 0);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_of_an_older_version_are_embedded_again() {
    let home = TestHome::active();
    home.post(&home.letter("one").invoice(2041).verified());
    home.once().await;
    let vectors = || home.sql("SELECT doc_id, number, hex(bytes) FROM search_vector ORDER BY 1, 2");
    let before = vectors();
    let older = "UPDATE setting SET value = '2' WHERE name = 'search_edition';
                 DELETE FROM search_vector WHERE number = 1";
    home.database().execute_batch(older).unwrap();
    let mail = home.sql("SELECT vector_id FROM search_vector WHERE kind = 'mail'");
    home.once().await;
    assert_eq!(vectors(), before);
    assert_eq!(home.sql("SELECT vector_id FROM search_vector WHERE kind = 'mail'"), mail, "a mail has the same pieces");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_names_every_message_of_its_conversation() {
    let home = TestHome::active();
    home.post(
        &home
            .letter("one")
            .subject("The keys")
            .verified()
            .body("Hello Alex,\n\nPlease write the summary of the project until Friday.\n\nTom\n"),
    );
    home.once().await;
    let threads = || home.json(&["tasks", "show", "1"])["context"]["threads"].clone();
    let id = |id: &str| format!("<{id}@it.example>");
    assert_eq!(threads(), json!([id("one")]));
    home.clock.advance(3600);
    home.post(
        &home.letter("two").subject("Re: The keys").verified().answers("one").body("Hello Alex,\n\nany news?\n\nTom\n"),
    );
    home.once().await;
    assert_eq!(home.sql("SELECT state FROM ledger ORDER BY mail_id"), [["task"], ["linked"]]);
    assert_eq!(threads(), json!([id("one"), id("two")]));
    // The person's own answer, which is in Sent.
    home.clock.advance(3600);
    let own = home.letter("three").from("Alex Green <you@home.example>").subject("Re: The keys").answers("one");
    let own = own.body("Hello Tom,\n\nI am still working on the summary.\n\nAlex\n").text();
    home.deliver_into(
        ".Sent/cur",
        "three:2,S",
        own.replace("To: Alex Green <you@home.example>", "To: Tom <tom@bakerand.example>"),
    );
    home.once().await;
    assert_eq!(threads(), json!([id("one"), id("two"), id("three")]));
    // What comes after the end belongs to the conversation too.
    home.app().await.tasks().edit("1", TaskEditKind::Done, "").await.unwrap();
    home.clock.advance(3600);
    home.post(
        &home
            .letter("four")
            .subject("Re: The keys")
            .verified()
            .answers("one")
            .body("Hello Alex,\n\nthank you!\n\nTom\n"),
    );
    home.once().await;
    assert_eq!(threads(), json!([id("one"), id("two"), id("three"), id("four")]));
    assert_eq!(home.sql("SELECT status FROM tasks"), [["DONE"]]);
    assert_eq!(home.count("tasks"), 1);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_the_program_sent_is_named_once_it_is_read_in() {
    let home = TestHome::active();
    home.policy("allow: [tom@bakerand.example]");
    home.post(&home.letter("one").subject("The house").question().verified());
    home.once().await;
    let app = home.app().await;
    for item in app.approvals().list().await.unwrap() {
        app.approvals().approve(&item).await.unwrap();
    }
    let written = home.run(&["tasks", "reply", "1", "On", "Thursday."]);
    assert_eq!(written.code, 0, "{}", written.err);
    home.clock.advance(60);
    home.once().await;
    home.once().await;
    let sent = home.sql("SELECT message_id FROM mail WHERE direction = 'out'");
    assert!(!sent.is_empty(), "the answer was read in");
    let threads = home.json(&["tasks", "show", "1"])["context"]["threads"].to_string();
    for row in sent {
        assert!(threads.contains(&row[0]), "{threads} lacks {}", row[0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_in_the_middle_of_a_conversation_names_what_came_before() {
    let home = TestHome::active();
    let chain = "References: <root@it.example> <second@it.example>\nIn-Reply-To: <third@it.example>";
    home.post(
        &home
            .letter("fourth")
            .header(chain)
            .verified()
            .body("Hello Alex,\n\nPlease write the summary of the project.\n\nTom\n"),
    );
    home.once().await;
    let ids = ["root", "second", "third", "fourth"].map(|id| format!("<{id}@it.example>"));
    assert_eq!(home.json(&["tasks", "show", "1"])["context"]["threads"], json!(ids));
    // A conversation is recognised by its first message and by the task's own, as before.
    assert_eq!(home.sql("SELECT thread FROM task_thread ORDER BY 1"), [["<fourth@it.example>"], ["<root@it.example>"]]);
    let app = home.app().await;
    app.tasks().edit("1", TaskEditKind::Done, "").await.unwrap();
    app.tasks().edit("1", TaskEditKind::Reopen, "").await.unwrap();
    assert_eq!(home.count("task_thread"), 4, "its successor is recognised by the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_found_for_a_task_is_shown_with_the_reasons() {
    let home = TestHome::active();
    let first = home.letter("one").subject("The lease").from("Ann Lee <ann@lee.example>");
    home.post(&first.body("Hello Alex,\n\ncould you send me the signed lease for the apartment in Denver?\n\nAnn\n"));
    home.once().await;
    home.clock.advance(60);
    let second = home.letter("two").subject("Rental contract").from("Bob Ray <bob@ray.example>");
    home.post(&second.body("Hello Alex,\n\nplease mail me the signed rental contract of the Denver flat.\n\nBob\n"));
    home.once().await;
    let shown = home.json(&["tasks", "show", "2"]);
    let found = &shown["documents"][0];
    assert!(found["title"].as_str().unwrap().to_lowercase().contains("lease"), "{shown}");
    assert!(found["reasons"].to_string().contains("meaning"), "{found}");
    let text = home.run(&["tasks", "show", "2"]).out;
    let mut related = text.lines().skip_while(|line| *line != "  Related").skip(1);
    let line = related.next().unwrap_or_else(|| panic!("{text}"));
    assert!(line.to_lowercase().contains("lease") && line.contains("meaning"), "{line}");
    assert_eq!(home.json(&["tasks", "show", "1"])["documents"], json!([]), "nothing was there before the first");
}
