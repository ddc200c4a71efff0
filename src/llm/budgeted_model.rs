//! Where a question is put: budget, place in line, request, check, one repair. It always comes back, answer or not.

use std::{sync::Arc, time::Instant};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::{Budget, Llm, PromptInput, ProviderFailure, ProviderRequest, circuit_breaker::CircuitBreaker};
use crate::model::{
    ids::sha256_hex,
    llm::{LlmSettings, ModelCall, ModelUsage, Outcome, Provider, TokenPrice},
};

/// The first answer and one repair.
const ANSWER_ATTEMPTS: u32 = 2;
/// Of a bad answer that is shown back.
const BAD_ANSWER_CHARS: usize = 1_000;
/// A question is never larger than this; after a crash each one that may have been under way counts as so many tokens.
const MOST_REQUEST_BYTES: u64 = 32 * 1024;

pub struct BudgetedModel {
    llm: Arc<dyn Llm>,
    provider: Provider,
    model: String,
    price: TokenPrice,
    deadline: std::time::Duration,
    max_concurrent: usize,
    permits: Semaphore,
    budget: Budget,
    circuit_breaker: CircuitBreaker,
}

/// A question with what its budget needs to know.
#[derive(Debug, Clone, Copy)]
pub struct PromptCall<'a> {
    pub input: &'a PromptInput,
    pub guidelines: &'a str,
    /// A task, or the run that reads a mail.
    pub about: &'a str,
    /// What the record says was spent on it.
    pub spent_before: ModelUsage,
    /// Local date.
    pub day: &'a str,
}

/// What a node hears: what became of its question, and the answer if there is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
}

impl ModelReply {
    /// The answer, read as what was asked for.
    pub fn answer<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(self.answer.as_ref()?).ok()
    }
}

/// What one question has come to so far; kept outside so that a deadline can read it.
#[derive(Default)]
struct RunningCost {
    requests: u32,
    spent: ModelUsage,
    /// A request is under way, and this is the most it can cost.
    in_flight: Option<ModelUsage>,
}

/// How an exchange ended.
struct FinishedCall {
    outcome: Outcome,
    answer: Option<Value>,
    note: String,
    retry_after: Option<std::time::Duration>,
}

impl FinishedCall {
    fn unanswered(outcome: Outcome, note: impl Into<String>) -> Self {
        Self { outcome, answer: None, note: note.into(), retry_after: None }
    }
}

impl BudgetedModel {
    pub fn new(llm: Arc<dyn Llm>, settings: &LlmSettings, budget: Budget) -> Self {
        Self {
            llm,
            provider: settings.provider,
            model: settings.model.clone(),
            price: settings.price,
            deadline: settings.deadline,
            max_concurrent: settings.max_concurrent,
            permits: Semaphore::new(settings.max_concurrent),
            budget,
            circuit_breaker: CircuitBreaker::default(),
        }
    }

    pub async fn ask(&self, question: &PromptCall<'_>) -> (ModelReply, ModelCall) {
        let begun = Instant::now();
        let mut tally = RunningCost::default();
        let end = self.call_within_budget(question, &mut tally).await;
        let call = ModelCall {
            about: question.about.to_owned(),
            day: question.day.to_owned(),
            provider: self.provider,
            model: self.model.clone(),
            prompt: question.input.prompt.to_string(),
            version: question.input.version.clone(),
            guidelines: version_of(question.guidelines),
            outcome: end.outcome,
            note: end.note,
            requests: tally.requests,
            spent: tally.spent,
            took_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        (ModelReply { outcome: end.outcome, answer: end.answer }, call)
    }

    async fn call_within_budget(&self, question: &PromptCall<'_>, tally: &mut RunningCost) -> FinishedCall {
        if let Some(reason) = self.circuit_breaker.open_reason() {
            return FinishedCall::unanswered(Outcome::Resting, reason);
        }
        let Ok(_place) = self.permits.acquire().await else {
            return FinishedCall::unanswered(Outcome::Resting, "the program is ending");
        };
        // It may have failed for those before us in line.
        if let Some(reason) = self.circuit_breaker.open_reason() {
            return FinishedCall::unanswered(Outcome::Resting, reason);
        }
        let request = question.input.request(question.guidelines);
        if request.input_token_bound() > MOST_REQUEST_BYTES {
            return FinishedCall::unanswered(Outcome::Malformed, "the question is too long to be asked");
        }
        let worst = self.worst_case_cost(&request).times(ANSWER_ATTEMPTS.into());
        let reserved = match self.budget.reserve(question.day, question.about, question.spent_before, worst) {
            Ok(reserved) => reserved,
            Err(outcome) => return FinishedCall::unanswered(outcome, "its budget is gone; rules go on alone"),
        };
        let exchange =
            tokio::time::timeout(self.deadline, self.request_with_repair(question.input, request, tally)).await;
        let end = exchange.unwrap_or_else(|_| {
            FinishedCall::unanswered(Outcome::Late, format!("no whole answer within {} s", self.deadline.as_secs()))
        });
        // Cut off in the middle: nobody knows what it cost, so it cost the most it could.
        tally.spent = tally.spent.plus(tally.in_flight.take().unwrap_or_default());
        reserved.commit(tally.spent);
        self.update_circuit_breaker(&end);
        end
    }

    async fn request_with_repair(
        &self,
        inquiry: &PromptInput,
        mut request: ProviderRequest,
        tally: &mut RunningCost,
    ) -> FinishedCall {
        let mut problem = String::new();
        for round in 0..ANSWER_ATTEMPTS {
            let most = self.worst_case_cost(&request);
            tally.requests += 1;
            tally.in_flight = Some(most);
            let asked = self.llm.ask(&request).await;
            tally.in_flight = None;
            tally.spent = tally.spent.plus(self.actual_cost(&asked, most));
            match asked {
                Ok(raw) => match inquiry.check_answer(&raw.text) {
                    Ok(answer) => {
                        let outcome = if round == 0 { Outcome::Answered } else { Outcome::Repaired };
                        return FinishedCall { outcome, answer: Some(answer), note: problem, retry_after: None };
                    }
                    Err(wrong) => {
                        let said = raw.text.chars().take(BAD_ANSWER_CHARS).collect();
                        request.repair = Some((said, wrong.clone()));
                        problem = wrong;
                    }
                },
                Err(ProviderFailure::MalformedReply(wrong)) => {
                    request.repair = Some((String::new(), wrong.clone()));
                    problem = wrong;
                }
                Err(failure @ ProviderFailure::RequestRejected(_)) => {
                    request.native_schema = false;
                    problem = failure.to_string();
                }
                Err(failure) => return finish_failed(failure),
            }
        }
        FinishedCall::unanswered(Outcome::Malformed, problem)
    }

    /// The most one request can cost.
    fn worst_case_cost(&self, request: &ProviderRequest) -> ModelUsage {
        // What is shown back of a bad answer comes on top.
        let shown_back = (BAD_ANSWER_CHARS * 4) as u64;
        self.price.of(request.input_token_bound() + shown_back, request.max_tokens.into())
    }

    /// What a request did cost, as far as anybody says.
    fn actual_cost(&self, asked: &Result<super::ProviderReply, ProviderFailure>, most: ModelUsage) -> ModelUsage {
        match asked {
            Ok(super::ProviderReply { tokens: Some((input, output)), .. })
            | Err(ProviderFailure::Refused { tokens: Some((input, output)) }) => self.price.of(*input, *output),
            Ok(_)
            | Err(
                ProviderFailure::Refused { .. }
                | ProviderFailure::MalformedReply(_)
                | ProviderFailure::Unreachable { read: true, .. },
            ) => most,
            Err(
                ProviderFailure::Unreachable { .. } | ProviderFailure::Denied(..) | ProviderFailure::RequestRejected(_),
            ) => ModelUsage::default(),
        }
    }

    fn update_circuit_breaker(&self, end: &FinishedCall) {
        match end.outcome {
            Outcome::Answered | Outcome::Repaired | Outcome::Malformed | Outcome::Refused => {
                self.circuit_breaker.record_success()
            }
            Outcome::Unreachable | Outcome::Late => {
                self.circuit_breaker.record_failure(&end.note, end.retry_after, false)
            }
            Outcome::Denied => self.circuit_breaker.record_failure(&end.note, None, true),
            Outcome::Resting | Outcome::DayBudget | Outcome::TaskBudget | Outcome::Lost => {}
        }
    }

    /// What questions that were given up in the middle can have cost, once.
    pub fn take_unrecorded(&self) -> ModelUsage {
        self.budget.take_unrecorded()
    }

    /// Nothing is under way whose cost nobody knows.
    pub fn is_idle(&self) -> bool {
        self.budget.is_idle()
    }

    pub const fn max_concurrent(&self) -> usize {
        self.max_concurrent
    }

    /// The most that can have been spent unseen when the program ended without a word.
    pub fn max_cost_lost_in_crash(settings: &LlmSettings) -> ModelUsage {
        let one = settings.price.of(MOST_REQUEST_BYTES, 1_000);
        one.times(ANSWER_ATTEMPTS.into()).times(settings.max_concurrent as u64)
    }
}

fn finish_failed(failure: ProviderFailure) -> FinishedCall {
    let note = failure.to_string();
    let (outcome, wait) = match failure {
        ProviderFailure::Unreachable { retry_after: wait, .. } => (Outcome::Unreachable, wait),
        ProviderFailure::Denied(..) | ProviderFailure::RequestRejected(_) => (Outcome::Denied, None),
        ProviderFailure::MalformedReply(_) => (Outcome::Malformed, None),
        ProviderFailure::Refused { .. } => (Outcome::Refused, None),
    };
    FinishedCall { outcome, answer: None, note, retry_after: wait }
}

fn version_of(guidelines: &str) -> String {
    if guidelines.is_empty() {
        return String::new();
    }
    let mut version = sha256_hex(guidelines.as_bytes());
    version.truncate(12);
    version
}
