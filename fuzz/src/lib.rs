//! The fuzz targets. What each does with an input stands in [`entry`], which the tests of the program use too.

pub mod entry;

use std::{fs, hash::Hasher as _, path::PathBuf};

/// Where an input that took long is put, to be tried again without instrumentation.
const SLOW: &str = "FUZZ_SLOW";

/// Runs a target. A panic ends the process, as libFuzzer wants it; an input over the bound is put aside, because
/// instrumented code is slower and `replay` has the last word on time.
pub fn fuzz(target: &str, bytes: &[u8]) {
    let run = entry::target(target);
    let took = entry::cpu_time(|| run(bytes));
    if took > entry::BOUND
        && let Some(folder) = std::env::var_os(SLOW)
    {
        let mut name = std::hash::DefaultHasher::new();
        name.write(bytes);
        let file = PathBuf::from(folder).join(format!("{target}-{:016x}", name.finish()));
        if let Err(error) = fs::write(&file, bytes) {
            eprintln!("{} cannot be written: {error}", file.display());
        }
    }
}
