//! A scripted model server on loopback with the OpenAI format, which can misbehave in every way a server can.

use std::{
    io::{Read as _, Write as _},
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{Response, StatusCode, header},
    routing::post,
};
use serde_json::{Value, json};

use crate::support::test_home::TestHome;

/// A request as the server received it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The name of the schema, which is the name of the prompt.
    pub(crate) prompt: String,
    pub(crate) system: String,
    pub(crate) data: Value,
    /// Whether this is the request for a repair.
    pub(crate) repair: bool,
    pub(crate) authorization: String,
    /// The number of the request, counted from 0 over all prompts.
    pub(crate) nth: usize,
}

/// What the server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Said {
    Answer(Value),
    /// Returns this text as the content of a well-formed reply.
    Text(String),
    /// Returns an answer without a count of tokens.
    Uncounted(Value),
    Status(u16, Vec<(&'static str, String)>),
    /// Returns these bytes as the body.
    Body(Vec<u8>),
    /// Accepts the request and never answers.
    Hang,
    Slow(Duration, Value),
    /// Returns a text that was cut off by the token limit.
    TooLong(String),
    Refusal,
}

/// Decides what the server does with each request.
pub(crate) type Script = dyn Fn(&Asked) -> Said + Send + Sync;

struct Stage {
    script: Box<Script>,
    asked: Mutex<Vec<Asked>>,
    count: AtomicUsize,
}

/// A server on a thread of its own, so that a test may block. It ends with the process.
pub(crate) struct Server {
    address: SocketAddr,
    stage: Arc<Stage>,
}

impl Server {
    pub(crate) fn start(script: impl Fn(&Asked) -> Said + Send + Sync + 'static) -> Self {
        let stage =
            Arc::new(Stage { script: Box::new(script), asked: Mutex::default(), count: AtomicUsize::default() });
        let state = Arc::clone(&stage);
        let (sender, address) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                sender.send(listener.local_addr().unwrap()).unwrap();
                let app = Router::new().route("/v1/chat/completions", post(answer)).with_state(state);
                axum::serve(listener, app).await.unwrap();
            });
        });
        Self { address: address.recv().unwrap(), stage }
    }

    /// Starts a server that answers everything as a cooperative model would.
    pub(crate) fn kind() -> Self {
        Self::start(|asked| Said::Answer(kind(asked)))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns all requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.stage.asked.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.stage.count.load(Ordering::SeqCst)
    }
}

async fn answer(State(stage): State<Arc<Stage>>, request: Request) -> Response<Body> {
    let authorization = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let authorization = authorization.unwrap_or_default().to_owned();
    let body: Bytes = axum::body::to_bytes(request.into_body(), 1 << 24).await.unwrap();
    let nth = stage.count.fetch_add(1, Ordering::SeqCst);
    let asked = read(&serde_json::from_slice(&body).unwrap(), authorization, nth);
    stage.asked.lock().unwrap().push(asked.clone());
    match (stage.script)(&asked) {
        Said::Answer(value) => content(&value.to_string(), true),
        Said::Uncounted(value) => content(&value.to_string(), false),
        Said::Text(text) => content(&text, true),
        Said::Status(code, headers) => {
            let mut response = Response::builder().status(StatusCode::from_u16(code).unwrap());
            for (name, value) in headers {
                response = response.header(name, value);
            }
            response.body(Body::from("secret words of the server")).unwrap()
        }
        Said::Body(bytes) => {
            Response::builder().header(header::CONTENT_TYPE, "application/json").body(Body::from(bytes)).unwrap()
        }
        Said::Hang => std::future::pending().await,
        Said::Slow(time, value) => {
            tokio::time::sleep(time).await;
            content(&value.to_string(), true)
        }
        Said::TooLong(text) => reply(&json!({
            "choices": [{ "message": { "content": text }, "finish_reason": "length" }],
            "usage": { "prompt_tokens": 100, "completion_tokens": 20 },
        })),
        Said::Refusal => reply(&json!({
            "choices": [{ "message": { "content": null, "refusal": "I cannot help with that" }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 100, "completion_tokens": 20 },
        })),
    }
}

fn read(body: &Value, authorization: String, nth: usize) -> Asked {
    let messages = body["messages"].as_array().unwrap();
    let of = |role: &str| messages.iter().find(|turn| turn["role"] == role).unwrap()["content"].as_str().unwrap();
    let data = of("user").split_once('\n').unwrap().1;
    // The two prompts of the planner have no schema: one offers tools, the other asks for a plan.
    let unnamed = match (body["tools"].is_array(), of("system").contains("---PLAN-START---")) {
        (true, _) => "step_calls",
        (false, true) => "create_plan",
        (false, false) => "without schema",
    };
    Asked {
        prompt: body["response_format"]["json_schema"]["name"].as_str().unwrap_or(unnamed).to_owned(),
        system: of("system").to_owned(),
        data: serde_json::from_str(data).unwrap(),
        repair: messages.len() > 2,
        authorization,
        nth,
    }
}

fn content(text: &str, counted: bool) -> Response<Body> {
    let mut body =
        json!({ "choices": [{ "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }] });
    if counted {
        body["usage"] = json!({ "prompt_tokens": 100, "completion_tokens": 20 });
    }
    reply(&body)
}

fn reply(body: &Value) -> Response<Body> {
    Response::builder().header(header::CONTENT_TYPE, "application/json").body(Body::from(body.to_string())).unwrap()
}

/// Starts a server that announces more than it sends and closes the connection. Returns its address.
pub(crate) fn breaks_off(sent: &'static str) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            // A part of the request is enough.
            let _heard = stream.read(&mut [0; 1024]);
            let _gone = stream.write_all(sent.as_bytes());
        }
    });
    format!("http://{address}/v1")
}

/// Returns what a cooperative model answers.
pub(crate) fn kind(asked: &Asked) -> Value {
    match asked.prompt.as_str() {
        "plan_step" => {
            let tasks = asked.data["tasks"].as_array().unwrap().iter().map(|task| {
                let objective = format!("Kindly: {}", task["objective"].as_str().unwrap());
                let objective: String = objective.chars().take(150).collect();
                json!({ "task": task["handle"], "objective": objective, "deadline": "", "steps": [] })
            });
            json!({ "tasks": tasks.collect::<Vec<_>>() })
        }
        "prioritise" => json!({ "urgency": 0.9 }),
        "draft_reply" => json!({
            "action": "reply", "message": "M0", "greeting": "Dear friend,",
            "text": "Thank you, that suits me well. I will be there.", "closing": "Warm regards,",
        }),
        "generate_response" => json!({ "about": "Somebody wants something, and it matters to them." }),
        other => panic!("{other} is no prompt"),
    }
}

/// Configures the model in a home. `more` are further keys of `[llm]`.
pub(crate) fn with_model(home: &TestHome, server: &Server, more: &str) {
    with_model_at(home, &server.url(), more);
}

pub(crate) fn with_model_at(home: &TestHome, url: &str, more: &str) {
    let keys = format!("provider = \"compatible\"\nmodel = \"scripted\"\nbase_url = \"{url}\"\n{more}\n");
    let config = home.read("adjutant.toml");
    let config = match config.split_once("\n[llm]\n") {
        Some((before, after)) => format!("{before}\n[llm]\n{keys}{after}"),
        None => format!("{config}\n[llm]\n{keys}"),
    };
    home.write("adjutant.toml", &config);
}

/// Returns which tasks there are: what was read, not how it is worded.
pub(crate) fn tasks(home: &TestHome) -> Vec<Vec<String>> {
    home.sql("SELECT t.source, f.objective, f.kind, f.due_at, f.amount FROM tasks t JOIN task_facts f USING (task_id) ORDER BY 1, 2")
}

/// Returns what became of every mail.
pub(crate) fn ledger(home: &TestHome) -> Vec<Vec<String>> {
    home.sql("SELECT source_key, state, reason FROM ledger ORDER BY 1")
}
