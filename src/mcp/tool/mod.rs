//! The closed list of tools: what each is called, what it takes and returns, and what it may do. A tool that is not here
//! does not exist.

mod changes;
mod questions;

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::{
    arguments::{
        AddTaskArguments, ListApprovalsArguments, ListRunsArguments, ListTasksArguments, SearchArguments,
        TaskArguments, UpdateTaskArguments, decode,
    },
    failure::Failure,
    schema,
    server::McpServer,
    view::{ApprovalListView, ChangedTaskView, FullTaskView, PriorityView, RunListView, SearchView, TaskListView},
};
use crate::model::{ClientName, text_enum::text_enum};

text_enum! {
    /// What a client can ask for.
    McpTool {
        AddTask = "add_task",
        ListTasks = "list_tasks",
        CompleteTask = "complete_task",
        DeleteTask = "delete_task",
        UpdateTask = "update_task",
        GetTask = "get_task",
        Why = "why",
        Search = "search",
        ListApprovals = "list_approvals",
        ListRuns = "list_runs",
    }
}

impl McpTool {
    const fn title(self) -> &'static str {
        match self {
            Self::AddTask => "Add a task",
            Self::ListTasks => "List tasks",
            Self::CompleteTask => "Complete a task",
            Self::DeleteTask => "Delete a task",
            Self::UpdateTask => "Change the wording of a task",
            Self::GetTask => "Show a task",
            Self::Why => "Explain a priority",
            Self::Search => "Search tasks and mails",
            Self::ListApprovals => "List what waits for approval",
            Self::ListRuns => "List processing runs",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::AddTask => {
                "Adds a task to the person's list. Its priority follows from their rules; a date in the title becomes its deadline."
            }
            Self::ListTasks => "Lists tasks, the most urgent first: all, pending or completed ones.",
            Self::CompleteTask => {
                "Marks a task as completed. Whatever was planned for it and still waits for approval is withdrawn. The person can take it back."
            }
            Self::DeleteTask => {
                "Cancels a task and takes it out of every list. Whatever was planned for it is withdrawn. The person can take it back."
            }
            Self::UpdateTask => {
                "Changes the title or the description of a task. Whatever was planned for the task as it was is withdrawn."
            }
            Self::GetTask => "Shows a task with its description, steps, effects and history.",
            Self::Why => {
                "Explains the priority of a task: every rule that was tried, and the smallest change that would give another priority."
            }
            Self::Search => {
                "Searches the person's tasks and mails by words and by meaning. Returns objectives and subjects, never the text of a mail."
            }
            Self::ListApprovals => {
                "Lists what waits for the person's decision. Only the person can decide, with `adjutant hitl`; no tool can."
            }
            Self::ListRuns => "Lists the newest processing runs: which mail or task each worked on, and how it ended.",
        }
    }

    /// Returns whether the tool changes nothing.
    pub const fn is_read_only(self) -> bool {
        !matches!(self, Self::AddTask | Self::CompleteTask | Self::DeleteTask | Self::UpdateTask)
    }

    /// Returns what the tool does to the data, in the terms of the protocol. All of them stay within this program, and
    /// only adding twice adds twice.
    fn annotations(self) -> ToolAnnotations {
        let annotations = ToolAnnotations::with_title(self.title()).open_world(false);
        if self.is_read_only() {
            return annotations.read_only(true).destructive(false).idempotent(true);
        }
        let adds = matches!(self, Self::AddTask);
        annotations.read_only(false).destructive(!adds).idempotent(!adds)
    }

    pub(super) fn argument_schema(self) -> Arc<JsonObject> {
        match self {
            Self::AddTask => schema::of_arguments::<AddTaskArguments>(),
            Self::ListTasks => schema::of_arguments::<ListTasksArguments>(),
            Self::CompleteTask | Self::DeleteTask | Self::GetTask | Self::Why => {
                schema::of_arguments::<TaskArguments>()
            }
            Self::UpdateTask => schema::of_arguments::<UpdateTaskArguments>(),
            Self::Search => schema::of_arguments::<SearchArguments>(),
            Self::ListApprovals => schema::of_arguments::<ListApprovalsArguments>(),
            Self::ListRuns => schema::of_arguments::<ListRunsArguments>(),
        }
    }

    pub(super) fn answer_schema(self) -> Arc<JsonObject> {
        match self {
            Self::AddTask | Self::CompleteTask | Self::DeleteTask | Self::UpdateTask => {
                schema::of_answer::<ChangedTaskView>()
            }
            Self::ListTasks => schema::of_answer::<TaskListView>(),
            Self::GetTask => schema::of_answer::<FullTaskView>(),
            Self::Why => schema::of_answer::<PriorityView>(),
            Self::Search => schema::of_answer::<SearchView>(),
            Self::ListApprovals => schema::of_answer::<ApprovalListView>(),
            Self::ListRuns => schema::of_answer::<RunListView>(),
        }
    }

    /// Returns the tool as clients see it in the list.
    pub(super) fn describe(self) -> Tool {
        Tool::new(self.as_str(), self.description(), self.argument_schema())
            .with_title(self.title())
            .with_raw_output_schema(self.answer_schema())
            .with_annotations(self.annotations())
    }

    /// Executes the tool for a client. Returns the structured answer.
    pub(super) async fn call(
        self,
        server: &McpServer,
        arguments: Option<JsonObject>,
        client: ClientName,
    ) -> Result<Value, Failure> {
        let user = server.user();
        let answer = match self {
            Self::AddTask => encode(server.add_task(decode(self, arguments, user)?, client).await?),
            Self::ListTasks => encode(server.list_tasks(&decode(self, arguments, user)?).await?),
            Self::CompleteTask => encode(server.complete_task(&decode(self, arguments, user)?, client).await?),
            Self::DeleteTask => encode(server.delete_task(&decode(self, arguments, user)?, client).await?),
            Self::UpdateTask => encode(server.update_task(&decode(self, arguments, user)?, client).await?),
            Self::GetTask => encode(server.get_task(&decode(self, arguments, user)?).await?),
            Self::Why => encode(server.explain_priority(&decode(self, arguments, user)?).await?),
            Self::Search => encode(server.search(&decode(self, arguments, user)?).await?),
            Self::ListApprovals => encode(server.list_approvals(&decode(self, arguments, user)?).await?),
            Self::ListRuns => encode(server.list_runs(&decode(self, arguments, user)?).await?),
        };
        answer.map_err(|error| Failure::Internal(error.into()))
    }
}

fn encode(answer: impl serde::Serialize) -> serde_json::Result<Value> {
    serde_json::to_value(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_says_what_it_may_do() {
        let changing: Vec<&str> =
            McpTool::ALL.iter().filter(|tool| !tool.is_read_only()).map(|tool| tool.as_str()).collect();
        assert_eq!(changing, ["add_task", "complete_task", "delete_task", "update_task"]);
        for tool in McpTool::ALL.iter().copied() {
            let described = tool.describe();
            let annotations = described.annotations.unwrap();
            assert_eq!(annotations.read_only_hint, Some(tool.is_read_only()), "{tool}");
            assert_eq!(annotations.destructive_hint, Some(!tool.is_read_only() && tool != McpTool::AddTask), "{tool}");
            assert_eq!(annotations.idempotent_hint, Some(tool != McpTool::AddTask), "{tool}");
            assert_eq!(annotations.open_world_hint, Some(false), "{tool}");
            assert!(described.description.unwrap().ends_with('.') && described.title.is_some(), "{tool}");
        }
    }
}
