//! `prioritise`: how urgent a task is, as a number. The rules turn it into a level; the model never names one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckedAnswer, Prompt, PromptInput};
use crate::llm::anonymiser::{Person, QuotedMessage};

/// What the model is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrioritiseData {
    pub people: Vec<Person>,
    pub message: QuotedMessage,
    pub objective: String,
    #[serde(default)]
    pub deadline: String,
}

/// What the model answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrioritiseAnswer {
    /// From 0 (whenever there is time) to 1 (now).
    pub urgency: f64,
}

impl PrioritiseData {
    /// Returns the prompt with this data.
    pub fn to_prompt_input(&self) -> Option<PromptInput> {
        PromptInput::new(Prompt::Prioritise, self)
    }
}

impl CheckedAnswer for PrioritiseAnswer {
    type Data = PrioritiseData;

    fn check(&self, _data: &PrioritiseData) -> Result<(), String> {
        if (0.0..=1.0).contains(&self.urgency) { Ok(()) } else { Err("urgency is a number from 0 to 1".into()) }
    }
}
