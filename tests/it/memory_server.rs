//! Tests a Qdrant server that misbehaves: it dies while it stores, hangs, demands a key, and fails calls in any way.
//! Work continues, and once the server behaves it holds exactly what it should.
//!
//! `IT_CASES` says how many faults, `IT_KILLS` how often it dies.

use std::{
    collections::BTreeSet,
    process::Stdio,
    time::{Duration, Instant},
};

use adjutant::{
    memory::{Filter, MemoryError},
    model::AccountId,
};
use qdrant_client::qdrant::Distance;

use crate::{
    memory_faults::{COLLECTION, INDEXES, add_tasks, on_server},
    qdrant_peer::{Fault, QdrantPeer},
    support::test_home::{Kind, SeededRandom, TestHome, WORK, eventually},
};

const METHODS: [&str; 8] = [
    "Collections/CollectionExists",
    "Collections/Get",
    "Collections/Create",
    "Collections/Delete",
    "Points/CreateFieldIndex",
    "Points/Upsert",
    "Points/Delete",
    "Points/Query",
];

/// Every status the protocol has but `OK`.
const STATUSES: [&str; 16] = [
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

fn count_of(knob: &str, default: u64) -> u64 {
    std::env::var(knob).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn one_of<'a>(dice: &mut SeededRandom, among: &[&'a str]) -> &'a str {
    among[usize::try_from(dice.below(among.len() as u64)).unwrap()]
}

/// Something happens to the server; what, for the one who reads a failure.
fn misfortune(peer: &mut QdrantPeer, dice: &mut SeededRandom) -> String {
    match dice.below(8) {
        0 => {
            peer.lose_everything();
            "its disk is lost".into()
        }
        1 => {
            peer.go_away();
            peer.come_back();
            "it was killed and is back".into()
        }
        2 => {
            let (size, distance) =
                [(7, Distance::Cosine), (192, Distance::Dot)][usize::try_from(dice.below(2)).unwrap()];
            peer.make_foreign(COLLECTION, size, distance);
            format!("somebody made it anew with {size} dimensions and {distance:?}")
        }
        _ => {
            let (method, status, times) = (one_of(dice, &METHODS), one_of(dice, &STATUSES), 1 + dice.below(3));
            let fault = if dice.below(2) == 0 { Fault::Before(status) } else { Fault::After(status) };
            peer.fail(method, fault, times);
            format!("{method} fails {times} times: {fault:?}")
        }
    }
}

/// The documents the server has points of.
fn documents_on(peer: &QdrantPeer) -> BTreeSet<String> {
    peer.payloads(COLLECTION).into_iter().map(|payload| payload["doc"].as_str().unwrap().clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn however_its_calls_end_work_goes_on_and_it_ends_complete() {
    let home = TestHome::active();
    let mut peer = QdrantPeer::start();
    on_server(&home, &peer);
    let worker = home.worker().await;
    let mut dice = SeededRandom::thrown("however_its_calls_end");
    let mut happened = Vec::new();
    for nth in 0..count_of("IT_CASES", 8) {
        happened.push(misfortune(&mut peer, &mut dice));
        home.post(&home.letter(&format!("mail-{nth}")).question());
        worker.run_once().await.unwrap_or_else(|error| panic!("{error:#} after {happened:?}"));
        assert_eq!(home.count("tasks"), nth + 1, "{happened:?}");
        drop(worker.app.memory.search_dense(&AccountId::from(WORK), "back at the house", 5).await);
        home.clock.advance(i64::try_from(dice.below(90)).unwrap());
        worker.app.search().embed_due_documents().await.unwrap_or_else(|error| panic!("{error:#} after {happened:?}"));
    }
    // It behaves again.
    peer.go_away();
    peer.come_back();
    for _ in 0..2 {
        home.clock.advance(61);
        worker.app.search().embed_due_documents().await.unwrap();
    }
    assert_eq!(home.count("search_due"), 0, "{happened:?}");
    assert_eq!(worker.app.health().check().await.unwrap().memory.trouble, None, "{happened:?}");
    let stored: BTreeSet<String> = home.sql("SELECT doc FROM search_doc").into_iter().flatten().collect();
    assert_eq!(documents_on(&peer), stored, "{happened:?}");
    assert_eq!(peer.indexes(COLLECTION), INDEXES, "{happened:?}");
    let found = worker.app.memory.search_dense(&AccountId::from(WORK), "back at the house", 1_000).await.unwrap();
    assert_eq!(found.into_iter().map(|near| near.doc).collect::<BTreeSet<_>>(), stored, "{happened:?}");
    worker.stop().await;
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_killed_while_it_learns_has_everything_in_the_end() {
    const TASKS: usize = 600;
    let home = TestHome::real_time(Kind::Active);
    let mut peer = QdrantPeer::start();
    on_server(&home, &peer);
    add_tasks(&home.app().await, TASKS).await;
    let mut dice = SeededRandom::thrown("a_server_killed_while_it_learns");
    for _ in 0..count_of("IT_KILLS", 2) {
        peer.slow_down(10);
        let mut rebuild =
            home.command(&["memory", "rebuild"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let parts = 1 + dice.below(4);
        eventually("some parts arrive", || (peer.calls("Points/Upsert") >= parts).then_some(()));
        std::thread::sleep(Duration::from_millis(dice.below(20)));
        peer.go_away();
        assert!(!rebuild.wait().unwrap().success(), "it was to fail half-way");
        assert!(home.count("search_due") > 0);
        peer.come_back();
    }
    let once = home.run(&["once"]);
    assert_eq!((once.code, home.count("search_due"), peer.points(COLLECTION)), (0, 0, TASKS), "{}", once.err);
    assert_eq!(documents_on(&peer).len(), TASKS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_is_away_and_nobody_waits_for_it_twice() {
    let home = TestHome::active();
    let peer = QdrantPeer::start();
    on_server(&home, &peer);
    home.post(&home.letter("a").question());
    home.once().await;
    let app = home.app().await;
    let account = Filter::account(&AccountId::from(WORK));
    assert!(!app.memory.find_nearest(&account, "the house", 5).await.unwrap().is_empty());
    peer.hang();
    let begun = Instant::now();
    let asked = app.memory.find_nearest(&account, "the house", 5).await;
    assert!(matches!(asked, Err(MemoryError::Unreachable { .. })), "{asked:?}");
    assert!(begun.elapsed() < Duration::from_secs(7), "{:?}", begun.elapsed());
    let begun = Instant::now();
    assert!(app.memory.find_nearest(&account, "the house", 5).await.is_err());
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    peer.go_on();
    home.clock.advance(10);
    assert!(!app.memory.find_nearest(&account, "the house", 5).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_a_key_is_shown_it_and_nobody_else_is() {
    let home = TestHome::real_time(Kind::Active);
    let peer = QdrantPeer::start();
    peer.demand_key("swordfish");
    on_server(&home, &peer);
    add_tasks(&home.app().await, 1).await;
    let said = |key: Option<&str>| {
        let mut command = home.command(&["memory", "rebuild"]);
        if let Some(key) = key {
            command.env("ADJUTANT_MEMORY_QDRANT_API_KEY", key);
        }
        crate::support::test_home::finish(command)
    };
    for (key, why) in [(None, "Must provide an API key"), (Some("herring"), "Invalid API key")] {
        let refused = said(key);
        assert!(refused.code != 0 && refused.err.contains(why), "{}{}", refused.out, refused.err);
        assert!(!refused.err.contains("herring"), "{}", refused.err);
        assert!(home.count("search_due") > 0);
    }
    let taken = said(Some("swordfish"));
    assert_eq!((taken.code, home.count("search_due")), (0, 0), "{}", taken.err);
}
