//! `task_manager` and `task_worker`: one turn of an agent of a team. The answer is one action of a closed set. It has one
//! flat form, because small models and strict schemas handle no other well; unused fields are empty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{Prompt, PromptInput};
use crate::model::ids::sha256_hex;

/// The key of the instructions in the data.
pub(super) const INSTRUCTIONS: &str = "instructions";

/// What the model is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TeamTurnData {
    /// What the role of the agent asks for. It comes from a file that a person may replace.
    pub instructions: String,
    /// The local time of the last message, to the minute.
    pub now: String,
    /// The task of a worker; empty for the manager.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task: String,
    /// The form in which the manager wants the result; empty for any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub expected_output_format: String,
    /// What happened so far, the oldest first.
    pub conversation: Vec<Value>,
}

impl TeamTurnData {
    /// Returns the prompt with this data. Its version says which instructions were used.
    pub fn to_prompt_input(&self, prompt: Prompt) -> Option<PromptInput> {
        let mut input = PromptInput::new(prompt, self)?;
        input.version = sha256_hex(format!("{}\n{}", prompt.version(), self.instructions).as_bytes());
        input.version.truncate(12);
        Some(input)
    }
}

/// An action of the manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ManagerAction {
    Think,
    TodoWrite,
    TodoRead,
    StartTask,
    Wait,
    AskUser,
    Answer,
}

/// An action of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkerAction {
    ExecuteJavascript,
    Search,
    ListMails,
    ReadMail,
    ListTasks,
    ReadTask,
    ProposeAction,
    AskUser,
    Finish,
    ReportError,
}

/// An entry of the todo list as a model writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WrittenTodo {
    pub content: String,
    #[serde(rename = "activeForm")]
    pub active_form: String,
    pub status: String,
}

/// One turn of the manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManagerTurn {
    pub action: ManagerAction,
    #[serde(default)]
    pub thought: String,
    #[serde(default)]
    pub todos: Vec<WrittenTodo>,
    #[serde(default)]
    pub task_description: String,
    #[serde(default)]
    pub expected_output_format: String,
    /// The question or the answer.
    #[serde(default)]
    pub text: String,
}

/// One turn of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerTurn {
    pub action: WorkerAction,
    #[serde(default)]
    pub code: String,
    /// The words of a search.
    #[serde(default)]
    pub query: String,
    /// Days as YYYY-MM-DD between which mails are listed.
    #[serde(default)]
    pub since: String,
    #[serde(default)]
    pub until: String,
    /// The handle of a mail or a task.
    #[serde(default)]
    pub handle: String,
    /// What is proposed: a tool of the program.
    #[serde(default)]
    pub tool: String,
    /// The handles of the recipients.
    #[serde(default)]
    pub to: Vec<String>,
    #[serde(default)]
    pub subject: String,
    /// The question, the result, the text of a proposal, or what went wrong.
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub error_type: String,
    #[serde(default)]
    pub suggestion: String,
}

/// A turn that can be checked.
pub(super) trait TeamTurn: DeserializeOwned + Serialize {
    /// Returns the name of a field that the action needs and that is empty.
    fn missing_field(&self) -> Option<&'static str>;
}

impl TeamTurn for ManagerTurn {
    fn missing_field(&self) -> Option<&'static str> {
        match self.action {
            ManagerAction::Think => empty(&self.thought, "thought"),
            ManagerAction::StartTask => empty(&self.task_description, "task_description"),
            ManagerAction::AskUser | ManagerAction::Answer => empty(&self.text, "text"),
            ManagerAction::TodoWrite | ManagerAction::TodoRead | ManagerAction::Wait => None,
        }
    }
}

impl TeamTurn for WorkerTurn {
    fn missing_field(&self) -> Option<&'static str> {
        match self.action {
            WorkerAction::ExecuteJavascript => empty(&self.code, "code"),
            WorkerAction::Search => empty(&self.query, "query"),
            WorkerAction::ReadMail | WorkerAction::ReadTask => empty(&self.handle, "handle"),
            WorkerAction::ProposeAction => empty(&self.tool, "tool"),
            WorkerAction::AskUser | WorkerAction::Finish | WorkerAction::ReportError => empty(&self.text, "text"),
            WorkerAction::ListMails | WorkerAction::ListTasks => None,
        }
    }
}

fn empty(text: &str, name: &'static str) -> Option<&'static str> {
    text.trim().is_empty().then_some(name)
}

/// The keys under which some models put the fields of an action.
const NESTED: [&str; 4] = ["arguments", "input", "parameters", "action_input"];

/// Parses one turn and checks that the action has what it needs. The data was written by the program, so that there is
/// nothing to check against it here: handles are resolved when the action is carried out.
pub(super) fn parse_turn<T: TeamTurn>(_data: &Value, text: &str) -> Result<Value, String> {
    let mut fields: Map<String, Value> =
        serde_json::from_str(text).map_err(|_| "it is not the JSON object of the schema")?;
    for key in NESTED {
        if let Some(Value::Object(inner)) = fields.remove(key) {
            fields.extend(inner);
        }
    }
    // Some models write null for a field that they do not use.
    fields.retain(|_, value| !value.is_null());
    let turn: T = serde_json::from_value(Value::Object(fields))
        .map_err(|_| "it is not the JSON object of the schema, or its action is none of the listed ones")?;
    if let Some(field) = turn.missing_field() {
        return Err(format!("the field '{field}' is empty, and this action needs it"));
    }
    serde_json::to_value(&turn).map_err(|_| "it cannot be stored".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_turn_is_read_flat_and_nested() {
        let flat = r#"{"action":"think","thought":"a","todos":[]}"#;
        let nested = r#"{"action":"think","arguments":{"thought":"a"},"text":null}"#;
        for text in [flat, nested] {
            let value = parse_turn::<ManagerTurn>(&json!({}), text).unwrap();
            assert_eq!(value["thought"], "a", "{text}");
        }
    }

    #[test]
    fn roles_have_their_own_actions_and_need_their_fields() {
        let refused = |text: &str| parse_turn::<WorkerTurn>(&json!({}), text).unwrap_err();
        assert!(refused(r#"{"action":"start_task","task_description":"x"}"#).contains("action"));
        assert!(refused(r#"{"action":"finish","text":" "}"#).contains("'text'"));
        assert!(refused("Sure!").contains("not the JSON"));
        let manager = parse_turn::<ManagerTurn>(&json!({}), r#"{"action":"execute_javascript","code":"1"}"#);
        assert!(manager.is_err());
    }
}
