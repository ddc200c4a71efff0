//! `draft_reply`: the text of a reply. The model decides neither recipients nor subject nor signature.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckedAnswer, Prompt, PromptInput};
use crate::llm::{
    anonymiser::{Person, QuotedMessage},
    text_check,
};

/// Upper bounds of what the model may write, in characters.
const LONGEST_LINE: usize = 80;
const LONGEST_TEXT: usize = 1_500;

/// What the model is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DraftReplyData {
    pub language: String,
    pub people: Vec<Person>,
    /// The mail at hand first, then its conversation, newest first.
    pub messages: Vec<QuotedMessage>,
    pub objective: String,
    /// The sentence of the mail that asks for something.
    pub asked: String,
    /// Earlier mails of the person, as samples of their style.
    pub style: Vec<String>,
    /// Titles of related documents; untrusted like all of the data.
    pub related: Vec<String>,
    /// Whether the program adds a list of proposed times below the text.
    pub times_follow: bool,
}

/// What the model answers. With [`ReplyChoice::Leave`] the texts are not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftReplyAnswer {
    pub action: ReplyChoice,
    /// The handle of the message that is answered.
    pub message: String,
    pub greeting: String,
    pub text: String,
    pub closing: String,
}

/// Whether the model drafts a reply or leaves it to the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyChoice {
    Reply,
    Leave,
}

impl DraftReplyData {
    /// Returns the prompt with this data.
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
