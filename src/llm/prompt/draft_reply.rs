//! draft_reply: the words of an answer. To whom it goes, its subject and its name are not the model's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answers, Inquiry, Prompt};
use crate::llm::{
    quote::{Message, Person},
    speech,
};

const LONGEST_LINE: usize = 80;
const LONGEST_TEXT: usize = 1_500;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Data {
    pub language: String,
    pub people: Vec<Person>,
    /// The mail at hand first, then its conversation, newest first.
    pub messages: Vec<Message>,
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
pub struct Answer {
    pub action: Wish,
    pub message: String,
    pub greeting: String,
    pub text: String,
    pub closing: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    Reply,
    Leave,
}

impl Data {
    pub fn inquiry(&self) -> Option<Inquiry> {
        Inquiry::new(Prompt::DraftReply, self)
    }
}

impl Answers for Answer {
    type Data = Data;

    fn check(&self, data: &Data) -> Result<(), String> {
        if data.messages.first().is_none_or(|at_hand| at_hand.handle != self.message) {
            return Err("the message that is answered is M0".into());
        }
        if self.action == Wish::Leave {
            return Ok(());
        }
        speech::check_line(&self.greeting, LONGEST_LINE)?;
        speech::check_line(&self.closing, LONGEST_LINE)?;
        if self.text.trim().is_empty() {
            return Err("the text is empty".into());
        }
        speech::check(&self.text, LONGEST_TEXT)
    }
}
