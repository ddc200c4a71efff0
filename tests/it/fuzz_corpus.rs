//! Runs the corpus of the fuzzer with every build: no input may panic or exceed its time.

use std::{fs, path::Path};

use crate::fuzz_entry::{CPU_TIME_LIMIT, MAX_INPUT_BYTES, TARGETS, cpu_time, find_target};

/// A build that is not optimised may take longer by this (see `linear_time`).
const SLOWER: u32 = if cfg!(debug_assertions) { 30 } else { 1 };
/// More would make the checkout heavy.
const MOST_BYTES: usize = 300 * 1024;

#[test]
fn the_corpus_is_read_without_a_panic_and_in_time() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let (mut slow, mut bytes) = (Vec::new(), 0);
    for (name, _) in TARGETS {
        let mut inputs = 0;
        for entry in fs::read_dir(corpus.join(name)).unwrap_or_else(|error| panic!("the corpus of {name}: {error}")) {
            let path = entry.unwrap().path();
            let input = fs::read(&path).unwrap();
            (inputs, bytes) = (inputs + 1, bytes + input.len());
            println!("{}", path.display());
            let took = (0..3).map(|_| cpu_time(|| find_target(name)(&input))).min().unwrap();
            if took > CPU_TIME_LIMIT * SLOWER || input.len() > MAX_INPUT_BYTES {
                slow.push(format!("{}: {took:?} for {} bytes", path.display(), input.len()));
            }
        }
        assert!(inputs > 0, "{name} has no corpus");
    }
    assert!(slow.is_empty(), "over their time:\n{}", slow.join("\n"));
    assert!(bytes <= MOST_BYTES, "the corpus has {bytes} bytes");
}
