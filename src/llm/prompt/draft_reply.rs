//! draft_reply: the words of an answer. To whom it goes, its subject and its name are not the model's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckedAnswer, Prompt, PromptInput};
use crate::llm::{
    anonymiser::{Person, QuotedMessage},
    text_check,
};

const LONGEST_LINE: usize = 80;
const LONGEST_TEXT: usize = 1_500;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DraftReplyData {
    pub language: String,
    pub people: Vec<Person>,
    /// The mail at hand first, then its conversation, newest first.
    pub messages: Vec<QuotedMessage>,
    pub objective: String,
    /// The sentence that asks.
    pub asked: String,
    /// What the person wrote earlier.
    pub style: Vec<String>,
    /// Titles of what was found beside; untrusted like everything here.
    pub related: Vec<String>,
    pub times_follow: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftReplyAnswer {
    pub action: ReplyChoice,
    pub message: String,
    pub greeting: String,
    pub text: String,
    pub closing: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyChoice {
    Reply,
    Leave,
}

impl DraftReplyData {
    pub fn to_prompt_input(&self) -> Option<PromptInput> {
        PromptInput::new(Prompt::DraftReply, self)
    }
}

impl CheckedAnswer for DraftReplyAnswer {
    type Data = DraftReplyData;

    fn check(&self, data: &DraftReplyData) -> Result<(), String> {
        if data.messages.first().is_none_or(|at_hand| at_hand.handle != self.message) {
            return Err("the message that is answered is M0".into());
        }
        if self.action == ReplyChoice::Leave {
            return Ok(());
        }
        text_check::check_line(&self.greeting, LONGEST_LINE)?;
        text_check::check_line(&self.closing, LONGEST_LINE)?;
        if self.text.trim().is_empty() {
            return Err("the text is empty".into());
        }
        text_check::check(&self.text, LONGEST_TEXT)
    }
}
