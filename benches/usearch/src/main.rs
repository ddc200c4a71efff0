//! Measures `usearch` (HNSW, int8) over the vectors and queries that `benches/memory.rs` writes, for comparison.

use std::{fs, time::Instant};

use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

const DIMENSION: usize = 192;
const TOP: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    let floats: Vec<f32> = fs::read(&path)?.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
    let asked = fs::read(format!("{path}.asked"))?;
    let asked: Vec<f32> = asked.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
    let (vectors, questions) = (floats.as_chunks::<DIMENSION>().0, asked.as_chunks::<DIMENSION>().0);
    let options = IndexOptions {
        dimensions: DIMENSION,
        metric: MetricKind::Cos,
        quantization: ScalarKind::I8,
        ..IndexOptions::default()
    };
    let index = Index::new(&options)?;
    let before = anonymous()?;
    index.reserve(vectors.len())?;
    let watch = Instant::now();
    for (nth, vector) in vectors.iter().enumerate() {
        index.add(nth as u64, vector)?;
    }
    let built = watch.elapsed().as_secs_f64();
    let each = (anonymous()? - before) / vectors.len() as f64;
    // One in ten vectors belongs to another account, as in that benchmark.
    let ours = |key: u64| !key.is_multiple_of(10);
    let (mut times, mut found) = (Vec::new(), 0);
    for question in questions {
        let watch = Instant::now();
        let answer = index.filtered_search(question, TOP, ours)?;
        times.push(watch.elapsed().as_secs_f64() * 1e3);
        let right = right(vectors, question);
        found += answer.keys.iter().filter(|key| right.contains(key)).count();
    }
    times.sort_by(f64::total_cmp);
    let recall = found as f64 * 100.0 / (TOP * questions.len()) as f64;
    println!(
        "{} vectors: built in {built:.1} s, {each:.0} bytes each, p50 {:.3} ms, recall@10 {recall:.1} %",
        vectors.len(),
        times[times.len() / 2]
    );
    Ok(())
}

/// Returns the exact ten nearest vectors.
fn right(vectors: &[[f32; DIMENSION]], question: &[f32; DIMENSION]) -> Vec<u64> {
    let mut scores: Vec<(f32, u64)> = vectors
        .iter()
        .enumerate()
        .filter(|(nth, _)| nth % 10 != 0)
        .map(|(nth, vector)| (vector.iter().zip(question).map(|(a, b)| a * b).sum(), nth as u64))
        .collect();
    scores.sort_by(|a, b| b.0.total_cmp(&a.0));
    scores.into_iter().take(TOP).map(|(_, nth)| nth).collect()
}

/// Returns the anonymous resident memory of this process in bytes.
fn anonymous() -> Result<f64, Box<dyn std::error::Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).ok_or("RssAnon")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<f64>()? * 1024.0)
}
