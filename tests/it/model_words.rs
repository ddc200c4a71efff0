//! Tests what a model adds: better objectives, an urgency score, worded drafts, all of it recorded.

use serde_json::json;

use crate::support::{
    model_server::{Said, Server, kind, ledger, tasks, with_model},
    test_home::TestHome,
};

#[tokio::test(flavor = "multi_thread")]
async fn the_samples_are_worded_and_the_tasks_are_the_same() {
    let off = TestHome::samples();
    off.once().await;
    let (on, server) = (TestHome::samples(), Server::kind());
    with_model(&on, &server, "");
    on.once().await;
    assert_eq!(tasks(&on), tasks(&off));
    assert_eq!(ledger(&on), ledger(&off));
    assert!(on.count("tasks WHERE objective LIKE 'Kindly: %'") > 10);
    assert_eq!(on.count("task_facts WHERE objective LIKE 'Kindly%'"), 0, "rules match what was read");
    assert_eq!(on.count("task_facts f JOIN tasks t USING (task_id) WHERE f.urgency_origin <> 'model'"), 0);
    assert!(on.count("tasks WHERE result_summary LIKE '% About: Somebody%'") > 5);
    assert!(on.count("tasks WHERE json_extract(tool_output, '$.draft_reply.worded_by') = 'model'") > 0);
    assert_eq!(off.count("model_call"), 0);
    assert_eq!(
        on.count("model_call WHERE outcome <> 'answered'"),
        0,
        "{:?}",
        on.sql("SELECT node, outcome, note FROM model_call WHERE outcome <> 'answered'")
    );
    assert_eq!(on.count("model_call") as usize, server.count());
    on.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_sees_handles_guidelines_first_and_no_address() {
    let (home, server) = (TestHome::samples(), Server::kind());
    home.write("guidelines.txt", "- Sound like a sailor.\n");
    with_model(&home, &server, "");
    home.once().await;
    let asked = server.asked();
    assert!(asked.len() > 30, "{}", asked.len());
    for question in &asked {
        assert!(question.system.starts_with("- Sound like a sailor."), "{}", question.prompt);
        let shown = question.data.to_string();
        assert!(!shown.contains('@') && !shown.contains("://"), "{}: {shown}", question.prompt);
        assert!(!shown.contains("01J") && !shown.contains("Message-ID"), "{shown}");
    }
    let drafts: Vec<_> = asked.iter().filter(|question| question.prompt == "draft_reply").collect();
    assert!(drafts.iter().any(|draft| draft.data["language"] == "he"), "one is in Hebrew");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_asked_for_in_the_persons_own_style() {
    let (home, server) = (TestHome::active(), Server::kind());
    with_model(&home, &server, "");
    let sent = |id: &str, to: &str, words: &str| {
        let letter = home.letter(id).from("Alex Green <you@home.example>").body(&format!("{words}\n")).text();
        letter.replace("To: Alex Green <you@home.example>", &format!("To: {to}"))
    };
    home.deliver_into(".Sent/cur", "s1:2,S", sent("s1", "Tom <tom@bakerand.example>", "Ahoy Tom, fair winds!"));
    home.deliver_into(".Sent/cur", "s2:2,S", sent("s2", "dana@work.example", "Dear Dana, as agreed."));
    home.once().await;
    home.post(&home.letter("q").question());
    home.once().await;
    let asked = server.asked();
    let draft = asked.iter().find(|asked| asked.prompt == "draft_reply").unwrap();
    let style: Vec<&str> = draft.data["style"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert_eq!(style, ["Ahoy Tom, fair winds!", "Dear Dana, as agreed."], "what was written to the same person first");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_holds_the_models_words_between_ours() {
    let (home, server) = (TestHome::active(), Server::kind());
    with_model(&home, &server, "");
    home.post(&home.letter("q").question());
    home.post(&home.letter("m").body("Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n"));
    home.once().await;
    let drafts: Vec<String> = home
        .sql("SELECT json_extract(tool_output, '$.draft_reply.draft') FROM tasks ORDER BY source")
        .into_iter()
        .flatten()
        .collect();
    assert!(
        drafts[0].starts_with(
            "Dear friend,\n\nThank you, that suits me well. I will be there.\n\nMonday 23 November 2026, 10:00–10:30 "
        ),
        "{drafts:?}"
    );
    assert!(drafts[0].contains("(UTC+00:00)"), "the times are ours: {drafts:?}");
    assert!(drafts[1].ends_with("Warm regards,\nAlex Green\n"), "{drafts:?}");
    // What would be sent waits for a yes.
    assert!(home.sent().is_empty());
    assert_eq!(home.count("outbox WHERE step = 'send_reply' AND state = 'parked'"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_a_model_never_use_the_allow_list() {
    let letter = |home: &TestHome| home.letter("q").question().verified();
    let (home, server) = (TestHome::active(), Server::kind());
    home.policy("allow: [tom@bakerand.example]");
    with_model(&home, &server, "");
    home.post(&letter(&home));
    home.once().await;
    assert_eq!(
        home.sql("SELECT state, class FROM outbox WHERE step = 'send_reply'"),
        [["parked", "R2"]],
        "shown first, whoever is on the list"
    );
    assert!(home.sent().is_empty());
    // The person's own words to the same address do use it.
    let written = home.run(&["tasks", "reply", "1", "On", "Thursday."]);
    assert_eq!(written.code, 0, "{}", written.err);
    assert_eq!(home.count("outbox WHERE step = 'send_reply' AND state IN ('saved', 'sent')"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn urgency_is_all_a_model_says_about_a_level() {
    let level = |urgency: f64| async move {
        let home = TestHome::active();
        let server = Server::start(move |asked| match asked.prompt.as_str() {
            "prioritise" => Said::Answer(json!({ "urgency": urgency })),
            _ => Said::Answer(kind(asked)),
        });
        with_model(&home, &server, "");
        home.post(&home.letter("q").question());
        home.once().await;
        let why = home.run(&["why", "1"]);
        assert!(why.out.contains(&format!("urgency {urgency:.2} (model)")), "{}", why.out);
        home.sql_one("SELECT priority FROM tasks")
    };
    assert_eq!(level(0.95).await, "high", "the fuzzy-urgency rule of the shipped rules");
    assert_eq!(level(1.0).await, "high", "no urgency makes a task critical");
    assert_eq!(level(0.1).await, "low");
}

#[tokio::test(flavor = "multi_thread")]
async fn extra_steps_and_a_deadline_are_shown_and_decide_nothing() {
    let home = TestHome::active();
    let server = Server::start(|asked| match asked.prompt.as_str() {
        "plan_step" => Said::Answer(json!({ "tasks": [
            { "task": "T1", "objective": "Write the project summary for Tom", "deadline": "2026-11-25", "steps": ["draft_reply"] },
        ] })),
        _ => Said::Answer(kind(asked)),
    });
    with_model(&home, &server, "");
    home.post(&home.letter("r").body("Hello Alex,\n\nPlease write the project summary.\n\nTom\n"));
    home.once().await;
    let row = home.sql("SELECT objective, json_extract(context, '$.deadline'), json_extract(context, '$.deadline_by'), json_extract(subtasks, '$[0].step'), status FROM tasks");
    assert_eq!(row, [["Write the project summary for Tom", "2026-11-25", "model", "draft_reply", "IN_PROGRESS"]]);
    assert_eq!(home.sql("SELECT due_at FROM task_facts"), [["∅"]], "rules do not rank by it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_answer_is_repaired_once() {
    let home = TestHome::active();
    let server =
        Server::start(
            |asked| if asked.repair { Said::Answer(kind(asked)) } else { Said::Text("Sure! Here you go.".into()) },
        );
    with_model(&home, &server, "");
    home.post(&home.letter("q").question());
    home.once().await;
    assert_eq!(home.count("model_call WHERE outcome = 'repaired' AND requests = 2"), 3);
    assert_eq!(server.count(), 6);
    assert!(home.sql_one("SELECT objective FROM tasks").starts_with("Kindly: "));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_schemas_is_asked_without() {
    let home = TestHome::active();
    let server = Server::start(|asked| match asked.prompt.as_str() {
        "without schema" if asked.data.get("deadline").is_some() => Said::Answer(json!({ "urgency": 0.5 })),
        "without schema" => Said::Text("{}".into()),
        _ => Said::Status(400, vec![]),
    });
    with_model(&home, &server, "");
    home.post(&home.letter("q").question());
    home.once().await;
    assert_eq!(home.count("model_call WHERE node = 'prioritise' AND outcome = 'repaired'"), 1);
    assert_eq!(home.count("model_call WHERE node = 'plan_step' AND outcome = 'malformed'"), 1);
}
