//! `generate_response`: one sentence that says what the mail is about. What was done is said by the program alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckedAnswer, Prompt, PromptInput};
use crate::llm::{
    anonymiser::{Person, QuotedMessage},
    text_check,
};

/// Upper bound of the sentence, in characters.
const LONGEST: usize = 280;

/// What the model is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GenerateResponseData {
    pub language: String,
    pub people: Vec<Person>,
    pub message: QuotedMessage,
    pub objective: String,
    pub related: Vec<String>,
}

/// What the model answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GenerateResponseAnswer {
    pub about: String,
}

impl GenerateResponseData {
    /// Returns the prompt with this data.
    pub fn to_prompt_input(&self) -> Option<PromptInput> {
        PromptInput::new(Prompt::GenerateResponse, self)
    }
}

impl CheckedAnswer for GenerateResponseAnswer {
    type Data = GenerateResponseData;

    fn check(&self, _data: &GenerateResponseData) -> Result<(), String> {
        text_check::check_line(&self.about, LONGEST)
    }
}
