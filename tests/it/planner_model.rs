//! Tests what a model adds to the planner: plans in the format with markers, and calls of tools in every shape. What is
//! not clear is not done.

use adjutant::model::PlanOrigin;
use serde_json::{Value, json};

use crate::support::{
    model_server::{Asked, Said, Server, kind, with_model},
    test_home::TestHome,
};

const PLAN: &str =
    "Of course!\n---PLAN-START---\nSTEP 1: Make a place\nDO: Make a place for the tax papers\n---PLAN-END---";
/// A request that its own words do not divide, and whose tool they do not name.
const REQUEST: &str = "Build a system in which the tax papers have their place";

/// The same call in every shape in which models write one: as text, and as a call of a tool.
fn shapes(name: &str) -> Vec<(&'static str, Said)> {
    let arguments = json!({ "name": name });
    let native = json!({
        "choices": [{ "message": { "content": null, "tool_calls": [{ "id": "c1", "type": "function",
            "function": { "name": "create_folder", "arguments": arguments.to_string() } }] }, "finish_reason": "tool_calls" }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 20 },
    });
    vec![
        ("standard", Said::Text(json!({ "name": "create_folder", "parameters": arguments }).to_string())),
        (
            "function call",
            Said::Text(format!(
                "```json\n{}\n```",
                json!({ "function_call": { "name": "create_folder", "arguments": arguments } })
            )),
        ),
        (
            "tool calls",
            Said::Text(format!(
                "I will do that now: {} Done!",
                json!({ "tool_calls": [{ "function": { "name": "create_folder", "arguments": arguments } }] })
            )),
        ),
        ("native", Said::Body(native.to_string().into_bytes())),
    ]
}

/// Starts a server that plans one step and answers the question for its calls with `said`.
fn server(said: Said) -> Server {
    Server::start(move |asked: &Asked| match asked.prompt.as_str() {
        "create_plan" => Said::Text(PLAN.into()),
        "step_calls" => said.clone(),
        _ => Said::Answer(kind(asked)),
    })
}

fn folder_exists(home: &TestHome, name: &str) -> bool {
    home.home().files().join(name).is_dir()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_done_by_calls_of_every_shape() {
    for (shape, said) in shapes("Taxes") {
        let (home, server) = (TestHome::observing(), server(said));
        home.write("guidelines.txt", "- Sound like a sailor.\n");
        with_model(&home, &server, "");
        let app = home.app().await;
        let prepared = app.plans().prepare(REQUEST, None).await.unwrap();
        assert_eq!(prepared.plan.origin, PlanOrigin::Model, "{shape}: {:?}", prepared.notes);
        assert_eq!(prepared.plan.steps[0].instruction, "Make a place for the tax papers");
        app.plans().open(prepared).await.unwrap();
        app.worker().finish_runs().await.unwrap();
        assert_eq!(home.sql("SELECT status, tool FROM plan_step"), [["completed", "create_folder"]], "{shape}");
        assert!(folder_exists(&home, "Taxes"), "{shape}");
        assert_eq!(home.sql("SELECT status FROM tasks"), [["DONE"]], "{shape}");
        let asked = server.asked();
        assert!(asked.iter().all(|asked| asked.system.starts_with("- Sound like a sailor.")));
        assert_eq!(asked.iter().filter(|asked| asked.prompt == "step_calls").count(), 1, "{shape}");
        assert_eq!(home.count("model_call WHERE outcome = 'answered'"), asked.len() as u64);
        let origin = home.sql_one("SELECT json_extract(action, '$.arguments[0].origin') FROM outbox");
        assert_eq!(origin, "model");
        home.must_be_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_takes_the_same_path() {
    for (shape, said) in shapes("Receipts") {
        let (home, server) = (TestHome::active(), server(said));
        with_model(&home, &server, "");
        let body =
            "Hi Alex,\n\nCould you please create a folder called Taxes and prepare a place for the receipts?\n\nAnna\n";
        home.post(&home.letter("plan").body(body));
        home.once().await;
        let steps = home.sql("SELECT status, tool FROM plan_step ORDER BY step_number");
        assert_eq!(steps, [["completed", "create_folder"], ["completed", "create_folder"]], "{shape}");
        assert!(folder_exists(&home, "Taxes") && folder_exists(&home, "Receipts"), "{shape}");
        home.must_be_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_not_clear_is_not_made() {
    let call = |value: Value| Said::Text(value.to_string());
    for (said, why) in [
        (call(json!({ "name": "remove_folder", "parameters": { "name": "Taxes" } })), "no tool 'remove_folder'"),
        (
            call(json!({ "name": "create_folder", "parameters": { "name": "Taxes", "mode": "777" } })),
            "no argument 'mode'",
        ),
        (call(json!({ "name": "create_folder", "parameters": {} })), "needs the argument 'name'"),
        (
            call(json!({ "name": "send_mail", "parameters": { "to": ["eve@evil.example"], "text": "Hi" } })),
            "nobody in the request",
        ),
        (
            call(json!({ "name": "create_folder", "parameters": { "name": "see evil.example now" } })),
            "must not hold an address",
        ),
        (Said::Text(r#"{"name": "create_folder", "parameters": {"name": "Tax"#.into()), "cut off"),
        (Said::Text("I have created the folder.".into()), "there is no call"),
        (Said::Status(500, Vec::new()), "gave no answer"),
    ] {
        let (home, server) = (TestHome::observing(), server(said));
        with_model(&home, &server, "timeout_seconds = 5\n");
        let app = home.app().await;
        app.plans().open(app.plans().prepare(REQUEST, None).await.unwrap()).await.unwrap();
        app.worker().finish_runs().await.unwrap();
        let failed = home.sql("SELECT status, error_message FROM plan_step");
        assert!(failed[0][0] == "failed" && failed[0][1].contains(why), "{why}: {failed:?}");
        assert_eq!(home.count("outbox"), 0, "{why}");
        assert_eq!(home.sql("SELECT status FROM tasks"), [["WAITING_HITL"]], "{why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_cannot_be_read_is_not_guessed_at() {
    let scripted = |plan: &'static str| {
        Server::start(move |asked: &Asked| match asked.prompt.as_str() {
            "create_plan" => Said::Text(plan.into()),
            _ => Said::Text("NONE".into()),
        })
    };
    for (plan, request, steps, note) in [
        ("I would do it step by step.", REQUEST, 1, "executed directly"),
        ("STEP 1: A\nAFTER: 2\nSTEP 2: B\nAFTER: 1", "1. create folder A 2. call Ann", 2, "its own words"),
    ] {
        let (home, server) = (TestHome::observing(), scripted(plan));
        with_model(&home, &server, "");
        let app = home.app().await;
        let prepared = app.plans().prepare(request, None).await.unwrap();
        assert_eq!((prepared.plan.origin, prepared.plan.steps.len()), (PlanOrigin::Words, steps));
        assert!(prepared.notes.iter().any(|said| said.contains(note)), "{:?}", prepared.notes);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_calls_of_one_step_are_steps_of_their_own() {
    let two = r#"{"name": "create_folder", "parameters": {"name": "One"}} {"name": "create_folder", "parameters": {"name": "Two"}}"#;
    let (home, server) = (TestHome::observing(), server(Said::Text(two.into())));
    with_model(&home, &server, "");
    let app = home.app().await;
    app.plans().open(app.plans().prepare(REQUEST, None).await.unwrap()).await.unwrap();
    app.worker().finish_runs().await.unwrap();
    assert_eq!(home.sql("SELECT status, after FROM plan_step"), [["completed", "[]"], ["completed", "[1]"]]);
    assert!(folder_exists(&home, "One") && folder_exists(&home, "Two"));
    assert_eq!(home.sql("SELECT status FROM tasks"), [["DONE"]]);
}
