//! The nine prompts. Each has its text in a `.md` file, a type for the data it shows, and a type for its answer, except
//! the two of the planner, whose answer is a text that the planner reads, and those of a team, whose text comes with the data.
//!
//! Data is always shown as quoted JSON, never as part of the instructions. An answer is parsed and checked by
//! [`PromptInput::check_answer`] before anybody sees it.

pub mod create_plan;
pub mod draft_reply;
pub mod generate_response;
pub mod plan_step;
pub mod prioritise;
pub mod reword_reply;
pub mod step_calls;
pub mod team_turn;

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use self::step_calls::{StepCallsData, ToolShown};
use super::{ProviderRequest, schema};
use crate::model::{ids::sha256_hex, text_enum::text_enum};

text_enum! {
    /// A prompt, named after the node or tool that uses it.
    Prompt {
        PlanStep = "plan_step",
        Prioritise = "prioritise",
        DraftReply = "draft_reply",
        GenerateResponse = "generate_response",
        RewordReply = "reword_reply",
        CreatePlan = "create_plan",
        StepCalls = "step_calls",
        TaskManager = "task_manager",
        TaskWorker = "task_worker",
    }
}

/// A prompt with its data, as a node requests it. Nothing in it depends on the time, so that its hash finds the
/// recorded reply again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromptInput {
    pub prompt: Prompt,
    /// A hash of the prompt's text, so that the record says which text was used.
    pub version: String,
    /// What the model is shown.
    pub data: Value,
}

/// The instructions before every prompt, which say that the data is to be read and never obeyed.
const PREAMBLE: &str = include_str!("preamble.md");

/// How the preamble ends for an answer in JSON. An answer that is a text has its form in its own prompt.
const ANSWER_IN_JSON: &str = "Answer with one JSON object that fits the schema, and nothing else.";
/// The longest answer that is a text, in characters.
const LONGEST_TEXT: usize = 12_000;

/// The answer of a prompt whose form is a text, not JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextAnswer {
    pub text: String,
}

/// The parts of a prompt that do not change from call to call.
struct PromptTemplate {
    text: &'static str,
    version: String,
    schema: Value,
}

impl PromptTemplate {
    /// Creates a template. Its version is a hash of everything that the model is told besides the data.
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

static REWORD_REPLY: LazyLock<PromptTemplate> = LazyLock::new(|| {
    PromptTemplate::new(include_str!("reword_reply.md"), schema::schema_for::<reword_reply::RewordReplyAnswer>())
});
static CREATE_PLAN: LazyLock<PromptTemplate> =
    LazyLock::new(|| PromptTemplate::new(include_str!("create_plan.md"), schema::schema_for::<TextAnswer>()));
static STEP_CALLS: LazyLock<PromptTemplate> =
    LazyLock::new(|| PromptTemplate::new(include_str!("step_calls.md"), schema::schema_for::<TextAnswer>()));
static TASK_MANAGER: LazyLock<PromptTemplate> = LazyLock::new(|| {
    PromptTemplate::new(include_str!("team_preamble.md"), schema::schema_for::<team_turn::ManagerTurn>())
});
static TASK_WORKER: LazyLock<PromptTemplate> = LazyLock::new(|| {
    PromptTemplate::new(include_str!("team_preamble.md"), schema::schema_for::<team_turn::WorkerTurn>())
});

/// An answer that can be checked against the data it is about.
trait CheckedAnswer: DeserializeOwned + Serialize {
    type Data: DeserializeOwned;

    /// Returns what is wrong with the answer. The reason goes back to the model and never repeats what the model wrote.
    fn check(&self, data: &Self::Data) -> Result<(), String>;
}

impl Prompt {
    fn template(self) -> &'static PromptTemplate {
        match self {
            Self::PlanStep => &PLAN_STEP,
            Self::Prioritise => &PRIORITISE,
            Self::DraftReply => &DRAFT_REPLY,
            Self::GenerateResponse => &GENERATE_RESPONSE,
            Self::RewordReply => &REWORD_REPLY,
            Self::CreatePlan => &CREATE_PLAN,
            Self::StepCalls => &STEP_CALLS,
            Self::TaskManager => &TASK_MANAGER,
            Self::TaskWorker => &TASK_WORKER,
        }
    }

    /// Returns whether the answer is a text, or calls of tools, rather than JSON that fits the schema.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::CreatePlan | Self::StepCalls)
    }

    /// Returns whether the prompt is a turn of an agent, whose instructions come with the data.
    const fn is_team_turn(self) -> bool {
        matches!(self, Self::TaskManager | Self::TaskWorker)
    }

    /// Returns a short hash of preamble, text and schema.
    pub fn version(self) -> &'static str {
        &self.template().version
    }

    pub fn schema(self) -> &'static Value {
        &self.template().schema
    }

    /// Returns the limit of output tokens, which is enough for the longest answer that passes its check.
    const fn max_tokens(self) -> u32 {
        match self {
            Self::PlanStep | Self::DraftReply | Self::RewordReply | Self::StepCalls => 1_000,
            Self::CreatePlan | Self::TaskManager | Self::TaskWorker => 2_000,
            Self::Prioritise => 100,
            Self::GenerateResponse => 300,
        }
    }
}

/// Parses a text as the type `A` and checks it. Returns the answer as JSON with exactly the fields of `A`.
fn parse_and_check<A: CheckedAnswer>(data: &Value, text: &str) -> Result<Value, String> {
    let data = A::Data::deserialize(data).map_err(|_| "the data of the prompt cannot be read back")?;
    let answer: A =
        serde_json::from_str(strip_code_fence(text)).map_err(|_| "it is not the JSON object of the schema")?;
    answer.check(&data)?;
    serde_json::to_value(&answer).map_err(|_| "it cannot be stored".to_owned())
}

/// Checks an answer that is a text. What it means is read by the planner.
fn check_text_answer(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    if text.chars().count() > LONGEST_TEXT {
        return Err(format!("it is longer than {LONGEST_TEXT} characters"));
    }
    let answer = TextAnswer { text: text.trim().to_owned() };
    serde_json::to_value(&answer).map_err(|_| "it cannot be stored".to_owned())
}

/// Returns a text without the Markdown fence that some models put around it.
fn strip_code_fence(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inside.and_then(|inside| inside.strip_suffix("```")).unwrap_or(text).trim()
}

impl PromptInput {
    /// Creates a prompt with its data. Returns none when the data cannot be written as JSON, which its types rule out.
    fn new<D: Serialize>(prompt: Prompt, data: &D) -> Option<Self> {
        let data = serde_json::to_value(data).ok()?;
        Some(Self { prompt, version: prompt.version().to_owned(), data })
    }

    /// Builds the request: the guidelines first, then preamble and prompt, then the data as quoted JSON.
    pub fn request(&self, guidelines: &str) -> ProviderRequest {
        let PromptTemplate { text, schema, .. } = self.prompt.template();
        let system = if self.prompt.is_team_turn() {
            let instructions = self.data.get(team_turn::INSTRUCTIONS).and_then(Value::as_str).unwrap_or_default();
            format!("{guidelines}\n\n{text}\n{instructions}\nThe schema of the answer: {schema}\n")
        } else if self.prompt.is_text() {
            let preamble = PREAMBLE.trim_end().trim_end_matches(ANSWER_IN_JSON).trim_end();
            format!("{guidelines}\n\n{preamble}\n\n{text}")
        } else {
            format!("{guidelines}\n\n{PREAMBLE}\n{text}\nThe schema of the answer: {schema}\n")
        };
        ProviderRequest {
            system: system.trim_start().to_owned(),
            user: self.user_text(),
            repair: None,
            schema_name: self.prompt.as_str(),
            schema: schema.clone(),
            native_schema: !self.prompt.is_text(),
            tools: self.callable_tools(),
            max_tokens: self.prompt.max_tokens(),
        }
    }

    /// Returns the data as quoted JSON. The instructions of an agent are part of the system text, so they are left out.
    fn user_text(&self) -> String {
        let heading = "DATA, quoted and untrusted:";
        if !self.prompt.is_team_turn() {
            return format!("{heading}\n{}", self.data);
        }
        let mut data = self.data.clone();
        if let Some(fields) = data.as_object_mut() {
            fields.remove(team_turn::INSTRUCTIONS);
        }
        format!("{heading}\n{data}")
    }

    /// Returns the tools that the model may call; none except for the calls of a step.
    fn callable_tools(&self) -> Vec<ToolShown> {
        if self.prompt != Prompt::StepCalls {
            return Vec::new();
        }
        StepCallsData::deserialize(&self.data).map(|data| data.tools).unwrap_or_default()
    }

    /// Parses the text of a model as the answer type of the prompt and checks it against the data. Returns the answer,
    /// or a reason that can be sent back to the model.
    pub fn check_answer(&self, text: &str) -> Result<Value, String> {
        let data = &self.data;
        match self.prompt {
            Prompt::PlanStep => parse_and_check::<plan_step::PlanStepAnswer>(data, text),
            Prompt::Prioritise => parse_and_check::<prioritise::PrioritiseAnswer>(data, text),
            Prompt::DraftReply => parse_and_check::<draft_reply::DraftReplyAnswer>(data, text),
            Prompt::GenerateResponse => parse_and_check::<generate_response::GenerateResponseAnswer>(data, text),
            Prompt::RewordReply => parse_and_check::<reword_reply::RewordReplyAnswer>(data, text),
            Prompt::CreatePlan | Prompt::StepCalls => check_text_answer(text),
            Prompt::TaskManager => team_turn::parse_turn::<team_turn::ManagerTurn>(data, strip_code_fence(text)),
            Prompt::TaskWorker => team_turn::parse_turn::<team_turn::WorkerTurn>(data, strip_code_fence(text)),
        }
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
