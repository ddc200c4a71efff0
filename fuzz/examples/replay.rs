//! `replay TARGET FILE…`: runs inputs through a target without instrumentation. Prints those over the bound, and fails
//! when there is one.

use std::{fs, process::ExitCode};

use adjutant_fuzz::entry;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(target) = arguments.next() else {
        eprintln!("usage: replay TARGET FILE…");
        return ExitCode::from(2);
    };
    let run = entry::find_target(&target);
    let mut over = 0;
    for file in arguments {
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) => {
                eprintln!("{file}: {error}");
                return ExitCode::from(2);
            }
        };
        // The first run also pays for tables that are made once in the life of the program.
        let took = (0..3).map(|_| entry::cpu_time(|| run(&bytes))).min().unwrap_or_default();
        if took > entry::CPU_TIME_LIMIT {
            over += 1;
            println!("{file}: {took:?}");
        }
    }
    ExitCode::from(u8::from(over > 0))
}
