use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What came of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The value of the last expression, or what `return` gave. Undefined and functions are null.
    pub result: Result<Value, ScriptError>,
    pub logs: Vec<LogLine>,
    /// Lines of the log that were over the limit.
    pub dropped_log_lines: usize,
    pub elapsed: Duration,
}

/// One call of `console.log` and its relatives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    pub level: LogLevel,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    Debug,
    Log,
    Info,
    Warn,
    Error,
}

/// Why a script has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct ScriptError {
    pub kind: ErrorKind,
    /// One sentence without a position.
    pub message: String,
    /// What the host called the error that was not caught, such as `not_found`.
    pub code: Option<String>,
    /// The line of the script, from 1.
    pub line: Option<u32>,
    pub column: Option<u32>,
    /// The calls that led there, innermost first.
    pub stack: Option<String>,
}

impl ScriptError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), code: None, line: None, column: None, stack: None }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, " (line {line}, column {column})"),
            (Some(line), None) => write!(f, " (line {line})"),
            _ => Ok(()),
        }
    }
}

/// The kinds of [`ScriptError`]. In JSON they are the words of an error report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The script is not JavaScript.
    SyntaxError,
    /// It threw.
    RuntimeError,
    /// It ran longer than the deadline.
    Timeout,
    /// It needed more memory than it may have.
    MemoryExceeded,
    /// Its calls were nested too deeply.
    StackOverflow,
    /// It waits for a promise that nothing will settle.
    PromisePending,
    /// The script or its result is too large, or the result is nested too deeply.
    TooLarge,
    /// Somebody stopped it.
    Cancelled,
    /// Its process died or said what no honest one says.
    ProcessDied,
    /// The process could not be started.
    Unavailable,
}
