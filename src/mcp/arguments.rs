//! The arguments of the tools. What is accepted here can be executed; anything else is refused with the reason, before
//! anything has been read or changed.

use std::borrow::Cow;

use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

use super::{failure::Failure, schema::USER_ID, tool::McpTool};
use crate::model::{ListedStatus, RunStatus, TaskId, UserId};

/// The longest title. It is one line of a list.
const LONGEST_TITLE: usize = 500;
/// The longest description.
const LONGEST_DESCRIPTION: usize = 10_000;
/// The longest text to search for.
const LONGEST_QUERY: usize = 500;
/// The most entries in one answer, so that an answer stays readable for a language model.
const MOST_ENTRIES: i64 = 200;
/// The number of entries unless the client says another.
const USUAL_ENTRIES: i64 = 50;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddTaskArguments {
    /// What is to be done, in one line. "Remind me to … tomorrow at 9" makes a reminder.
    title: String,
    /// More about it.
    description: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListTasksArguments {
    /// Which tasks: all, pending or completed. Without it all. Deleted tasks are never listed.
    #[schemars(with = "Option<StatusSchema>")]
    status: Option<ListedStatus>,
    /// The most tasks to return, 1 to 200. Without it 50.
    limit: Option<i64>,
    /// How many tasks to leave out at the beginning, for the next page.
    offset: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskArguments {
    /// The number of the task, such as 3, or its id.
    pub(super) task_id: TaskReference,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateTaskArguments {
    /// The number of the task, such as 3, or its id.
    pub(super) task_id: TaskReference,
    /// Its new title, in one line.
    title: Option<String>,
    /// Its new description; an empty text removes it.
    description: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    /// What to search for, by words and by meaning.
    text: String,
    /// The most results, 1 to 200. Without it 50.
    limit: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListApprovalsArguments {
    /// The most items to return, 1 to 200. Without it 50.
    limit: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListRunsArguments {
    /// Only runs with this status: running, parked, skipped, done or overtaken.
    #[schemars(with = "Option<RunStatusSchema>")]
    pub(super) status: Option<RunStatus>,
    /// The most runs to return, 1 to 200. Without it 50.
    limit: Option<i64>,
}

/// Decodes the arguments of a tool. `user` is the only one whose tasks are served.
pub(super) fn decode<T: DeserializeOwned>(
    tool: McpTool,
    arguments: Option<JsonObject>,
    user: &UserId,
) -> Result<T, Failure> {
    let mut arguments = arguments.unwrap_or_default();
    match arguments.remove(USER_ID) {
        None | Some(Value::Null) => {}
        Some(Value::String(given)) if given == user.as_str() => {}
        Some(_) => return Err(Failure::refused(format!("this server works for the user '{user}' only")).about(tool)),
    }
    serde_json::from_value(Value::Object(arguments)).map_err(|error| Failure::refused(error.to_string()).about(tool))
}

impl AddTaskArguments {
    /// Returns the title and the description.
    pub(super) fn check(self) -> Result<(String, Option<String>), Failure> {
        let title = check_title(&self.title)?;
        let description = self.description.map(|text| check_description(&text)).transpose()?;
        Ok((title, description.flatten()))
    }
}

impl UpdateTaskArguments {
    /// Returns the new title, and the new description with none for one that is to be removed.
    pub(super) fn check(&self) -> Result<(Option<String>, Option<Option<String>>), Failure> {
        let title = self.title.as_deref().map(check_title).transpose()?;
        let description = self.description.as_deref().map(check_description).transpose()?;
        if title.is_none() && description.is_none() {
            let task = &self.task_id.0;
            return Err(Failure::refused(format!(
                "What would you like to change about task {task}? Give a title, a description, or both."
            )));
        }
        Ok((title, description))
    }
}

impl ListTasksArguments {
    /// Returns which tasks are wanted, how many are left out first, and how many are returned.
    pub(super) fn check(&self) -> Result<(ListedStatus, usize, usize), Failure> {
        let offset = self.offset.unwrap_or(0);
        let skipped =
            usize::try_from(offset).map_err(|_| Failure::refused(format!("offset is {offset}; expected 0 or more")))?;
        Ok((self.status.unwrap_or(ListedStatus::All), skipped, check_limit(self.limit)?))
    }
}

impl SearchArguments {
    /// Returns what to search for, and how many results are wanted.
    pub(super) fn check(&self) -> Result<(&str, usize), Failure> {
        let text = self.text.trim();
        if text.is_empty() {
            return Err(Failure::refused("text is empty; expected words to search for"));
        }
        check_length("text", text, LONGEST_QUERY)?;
        Ok((text, check_limit(self.limit)?))
    }
}

impl ListApprovalsArguments {
    pub(super) fn check(&self) -> Result<usize, Failure> {
        check_limit(self.limit)
    }
}

impl ListRunsArguments {
    pub(super) fn check(&self) -> Result<usize, Failure> {
        check_limit(self.limit)
    }
}

fn check_title(given: &str) -> Result<String, Failure> {
    let title = given.trim();
    if title.is_empty() {
        return Err(Failure::refused("title is empty; expected what is to be done"));
    }
    check_length("title", title, LONGEST_TITLE)?;
    if title.contains(char::is_control) {
        return Err(Failure::refused("title has a line break or another control character; expected one line"));
    }
    Ok(title.to_owned())
}

/// Returns the description; none for an empty one.
fn check_description(given: &str) -> Result<Option<String>, Failure> {
    let description = given.trim();
    check_length("description", description, LONGEST_DESCRIPTION)?;
    if description.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return Err(Failure::refused("description has a control character; expected text"));
    }
    Ok((!description.is_empty()).then(|| description.to_owned()))
}

fn check_length(name: &str, text: &str, longest: usize) -> Result<(), Failure> {
    match text.chars().count() {
        length if length > longest => {
            Err(Failure::refused(format!("{name} has {length} characters; expected at most {longest}")))
        }
        _ => Ok(()),
    }
}

fn check_limit(given: Option<i64>) -> Result<usize, Failure> {
    let limit = given.unwrap_or(USUAL_ENTRIES);
    let allowed = Some(limit).filter(|limit| (1..=MOST_ENTRIES).contains(limit));
    let allowed = allowed.and_then(|limit| usize::try_from(limit).ok());
    allowed.ok_or_else(|| Failure::refused(format!("limit is {limit}; expected 1 to {MOST_ENTRIES}")))
}

/// The number or the whole id of a task, in the form in which [`crate::app`] finds it. Parts of ids are not accepted:
/// a program has the whole one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskReference(String);

impl TaskReference {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses what a client sends: 3, "3", "#3", "task 3", or an id.
    pub(super) fn parse(given: &str) -> Option<Self> {
        let text = given.trim().to_uppercase();
        let text = text.strip_prefix("TASK").unwrap_or(&text).trim_start_matches([' ', ':', '#']);
        let number = text.parse::<i64>().ok().filter(|number| *number > 0 && text.bytes().all(|b| b.is_ascii_digit()));
        let id = || text.parse::<TaskId>().ok().map(|id| id.to_string());
        number.map(|number| number.to_string()).or_else(id).map(Self)
    }
}

impl<'de> Deserialize<'de> for TaskReference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = match Value::deserialize(deserializer)? {
            Value::String(text) => text,
            other => other.to_string(),
        };
        Self::parse(&given).ok_or_else(|| {
            let shown: String = given.chars().take(60).collect();
            serde::de::Error::custom(format!(
                "task_id is '{shown}'; expected the number of a task such as 3, or its id"
            ))
        })
    }
}

impl JsonSchema for TaskReference {
    fn schema_name() -> Cow<'static, str> {
        "TaskReference".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] })
    }
}

/// The schema of [`ListedStatus`].
struct StatusSchema;
/// The schema of [`RunStatus`].
struct RunStatusSchema;

impl JsonSchema for StatusSchema {
    fn schema_name() -> Cow<'static, str> {
        "ListedStatus".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": ListedStatus::ALL })
    }
}

impl JsonSchema for RunStatusSchema {
    fn schema_name() -> Cow<'static, str> {
        "RunStatus".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": RunStatus::ALL })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decoded<T: DeserializeOwned>(tool: McpTool, arguments: Value) -> Result<T, String> {
        decode(tool, arguments.as_object().cloned(), &UserId::from("me")).map_err(|failure| failure.tell(tool.as_str()))
    }

    #[test]
    fn a_task_is_named_by_its_number_or_its_whole_id() {
        let id = "01JYD3A8P0WQ5M4T6R2P0N1M4K";
        for (given, expected) in [
            (json!(3), "3"),
            (json!("3"), "3"),
            (json!(" #3 "), "3"),
            (json!("task 3"), "3"),
            (json!("Task #3"), "3"),
            (json!(id), id),
            (json!(id.to_lowercase()), id),
            (json!(format!("task:{id}")), id),
        ] {
            let task: TaskArguments = decoded(McpTool::GetTask, json!({ "task_id": given })).unwrap();
            assert_eq!(task.task_id.as_str(), expected, "{given}");
        }
        for given in [json!(0), json!(-3), json!("+3"), json!(3.5), json!("milk"), json!(""), json!(null), json!([3])] {
            let refused = decoded::<TaskArguments>(McpTool::GetTask, json!({ "task_id": given })).unwrap_err();
            assert!(refused.starts_with("get_task: task_id is '"), "{given}: {refused}");
        }
    }

    #[test]
    fn a_refusal_names_the_tool_and_what_was_expected() {
        for (arguments, expected) in [
            (json!({}), "add_task: missing field `title`"),
            (json!({ "title": 3 }), "add_task: invalid type: integer `3`, expected a string"),
            (
                json!({ "title": "a", "priority": "high" }),
                "add_task: unknown field `priority`, expected `title` or `description`",
            ),
            (json!({ "title": "a", "user_id": "you" }), "add_task: this server works for the user 'me' only"),
            (json!({ "title": "a", "user_id": 1 }), "add_task: this server works for the user 'me' only"),
        ] {
            assert_eq!(decoded::<AddTaskArguments>(McpTool::AddTask, arguments).unwrap_err(), expected);
        }
        for (title, expected) in [
            (" \t ".to_owned(), "title is empty"),
            ("two\nlines".to_owned(), "one line"),
            ("bell\u{7}".to_owned(), "one line"),
            ("x".repeat(501), "501 characters"),
        ] {
            let arguments: AddTaskArguments = decoded(McpTool::AddTask, json!({ "title": title })).unwrap();
            assert!(arguments.check().unwrap_err().tell("add_task").contains(expected), "{title}");
        }
    }

    #[test]
    fn limits_and_offsets_have_bounds() {
        for (arguments, expected) in [
            (json!({}), Some((ListedStatus::All, 0, 50))),
            (
                json!({ "status": "pending", "limit": 200, "offset": 7, "user_id": "me" }),
                Some((ListedStatus::Pending, 7, 200)),
            ),
            (json!({ "limit": 0 }), None),
            (json!({ "limit": 201 }), None),
            (json!({ "offset": -1 }), None),
        ] {
            let list: ListTasksArguments = decoded(McpTool::ListTasks, arguments.clone()).unwrap();
            assert_eq!(list.check().ok(), expected, "{arguments}");
        }
        let refused = decoded::<ListTasksArguments>(McpTool::ListTasks, json!({ "status": "open" })).unwrap_err();
        assert!(refused.contains("expected one of `all`, `pending`, `completed`"), "{refused}");
    }

    #[test]
    fn an_update_says_what_it_changes() {
        let check = |arguments: Value| {
            let update: UpdateTaskArguments = decoded(McpTool::UpdateTask, arguments).unwrap();
            update.check().map_err(|failure| failure.tell("update_task"))
        };
        assert!(check(json!({ "task_id": 3 })).unwrap_err().starts_with("What would you like to change about task 3?"));
        assert_eq!(check(json!({ "task_id": 3, "description": "" })), Ok((None, Some(None))));
        let both = json!({ "task_id": 3, "title": " Call mom ", "description": "a\nb" });
        assert_eq!(check(both), Ok((Some("Call mom".into()), Some(Some("a\nb".into())))));
    }
}
