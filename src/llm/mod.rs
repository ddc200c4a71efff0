//! A language model, if there is one: any provider, recorded, budgeted, never trusted.
//!
//! Owns the wire to a provider, the prompts (`.md` files beside the code), the check of every answer, and the budget.
//! Asking never fails: whatever goes wrong is an [`Outcome`](crate::model::llm::Outcome), and the asker goes on with its
//! own answer. Nothing a model says is used before it was read back as the type that was asked for, and no text of its
//! own may hold an address, an id or a link. It is shown people and messages as handles and mail as quoted data.

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

pub use budget::Budget;
pub use budgeted_model::{BudgetedModel, ModelReply, PromptCall};
pub use http_client::ModelHttpClient;
pub use prompt::{Prompt, PromptInput};
pub use protocol::parse_provider_reply;
pub use text_check::FORBIDDEN_IN_TEXT;

/// What goes to a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderRequest {
    pub system: String,
    pub user: String,
    /// What it answered before and why that would not do.
    pub repair: Option<(String, String)>,
    pub schema_name: &'static str,
    pub schema: Value,
    /// Whether the provider is told the schema in its own way, beside the words of the prompt.
    pub native_schema: bool,
    pub max_tokens: u32,
}

impl ProviderRequest {
    /// No tokenizer makes more tokens than there are bytes.
    pub fn input_token_bound(&self) -> u64 {
        let repair = self.repair.as_ref().map_or(0, |(said, problem)| said.len() + problem.len());
        (self.system.len() + self.user.len() + repair + self.schema.to_string().len()) as u64
    }
}

/// What came back, not yet believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderReply {
    pub text: String,
    /// As the provider counts; none when it does not say.
    pub tokens: Option<(u64, u64)>,
}

/// Why nothing came back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderFailure {
    /// Nobody there, or somebody who is busy or broken. With the time they asked to be left alone for, and whether they
    /// may have read the question.
    #[error("{problem}")]
    Unreachable { problem: String, retry_after: Option<Duration>, read: bool },
    #[error("the server said {0}: {1}")]
    Denied(u16, &'static str),
    /// The server does not take the request as it stands, which may be because of the schema.
    #[error("the server does not take the request ({0})")]
    RequestRejected(u16),
    /// Something came back that is no answer: cut off, too long, not JSON.
    #[error("{0}")]
    MalformedReply(String),
    #[error("the model refused")]
    Refused { tokens: Option<(u64, u64)> },
}

pub type CompletionFuture<'a> = Pin<Box<dyn Future<Output = Result<ProviderReply, ProviderFailure>> + Send + 'a>>;

/// Whoever answers. Behind it is a network, or a script in a test.
pub trait Llm: Send + Sync {
    fn ask<'a>(&'a self, request: &'a ProviderRequest) -> CompletionFuture<'a>;
}
