//! The four questions. Each has its words in a `.md` file, the data it shows, and the type its answer must have.

pub mod draft_reply;
pub mod generate_response;
pub mod plan_step;
pub mod prioritise;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{ProviderRequest, schema};
use crate::model::{ids::sha256_hex, text_enum::words};

words! {
    /// Named after the node or tool that asks.
    Prompt {
        PlanStep = "plan_step",
        Prioritise = "prioritise",
        DraftReply = "draft_reply",
        GenerateResponse = "generate_response",
    }
}

/// A question a node wants put: nothing in it depends on when it is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromptInput {
    pub prompt: Prompt,
    /// Of the prompt's text, so that the record says which words were used.
    pub version: String,
    /// What is shown, quoted.
    pub data: Value,
}

/// What is put before every prompt: how the data is to be taken.
const PREAMBLE: &str = include_str!("house.md");

struct PromptTemplate {
    text: &'static str,
    version: String,
    schema: Value,
}

impl PromptTemplate {
    fn new(text: &'static str, schema: Value) -> Self {
        let mut version = sha256_hex(format!("{PREAMBLE}\n{text}\n{schema}").as_bytes());
        version.truncate(12);
        Self { text, version, schema }
    }
}

static PLAN_STEP: LazyLock<PromptTemplate> = LazyLock::new(|| {
    PromptTemplate::new(include_str!("plan_step.md"), schema::schema_for::<plan_step::PlanStepAnswer>())
});
static PRIORITISE: LazyLock<PromptTemplate> = LazyLock::new(|| {
    PromptTemplate::new(include_str!("prioritise.md"), schema::schema_for::<prioritise::PrioritiseAnswer>())
});
static DRAFT_REPLY: LazyLock<PromptTemplate> = LazyLock::new(|| {
    PromptTemplate::new(include_str!("draft_reply.md"), schema::schema_for::<draft_reply::DraftReplyAnswer>())
});
static GENERATE_RESPONSE: LazyLock<PromptTemplate> = LazyLock::new(|| {
    PromptTemplate::new(
        include_str!("generate_response.md"),
        schema::schema_for::<generate_response::GenerateResponseAnswer>(),
    )
});

/// What can be wrong with an answer, for the data it was given about.
trait CheckedAnswer: DeserializeOwned + Serialize {
    type Data: DeserializeOwned;

    /// The reason goes back to the model; it never repeats what the model said.
    fn check(&self, data: &Self::Data) -> Result<(), String>;
}

impl Prompt {
    fn template(self) -> &'static PromptTemplate {
        match self {
            Self::PlanStep => &PLAN_STEP,
            Self::Prioritise => &PRIORITISE,
            Self::DraftReply => &DRAFT_REPLY,
            Self::GenerateResponse => &GENERATE_RESPONSE,
        }
    }

    pub fn version(self) -> &'static str {
        &self.template().version
    }

    pub fn schema(self) -> &'static Value {
        &self.template().schema
    }

    /// Enough for the longest answer that passes its check.
    const fn max_tokens(self) -> u32 {
        match self {
            Self::PlanStep | Self::DraftReply => 1_000,
            Self::Prioritise => 100,
            Self::GenerateResponse => 300,
        }
    }

    /// Reads an answer back as what was asked for.
    fn check_answer(self, data: &Value, text: &str) -> Result<Value, String> {
        match self {
            Self::PlanStep => parse_and_check::<plan_step::PlanStepAnswer>(data, text),
            Self::Prioritise => parse_and_check::<prioritise::PrioritiseAnswer>(data, text),
            Self::DraftReply => parse_and_check::<draft_reply::DraftReplyAnswer>(data, text),
            Self::GenerateResponse => parse_and_check::<generate_response::GenerateResponseAnswer>(data, text),
        }
    }
}

fn parse_and_check<A: CheckedAnswer>(data: &Value, text: &str) -> Result<Value, String> {
    let data = A::Data::deserialize(data).map_err(|_| "the question cannot be read back")?;
    let answer: A =
        serde_json::from_str(strip_code_fence(text)).map_err(|_| "it is not the JSON object of the schema")?;
    answer.check(&data)?;
    serde_json::to_value(&answer).map_err(|_| "it cannot be kept".to_owned())
}

/// Without the fence some models put around everything.
fn strip_code_fence(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inside.and_then(|inside| inside.strip_suffix("```")).unwrap_or(text).trim()
}

impl PromptInput {
    /// None when the data cannot be written down, which its types rule out.
    fn new<D: Serialize>(prompt: Prompt, data: &D) -> Option<Self> {
        let data = serde_json::to_value(data).ok()?;
        Some(Self { prompt, version: prompt.version().to_owned(), data })
    }

    /// The guidelines first, then our own words, then the data as a quoted value.
    pub fn request(&self, guidelines: &str) -> ProviderRequest {
        let sheet = self.prompt.template();
        let system =
            format!("{guidelines}\n\n{PREAMBLE}\n{}\nThe schema of the answer: {}\n", sheet.text, sheet.schema);
        ProviderRequest {
            system: system.trim_start().to_owned(),
            user: format!("DATA, quoted and untrusted:\n{}", self.data),
            repair: None,
            schema_name: self.prompt.as_str(),
            schema: sheet.schema.clone(),
            native_schema: true,
            max_tokens: self.prompt.max_tokens(),
        }
    }

    pub fn check_answer(&self, text: &str) -> Result<Value, String> {
        self.prompt.check_answer(&self.data, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_closed_and_plain() {
        for prompt in Prompt::ALL {
            let text = prompt.schema().to_string();
            assert_eq!(prompt.schema()["additionalProperties"], false, "{prompt}");
            for word in ["$ref", "$defs", "null", "format", "anyOf", "minimum"] {
                assert!(!text.contains(&format!("\"{word}\"")), "{prompt}: {text}");
            }
            assert_eq!(prompt.version().len(), 12);
        }
    }

    #[test]
    fn a_fence_is_taken_off_and_prose_is_not() {
        assert_eq!(strip_code_fence("```json\n{}\n```"), "{}");
        assert_eq!(strip_code_fence(" {} "), "{}");
        assert_eq!(strip_code_fence("Sure! {}"), "Sure! {}");
    }
}
