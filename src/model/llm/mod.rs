//! Values around a language model: who serves it, what it may cost, and what became of each question.

mod model_call;

pub use model_call::{CostRow, ModelCallRow, NewModelCall};

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Secret, text_enum::text_enum};

text_enum! {
    /// Who serves the model. `compatible` is any server that speaks the OpenAI protocol; with `off` there is no model.
    Provider {
        Off = "off",
        OpenAi = "openai",
        Anthropic = "anthropic",
        Gemini = "gemini",
        Ollama = "ollama",
        Compatible = "compatible",
    }
}

text_enum! {
    /// What became of a question. Only `answered` and `repaired` bring an answer; with every other outcome the program
    /// goes on without the model.
    Outcome {
        Answered = "answered",
        /// The second attempt, which was told what was wrong with the first, brought an answer.
        Repaired = "repaired",
        /// Two answers did not have the required form.
        Malformed = "malformed",
        /// The model declined to answer.
        Refused = "refused",
        /// No connection, or the server kept failing.
        Unreachable = "unreachable",
        /// No complete answer came before the deadline.
        Late = "late",
        /// The server rejected the request: a wrong key, an unknown model.
        Denied = "denied",
        /// Not asked: the circuit breaker is open after several failures in a row.
        Resting = "resting",
        /// Not asked: today's budget is used up.
        DayBudget = "day_budget",
        /// Not asked: the budget of this task is used up.
        TaskBudget = "task_budget",
        /// The program ended while the question was under way. It is counted at the highest possible cost.
        Lost = "lost",
    }
}

impl Outcome {
    /// Returns whether a request was sent to the provider.
    pub const fn was_attempted(self) -> bool {
        !matches!(self, Self::Resting | Self::DayBudget | Self::TaskBudget)
    }
}

/// The section `[llm]` of the configuration, checked.
#[derive(Clone, PartialEq)]
pub struct LlmSettings {
    pub provider: Provider,
    pub model: String,
    /// The address of the server, without a slash at its end.
    pub base_url: String,
    pub key: Option<Secret>,
    /// The time for one question, including retries and the repair of a malformed answer.
    pub deadline: Duration,
    /// How many questions may be under way at the same time.
    pub max_concurrent: usize,
    pub budget: BudgetLimits,
    pub price: TokenPrice,
}

/// The key is left out, so that no log line can hold it.
impl fmt::Debug for LlmSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmSettings")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("base_url", &self.base_url)
            .field("has_key", &self.key.is_some())
            .field("deadline", &self.deadline)
            .field("at_once", &self.max_concurrent)
            .field("budget", &self.budget)
            .field("price", &self.price)
            .finish()
    }
}

/// What may be spent per day and per task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct BudgetLimits {
    pub day: SpendLimit,
    pub task: SpendLimit,
}

/// A limit on tokens, on money, or on both; none stands for no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SpendLimit {
    pub tokens: Option<u64>,
    /// The limit in millionths of the currency that the prices are in.
    pub micros: Option<u64>,
}

impl SpendLimit {
    /// Returns whether `spent` is within the limit.
    pub fn allows(&self, spent: ModelUsage) -> bool {
        self.tokens.is_none_or(|most| spent.tokens() <= most) && self.micros.is_none_or(|most| spent.micros <= most)
    }
}

/// The price of a million tokens, which is the same number as the price of one token in millionths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct TokenPrice {
    pub input: f64,
    pub output: f64,
}

impl TokenPrice {
    /// Returns the cost of so many tokens, rounded up so that no budget is exceeded by rounding.
    pub fn of(&self, tokens_in: u64, tokens_out: u64) -> ModelUsage {
        let micros = (tokens_in as f64).mul_add(self.input, tokens_out as f64 * self.output).ceil();
        ModelUsage { tokens_in, tokens_out, micros: micros.max(0.0) as u64 }
    }

    /// Returns whether the configuration names a price; without one only tokens can be limited.
    pub fn is_known(&self) -> bool {
        self.input > 0.0 || self.output > 0.0
    }
}

/// Tokens and their cost. Sums saturate instead of overflowing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelUsage {
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// The cost in millionths of the currency that the prices are in.
    pub micros: u64,
}

impl ModelUsage {
    pub const fn tokens(&self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }

    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            tokens_in: self.tokens_in.saturating_add(other.tokens_in),
            tokens_out: self.tokens_out.saturating_add(other.tokens_out),
            micros: self.micros.saturating_add(other.micros),
        }
    }

    /// Returns the difference, never below zero.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self {
            tokens_in: self.tokens_in.saturating_sub(other.tokens_in),
            tokens_out: self.tokens_out.saturating_sub(other.tokens_out),
            micros: self.micros.saturating_sub(other.micros),
        }
    }

    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self {
            tokens_in: self.tokens_in.saturating_mul(count),
            tokens_out: self.tokens_out.saturating_mul(count),
            micros: self.micros.saturating_mul(count),
        }
    }
}

/// One question to a model as it is recorded beside its reply, with its cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    /// Whose budget the question counts against: a task, or the run that read a mail.
    pub about: String,
    /// The local date, by which the daily budget counts.
    pub day: String,
    pub provider: Provider,
    pub model: String,
    pub prompt: String,
    /// The version of the prompt's text and schema.
    pub version: String,
    /// The version of the guidelines that preceded the prompt; empty without any.
    pub guidelines: String,
    pub outcome: Outcome,
    /// What went wrong, in the program's own words; never the model's.
    pub note: String,
    /// How many HTTP requests it took.
    pub requests: u32,
    pub spent: ModelUsage,
    pub took_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_never_rounded_down() {
        let price = TokenPrice { input: 0.15, output: 0.6 };
        assert_eq!(price.of(1, 0).micros, 1);
        assert_eq!(price.of(1_000_000, 1_000_000).micros, 750_000);
        assert_eq!(TokenPrice::default().of(1_000_000, 5).micros, 0);
    }

    #[test]
    fn a_limit_that_is_not_there_allows_everything() {
        let spent = ModelUsage { tokens_in: 90, tokens_out: 11, micros: 7 };
        assert!(SpendLimit::default().allows(spent));
        assert!(!SpendLimit { tokens: Some(100), micros: None }.allows(spent));
        assert!(SpendLimit { tokens: Some(101), micros: Some(7) }.allows(spent));
        assert!(!SpendLimit { tokens: None, micros: Some(6) }.allows(spent));
    }

    #[test]
    fn settings_are_shown_without_the_key() {
        let settings = LlmSettings {
            provider: Provider::Compatible,
            model: "m".into(),
            base_url: "http://127.0.0.1:1".into(),
            key: Some(Secret::new("sk-hidden")),
            deadline: Duration::from_secs(1),
            max_concurrent: 1,
            budget: BudgetLimits::default(),
            price: TokenPrice::default(),
        };
        assert!(!format!("{settings:?}").contains("hidden"));
    }
}
