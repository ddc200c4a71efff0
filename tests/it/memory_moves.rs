//! Tests moving the memory to a server and back, and to another embedder and back, by a command or by the daemon.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use adjutant::{memory::MemoryError, model::AccountId};
use axum::{Json, Router, extract::State, http::HeaderMap, http::StatusCode, routing::post};
use serde_json::{Value, json};

use crate::{
    qdrant_peer::QdrantPeer,
    support::test_home::{Kind, TestHome, WORK},
};

const COLLECTION: &str = "task_snippets";

/// Puts the section in place of the one that is there.
fn memory_section(home: &TestHome, keys: &str) {
    let config = home.read("adjutant.toml");
    let before = config.split("[memory]").next().unwrap();
    home.write("adjutant.toml", &format!("{before}[memory]\n{keys}\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn to_a_server_and_back() {
    let home = TestHome::active();
    for nth in 0..4 {
        home.post(&home.letter(&format!("q{nth}")).question());
    }
    home.once().await;
    let here = home.count("search_vector");
    assert!(here >= 8, "{here}");

    let peer = QdrantPeer::start();
    memory_section(&home, &format!("qdrant_url = \"{}\"", peer.url()));
    // Before the worker has moved it, a question is refused with a word, and nobody asks an empty server.
    let asked = home.app().await.memory.search_dense(&AccountId::from(WORK), "the keys", 5).await;
    assert!(matches!(&asked, Err(MemoryError::OriginMismatch { .. })), "{asked:?}");
    let mut told = Vec::new();
    let status =
        home.app().await.search().rebuild_memory(|progress| told.push((progress.done, progress.total))).await.unwrap();
    assert_eq!((status.vectors, status.due, &status.foreign), (Some(here), 0, &None), "{status:?}");
    assert_eq!((peer.points(COLLECTION) as u64, home.count("search_vector")), (here, 0));
    assert!(told.len() >= 2 && told.last().is_some_and(|(done, total)| done == total), "{told:?}");
    let found = home.app().await.memory.search_dense(&AccountId::from(WORK), "back at the house", 3).await.unwrap();
    assert_eq!(found.len(), 3);

    // Back again, this time by the worker that finds another place in its configuration.
    memory_section(&home, "");
    home.once().await;
    assert_eq!((home.count("search_vector"), home.count("search_due")), (here, 0));
    assert_eq!(peer.points(COLLECTION) as u64, here, "what the server held is left there");
}

#[test]
fn a_daemon_is_asked_to_do_it() {
    let home = TestHome::real_time(Kind::Samples);
    let daemon = home.daemon();
    let before = home.json(&["memory"]);
    assert_eq!((&before["due"], &before["place"]), (&json!(0), &json!("embedded")));
    home.database().execute("DELETE FROM search_vector", []).unwrap();
    let after = home.json(&["memory", "rebuild"]);
    assert_eq!(after["vectors"], before["vectors"]);
    let plain = home.run(&["memory", "rebuild"]);
    assert!(plain.code == 0 && plain.out.contains("complete"), "{}{}", plain.out, plain.err);
    // Told to keep it elsewhere, the command knows and the daemon does not yet.
    let peer = QdrantPeer::start();
    home.write("adjutant.toml", &format!("[memory]\nqdrant_url = \"{}\"\n", peer.url()));
    let refused = home.run(&["memory", "rebuild"]);
    assert!(refused.code == 1 && refused.err.contains("restart it"), "{}{}", refused.out, refused.err);
    assert_eq!(daemon.stop("TERM").0, 0);
    let moved = home.run(&["memory", "rebuild"]);
    assert!(moved.code == 0 && moved.out.contains(&peer.url()), "{}{}", moved.out, moved.err);
    assert_eq!(peer.points(COLLECTION) as u64, before["vectors"].as_u64().unwrap());
    let doctor = home.run(&["doctor"]);
    assert!(doctor.out.contains("memory   http://") && doctor.out.contains("complete"), "{}", doctor.out);
}

/// An endpoint like OpenAI's, whose vectors count letters.
#[derive(Clone)]
struct Endpoint {
    dimension: Arc<AtomicUsize>,
    asked: Arc<AtomicUsize>,
}

impl Endpoint {
    fn start() -> (Self, String) {
        let endpoint = Self { dimension: Arc::new(AtomicUsize::new(8)), asked: Arc::default() };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/embeddings", post(answer)).with_state(endpoint.clone());
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, router).await.unwrap();
            });
        });
        (endpoint, url)
    }
}

async fn answer(
    State(endpoint): State<Endpoint>,
    headers: HeaderMap,
    Json(question): Json<Value>,
) -> Result<Json<Value>, StatusCode> {
    if headers.get("authorization").is_none_or(|key| key != "Bearer swordfish") {
        return Err(StatusCode::UNAUTHORIZED);
    }
    assert_eq!(question["model"], "letters");
    endpoint.asked.fetch_add(1, Ordering::SeqCst);
    let dimension = endpoint.dimension.load(Ordering::SeqCst);
    let embed = |(index, text): (usize, &Value)| {
        let mut vector = vec![0.0; dimension];
        for byte in text.as_str().unwrap().bytes() {
            vector[usize::from(byte) % dimension] += 1.0;
        }
        json!({ "index": index, "embedding": vector })
    };
    // In any order: the index says which is which.
    let data: Vec<Value> =
        question["input"].as_array().unwrap().iter().enumerate().rev().map(|(n, t)| embed((n, t))).collect();
    Ok(Json(json!({ "data": data })))
}

#[tokio::test(flavor = "multi_thread")]
async fn to_another_embedder_and_back() {
    adjutant::tls::install_provider();
    let home = TestHome::active();
    home.post(&home.letter("one").question());
    home.once().await;
    let (endpoint, url) = Endpoint::start();
    let keys = |key: &str| {
        let file = home.root().join("embeddings.key");
        std::fs::write(&file, key).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        format!(
            "embeddings_url = \"{url}\"\nembeddings_model = \"letters\"\nembeddings_dimension = 8\nembeddings_key_file = \"embeddings.key\""
        )
    };

    // Refused for the wrong key: said, and everything waits.
    memory_section(&home, &keys("wrong"));
    let said = home.once().await.memory.expect("it is said");
    assert!(said.contains("refused") && said.contains("401") && !said.contains("wrong"), "{said}");
    assert!(home.count("search_due") > 0);

    memory_section(&home, &keys("swordfish"));
    home.post(&home.letter("two").question());
    let report = home.once().await;
    assert!(report.memory.is_some_and(|said| said.contains("back")));
    assert_eq!(home.count("search_vector WHERE length(bytes) = 12"), home.count("search_vector"));
    assert_eq!((home.count("search_due"), home.count("search_doc WHERE doc LIKE 'mail:%'")), (0, 2));
    let app = home.app().await;
    let found = app.memory.search_dense(&AccountId::from(WORK), "When will you be back?", 10).await.unwrap();
    assert_eq!(found.len() as u64, home.count("search_doc"), "{found:?}");

    // Its vectors are suddenly of another kind: refused by name, nothing of it stored.
    endpoint.dimension.store(9, Ordering::SeqCst);
    home.post(&home.letter("three").question());
    let said = home.once().await.memory.expect("it is said");
    assert!(said.contains("9 dimensions") && said.contains("embeddings_dimension says 8"), "{said}");
    assert_eq!(home.count("search_vector WHERE length(bytes) <> 12"), 0);

    memory_section(&home, "");
    home.once().await;
    assert_eq!(home.count("search_vector WHERE length(bytes) <> 196"), 0);
    assert_eq!(home.count("search_due"), 0);
    assert!(endpoint.asked.load(Ordering::SeqCst) >= 3);
    home.must_be_sound().await;
}
