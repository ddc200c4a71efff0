use std::io::{self, BufRead as _, BufReader, Stdin, Stdout, Write as _};

use serde::{Serialize, de::DeserializeOwned};

/// The pipes to the parent. Whatever goes wrong with them, the parent is gone or has lost its interest.
pub(super) struct Channel {
    stdin: BufReader<Stdin>,
    stdout: Stdout,
}

impl Channel {
    pub(super) fn of_process() -> Self {
        Self { stdin: BufReader::new(io::stdin()), stdout: io::stdout() }
    }

    /// Reads one line, from a parent that is trusted with its length.
    pub(super) fn read<T: DeserializeOwned>(&mut self) -> io::Result<T> {
        let mut line = String::new();
        if self.stdin.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        serde_json::from_str(&line).map_err(io::Error::from)
    }

    pub(super) fn write(&mut self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.stdout.write_all(&line)?;
        self.stdout.flush()
    }
}
