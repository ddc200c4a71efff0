//! Tests the memory under faults: kills, a server that is away, vectors of another kind, rows that are no vectors.
//! Nothing is lost, each fault is reported once, and the memory recovers by itself.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use adjutant::{
    app::{App, NewTask},
    memory::{Filter, MemoryError},
    model::{AccountId, Priority},
};
use qdrant_client::qdrant::Distance;

use crate::{
    qdrant_peer::QdrantPeer,
    support::test_home::{Kind, SeededRandom, TestHome, WORK, eventually},
};

pub(crate) const COLLECTION: &str = "task_snippets";
pub(crate) const INDEXES: [&str; 3] = ["account", "doc", "kind"];

pub(crate) fn on_server(home: &TestHome, peer: &QdrantPeer) {
    home.configure(&format!("[memory]\nqdrant_url = \"{}\"\n", peer.url()));
}

/// Tasks of a person's own, each with one piece to remember.
pub(crate) async fn add_tasks(app: &App, count: usize) {
    let mut adding = tokio::task::JoinSet::new();
    for nth in 0..count {
        let objective = format!("Call the plumber about the pipe in flat {nth}");
        let app = app.clone();
        // A level given by hand need not be judged.
        let new = NewTask { objective, priority: Some(Priority::Low), ..NewTask::default() };
        adding.spawn(async move { app.tasks().add(new).await.unwrap() });
    }
    adding.join_all().await;
}

/// Nothing waits to be learned, and no piece is there twice.
pub(crate) fn must_be_complete(home: &TestHome) {
    assert_eq!(home.count("search_due"), 0);
    let twice = "SELECT doc_id, number FROM search_vector GROUP BY doc_id, number HAVING count(*) > 1";
    assert_eq!(home.sql(twice), [[""; 0]; 0]);
}

/// Every mail and task of the account can be found, and the nearest is near.
async fn must_find_all(home: &TestHome, app: &App) {
    let found = app.memory.search_dense(&AccountId::from(WORK), "when will you be back at the house", 100).await;
    let found = found.unwrap();
    assert_eq!(found.len() as u64, home.count(&format!("search_doc WHERE account = '{WORK}'")));
    assert!(found[0].score > 0.6, "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_the_middle_of_a_thousand_upserts_beside_the_tasks() {
    let home = TestHome::real_time(Kind::Active);
    add_tasks(&home.app().await, 1_000).await;
    let mut dice = SeededRandom::thrown("killed_beside_the_tasks");
    let mut cut = 0;
    for _ in 0..8 {
        let mut rebuild =
            home.command(&["memory", "rebuild"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(60 + dice.below(400)));
        rebuild.kill().unwrap();
        cut += usize::from(!rebuild.wait().unwrap().success());
        let (due, there) = (home.count("search_due"), home.count("search_vector"));
        assert!(due + there >= 1_000, "{due} due and {there} there");
        assert_eq!(home.sql_one("PRAGMA integrity_check"), "ok");
    }
    println!("{cut} of 8 were cut off");
    assert_eq!(home.run(&["once"]).code, 0);
    must_be_complete(&home);
    assert_eq!(home.count("search_vector"), 1_000);
    assert_eq!(home.count("tasks"), 1_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_the_middle_of_a_thousand_upserts_to_a_server() {
    let home = TestHome::real_time(Kind::Active);
    let peer = QdrantPeer::start();
    on_server(&home, &peer);
    add_tasks(&home.app().await, 1_000).await;
    peer.slow_down(15);
    for parts in [1, 3, 5] {
        let before = peer.calls("Points/Upsert");
        let mut rebuild =
            home.command(&["memory", "rebuild"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        eventually("some parts arrive", || (peer.calls("Points/Upsert") >= before + parts).then_some(()));
        rebuild.kill().unwrap();
        assert!(!rebuild.wait().unwrap().success(), "it was to be killed half-way");
        assert!(home.count("search_due") > 0);
    }
    peer.slow_down(0);
    let once = home.run(&["once"]);
    assert_eq!(once.code, 0, "{}", once.err);
    assert_eq!((home.count("search_due"), peer.points(COLLECTION)), (0, 1_000));
    assert_eq!(home.count("search_vector"), 0, "a server has them");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_gone_for_an_hour_stops_nothing_and_is_told_once() {
    let home = TestHome::active();
    let mut peer = QdrantPeer::start();
    on_server(&home, &peer);
    let worker = home.worker().await;
    let app = worker.app.clone();
    home.post(&home.letter("before").question());
    assert_eq!(worker.run_once().await.unwrap().memory, None);
    let known = peer.points(COLLECTION);
    assert!(known >= 2, "{known} points");

    peer.go_away();
    home.post(&home.letter("away").question());
    let report = worker.run_once().await.unwrap();
    assert_eq!(home.count("ledger WHERE state = 'task'"), 2, "work goes on");
    let said = report.memory.expect("it is said");
    assert!(said.contains("cannot be reached") && said.contains("wait for it"), "{said}");
    let due = home.count("search_due");
    assert!(due >= 2, "{due}");

    // For an hour nothing more is said, nobody waits for it, and every door knows.
    for _ in 0..60 {
        home.clock.advance(60);
        assert_eq!(app.search().embed_due_documents().await.unwrap().notice(), None);
        let begun = Instant::now();
        let asked = app.memory.find_nearest(&Filter::account(&AccountId::from(WORK)), "keys of the house", 5).await;
        assert!(matches!(asked, Err(MemoryError::Unreachable { .. })), "{asked:?}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    }
    home.post(&home.letter("later").question());
    assert_eq!(worker.run_once().await.unwrap().memory, None, "once is enough");
    assert!(app.health().check().await.unwrap().memory.trouble.unwrap().contains("cannot be reached"));

    peer.come_back();
    home.clock.advance(61);
    let back = app.search().embed_due_documents().await.unwrap().notice().expect("it is said");
    assert!(back.contains("back"), "{back}");
    assert_eq!(home.count("search_due"), 0);
    assert!(peer.points(COLLECTION) > known);
    assert_eq!(app.health().check().await.unwrap().memory.trouble, None);
    must_find_all(&home, &app).await;
    worker.stop().await;
    home.must_be_sound().await;
}

#[test]
fn the_daemon_says_once_that_its_server_is_away() {
    let home = TestHome::real_time(Kind::Samples);
    let mut peer = QdrantPeer::start();
    home.write("adjutant.toml", &format!("[memory]\nqdrant_url = \"{}\"\n", peer.url()));
    let mut daemon = home.daemon();
    eventually("the samples are remembered", || (home.count("search_due") == 0).then_some(()));
    peer.go_away();
    assert_eq!(home.run(&["tasks", "add", "Water the plants"]).code, 0);
    daemon.until("Memory: the Qdrant server");
    let doctor = home.run(&["doctor"]);
    assert!(doctor.out.contains("AWAY") && doctor.code == 0, "{}", doctor.out);
    let status = home.json(&["memory"]);
    assert!(status["trouble"].as_str().unwrap().contains("Work goes on without it"), "{status}");
    peer.come_back();
    daemon.until("Memory: the memory is back");
    assert_eq!(home.count("search_due"), 0);
    let (code, said) = daemon.stop("TERM");
    assert_eq!(code, 0);
    assert_eq!(said.matches("Memory:").count(), 2, "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_that_does_not_fit_is_made_anew() {
    let home = TestHome::active();
    let peer = QdrantPeer::start();
    peer.make_foreign(COLLECTION, 7, Distance::Cosine);
    on_server(&home, &peer);
    home.post(&home.letter("a").question());
    let report = home.once().await;
    assert_eq!((report.memory, home.count("search_due")), (None, 0));
    assert!(peer.points(COLLECTION) >= 2);
    // Somebody does it while the worker runs: what it is given next is refused.
    let worker = home.worker().await;
    worker.run_once().await.unwrap();
    peer.make_foreign(COLLECTION, 7, Distance::Cosine);
    add_tasks(&worker.app, 1).await;
    let said = worker.app.search().embed_due_documents().await.unwrap().notice().expect("it is said");
    assert!(said.contains("refused"), "{said}");
    home.clock.advance(10);
    assert!(worker.app.search().embed_due_documents().await.unwrap().notice().unwrap().contains("back"));
    assert_eq!(home.count("search_due"), 0);
    // Or what it is asked next: then it is mended before anything is given to it, and there is nothing to say.
    peer.make_foreign(COLLECTION, 7, Distance::Cosine);
    home.post(&home.letter("b").question());
    let report = worker.run_once().await.unwrap();
    assert_eq!((report.memory, home.count("search_due")), (None, 0));
    let whole = peer.points(COLLECTION);
    assert!(whole >= 5, "{whole} points");
    worker.stop().await;
    // The right size, and another distance; or without the indexes, which a strict server does not search without.
    peer.make_foreign(COLLECTION, 192, Distance::Dot);
    home.once().await;
    assert_eq!(peer.points(COLLECTION), whole);
    for field in ["account", "kind", "doc"] {
        peer.drop_index(COLLECTION, field);
        home.once().await;
        assert_eq!((peer.indexes(COLLECTION), peer.points(COLLECTION)), (INDEXES.map(String::from).to_vec(), whole));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_lost_its_disk_is_given_everything_again() {
    let home = TestHome::active();
    let mut peer = QdrantPeer::start();
    on_server(&home, &peer);
    home.post(&home.letter("a").question());
    home.once().await;
    let points = peer.points(COLLECTION);
    peer.lose_everything();
    home.once().await;
    assert_eq!((peer.points(COLLECTION), home.count("search_due")), (points, 0));
    // While the worker runs and no mail comes: whoever asks it notices.
    let worker = home.worker().await;
    worker.run_once().await.unwrap();
    peer.lose_everything();
    assert!(worker.app.memory.search_dense(&AccountId::from(WORK), "the house", 5).await.is_err());
    home.clock.advance(10);
    worker.app.search().embed_due_documents().await.unwrap();
    assert_eq!((peer.points(COLLECTION), home.count("search_due")), (points, 0));
    must_find_all(&home, &worker.app).await;
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_are_no_vectors_are_made_anew() {
    let home = TestHome::active();
    for nth in 0..5 {
        home.post(&home.letter(&format!("q{nth}")).question());
    }
    home.once().await;
    must_be_complete(&home);
    let before = home.count("search_vector");
    let database = home.database();
    let broken = [
        "UPDATE search_vector SET bytes = x'00' WHERE vector_id % 3 = 0",
        "UPDATE search_vector SET bytes = zeroblob(196) WHERE vector_id % 3 = 1",
        "UPDATE search_vector SET kind = 'dream' WHERE vector_id = 2",
    ];
    let changed: usize = broken.iter().map(|sql| database.execute(sql, []).unwrap()).sum();
    assert!(changed >= 6, "{changed}");
    let app = home.app().await;
    // Asked before it is healed, it does not fall over; and now it knows.
    app.memory.search_dense(&AccountId::from(WORK), "keys of the house", 5).await.unwrap();
    assert_eq!(app.search().embed_due_documents().await.unwrap().notice(), None);
    must_be_complete(&home);
    assert_eq!(home.count("search_vector"), before);
    assert_eq!(home.count("search_vector WHERE length(bytes) = 196 AND kind IN ('task', 'mail')"), before);
    must_find_all(&home, &home.app().await).await;
}
