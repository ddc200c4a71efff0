//! prioritise: how urgent, as a number. Rules turn it into a level.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answers, Inquiry, Prompt};
use crate::llm::quote::{Message, Person};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Data {
    pub people: Vec<Person>,
    pub message: Message,
    pub objective: String,
    #[serde(default)]
    pub deadline: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub urgency: f64,
}

impl Data {
    pub fn inquiry(&self) -> Option<Inquiry> {
        Inquiry::new(Prompt::Prioritise, self)
    }
}

impl Answers for Answer {
    type Data = Data;

    fn check(&self, _data: &Data) -> Result<(), String> {
        if (0.0..=1.0).contains(&self.urgency) { Ok(()) } else { Err("urgency is a number from 0 to 1".into()) }
    }
}
