//! Makes a model call within the budget: circuit breaker, concurrency limit, reservation, deadline, check of the answer
//! and one repair.
//!
//! A call always returns, with an answer or with the reason why there is none. Nothing is spent that was not reserved
//! before.

use std::{sync::Arc, time::Instant};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::{
    Budget, Llm, PromptInput, ProviderFailure, ProviderReply, ProviderRequest, circuit_breaker::CircuitBreaker,
};
use crate::model::{
    ids::sha256_hex,
    llm::{LlmSettings, ModelCall, ModelUsage, Outcome, Provider, TokenPrice},
};

/// How many requests one prompt may take: the first, and one that asks for a repair.
const ANSWER_ATTEMPTS: u32 = 2;
/// How many characters of a bad answer are sent back to the model when it is asked for a repair.
const BAD_ANSWER_CHARS: usize = 1_000;
/// The largest request that is sent. After a crash, each call that may have been in flight is counted as this many
/// tokens.
const MOST_REQUEST_BYTES: u64 = 32 * 1024;

/// The model that nodes call. Its calls share one budget, one concurrency limit and one circuit breaker.
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

/// A prompt together with what its budget needs to know.
#[derive(Debug, Clone, Copy)]
pub struct PromptCall<'a> {
    pub input: &'a PromptInput,
    pub guidelines: &'a str,
    /// The id whose budget pays: a task's, or that of the run that reads a mail.
    pub about: &'a str,
    /// What the stored calls say was spent on `about` so far.
    pub spent_before: ModelUsage,
    /// The local date whose budget pays.
    pub day: &'a str,
}

/// The reply that a node gets and that is recorded: what became of its call, and the checked answer if there is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
}

impl ModelReply {
    /// Returns the answer as the type of its prompt, or none when there is no answer of that type.
    pub fn answer<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(self.answer.as_ref()?).ok()
    }
}

/// What one call has cost so far. It lives outside the future that the deadline cancels, so that the cost survives.
#[derive(Default)]
struct RunningCost {
    requests: u32,
    spent: ModelUsage,
    /// The most that the request under way can cost; none while no request is under way.
    in_flight: Option<ModelUsage>,
}

/// How a call ended.
struct FinishedCall {
    outcome: Outcome,
    answer: Option<Value>,
    /// Why there is no answer, or what had to be repaired; never text of the model or the server.
    note: String,
    /// How long the server asked clients to wait.
    retry_after: Option<std::time::Duration>,
}

impl FinishedCall {
    /// Ends a call without an answer.
    fn unanswered(outcome: Outcome, note: impl Into<String>) -> Self {
        Self { outcome, answer: None, note: note.into(), retry_after: None }
    }

    /// Ends a call that the provider failed.
    fn failed(failure: ProviderFailure) -> Self {
        let note = failure.to_string();
        let (outcome, retry_after) = match failure {
            ProviderFailure::Unreachable { retry_after, .. } => (Outcome::Unreachable, retry_after),
            ProviderFailure::Denied(..) | ProviderFailure::RequestRejected(_) => (Outcome::Denied, None),
            ProviderFailure::MalformedReply(_) => (Outcome::Malformed, None),
            ProviderFailure::Refused { .. } => (Outcome::Refused, None),
        };
        Self { outcome, answer: None, note, retry_after }
    }
}

impl BudgetedModel {
    /// Creates the model with a budget that already counts what was spent today.
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

    /// Sends a prompt to the model. Returns the reply for the node and the record of the call with its cost, which the
    /// caller must store before it uses the reply.
    pub async fn request_answer(&self, prompt_call: &PromptCall<'_>) -> (ModelReply, ModelCall) {
        let started = Instant::now();
        let mut cost = RunningCost::default();
        let finished = self.call_within_budget(prompt_call, &mut cost).await;
        let record = ModelCall {
            about: prompt_call.about.to_owned(),
            day: prompt_call.day.to_owned(),
            provider: self.provider,
            model: self.model.clone(),
            prompt: prompt_call.input.prompt.to_string(),
            version: prompt_call.input.version.clone(),
            guidelines: guidelines_version(prompt_call.guidelines),
            outcome: finished.outcome,
            note: finished.note,
            requests: cost.requests,
            spent: cost.spent,
            took_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        (ModelReply { outcome: finished.outcome, answer: finished.answer }, record)
    }

    /// Waits for a permit, reserves the worst case, calls within the deadline, and replaces the reservation by the
    /// actual cost.
    async fn call_within_budget(&self, prompt_call: &PromptCall<'_>, cost: &mut RunningCost) -> FinishedCall {
        if let Some(reason) = self.circuit_breaker.open_reason() {
            return FinishedCall::unanswered(Outcome::Resting, reason);
        }
        let Ok(_permit) = self.permits.acquire().await else {
            return FinishedCall::unanswered(Outcome::Resting, "the program is ending");
        };
        // The circuit breaker may have opened while this call waited for its permit.
        if let Some(reason) = self.circuit_breaker.open_reason() {
            return FinishedCall::unanswered(Outcome::Resting, reason);
        }
        let request = prompt_call.input.request(prompt_call.guidelines);
        if request.input_token_bound() > MOST_REQUEST_BYTES {
            return FinishedCall::unanswered(Outcome::Malformed, "the prompt is too long to be sent");
        }
        let worst = self.worst_case_cost(&request).times(ANSWER_ATTEMPTS.into());
        let reservation = match self.budget.reserve(prompt_call.day, prompt_call.about, prompt_call.spent_before, worst)
        {
            Ok(reservation) => reservation,
            Err(outcome) => return FinishedCall::unanswered(outcome, "the budget is used up; rules go on alone"),
        };
        let exchange = self.request_with_repair(prompt_call.input, request, cost);
        let finished = tokio::time::timeout(self.deadline, exchange).await.unwrap_or_else(|_| {
            FinishedCall::unanswered(Outcome::Late, format!("no complete answer within {} s", self.deadline.as_secs()))
        });
        // Nobody knows what a request cost that the deadline cancelled, so it is counted at its worst case.
        cost.spent = cost.spent.plus(cost.in_flight.take().unwrap_or_default());
        reservation.commit(cost.spent);
        self.update_circuit_breaker(&finished);
        finished
    }

    /// Sends the request, checks the answer, and asks once more when the answer or the form of the request was bad.
    async fn request_with_repair(
        &self,
        prompt_input: &PromptInput,
        mut request: ProviderRequest,
        cost: &mut RunningCost,
    ) -> FinishedCall {
        let mut note = String::new();
        for attempt in 0..ANSWER_ATTEMPTS {
            let answer = match self.send_counted(&request, cost).await {
                Ok(reply) => prompt_input
                    .check_answer(&reply.text)
                    .map_err(|problem| (reply.text.chars().take(BAD_ANSWER_CHARS).collect::<String>(), problem)),
                Err(ProviderFailure::MalformedReply(problem)) => Err((String::new(), problem)),
                Err(failure @ ProviderFailure::RequestRejected(_)) => {
                    request.native_schema = false;
                    note = failure.to_string();
                    continue;
                }
                Err(failure) => return FinishedCall::failed(failure),
            };
            match answer {
                Ok(answer) => {
                    let outcome = if attempt == 0 { Outcome::Answered } else { Outcome::Repaired };
                    return FinishedCall { outcome, answer: Some(answer), note, retry_after: None };
                }
                Err((bad_answer, problem)) => {
                    note.clone_from(&problem);
                    request.repair = Some((bad_answer, problem));
                }
            }
        }
        FinishedCall::unanswered(Outcome::Malformed, note)
    }

    /// Sends one request and adds what it cost. `cost.in_flight` is set meanwhile, so that a cancelled request is
    /// counted too.
    async fn send_counted(
        &self,
        request: &ProviderRequest,
        cost: &mut RunningCost,
    ) -> Result<ProviderReply, ProviderFailure> {
        let worst = self.worst_case_cost(request);
        cost.requests += 1;
        cost.in_flight = Some(worst);
        let reply = self.llm.complete(request).await;
        cost.in_flight = None;
        cost.spent = cost.spent.plus(self.actual_cost(&reply, worst));
        reply
    }

    /// Returns the most that one request can cost.
    fn worst_case_cost(&self, request: &ProviderRequest) -> ModelUsage {
        // A repair adds the bad answer to the input; a character has at most four bytes.
        let repair_bytes = (BAD_ANSWER_CHARS * 4) as u64;
        self.price.of(request.input_token_bound() + repair_bytes, request.max_tokens.into())
    }

    /// Returns what a request cost: as the provider reported it, nothing if the model cannot have read it, else the
    /// worst case.
    fn actual_cost(&self, reply: &Result<ProviderReply, ProviderFailure>, worst: ModelUsage) -> ModelUsage {
        match reply {
            Ok(ProviderReply { tokens: Some((input, output)), .. })
            | Err(ProviderFailure::Refused { tokens: Some((input, output)) }) => self.price.of(*input, *output),
            Ok(_)
            | Err(
                ProviderFailure::Refused { .. }
                | ProviderFailure::MalformedReply(_)
                | ProviderFailure::Unreachable { read: true, .. },
            ) => worst,
            Err(
                ProviderFailure::Unreachable { .. } | ProviderFailure::Denied(..) | ProviderFailure::RequestRejected(_),
            ) => ModelUsage::default(),
        }
    }

    /// Counts a server that answered as healthy, whatever it answered, and one that did not as failing.
    fn update_circuit_breaker(&self, finished: &FinishedCall) {
        match finished.outcome {
            Outcome::Answered | Outcome::Repaired | Outcome::Malformed | Outcome::Refused => {
                self.circuit_breaker.record_success()
            }
            Outcome::Unreachable | Outcome::Late => {
                self.circuit_breaker.record_failure(&finished.note, finished.retry_after, false)
            }
            Outcome::Denied => self.circuit_breaker.record_failure(&finished.note, None, true),
            Outcome::Resting | Outcome::DayBudget | Outcome::TaskBudget | Outcome::Lost => {}
        }
    }

    /// Returns what calls that were cancelled half-way can have cost, and resets that sum.
    pub fn take_unrecorded(&self) -> ModelUsage {
        self.budget.take_unrecorded()
    }

    /// Returns whether no call is in flight whose cost is not known yet.
    pub fn is_idle(&self) -> bool {
        self.budget.is_idle()
    }

    pub const fn max_concurrent(&self) -> usize {
        self.max_concurrent
    }

    /// Returns the most that can have been spent without a record when the program was killed: all concurrent calls,
    /// each at its worst case.
    pub fn max_cost_lost_in_crash(settings: &LlmSettings) -> ModelUsage {
        let one = settings.price.of(MOST_REQUEST_BYTES, 1_000);
        one.times(ANSWER_ATTEMPTS.into()).times(settings.max_concurrent as u64)
    }
}

/// Returns a short hash of the guidelines, so that the record says which ones were in force; empty without guidelines.
fn guidelines_version(guidelines: &str) -> String {
    if guidelines.is_empty() {
        return String::new();
    }
    let mut version = sha256_hex(guidelines.as_bytes());
    version.truncate(12);
    version
}
