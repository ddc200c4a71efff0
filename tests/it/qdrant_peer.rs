//! A Qdrant server on loopback: Qdrant's own engine behind Qdrant's own protocol (`scripts/peer_qdrant.py`). It can die
//! and come back with its data, lose its disk, hang, be slow, and fail any call before or after carrying it out.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Mutex,
};

use qdrant_client::{
    Payload, Qdrant,
    qdrant::{
        Condition, CountPointsBuilder, CreateCollectionBuilder, CreateFieldIndexCollectionBuilder,
        DeleteFieldIndexCollectionBuilder, DeletePointsBuilder, Distance, FieldType, Filter, PointId, PointStruct,
        QueryPointsBuilder, ScrollPointsBuilder, SearchPointsBuilder, UpsertPointsBuilder, Value, VectorParamsBuilder,
    },
};
use serde_json::json;
use tokio::net::TcpSocket;

use crate::support::test_home::{eventually, signal};

const COLLECTION: &str = "letters";

pub(crate) struct QdrantPeer {
    folder: tempfile::TempDir,
    address: SocketAddr,
    /// Keeps the port for as long as the test lives, also while the server is away: bound, and never listening.
    _port: TcpSocket,
    running: Option<Running>,
}

/// Ends with its standard input, which is ours.
struct Running {
    child: Child,
    talk: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
}

/// A status a call ends with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// It was not carried out.
    Before(&'static str),
    /// It was carried out, and the answer is lost.
    After(&'static str),
}

impl QdrantPeer {
    pub(crate) fn start() -> Self {
        let port = TcpSocket::new_v4().unwrap();
        port.set_reuseaddr(true).unwrap();
        port.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = port.local_addr().unwrap();
        let mut peer = Self { folder: tempfile::tempdir().unwrap(), address, _port: port, running: None };
        peer.come_back();
        peer
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// It is killed, and every connection with it.
    pub(crate) fn go_away(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.child.kill().unwrap();
            running.child.wait().unwrap();
        }
    }

    /// At the same address, with what is on its disk, and with no trouble any more.
    pub(crate) fn come_back(&mut self) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/peer_qdrant.py");
        let mut child = Command::new("python3")
            .arg(script)
            .arg(wheels())
            .arg(self.folder.path().join("collections"))
            .arg(self.address.port().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        let (input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut said = String::new();
        output.read_line(&mut said).unwrap();
        assert_eq!(said.trim(), self.url(), "the Qdrant server of the tests did not start");
        self.running = Some(Running { child, talk: Mutex::new((input, output)) });
    }

    /// Its disk is lost.
    pub(crate) fn lose_everything(&mut self) {
        self.go_away();
        std::fs::remove_dir_all(self.folder.path().join("collections")).unwrap();
        self.come_back();
    }

    /// It keeps its connections and does not answer.
    pub(crate) fn hang(&self) {
        let id = self.running.as_ref().unwrap().child.id();
        signal(id, "STOP");
        // The signal has arrived when the process is stopped, not when it was sent.
        let is_stopped = || std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap().contains(") T ");
        eventually("the server stands still", || is_stopped().then_some(()));
    }

    pub(crate) fn go_on(&self) {
        signal(self.running.as_ref().unwrap().child.id(), "CONT");
    }

    fn tell(&self, command: &serde_json::Value) -> serde_json::Value {
        let (input, output) = &mut *self.running.as_ref().unwrap().talk.lock().unwrap();
        writeln!(input, "{command}").unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    /// Every call takes this many milliseconds longer.
    pub(crate) fn slow_down(&self, milliseconds: u64) {
        self.tell(&json!({ "slow": milliseconds }));
    }

    /// The next calls of a method, such as `Points/Upsert`, fail.
    pub(crate) fn fail(&self, method: &str, fault: Fault, times: u64) {
        let (when, code) = match fault {
            Fault::Before(code) => ("before", code),
            Fault::After(code) => ("after", code),
        };
        self.tell(&json!({ "fail": { "method": method, "when": when, "code": code, "times": times } }));
    }

    /// From now on every call must carry this key.
    pub(crate) fn demand_key(&self, key: &str) {
        self.tell(&json!({ "key": key }));
    }

    /// How often a method was called since it came back last.
    pub(crate) fn calls(&self, method: &str) -> u64 {
        self.tell(&json!({ "calls": method })).as_u64().unwrap()
    }

    /// Asks it as anyone would.
    pub(crate) fn ask<T: Send>(&self, question: impl AsyncFnOnce(Qdrant) -> T + Send) -> T {
        let ask = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                question(Qdrant::from_url(&self.url()).skip_compatibility_check().build().unwrap()).await
            })
        };
        std::thread::scope(|scope| scope.spawn(ask).join().unwrap())
    }

    /// Somebody makes the collection in their own way.
    pub(crate) fn make_foreign(&self, collection: &str, size: u64, distance: Distance) {
        self.ask(async |client| {
            // The trouble that a test asked for may meet this call instead of the program's.
            for _ in 0..20 {
                let vectors = VectorParamsBuilder::new(size, distance);
                let making = CreateCollectionBuilder::new(collection).vectors_config(vectors);
                if client.delete_collection(collection).await.is_ok() && client.create_collection(making).await.is_ok()
                {
                    return;
                }
            }
            panic!("the collection could not be made");
        });
    }

    pub(crate) fn drop_index(&self, collection: &str, field: &str) {
        let dropping = DeleteFieldIndexCollectionBuilder::new(collection, field).wait(true);
        self.ask(async |client| {
            for _ in 0..20 {
                if client.delete_field_index(dropping.clone()).await.is_ok() {
                    return;
                }
            }
            panic!("the index could not be dropped");
        });
    }

    /// The names of the fields that are indexed.
    pub(crate) fn indexes(&self, collection: &str) -> Vec<String> {
        let info = self.ask(async |client| client.collection_info(collection).await.unwrap().result.unwrap());
        let mut names: Vec<String> = info.payload_schema.into_keys().collect();
        names.sort();
        names
    }

    /// How many it holds; none without the collection.
    pub(crate) fn points(&self, collection: &str) -> usize {
        let all = CountPointsBuilder::new(collection).exact(true);
        let counted = self.ask(async |client| client.count(all).await.ok());
        counted.map_or(0, |answer| usize::try_from(answer.result.unwrap().count).unwrap())
    }

    pub(crate) fn payloads(&self, collection: &str) -> Vec<std::collections::HashMap<String, Value>> {
        let all = ScrollPointsBuilder::new(collection).limit(100_000).with_payload(true);
        let found = self.ask(async |client| client.scroll(all).await.unwrap().result);
        found.into_iter().map(|point| point.payload).collect()
    }
}

impl Drop for QdrantPeer {
    fn drop(&mut self) {
        self.go_away();
    }
}

fn wheels() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"));
    let folder = cache.join("adjutant/peers/qdrant");
    assert!(folder.is_dir(), "the Qdrant engine of the tests is missing: `make peers` fetches it");
    folder
}

/// The number of the status an answer has, as the protocol has them; 0 without an error.
fn code<T>(answer: &Result<T, qdrant_client::QdrantError>) -> i32 {
    match answer {
        Ok(_) => 0,
        Err(qdrant_client::QdrantError::ResponseError { status }) => i32::from(status.code()),
        Err(other) => panic!("{other}"),
    }
}

const INVALID_ARGUMENT: i32 = 3;
const NOT_FOUND: i32 = 5;
const ALREADY_EXISTS: i32 = 6;
const ABORTED: i32 = 10;
const UNIMPLEMENTED: i32 = 12;

fn creation(size: u64) -> CreateCollectionBuilder {
    CreateCollectionBuilder::new(COLLECTION).vectors_config(VectorParamsBuilder::new(size, Distance::Cosine))
}

fn letter(id: impl Into<PointId>, vector: [f32; 2], words: &[&str], number: i64) -> PointStruct {
    let mut payload = Payload::new();
    payload.insert("words", words.to_vec());
    payload.insert("number", number);
    PointStruct::new(id, vector.to_vec(), payload)
}

fn upsert(points: Vec<PointStruct>) -> UpsertPointsBuilder {
    UpsertPointsBuilder::new(COLLECTION, points).wait(true)
}

#[test]
fn it_refuses_what_the_server_refuses() {
    let peer = QdrantPeer::start();
    peer.ask(async |client| {
        let nothing = CountPointsBuilder::new(COLLECTION);
        assert_eq!(code(&client.count(nothing.clone()).await), NOT_FOUND);
        assert_eq!(code(&client.collection_info(COLLECTION).await), NOT_FOUND);
        assert!(!client.delete_collection(COLLECTION).await.unwrap().result);
        assert_eq!(code(&client.create_collection(creation(0)).await), INVALID_ARGUMENT);
        assert_eq!(code(&client.create_collection(CreateCollectionBuilder::new("a/b")).await), INVALID_ARGUMENT);
        // What it cannot do it does not pretend to do.
        assert_eq!(code(&client.create_collection(creation(2).on_disk_payload(true)).await), UNIMPLEMENTED);
        let search = SearchPointsBuilder::new(COLLECTION, vec![1.0, 0.0], 1);
        assert_eq!(code(&client.search_points(search).await), UNIMPLEMENTED);
        assert_eq!(code(&client.create_collection(creation(2)).await), 0);
        assert_eq!(code(&client.create_collection(creation(2)).await), ALREADY_EXISTS);
        let wrong = PointStruct::new(1, vec![1.0; 3], Payload::new());
        assert_eq!(code(&client.upsert_points(upsert(vec![wrong])).await), INVALID_ARGUMENT);
        let nameless = letter("no uuid", [1.0, 0.0], &[], 0);
        assert_eq!(code(&client.upsert_points(upsert(vec![nameless])).await), INVALID_ARGUMENT);
        let query = QueryPointsBuilder::new(COLLECTION).query(vec![1.0, 0.0]);
        assert_eq!(code(&client.query(query.clone().limit(0_u64)).await), INVALID_ARGUMENT);
        assert_eq!(code(&client.query(query.clone().query(vec![1.0; 3])).await), INVALID_ARGUMENT);
        assert_eq!(client.query(query).await.unwrap().result, []);
        assert_eq!(client.count(nothing).await.unwrap().result.unwrap().count, 0);
    });
}

#[test]
fn filters_and_scores_are_the_engines() {
    let peer = QdrantPeer::start();
    let uuid = "8f5d6c0e-3b0a-4a6f-9a51-7d2c41e0b6d3";
    let points = vec![
        letter(1, [3.0, 0.0], &["red"], 1),
        letter(2, [1.0, 1.0], &["red", "blue"], 2),
        letter(uuid, [0.0, 5.0], &["blue"], 2),
        letter(4, [-1.0, 0.0], &[], 3),
    ];
    let ids = |filter: Filter| {
        peer.ask(async |client| {
            let query = QueryPointsBuilder::new(COLLECTION).query(vec![2.0, 0.0]).filter(filter);
            let found = client.query(query.limit(10_u64).with_payload(true)).await.unwrap().result;
            found.iter().map(|point| (point.payload["number"].as_integer().unwrap(), point.score)).collect::<Vec<_>>()
        })
    };
    peer.ask(async |client| {
        client.create_collection(creation(2)).await.unwrap();
        for (field, kind) in [("words", FieldType::Keyword), ("number", FieldType::Integer)] {
            let index = CreateFieldIndexCollectionBuilder::new(COLLECTION, field, kind).wait(true);
            client.create_field_index(index).await.unwrap();
        }
        client.upsert_points(upsert(points.clone())).await.unwrap();
        client.upsert_points(upsert(points)).await.unwrap();
    });
    assert_eq!(peer.indexes(COLLECTION), ["number", "words"]);
    // Best first, whatever the lengths.
    let numbers = |filter| ids(filter).iter().map(|(number, _)| *number).collect::<Vec<_>>();
    let all = ids(Filter::default());
    assert_eq!(all.len(), 4, "given twice, it is there once");
    for ((_, score), cosine) in all.iter().zip([1.0, 0.5_f32.sqrt(), 0.0, -1.0]) {
        assert!((score - cosine).abs() < 1e-6, "{all:?}");
    }
    let red = || Condition::matches("words", "red".to_owned());
    let blue = || Condition::matches("words", "blue".to_owned());
    assert_eq!(numbers(Filter::must([red()])), [1, 2]);
    assert_eq!(numbers(Filter::must([red(), blue()])), [2]);
    assert_eq!(numbers(Filter::should([red(), blue()])), [1, 2, 2]);
    assert_eq!(numbers(Filter::must_not([red()])), [2, 3]);
    assert_eq!(numbers(Filter::must([Condition::matches("number", vec![1_i64, 3])])), [1, 3]);
    assert_eq!(numbers(Filter::must([Condition::matches("words", Vec::<String>::new())])), [0_i64; 0]);
    let both =
        Filter { must: vec![blue()], must_not: vec![Condition::has_id([PointId::from(uuid)])], ..Filter::default() };
    assert_eq!(numbers(both.clone()), [2]);
    peer.ask(async |client| {
        client.delete_points(DeletePointsBuilder::new(COLLECTION).points(both).wait(true)).await.unwrap();
        let one: [PointId; 1] = [1.into()];
        client.delete_points(DeletePointsBuilder::new(COLLECTION).points(one).wait(true)).await.unwrap();
    });
    assert_eq!(numbers(Filter::default()), [2, 3]);
    assert_eq!(peer.payloads(COLLECTION).len(), 2);
}

#[test]
fn what_it_took_is_there_after_a_kill_and_trouble_comes_as_asked() {
    let mut peer = QdrantPeer::start();
    let put = |peer: &QdrantPeer, id: u64| {
        peer.ask(async |client| code(&client.upsert_points(upsert(vec![letter(id, [1.0, 0.0], &[], 0)])).await))
    };
    peer.ask(async |client| client.create_collection(creation(2)).await.unwrap());
    for id in 0..5 {
        assert_eq!(put(&peer, id), 0);
        peer.go_away();
        peer.come_back();
        assert_eq!(peer.points(COLLECTION) as u64, id + 1);
    }
    peer.fail("Points/Upsert", Fault::Before("ABORTED"), 2);
    assert_eq!([put(&peer, 5), put(&peer, 5)], [ABORTED; 2]);
    assert_eq!(peer.points(COLLECTION), 5, "not carried out");
    peer.fail("Points/Upsert", Fault::After("ABORTED"), 1);
    assert_eq!([put(&peer, 5), put(&peer, 5)], [ABORTED, 0]);
    assert_eq!((peer.points(COLLECTION), peer.calls("Points/Upsert")), (6, 4));
    peer.lose_everything();
    assert_eq!(put(&peer, 0), NOT_FOUND);
}
