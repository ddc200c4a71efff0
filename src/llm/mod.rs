//! The client of a language model, if one is configured: any provider, every call recorded and budgeted, no answer
//! trusted.

pub mod anonymiser;
mod budget;
mod budgeted_model;
mod circuit_breaker;
mod http_client;
pub mod prompt;
mod protocol;
mod retry;
mod schema;
mod text_check;

use std::{future::Future, pin::Pin, time::Duration};

use serde_json::Value;

use prompt::step_calls::ToolShown;

pub use budget::Budget;
pub use budgeted_model::{BudgetedModel, ModelReply, PromptCall};
pub use http_client::ModelHttpClient;
pub use prompt::{Prompt, PromptInput};
pub use protocol::{NATIVE_CALLS, parse_provider_reply};
pub use text_check::{FORBIDDEN_IN_TEXT, check as check_model_text};

/// One request to a provider, independent of the provider's own format.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderRequest {
    /// The guidelines, the prompt and the schema: the only text that the model is to obey.
    pub system: String,
    /// The data of the prompt as quoted JSON.
    pub user: String,
    /// The model's first answer and why it was refused, when this request asks for a repair.
    pub repair: Option<(String, String)>,
    /// The name of the schema, which some providers require.
    pub schema_name: &'static str,
    pub schema: Value,
    /// Whether the schema is also sent as a parameter of the provider's API, not only as text in the prompt.
    pub native_schema: bool,
    /// The tools that the model may call instead of answering with text.
    pub tools: Vec<ToolShown>,
    pub max_tokens: u32,
}

impl ProviderRequest {
    /// Returns an upper bound of the input tokens: no tokenizer makes more tokens than there are bytes.
    pub fn input_token_bound(&self) -> u64 {
        let repair = self.repair.as_ref().map_or(0, |(bad_answer, problem)| bad_answer.len() + problem.len());
        (self.system.len() + self.user.len() + repair + self.schema.to_string().len()) as u64
    }
}

/// The reply of a provider, before anything in it was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderReply {
    pub text: String,
    /// Input and output tokens as the provider counted them; none when the provider did not report them.
    pub tokens: Option<(u64, u64)>,
}

/// Why a provider gave no reply that can be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderFailure {
    /// The server did not answer, or answered that it is busy or broken. `retry_after` is how long it asked clients to
    /// wait; `read` says that it may have read the request, which then may have cost something.
    #[error("{problem}")]
    Unreachable { problem: String, retry_after: Option<Duration>, read: bool },
    /// The server refused the request for good: a wrong key, an unknown model, a wrong address.
    #[error("the server said {0}: {1}")]
    Denied(u16, &'static str),
    /// The server rejected the form of the request, perhaps because it does not support the schema parameter.
    #[error("the server rejected the request ({0})")]
    RequestRejected(u16),
    /// The reply is not a usable answer: cut off, too long, or not JSON.
    #[error("{0}")]
    MalformedReply(String),
    /// The model declined to answer. `tokens` are what the provider says it used.
    #[error("the model refused")]
    Refused { tokens: Option<(u64, u64)> },
}

/// The future of one request to a provider.
pub type CompletionFuture<'a> = Pin<Box<dyn Future<Output = Result<ProviderReply, ProviderFailure>> + Send + 'a>>;

/// A provider of completions: a server on the network, or a double in a benchmark.
pub trait Llm: Send + Sync {
    /// Sends one request and returns the reply unchecked. May repeat the request while the server cannot have read it.
    fn complete<'a>(&'a self, request: &'a ProviderRequest) -> CompletionFuture<'a>;
}
