//! Error reports of workers: what their manager is told when a task was not done. Nothing is tried again by the program;
//! the manager decides.

use serde_json::{Value, json};

use super::{
    event::{ErrorContext, ErrorDetails, ErrorReport},
    message::AgentMessage,
};
use crate::model::{AgentRow, llm::Outcome};

/// How much of a result stands in a report, in characters.
const LONGEST_PART: usize = 400;

/// What went wrong, before it is put in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WorkerError {
    pub kind: String,
    pub message: String,
    pub suggestion: String,
    pub stack: Option<String>,
}

impl WorkerError {
    pub(super) fn new(kind: &str, message: impl Into<String>, suggestion: &str) -> Self {
        Self { kind: kind.to_owned(), message: message.into(), suggestion: suggestion.to_owned(), stack: None }
    }

    /// Returns the error of a worker whose model gave no usable answer.
    pub(super) fn of_model(outcome: Outcome, note: &str) -> Self {
        let (kind, suggestion) = match outcome {
            Outcome::TaskBudget | Outcome::DayBudget => {
                ("budget", "The model's budget is used up. Start no new task; answer with what there is.")
            }
            Outcome::Malformed | Outcome::Refused => {
                ("model_error", "The model gave no usable answer. Describe the task more simply, or split it.")
            }
            _ => ("model_unavailable", "The model did not answer. Start the task again later, or answer without it."),
        };
        let message = if note.is_empty() { outcome.to_string() } else { note.to_owned() };
        Self::new(kind, message, suggestion)
    }
}

/// Returns the report of a worker that ended with an error: with its last good step, what failed, and partial results.
pub(super) fn error_report(agent: &AgentRow, messages: &[AgentMessage], error: &WorkerError) -> ErrorReport {
    let last_good = last_result(messages, false);
    let failed_at = last_result(messages, true).map(|(tool, _)| tool).or_else(|| last_action(messages));
    let step = last_good.as_ref().map_or_else(|| "none".to_owned(), |(tool, output)| format!("{tool}: {output}"));
    let partial = last_good.map_or(Value::Null, |(tool, output)| json!({ "tool": tool, "result": output }));
    ErrorReport {
        task_id: agent.agent_id,
        task_description: agent.task.clone(),
        status: "error".into(),
        error_summary: error.message.chars().take(LONGEST_PART).collect(),
        error_details: ErrorDetails {
            kind: error.kind.clone(),
            message: error.message.clone(),
            context: ErrorContext {
                last_successful_step: cut(&step),
                failed_at: failed_at.unwrap_or_else(|| "the first step".to_owned()),
                partial_results: partial,
            },
            suggestion: error.suggestion.clone(),
        },
        stack_trace: error.stack.clone(),
    }
}

/// Returns the last result, good or bad, as tool and text.
pub(super) fn last_result(messages: &[AgentMessage], wants_error: bool) -> Option<(String, String)> {
    messages.iter().rev().find_map(|message| match message {
        AgentMessage::Result { tool, is_error, output } if *is_error == wants_error => {
            Some((tool.clone(), cut(&output.to_string())))
        }
        _ => None,
    })
}

/// Returns the name of the last action that is not the report itself.
fn last_action(messages: &[AgentMessage]) -> Option<String> {
    let name = |message: &AgentMessage| match message {
        AgentMessage::Action { turn } => turn.get("action").and_then(Value::as_str).map(str::to_owned),
        _ => None,
    };
    messages.iter().rev().filter_map(name).find(|action| action != "report_error")
}

/// Returns the beginning of a text.
pub(super) fn cut(text: &str) -> String {
    let mut kept: String = text.chars().take(LONGEST_PART).collect();
    if kept.len() < text.len() {
        kept.push('…');
    }
    kept
}
