//! The fuzz targets. What each does with an input is in [`entry`], which the tests of the program use too.

pub mod entry;

use std::{fs, hash::Hasher as _, path::PathBuf};

/// The environment variable that names the folder for slow inputs, which are tried again without instrumentation.
const SLOW: &str = "FUZZ_SLOW";

/// Runs a target. A panic ends the process, as libFuzzer expects. A slow input is only put aside, because instrumented
/// code is slower: `replay` decides whether it is too slow.
pub fn fuzz(target: &str, bytes: &[u8]) {
    let run = entry::find_target(target);
    let took = entry::cpu_time(|| run(bytes));
    if took > entry::CPU_TIME_LIMIT
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
