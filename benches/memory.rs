//! Benchmark (f): the memory. Embedding compared with plain model2vec-rs, and the search for the nearest ten vectors of
//! one account among 10k and 100k (1M with `BENCH_LONG=1`): by the index, by two simpler scans, and through the store
//! as the program does it.

mod kit;

use std::{hint::black_box, path::Path, time::Instant as Stopwatch};

use adjutant::{
    document::int8_vector::{decode, encode},
    memory::{
        DocKind, EmbeddedVectorStore, Embedder as _, Filter, StaticEmbedder as Embedder, VectorStore as _,
        index::{ScoredVector, VectorIndex},
    },
    model::AccountId,
    store::Store,
};
use anyhow::{Context as _, ensure};
use kit::{Goal, Table, median};
use model2vec_rs::model::StaticModel;
use rusqlite::Connection;

const DIMENSION: usize = 192;
/// Number of nearest vectors that are searched for.
const TOP: usize = 10;
const QUESTIONS: usize = 60;
/// One in this many vectors belongs to another account than the one that is searched.
const SHARE: usize = 10;
const ROUNDS: usize = 5;

fn main() -> anyhow::Result<()> {
    let long = std::env::var_os("BENCH_LONG").is_some_and(|value| value == "1");
    let mut table = Table::new("(f) memory")?;
    embedding(&mut table)?;
    let words = vocabulary()?;
    for (count, goal) in [(10_000, 1.0), (100_000, 5.0), (1_000_000, 50.0)] {
        if count <= 100_000 || long {
            ways(&mut table, &words, count, goal)?;
        }
    }
    table.end()
}

/// Measures the embedder on one text at a time on one thread, as the program uses it. Rounds of both sides take turns.
fn embedding(table: &mut Table) -> anyhow::Result<()> {
    let watch = Stopwatch::now();
    let embedder = Embedder::default();
    embedder.load().context("the embedder")?;
    let ready = watch.elapsed().as_secs_f64() * 1e3;
    table.value("embedder ready", ready, "ms", Goal::AtMost(200.0))?;
    let asset = |name: &str| std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/embedder").join(name));
    let plain =
        StaticModel::from_bytes(asset("tokenizer.json")?, asset("model.safetensors")?, asset("config.json")?, None)?;
    let words = vocabulary()?;
    for (name, length, count) in [("short texts", 10, 40_000), ("texts of 120 words", 120, 6_000)] {
        let texts: Vec<String> = (0..count).map(|nth| text(&words, nth, length)).collect();
        let (mut rates, mut ratios) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let theirs = rate(&texts, |text| drop(black_box(plain.encode_single(text))));
            let ours = rate(&texts, |text| drop(black_box(embedder.embed_one(text))));
            rates.push(ours);
            ratios.push(ours / theirs);
        }
        table.ratio(&format!("embedding {name}"), median(&rates), "texts/s", median(&ratios), Goal::AtLeast(0.8))?;
    }
    Ok(())
}

/// Returns how many texts per second are processed.
fn rate(texts: &[String], act: impl Fn(&str)) -> f64 {
    let watch = Stopwatch::now();
    texts.iter().for_each(|text| act(text));
    texts.len() as f64 / watch.elapsed().as_secs_f64()
}

/// Returns the plain words that the embedder knows.
fn vocabulary() -> anyhow::Result<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/embedder/tokenizer.json");
    let tokenizer: serde_json::Value = serde_json::from_slice(&std::fs::read(path)?)?;
    let vocabulary =
        tokenizer.pointer("/model/vocab").and_then(serde_json::Value::as_object).context("a vocabulary")?;
    let is_word = |word: &&String| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    Ok(vocabulary.keys().filter(is_word).cloned().collect())
}

/// Returns a text whose words are mostly near one subject, like texts of one mailbox.
fn text(words: &[String], nth: usize, length: usize) -> String {
    let mut seed = nth as u64;
    let mut pick = |most: usize| {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % most.max(1) as u64).unwrap_or_default()
    };
    let subject = pick(words.len() / 8) * 8;
    let word = |_| {
        let near = pick(3) > 0;
        let at = if near { subject + pick(8) } else { pick(words.len()) };
        words.get(at).map_or("mail", String::as_str)
    };
    (0..length).map(word).collect::<Vec<_>>().join(" ")
}

/// The vectors: as floats in one list, and as they are stored (int8).
struct Stored {
    flat: Vec<f32>,
    bytes: Vec<Vec<u8>>,
}

/// Measures all ways of searching over this many vectors.
fn ways(table: &mut Table, words: &[String], count: usize, goal: f64) -> anyhow::Result<()> {
    let size = if count >= 1_000_000 { format!("{}M", count / 1_000_000) } else { format!("{}k", count / 1_000) };
    let embedder = Embedder::default();
    let mut stored = Stored { flat: Vec::with_capacity(count * DIMENSION), bytes: Vec::with_capacity(count) };
    for nth in 0..count {
        let vector = embedder.embed_one(&text(words, nth, 12)).context("a vector")?;
        stored.bytes.push(encode(&vector));
        stored.flat.extend(vector);
    }
    let asked = |nth: usize| embedder.embed_one(&text(words, nth * 97 + 13, 10)).context("a question");
    let questions: Vec<Vec<f32>> = (0..QUESTIONS).map(asked).collect::<anyhow::Result<_>>()?;
    dump(&size, &stored, &questions)?;
    let right: Vec<Vec<i64>> = questions.iter().map(|question| floats(&stored, question)).collect();

    let before = anonymous()?;
    let mut index = VectorIndex::new(Embedder::default().shape());
    for (nth, bytes) in stored.bytes.iter().enumerate() {
        index.add(account(nth), DocKind::Task, nth as i64, decode(bytes, DIMENSION).context("a vector")?);
    }
    // A small index would fit into memory that was freed before, and be measured as nothing.
    if count >= 100_000 {
        let each = (anonymous()? - before) / count as f64;
        table.value(&format!("{size}: resident bytes of a vector"), each, "bytes", Goal::AtMost(250.0))?;
    }

    let filter = Filter { kind: Some(DocKind::Task), ..Filter::account(&AccountId::from("asked")) };
    let shipped = |question: &[f32]| ids(&index.nearest(question, &filter, TOP));
    measure(table, &format!("{size}: binary, then int8 (shipped)"), &questions, &right, Goal::AtMost(goal), shipped)?;
    let walk = |question: &[f32]| levels(&stored, question);
    measure(table, &format!("{size}: int8 of all"), &questions, &right, Goal::None, walk)?;
    let plain = |question: &[f32]| floats(&stored, question);
    measure(table, &format!("{size}: floats of all"), &questions, &right, Goal::None, plain)?;
    through_the_store(table, &size, &stored, &questions, &right, goal)
}

/// Writes the vectors and queries to the files that `benches/usearch` reads, if `BENCH_DUMP` names a path.
fn dump(size: &str, stored: &Stored, questions: &[Vec<f32>]) -> anyhow::Result<()> {
    let Some(path) = std::env::var_os("BENCH_DUMP") else { return Ok(()) };
    let path = format!("{}-{size}", path.to_string_lossy());
    let bytes = |floats: &[f32]| floats.iter().flat_map(|float| float.to_le_bytes()).collect::<Vec<u8>>();
    std::fs::write(format!("{path}.asked"), bytes(&questions.concat()))?;
    std::fs::write(path, bytes(&stored.flat))?;
    Ok(())
}

/// Prints the median time and the recall of one way of searching. `right` holds the exact results.
fn measure(
    table: &mut Table,
    name: &str,
    questions: &[Vec<f32>],
    right: &[Vec<i64>],
    goal: Goal,
    ask: impl Fn(&[f32]) -> Vec<i64>,
) -> anyhow::Result<()> {
    let (mut times, mut found) = (Vec::new(), 0);
    for (question, right) in questions.iter().zip(right) {
        let watch = Stopwatch::now();
        let answer = black_box(ask(question));
        times.push(watch.elapsed().as_secs_f64() * 1e3);
        found += answer.iter().filter(|id| right.contains(id)).count();
    }
    let recall = found as f64 * 100.0 / (TOP * questions.len()) as f64;
    table.value(&format!("{name}, p50"), median(&times), "ms", goal)?;
    table.value(&format!("{name}, recall@10"), recall, "%", Goal::None)
}

/// Returns the account of a vector.
fn account(nth: usize) -> &'static str {
    if nth.is_multiple_of(SHARE) { "other" } else { "asked" }
}

fn ids(found: &[ScoredVector]) -> Vec<i64> {
    found.iter().map(|candidate| candidate.vector_id).collect()
}

/// Returns the best ten by the exact cosine.
fn floats(stored: &Stored, question: &[f32]) -> Vec<i64> {
    let score = |row: &[f32; DIMENSION]| {
        let mut sums = [0.0_f32; 16];
        for (row, question) in row.as_chunks::<16>().0.iter().zip(question.as_chunks::<16>().0) {
            sums.iter_mut().zip(row).zip(question).for_each(|((sum, a), b)| *sum += a * b);
        }
        sums.iter().sum::<f32>()
    };
    best(stored.flat.as_chunks::<DIMENSION>().0.iter().map(score))
}

/// Returns the best ten by int8 codes on both sides.
fn levels(stored: &Stored, question: &[f32]) -> Vec<i64> {
    let question = encode(question);
    let Some(asked) = decode(&question, DIMENSION) else { return Vec::new() };
    let score = |bytes: &Vec<u8>| {
        let Some(row) = decode(bytes, DIMENSION) else { return f32::MIN };
        let pairs = row.values.iter().zip(asked.values);
        let sum: i32 = pairs.map(|(a, b)| i32::from(a.cast_signed()) * i32::from(b.cast_signed())).sum();
        sum as f32 * row.scale
    };
    best(stored.bytes.iter().map(score))
}

/// Returns the ids of the best ten scores of the searched account.
fn best(scores: impl Iterator<Item = f32>) -> Vec<i64> {
    let mut top: Vec<(f32, i64)> = Vec::with_capacity(TOP + 1);
    for (nth, score) in scores.enumerate().filter(|(nth, _)| account(*nth) == "asked") {
        if top.len() < TOP || top.last().is_some_and(|(worst, _)| score > *worst) {
            let at = top.partition_point(|(known, _)| *known >= score);
            top.insert(at, (score, nth as i64));
            top.truncate(TOP);
        }
    }
    top.into_iter().map(|(_, id)| id).collect()
}

/// Measures the search as the program does it: the vectors found are looked up in the database.
fn through_the_store(
    table: &mut Table,
    size: &str,
    stored: &Stored,
    questions: &[Vec<f32>],
    right: &[Vec<i64>],
    goal: f64,
) -> anyhow::Result<()> {
    let folder = kit::folder()?;
    let path = folder.path().join("tasks.db");
    let store = Store::open(&path, folder.path())?;
    fill(&path, stored)?;
    let runtime = kit::runtime()?;
    let vectors = EmbeddedVectorStore::new(store, Embedder::default().shape());
    let watch = Stopwatch::now();
    vectors.load()?;
    table.value(
        &format!("{size}: loading, in the background"),
        watch.elapsed().as_secs_f64() * 1e3,
        "ms",
        Goal::None,
    )?;
    let filter = Filter { kind: Some(DocKind::Task), ..Filter::account(&AccountId::from("asked")) };
    let ask = |question: &[f32]| {
        let found = runtime.block_on(vectors.top_k(question, &filter, TOP)).unwrap_or_default();
        found.iter().filter_map(|near| near.doc.strip_prefix("task:")?.parse().ok()).collect::<Vec<i64>>()
    };
    let first = runtime.block_on(vectors.top_k(questions.first().context("a question")?, &filter, TOP))?;
    ensure!(first.len() == TOP, "{} of {TOP} were found", first.len());
    measure(table, &format!("{size}: through the store"), questions, right, Goal::AtMost(goal), ask)
}

fn fill(path: &Path, stored: &Stored) -> anyhow::Result<()> {
    let connection = Connection::open(path)?;
    connection.execute_batch("BEGIN")?;
    {
        let sql = "INSERT INTO search_doc (doc_id, doc, account, title, at)
            VALUES (?1, ?2, ?3, '', '2026-01-01T00:00:00Z')";
        let mut doc = connection.prepare(sql)?;
        let sql = "INSERT INTO search_vector (doc_id, number, account, kind, bytes) VALUES (?1, 0, ?2, 'task', ?3)";
        let mut vector = connection.prepare(sql)?;
        for (nth, bytes) in stored.bytes.iter().enumerate() {
            let id = nth as i64 + 1;
            doc.execute((id, format!("task:{nth}"), account(nth)))?;
            vector.execute((id, account(nth), bytes))?;
        }
    }
    connection.execute_batch("COMMIT")?;
    Ok(())
}

/// Returns the anonymous resident memory of this process in bytes.
fn anonymous() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).context("RssAnon")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<f64>()? * 1024.0)
}
