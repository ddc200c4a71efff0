//! What parent and child say to each other: one JSON object per line.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    host::HostError,
    limits::Limits,
    outcome::{LogLine, ScriptError},
};

/// The first line of the parent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    pub script: String,
    /// The names of the functions that the host answers.
    pub functions: Vec<String>,
    pub limits: Limits,
}

/// The parent's answer to a [`FromChild::Call`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Value(Value),
    Refused(HostError),
}

/// Every line of the child.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromChild {
    Log(LogLine),
    /// The arguments are an array as JSON in a string, so that the parent's parser meets their depth on its own.
    Call {
        name: String,
        arguments: String,
    },
    End(Ending),
}

/// How the script ended, as the child tells it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ending {
    /// The result as JSON in a string, for the same reason.
    pub result: Result<String, ScriptError>,
    pub dropped_log_lines: usize,
}
