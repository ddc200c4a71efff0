//! generate_response: what the mail is about. What was done is said by the program alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answers, Inquiry, Prompt};
use crate::llm::{
    quote::{Message, Person},
    speech,
};

const LONGEST: usize = 280;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Data {
    pub language: String,
    pub people: Vec<Person>,
    pub message: Message,
    pub objective: String,
    pub related: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub about: String,
}

impl Data {
    pub fn inquiry(&self) -> Option<Inquiry> {
        Inquiry::new(Prompt::GenerateResponse, self)
    }
}

impl Answers for Answer {
    type Data = Data;

    fn check(&self, _data: &Data) -> Result<(), String> {
        speech::check_line(&self.about, LONGEST)
    }
}
