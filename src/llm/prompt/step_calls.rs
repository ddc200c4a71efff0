//! `step_calls`: the calls that do one step of a plan, as calls of tools or as text. Every call is checked against the
//! parameters of its tool and judged by the policy like any other.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Prompt, PromptInput};

/// The answer that says that no tool can do a step.
pub const NO_CALL: &str = "NONE";

/// A tool as the model is shown it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolShown {
    pub name: String,
    pub purpose: String,
    pub parameters: Vec<ParameterShown>,
}

/// A parameter of a tool as the model is shown it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParameterShown {
    pub name: String,
    pub what: String,
    pub required: bool,
    /// Whether it is a list of texts.
    pub list: bool,
}

/// What the model is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepCallsData {
    pub instruction: String,
    /// The handles of the people whom the request names.
    pub people: Vec<String>,
    /// What earlier steps found, quoted.
    pub results: Vec<String>,
    pub tools: Vec<ToolShown>,
}

impl StepCallsData {
    /// Returns the prompt with this data.
    pub fn to_prompt_input(&self) -> Option<PromptInput> {
        PromptInput::new(Prompt::StepCalls, self)
    }
}

impl ToolShown {
    /// Returns the JSON schema of the tool's parameters, closed and plain.
    pub(in crate::llm) fn parameter_schema(&self) -> Value {
        let schema_of = |parameter: &ParameterShown| match parameter.list {
            true => json!({ "type": "array", "items": { "type": "string" }, "description": parameter.what }),
            false => json!({ "type": "string", "description": parameter.what }),
        };
        let properties: Map<String, Value> =
            self.parameters.iter().map(|parameter| (parameter.name.clone(), schema_of(parameter))).collect();
        let required: Vec<&str> =
            self.parameters.iter().filter(|parameter| parameter.required).map(|parameter| &*parameter.name).collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }
}
