//! `reword_reply`: a reply of the assistant in other words. Whether it still says the same is checked by
//! [`crate::assistant`], which uses nothing else of the answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckedAnswer, Prompt, PromptInput};

/// Upper bound of the answer, in characters.
const LONGEST: usize = 4_000;

/// What the model is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewordReplyData {
    pub language: String,
    pub reply: String,
}

/// What the model answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RewordReplyAnswer {
    pub reply: String,
}

impl RewordReplyData {
    /// Returns the prompt with this data.
    pub fn to_prompt_input(&self) -> Option<PromptInput> {
        PromptInput::new(Prompt::RewordReply, self)
    }
}

impl CheckedAnswer for RewordReplyAnswer {
    type Data = RewordReplyData;

    fn check(&self, _data: &RewordReplyData) -> Result<(), String> {
        let is_hidden = |c: char| c.is_control() && c != '\n';
        if self.reply.trim().is_empty() || self.reply.chars().count() > LONGEST || self.reply.chars().any(is_hidden) {
            return Err(format!("the reply is empty, longer than {LONGEST} characters or holds control characters"));
        }
        Ok(())
    }
}
