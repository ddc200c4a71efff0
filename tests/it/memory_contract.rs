//! Tests the contract of every vector store: the embedded one and a Qdrant server (Qdrant's engine on loopback, and the
//! server that `QDRANT_URL` names, if it is set). `IT_CASES` says how many random operations.

use std::collections::{BTreeMap, BTreeSet};

use adjutant::{
    memory::{
        DocKind, EmbeddedVectorStore, Filter, NearDocument, QdrantVectorStore, Snippet, VectorStore, index::VectorShape,
    },
    model::{AccountId, memory::QdrantSettings},
};

use crate::{
    qdrant_peer::QdrantPeer,
    support::test_home::{SeededRandom, TestHome, WORK},
};

const DIMENSION: usize = 192;
const LOCAL: &str = "local";
/// What a byte per dimension may cost a cosine.
const TOLERANCE: f32 = 0.01;

/// Documents of two accounts and both kinds, as the store knows them.
fn documents(home: &TestHome) -> Vec<(String, AccountId)> {
    let ulid = |nth: usize| format!("01JY4Z7Q8X9W3V5T6R2P0{nth:05}");
    let tasks = (0..40).map(|nth| (format!("task:{}", ulid(nth)), [WORK, LOCAL][nth % 2]));
    let mails = (0..20).map(|nth| (format!("mail:{}", 1000 + nth), [WORK, LOCAL][nth % 2]));
    let connection = home.database();
    tasks
        .chain(mails)
        .map(|(doc, account)| {
            let sql = "INSERT INTO search_doc (doc, account, title, at) VALUES (?1, ?2, 'x', '2026-11-16T08:00:00Z')";
            connection.execute(sql, (&doc, account)).unwrap();
            (doc, AccountId::from(account))
        })
        .collect()
}

fn random_vector(dice: &mut SeededRandom) -> Vec<f32> {
    let raw: Vec<f32> = (0..DIMENSION).map(|_| dice.below(20_001) as f32 / 10_000.0 - 1.0).collect();
    adjutant::document::int8_vector::normalise(raw).unwrap()
}

fn snippets(dice: &mut SeededRandom, (doc, account): &(String, AccountId), pieces: u8) -> Vec<Snippet> {
    let snippet = |number| {
        let vector = random_vector(dice);
        Snippet { doc: doc.clone(), number, account: account.clone(), vector }
    };
    (0..pieces).map(snippet).collect()
}

/// What must be there, kept as simply as can be.
#[derive(Default)]
struct Expected(BTreeMap<String, Vec<Snippet>>);

impl Expected {
    fn put(&mut self, snippets: &[Snippet]) {
        for snippet in snippets {
            self.0.remove(&snippet.doc);
        }
        for snippet in snippets {
            self.0.entry(snippet.doc.clone()).or_default().push(snippet.clone());
        }
    }

    fn count(&self) -> u64 {
        self.0.values().map(|pieces| pieces.len() as u64).sum()
    }

    fn nearest(&self, query: &[f32], filter: &Filter) -> Vec<(String, f32)> {
        let cosine = |snippet: &Snippet| snippet.vector.iter().zip(query).map(|(a, b)| a * b).sum::<f32>();
        let mut all: Vec<(String, f32)> = self
            .0
            .iter()
            .filter(|(doc, _)| filter.kind.is_none_or(|kind| DocKind::from_doc_id(doc) == Some(kind)))
            .filter(|(_, pieces)| pieces[0].account == filter.account)
            .map(|(doc, pieces)| (doc.clone(), pieces.iter().map(cosine).fold(f32::MIN, f32::max)))
            .collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }

    /// The answer is the right one, up to what rounding may exchange.
    fn check(&self, found: &[NearDocument], query: &[f32], filter: &Filter, k: usize) {
        let right = self.nearest(query, filter);
        assert_eq!(found.len(), k.min(right.len()), "{filter:?} {found:?}");
        assert_eq!(found.iter().map(|near| &near.doc).collect::<BTreeSet<_>>().len(), found.len(), "{found:?}");
        assert!(found.is_sorted_by(|a, b| a.score >= b.score), "{found:?}");
        assert!(found.iter().all(|near| (-1.0..=1.0).contains(&near.score)), "a cosine: {found:?}");
        for (near, (_, best)) in found.iter().zip(&right) {
            let own = right.iter().find(|(doc, _)| *doc == near.doc);
            let (_, own) = own.unwrap_or_else(|| panic!("{} must not be found by {filter:?}", near.doc));
            assert!((near.score - own).abs() < TOLERANCE, "{near:?} should score {own}");
            assert!(best - own < TOLERANCE, "{near:?} at the place of one that scores {best}");
            let piece = self.0[&near.doc].iter().find(|piece| piece.number == near.number).expect("a piece it has");
            let cosine: f32 = piece.vector.iter().zip(query).map(|(a, b)| a * b).sum();
            assert!((cosine - near.score).abs() < TOLERANCE, "{near:?} is not that piece");
        }
    }
}

fn filters() -> Vec<Filter> {
    let kinds = [None, Some(DocKind::Task), Some(DocKind::Mail)];
    let accounts = [WORK, LOCAL, "nobody"];
    let filter = |account: &str, kind| Filter { kind, ..Filter::account(&AccountId::from(account)) };
    accounts.iter().flat_map(|account| kinds.map(|kind| filter(account, kind))).collect()
}

async fn ask_everything(vectors: &dyn VectorStore, expected: &Expected, dice: &mut SeededRandom) {
    let query = random_vector(dice);
    for filter in filters() {
        for k in [0, 1, 5, 100] {
            let found = vectors.top_k(&query, &filter, k).await.unwrap();
            expected.check(&found, &query, &filter, k);
        }
    }
    assert_eq!(vectors.count().await.unwrap(), expected.count());
}

async fn keeps_the_contract(vectors: &dyn VectorStore, docs: &[(String, AccountId)], dice: &mut SeededRandom) {
    let mut expected = Expected::default();
    vectors.clear().await.unwrap();
    assert!(vectors.check_intact().await.unwrap());
    ask_everything(vectors, &expected, dice).await;

    // All at once, then the same again.
    let all: Vec<Snippet> = docs.iter().enumerate().flat_map(|(n, doc)| snippets(dice, doc, 1 + n as u8 % 3)).collect();
    for _ in 0..2 {
        vectors.upsert(&all).await.unwrap();
        expected.put(&all);
        ask_everything(vectors, &expected, dice).await;
    }

    // Asked for in its own words, each is found first; and it is no nearer than the same.
    for snippet in &all {
        let found = vectors.top_k(&snippet.vector, &Filter::account(&snippet.account), 3).await.unwrap();
        expected.check(&found, &snippet.vector, &Filter::account(&snippet.account), 3);
        assert_eq!((&found[0].doc, found[0].number), (&snippet.doc, snippet.number));
    }

    // Nothing, given or taken away, changes nothing.
    vectors.upsert(&[]).await.unwrap();
    vectors.delete(&[]).await.unwrap();
    ask_everything(vectors, &expected, dice).await;

    // Fewer pieces than before: the others are gone, and the old wording finds nothing.
    let old = expected.0[&docs[2].0][0].vector.clone();
    let fewer = snippets(dice, &docs[2], 1);
    vectors.upsert(&fewer).await.unwrap();
    expected.put(&fewer);
    let filter = Filter::account(&docs[2].1);
    let found = vectors.top_k(&old, &filter, 3).await.unwrap();
    assert!(found.iter().all(|near| near.score < 0.99), "{found:?}");

    let gone: Vec<String> = docs.iter().take(7).map(|(doc, _)| doc.clone()).collect();
    vectors.delete(&gone).await.unwrap();
    vectors.delete(&gone).await.unwrap();
    gone.iter().for_each(|doc| drop(expected.0.remove(doc)));
    ask_everything(vectors, &expected, dice).await;

    let deeds = std::env::var("IT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    for _ in 0..deeds {
        let doc = &docs[usize::try_from(dice.below(docs.len() as u64)).unwrap()];
        if dice.below(4) == 0 {
            vectors.delete(std::slice::from_ref(&doc.0)).await.unwrap();
            expected.0.remove(&doc.0);
        } else {
            let pieces = 1 + u8::try_from(dice.below(4)).unwrap();
            let new = snippets(dice, doc, pieces);
            vectors.upsert(&new).await.unwrap();
            expected.put(&new);
        }
        ask_everything(vectors, &expected, dice).await;
    }

    vectors.clear().await.unwrap();
    assert_eq!(vectors.count().await.unwrap(), 0);
    vectors.upsert(&all).await.unwrap();
    expected = Expected::default();
    expected.put(&all);
    ask_everything(vectors, &expected, dice).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_the_tasks() {
    let home = TestHome::active();
    let app = home.app().await;
    let docs = documents(&home);
    let vectors = EmbeddedVectorStore::new(app.store.clone(), VectorShape::uniform(DIMENSION));
    keeps_the_contract(&vectors, &docs, &mut SeededRandom::thrown("beside_the_tasks")).await;
}

fn server(url: &str, collection: &str) -> QdrantVectorStore {
    let key = std::env::var("QDRANT_API_KEY").ok().map(Into::into);
    let settings = QdrantSettings { url: url.into(), api_key: key, collection: collection.into() };
    QdrantVectorStore::new(&settings, DIMENSION).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_server() {
    let home = TestHome::active();
    drop(home.app().await);
    let docs = documents(&home);
    let peer = QdrantPeer::start();
    let mut dice = SeededRandom::thrown("on_a_server");
    keeps_the_contract(&server(&peer.url(), "task_snippets"), &docs, &mut dice).await;
    for payload in peer.payloads("task_snippets") {
        let keys: BTreeSet<&str> = payload.keys().map(String::as_str).collect();
        let wanted = ["account", "doc", "kind", "number"];
        assert!(wanted.iter().all(|key| keys.contains(key)), "{keys:?}");
    }
    if let Ok(url) = std::env::var("QDRANT_URL") {
        println!("and on the server at {url}");
        let collection = format!("adjutant_contract_{}", std::process::id());
        keeps_the_contract(&server(&url, &collection), &docs, &mut dice).await;
    }
}

/// Two processes share the file: what one writes, the other finds.
#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_wrote_is_found() {
    let home = TestHome::active();
    let (one, other) = (home.app().await, home.app().await);
    let docs = documents(&home);
    let mut dice = SeededRandom::thrown("another_process");
    let (writes, reads) = {
        let shape = VectorShape::uniform(DIMENSION);
        (EmbeddedVectorStore::new(one.store.clone(), shape), EmbeddedVectorStore::new(other.store.clone(), shape))
    };
    let mut expected = Expected::default();
    for doc in &docs {
        let new = snippets(&mut dice, doc, 2);
        writes.upsert(&new).await.unwrap();
        expected.put(&new);
    }
    ask_everything(&reads, &expected, &mut dice).await;
    // Everything is replaced behind its back: nearly all it has loaded is gone.
    writes.clear().await.unwrap();
    expected = Expected::default();
    for doc in docs.iter().rev() {
        let new = snippets(&mut dice, doc, 1);
        writes.upsert(&new).await.unwrap();
        expected.put(&new);
    }
    ask_everything(&reads, &expected, &mut dice).await;
}
