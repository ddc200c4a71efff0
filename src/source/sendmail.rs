//! Handing a message to the system's own transport, a program that reads it on stdin.

use std::{
    io::{Read as _, Write as _},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::SendError;

/// Queueing takes a moment; a program that takes this long hangs.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(10);
/// "Try again later": some transports queue it nevertheless.
const TEMPORARY: i32 = 75;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sendmail {
    program: String,
    arguments: Vec<String>,
}

impl Sendmail {
    /// A program and its arguments, with spaces between; none without a program.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some(Self { program: words.next()?, arguments: words.collect() })
    }

    pub fn name(&self) -> &str {
        &self.program
    }

    /// Accepted, certainly refused, or nobody knows.
    pub fn transmit(&self, message: &[u8]) -> Result<(), SendError> {
        let spawned = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child =
            spawned.map_err(|error| SendError::Refused(format!("{} cannot be run: {error}", self.program)))?;
        let written = child.stdin.take().map(|mut stdin| stdin.write_all(message));
        let began = Instant::now();
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if began.elapsed() < PATIENCE => std::thread::sleep(LOOK),
                _ => {
                    drop(child.kill());
                    drop(child.wait());
                    return Err(SendError::Unsure(format!("{} did not come back", self.program)));
                }
            }
        };
        let mut complaint = String::new();
        if let Some(stderr) = child.stderr.take() {
            drop(stderr.take(500).read_to_string(&mut complaint));
        }
        let complaint = complaint.trim();
        match status.code() {
            Some(0) if matches!(written, Some(Ok(()))) => Ok(()),
            Some(0) => Err(SendError::Unsure(format!("{} ended before it had read the message", self.program))),
            Some(TEMPORARY) | None => {
                Err(SendError::Unsure(format!("{} ended with {status}: {complaint}", self.program)))
            }
            Some(_) => Err(SendError::Refused(format!("{} refused it ({status}): {complaint}", self.program))),
        }
    }
}
