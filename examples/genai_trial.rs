use axum::{Router, body::Body, extract::Request, http::Response, routing::post};
use genai::{
    Client, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{ChatMessage, ChatOptions, ChatRequest, JsonSpec},
    resolver::{AuthData, Endpoint},
};
use std::time::{Duration, Instant};

fn rss() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .find(|l| l.starts_with("VmRSS"))
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

#[tokio::main]
async fn main() {
    adjutant::tls::install();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let app = Router::new()
        .route(
            "/v1/chat/completions",
            post(|r: Request| async move {
                let b = axum::body::to_bytes(r.into_body(), 1 << 20).await.unwrap();
                println!("request: {}", String::from_utf8_lossy(&b));
                Response::builder()
                    .header("content-type", "application/json")
                    .body(Body::from(vec![b'x'; 10 << 20]))
                    .unwrap()
            }),
        )
        .route(
            "/v1/api/chat",
            post(|r: Request| async move {
                let b = axum::body::to_bytes(r.into_body(), 1 << 20).await.unwrap();
                println!("ollama request: {}", String::from_utf8_lossy(&b));
                Response::builder().header("content-type", "application/json").body(Body::from("{}")).unwrap()
            }),
        );
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let http = reqwest::Client::builder()
        .timeout(Duration::from_secs(5))
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let client = Client::builder().with_reqwest(http).build().unwrap();
    let opts = ChatOptions::default()
        .with_response_format(JsonSpec::new(
            "p",
            serde_json::json!({"type":"object","properties":{"urgency":{"type":"number"}},"required":["urgency"]}),
        ))
        .with_max_tokens(50);
    for kind in [AdapterKind::OpenAI, AdapterKind::Ollama] {
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(format!("http://{at}/v1/")),
            auth: AuthData::from_single("k"),
            model: ModelIden::new(kind, "m"),
        };
        let before = rss();
        let t = Instant::now();
        let out = client.exec_chat(target, ChatRequest::new(vec![ChatMessage::user("hi")]), Some(&opts)).await;
        let text = match &out {
            Ok(_) => "ok".to_string(),
            Err(e) => e.to_string(),
        };
        println!(
            "{kind:?}: {:?}, error text {} bytes, rss +{} KiB",
            t.elapsed(),
            text.len(),
            rss().saturating_sub(before)
        );
    }
}
