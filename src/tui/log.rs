//! The log while the screen has the terminal. Lines in between would stand in the middle of the picture until it is drawn
//! anew, so they are kept and written when the terminal has been given back.

use std::{
    io::{self, IsTerminal as _, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// How much is kept. What comes after that is lost.
const MOST_BYTES: usize = 64 << 10;

/// What was logged while the screen is open; none while it is not.
static HELD: Mutex<Option<Vec<u8>>> = Mutex::new(None);

/// Writes to stderr, or keeps what is written while the screen has the terminal.
#[derive(Debug)]
pub struct LogWriter;

/// Returns the writer of the process's log.
pub fn log_writer() -> LogWriter {
    LogWriter
}

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match held().as_mut() {
            Some(kept) => {
                if kept.len() + bytes.len() <= MOST_BYTES {
                    kept.extend_from_slice(bytes);
                }
                Ok(bytes.len())
            }
            None => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Keeps the log from now on, if it would go to a terminal.
pub(super) fn hold() {
    if io::stderr().is_terminal() {
        *held() = Some(Vec::new());
    }
}

/// Writes what was kept.
pub(super) fn release() {
    let kept = held().take();
    if let Some(kept) = kept {
        // There is nobody to tell that the log cannot be written.
        drop(io::stderr().write_all(&kept));
    }
}

fn held() -> MutexGuard<'static, Option<Vec<u8>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}
