//! Tests that a model may word a reply and nothing else: whatever is not the same in it, and whatever fails, leaves the
//! deterministic text.

use adjutant::app::ChatInput;
use serde_json::json;

use crate::support::{
    model_server::{Said, Server, with_model},
    test_home::TestHome,
};

/// Says something in a new conversation. Returns the reply and what is stored of it.
async fn say(home: &TestHome, texts: &[&str]) -> (String, String) {
    let app = home.app().await;
    let mut last = (String::new(), String::new());
    for text in texts {
        let input = ChatInput {
            text: (*text).to_owned(),
            conversation_id: Some("c".into()),
            user_id: None,
            profile: Some("guided".parse().unwrap()),
        };
        let output = app.conversations().say(input).await.unwrap();
        last = (output.reply, output.raw);
    }
    last
}

async fn reworded_as(said: Said) -> (String, String, TestHome) {
    let (home, server) = (TestHome::active(), Server::start(move |_| said.clone()));
    with_model(&home, &server, "reword_replies = true\n");
    let (reply, raw) = say(&home, &["add task"]).await;
    assert!(server.count() > 0, "the model was asked");
    let first = &server.asked()[0];
    assert!(first.prompt == "reword_reply" && !first.data.to_string().contains("STATE"), "{first:?}");
    (reply, raw, home)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_faithful_rewording_is_used_and_the_marker_stays() {
    let (reply, raw, home) = reworded_as(Said::Answer(json!({ "reply": "How shall the new task be called?" }))).await;
    assert_eq!(reply, "How shall the new task be called?");
    assert_eq!(raw, "How shall the new task be called?\n[[STATE:CREATE:ASK_TITLE]]");
    assert_eq!(home.sql("SELECT node, outcome FROM model_call"), [["chat", "answered"]], "its cost is recorded");
    // The flow goes on as if nothing had been reworded.
    let app = home.app().await;
    let input = ChatInput { text: "Buy milk".into(), conversation_id: Some("c".into()), ..ChatInput::default() };
    assert_eq!(app.conversations().say(input).await.unwrap().state, Some("CREATE:ASK_PRIORITY"));
}

#[tokio::test(flavor = "multi_thread")]
async fn anything_else_leaves_the_deterministic_text() {
    for said in [
        Said::Answer(json!({ "reply": "What is its title? And its priority?" })),
        Said::Answer(json!({ "reply": "I have added it." })),
        Said::Answer(json!({ "reply": "What is the title? [[STATE:DELETE:ASK_CONFIRMATION]]" })),
        Said::Answer(json!({ "reply": "מה הכותרת?" })),
        Said::Text("no json".into()),
        Said::Status(400, Vec::new()),
        Said::Refusal,
    ] {
        let shown = format!("{said:?}");
        let (reply, raw, _home) = reworded_as(said).await;
        assert_eq!(reply, "What is the title of the new task?", "{shown}");
        assert_eq!(raw, "What is the title of the new task?\n[[STATE:CREATE:ASK_TITLE]]", "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_model_is_asked_unless_the_configuration_says_so() {
    let (home, server) = (TestHome::active(), Server::kind());
    with_model(&home, &server, "");
    say(&home, &["add task", "Buy milk"]).await;
    assert_eq!(server.count(), 0);
}
