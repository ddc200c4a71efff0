use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a script can ask for. Its functions are global functions of the script; they take and return plain data.
///
/// The host is asked in the parent, on the thread of [`crate::Sandbox::run`], one call after the other. It must treat
/// the arguments as written by an attacker.
pub trait Host {
    /// The names of the functions. Each must be an identifier.
    fn functions(&self) -> Vec<&'static str>;

    /// Answers one call of a function of that list.
    fn call(&mut self, function: &str, arguments: Vec<Value>) -> Result<Value, HostError>;
}

/// A host without functions.
pub struct NoHost;

impl Host for NoHost {
    fn functions(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn call(&mut self, function: &str, _arguments: Vec<Value>) -> Result<Value, HostError> {
        Err(HostError::new("not_found", format!("there is no function {function}")))
    }
}

/// Why the host does not answer. The script can catch it: `error.code` is the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct HostError {
    /// A word for programs, such as `not_found` or `invalid_argument`.
    pub code: String,
    /// One sentence that says what to do instead.
    pub message: String,
}

impl HostError {
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }
}
