//! The resources: the open tasks, any single task, and the digest of the last day, as JSON.

use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde::Serialize;

use super::{arguments::TaskReference, failure::Failure, server::McpServer};
use crate::model::ListedStatus;

/// The open tasks.
pub(super) const TASKS_URI: &str = "adjutant://tasks";
/// The digest of the last day.
pub(super) const DIGEST_URI: &str = "adjutant://digest";
/// What the address of a single task begins with.
const TASK_PREFIX: &str = "adjutant://tasks/";
/// The form of every resource.
const JSON: &str = "application/json";
/// The most tasks in the resource; `list_tasks` has pages.
const MOST_TASKS: usize = 100;

pub(super) fn list() -> Vec<Resource> {
    vec![
        Resource::new(TASKS_URI, "tasks")
            .with_title("Open tasks")
            .with_description("The open tasks, the most urgent first.")
            .with_mime_type(JSON),
        Resource::new(DIGEST_URI, "digest")
            .with_title("Digest")
            .with_description("What was done, waits, is overdue, was learned and archived in the last 24 hours.")
            .with_mime_type(JSON),
    ]
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{TASK_PREFIX}{{task_id}}"), "task")
            .with_title("A task")
            .with_description("A task by its number or id, with its steps and history.")
            .with_mime_type(JSON),
    ]
}

pub(super) async fn read(server: &McpServer, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let text = read_text(server, uri).await?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(JSON)]))
}

/// Returns the JSON of the resource with this address.
pub(super) async fn read_text(server: &McpServer, uri: &str) -> Result<String, ErrorData> {
    match uri {
        TASKS_URI => encode(server.page_of_tasks(ListedStatus::Pending, 0, MOST_TASKS).await, uri),
        DIGEST_URI => encode(server.digest().await, uri),
        other => match other.strip_prefix(TASK_PREFIX).and_then(TaskReference::parse) {
            Some(task) => encode(server.full_task(&task).await, uri),
            None => {
                let known = format!("{TASKS_URI}, {TASK_PREFIX}NUMBER and {DIGEST_URI}");
                Err(ErrorData::resource_not_found(format!("there is no such resource; there are {known}"), None))
            }
        },
    }
}

/// Returns the JSON of a resource, or the error that the client is told.
fn encode<T: Serialize>(answer: Result<T, Failure>, uri: &str) -> Result<String, ErrorData> {
    let text =
        answer.and_then(|value| serde_json::to_string_pretty(&value).map_err(|error| Failure::Internal(error.into())));
    text.map_err(|failure| match &failure {
        Failure::Refused(_) => ErrorData::resource_not_found(failure.tell(uri), None),
        Failure::Internal(_) => ErrorData::internal_error(failure.tell(uri), None),
    })
}
