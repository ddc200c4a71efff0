//! The events of a team as plain lines.

use std::{collections::HashMap, io};

use crate::{
    cli::printer::{Printer, escape_and_truncate},
    model::{AgentId, TodoStatus},
    team::event::{StoredTeamEvent, TeamEvent},
};

/// The longest line of an event, in characters. The whole text is in the store.
const LONGEST_LINE: usize = 400;
/// The longest answer, in characters.
const LONGEST_ANSWER: usize = 20_000;

/// Prints events one after the other. It knows which number each agent has.
#[derive(Default)]
pub(super) struct EventLines {
    numbers: HashMap<AgentId, u32>,
}

impl EventLines {
    /// Prints one event; as JSON, the event itself.
    pub(super) fn print(&mut self, screen: Printer, stored: &StoredTeamEvent) -> io::Result<()> {
        if let TeamEvent::AgentStarted { agent, number, .. } = &stored.event {
            self.numbers.insert(*agent, *number);
        }
        if screen.is_json {
            let text = serde_json::to_string(stored).map_err(io::Error::other)?;
            return screen.print_line(&text);
        }
        for line in self.describe(&stored.event) {
            screen.print_line(&line)?;
        }
        Ok(())
    }

    fn who(&self, agent: AgentId) -> String {
        match self.numbers.get(&agent) {
            Some(0) | None => "Manager".to_owned(),
            Some(number) => format!("Task {number}"),
        }
    }

    fn describe(&self, event: &TeamEvent) -> Vec<String> {
        let short = |text: &str| escape_and_truncate(text, LONGEST_LINE);
        let says =
            |agent: AgentId, what: &str, text: &str| vec![format!("{} {what}: {}", self.who(agent), short(text))];
        match event {
            TeamEvent::TeamOpened { number, request, .. } => vec![format!("Team {number}: {}", short(request))],
            TeamEvent::AgentStarted { number: 0, .. }
            | TeamEvent::TeamStateChanged { .. }
            | TeamEvent::AgentStateChanged { .. } => Vec::new(),
            TeamEvent::AgentStarted { agent, task, .. } => says(*agent, "started", task),
            TeamEvent::Thought { agent, text } => says(*agent, "thinks", text),
            TeamEvent::TodoListChanged { todos } => todos
                .iter()
                .map(|todo| match todo.status {
                    TodoStatus::Pending => format!("  [ ] {}", short(&todo.content)),
                    TodoStatus::InProgress => format!("  [>] {}", short(&todo.active_form)),
                    TodoStatus::Completed => format!("  [x] {}", short(&todo.content)),
                })
                .collect(),
            TeamEvent::ToolCalled { agent, tool, summary } => says(*agent, &tool.replace('_', " "), summary),
            TeamEvent::ToolReturned { agent, tool, is_error: true, summary } => {
                says(*agent, &format!("{} failed", tool.replace('_', " ")), summary)
            }
            TeamEvent::ToolReturned { .. } => Vec::new(),
            TeamEvent::Question { agent, text } => says(*agent, "asks", text),
            TeamEvent::PersonSaid { agent, text } => {
                vec![format!("You to {}: {}", self.who(*agent).to_lowercase(), short(text))]
            }
            TeamEvent::Remark { agent, text } => says(*agent, "says", text),
            TeamEvent::ActionProposed { agent, text, outcome } => says(*agent, outcome, text),
            TeamEvent::WorkerFinished { agent, result, warning } => {
                let mut lines = says(*agent, "finished", result);
                lines.extend(warning.as_ref().map(|warning| format!("  Note: {}", short(warning))));
                lines
            }
            TeamEvent::WorkerFailed { agent, report } => {
                let summary = report.get("error_summary").and_then(serde_json::Value::as_str).unwrap_or("error");
                says(*agent, "failed", summary)
            }
            TeamEvent::Stopped { summary } => summary.lines().map(short).collect(),
            TeamEvent::Answered { text } => {
                let lines = text.lines().map(|line| escape_and_truncate(line, LONGEST_ANSWER));
                std::iter::once(String::new()).chain(lines).collect()
            }
            TeamEvent::Notice { text } => vec![short(text)],
        }
    }
}
