//! `summarise_thread`: who wrote when, and the first sentence of each mail, newest first.

use serde_json::json;

use super::{ThreadMail, Tool, ToolError, ToolInput, ToolOutcome};

/// The most mails of a summary, about a screen.
const MOST_MAILS: usize = 12;
/// The longest sentence that is shown, in characters.
const LONGEST_LINE: usize = 160;

/// Summarises the conversation without a model.
pub(super) struct SummariseThread;

impl Tool for SummariseThread {
    fn name(&self) -> &'static str {
        "summarise_thread"
    }

    fn reads_thread(&self) -> bool {
        true
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        if input.thread.is_empty() {
            return Err(ToolError("there is no conversation to summarise".into()));
        }
        let lines: Vec<String> = input.thread.iter().take(MOST_MAILS).map(line).collect();
        Ok(ToolOutcome::Output(json!({ "mails": input.thread.len(), "summary": lines })))
    }
}

fn line(mail: &ThreadMail) -> String {
    let when = mail.at.map_or_else(String::new, |at| at.utc().format("%d %b %H:%M ").to_string());
    let text = mail.text.trim();
    let end = text.find(['.', '!', '?', '\n']).unwrap_or(text.len());
    let sentence: String =
        text.chars().take(text.get(..end).map_or(0, |first| first.chars().count()).min(LONGEST_LINE)).collect();
    format!("{when}{}: {sentence}", mail.from)
}
