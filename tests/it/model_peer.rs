//! Tests with a real model server: llama.cpp with a very small model. They prove the protocol (chat, schemas, errors),
//! not the quality of answers.
//!
//! `IT_PEER=long` works a mail with it (`make crash`).

use std::{
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use adjutant::{
    llm::{Llm as _, ModelHttpClient, ProviderFailure, ProviderRequest},
    model::{
        TeamState,
        llm::{BudgetLimits, LlmSettings, Provider, TokenPrice},
    },
    team::event::TeamEvent,
};
use serde_json::{Value, json};

use crate::support::{team_script, test_home::TestHome};

/// Ends with its standard input, which is ours.
struct Peer {
    child: Child,
    url: String,
}

impl Peer {
    fn start() -> Self {
        let cache = std::env::var("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.unwrap_or_else(|_| PathBuf::from(std::env::var("HOME").unwrap()).join(".cache"));
        let folder = cache.join("adjutant/peers/model");
        assert!(folder.is_dir(), "the model server of the tests is missing: `make peers` fetches it");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/peer_model.py");
        let mut child = Command::new("python3")
            .arg(script)
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.find_map(|line| line.ok().filter(|line| line.starts_with("http"))).expect("it never listened");
        Self { child, url: format!("{url}/v1") }
    }

    fn settings(&self) -> LlmSettings {
        LlmSettings {
            provider: Provider::Compatible,
            model: "smollm2".into(),
            base_url: self.url.clone(),
            key: None,
            deadline: Duration::from_secs(300),
            max_concurrent: 1,
            budget: BudgetLimits::default(),
            price: TokenPrice::default(),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn request(user: &str, schema: Value) -> ProviderRequest {
    ProviderRequest {
        system: "Answer in JSON.".into(),
        user: user.into(),
        repair: None,
        schema_name: "prioritise",
        schema,
        native_schema: true,
        tools: Vec::new(),
        max_tokens: 60,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_speaks_chat_schemas_and_errors() {
    adjutant::tls::install_provider();
    let peer = Peer::start();
    let wire = ModelHttpClient::new(&peer.settings()).unwrap();
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["urgent"],
        "properties": { "urgent": { "type": "boolean" } },
    });
    let raw = wire.complete(&request("Is the house on fire?", schema.clone())).await.unwrap();
    let said: Value = serde_json::from_str(&raw.text).unwrap_or_else(|error| panic!("{error}: {}", raw.text));
    assert!(said["urgent"].is_boolean(), "the schema is kept by the server: {said}");
    let (tokens_in, tokens_out) = raw.tokens.unwrap();
    assert!(tokens_in > 5 && tokens_out > 2, "{tokens_in} {tokens_out}");
    // The repair is a conversation.
    let again =
        ProviderRequest { repair: Some((raw.text, "it must be true".into())), ..request("Is it?", schema.clone()) };
    assert!(wire.complete(&again).await.is_ok());
    // An answer cut off by its limit of tokens, a schema nobody can keep, a wrong path.
    let short = ProviderRequest { max_tokens: 1, ..request("Is it?", schema) };
    assert!(matches!(wire.complete(&short).await, Err(ProviderFailure::MalformedReply(_))));
    let unfit = wire.complete(&request("x", json!({ "type": "surprise" }))).await;
    assert!(matches!(unfit, Err(ProviderFailure::RequestRejected(400))), "{unfit:?}");
    let elsewhere = LlmSettings { base_url: format!("{}/nowhere", peer.url), ..peer.settings() };
    let lost = ModelHttpClient::new(&elsewhere).unwrap().complete(&request("x", json!({ "type": "object" }))).await;
    assert!(matches!(lost, Err(ProviderFailure::Denied(404, _))), "{lost:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_schemas_are_taken_by_a_real_server() {
    adjutant::tls::install_provider();
    let peer = Peer::start();
    let wire = ModelHttpClient::new(&peer.settings()).unwrap();
    for prompt in adjutant::llm::Prompt::ALL {
        let asked = ProviderRequest { max_tokens: 8, ..request("Go.", prompt.schema().clone()) };
        match wire.complete(&asked).await {
            Ok(_) | Err(ProviderFailure::MalformedReply(_)) => {}
            Err(other) => panic!("{prompt}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_is_worked_with_a_real_server() {
    if std::env::var("IT_PEER").as_deref() != Ok("long") {
        println!("the long one: IT_PEER=long");
        return;
    }
    let peer = Peer::start();
    let home = TestHome::active();
    let config = home.read("adjutant.toml");
    let keys = format!(
        "provider = \"compatible\"\nmodel = \"smollm2\"\nbase_url = \"{}\"\ntimeout_seconds = 600\nat_once = 1\n",
        peer.url
    );
    home.write("adjutant.toml", &format!("{config}\n[llm]\n{keys}"));
    home.post(&home.letter("q").question());
    home.once().await;
    println!("{:?}", home.sql("SELECT node, outcome, note, requests, tokens_in, tokens_out, took_ms FROM model_call"));
    assert_eq!(home.count("tasks"), 1);
    assert_eq!(home.count("model_call WHERE outcome IN ('unreachable', 'late', 'denied')"), 0);
    assert!(home.count("model_call WHERE outcome IN ('answered', 'repaired')") > 0);
}

/// A very small model leads a team badly. What counts: the protocol holds, the team comes to an end, and it says which.
#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_drives_a_team_to_an_end() {
    let home = TestHome::observing();
    home.post(
        &home.letter("bill").subject("Invoice 4711").body("Please pay invoice 4711 over EUR 300.00 by 30 June 2026.\n"),
    );
    home.once().await;
    let peer = Peer::start();
    let keys = "at_once = 1\ntimeout_seconds = 400\ntokens_per_task = 60000\ntokens_per_day = 200000\n";
    crate::support::model_server::with_model_at(&home, &peer.url, keys);
    let app = home.app().await;
    let team = team_script::open(&app, "Which invoices are open? One task is enough.").await;
    let ended = tokio::time::timeout(Duration::from_secs(1500), team_script::run(&app, &team, team_script::IN_DAEMON));
    let state = ended.await.expect("it comes to an end");
    let seen = team_script::events(&app, &team).await;
    let calls = home.sql("SELECT outcome, count(*) FROM model_call WHERE node = 'team' GROUP BY 1");
    println!("the team of a very small model ended as {state}, {calls:?}");
    // So small a model often writes on until its answer is cut off, which is recorded as malformed.
    let is_reply = |row: &Vec<String>| matches!(row[0].as_str(), "answered" | "repaired" | "malformed");
    assert!(!calls.is_empty() && calls.iter().all(is_reply), "the server replied to every call: {calls:?}");
    match state {
        TeamState::Answered => assert!(!team_script::answered(&seen).is_empty()),
        TeamState::Stopped => assert!(
            seen.iter()
                .any(|stored| matches!(&stored.event, TeamEvent::Notice { text } if text.contains("cannot go on"))),
            "an end without an answer is said: {seen:#?}"
        ),
        other => panic!("{other}: {seen:#?}"),
    }
    home.must_be_sound().await;
}
