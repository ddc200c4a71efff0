//! Where a question is put: budget, place in line, request, check, one repair. It always comes back, answer or not.

use std::{sync::Arc, time::Instant};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::{Budget, Failure, Inquiry, Llm, Request, rest::Rest};
use crate::model::{
    ids::sha256_hex,
    llm::{LlmSettings, ModelCall, ModelUsage, Outcome, Provider, TokenPrice},
};

/// The first answer and one repair.
const ROUNDS: u32 = 2;
/// Of a bad answer that is shown back.
const SHOWN_BACK: usize = 1_000;
/// A question is never larger than this; after a crash each one that may have been under way counts as so many tokens.
const MOST_REQUEST_BYTES: u64 = 32 * 1024;

pub struct Desk {
    llm: Arc<dyn Llm>,
    provider: Provider,
    model: String,
    price: TokenPrice,
    deadline: std::time::Duration,
    at_once: usize,
    places: Semaphore,
    budget: Budget,
    rest: Rest,
}

/// A question with what its budget needs to know.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub inquiry: &'a Inquiry,
    pub guidelines: &'a str,
    /// A task, or the run that reads a mail.
    pub about: &'a str,
    /// What the record says was spent on it.
    pub before: ModelUsage,
    /// Local date.
    pub day: &'a str,
}

/// What a node hears: what became of its question, and the answer if there is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
}

impl Heard {
    /// The answer, read as what was asked for.
    pub fn answer<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(self.answer.as_ref()?).ok()
    }
}

/// What one question has come to so far; kept outside so that a deadline can read it.
#[derive(Default)]
struct Tally {
    requests: u32,
    spent: ModelUsage,
    /// A request is under way, and this is the most it can cost.
    open: Option<ModelUsage>,
}

/// How an exchange ended.
struct End {
    outcome: Outcome,
    answer: Option<Value>,
    note: String,
    wait: Option<std::time::Duration>,
}

impl End {
    fn without(outcome: Outcome, note: impl Into<String>) -> Self {
        Self { outcome, answer: None, note: note.into(), wait: None }
    }
}

impl Desk {
    pub fn new(llm: Arc<dyn Llm>, settings: &LlmSettings, budget: Budget) -> Self {
        Self {
            llm,
            provider: settings.provider,
            model: settings.model.clone(),
            price: settings.price,
            deadline: settings.deadline,
            at_once: settings.max_concurrent,
            places: Semaphore::new(settings.max_concurrent),
            budget,
            rest: Rest::default(),
        }
    }

    pub async fn ask(&self, question: &Question<'_>) -> (Heard, ModelCall) {
        let begun = Instant::now();
        let mut tally = Tally::default();
        let end = self.put(question, &mut tally).await;
        let call = ModelCall {
            about: question.about.to_owned(),
            day: question.day.to_owned(),
            provider: self.provider,
            model: self.model.clone(),
            prompt: question.inquiry.prompt.to_string(),
            version: question.inquiry.version.clone(),
            guidelines: version_of(question.guidelines),
            outcome: end.outcome,
            note: end.note,
            requests: tally.requests,
            spent: tally.spent,
            took_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        (Heard { outcome: end.outcome, answer: end.answer }, call)
    }

    async fn put(&self, question: &Question<'_>, tally: &mut Tally) -> End {
        if let Some(reason) = self.rest.reason() {
            return End::without(Outcome::Resting, reason);
        }
        let Ok(_place) = self.places.acquire().await else {
            return End::without(Outcome::Resting, "the program is ending");
        };
        // It may have failed for those before us in line.
        if let Some(reason) = self.rest.reason() {
            return End::without(Outcome::Resting, reason);
        }
        let request = question.inquiry.request(question.guidelines);
        if request.most_tokens() > MOST_REQUEST_BYTES {
            return End::without(Outcome::Malformed, "the question is too long to be asked");
        }
        let worst = self.worst(&request).times(ROUNDS.into());
        let reserved = match self.budget.reserve(question.day, question.about, question.before, worst) {
            Ok(reserved) => reserved,
            Err(outcome) => return End::without(outcome, "its budget is gone; rules go on alone"),
        };
        let exchange = tokio::time::timeout(self.deadline, self.exchange(question.inquiry, request, tally)).await;
        let end = exchange.unwrap_or_else(|_| {
            End::without(Outcome::Late, format!("no whole answer within {} s", self.deadline.as_secs()))
        });
        // Cut off in the middle: nobody knows what it cost, so it cost the most it could.
        tally.spent = tally.spent.plus(tally.open.take().unwrap_or_default());
        reserved.settle(tally.spent);
        self.remember(&end);
        end
    }

    async fn exchange(&self, inquiry: &Inquiry, mut request: Request, tally: &mut Tally) -> End {
        let mut problem = String::new();
        for round in 0..ROUNDS {
            let most = self.worst(&request);
            tally.requests += 1;
            tally.open = Some(most);
            let asked = self.llm.ask(&request).await;
            tally.open = None;
            tally.spent = tally.spent.plus(self.cost(&asked, most));
            match asked {
                Ok(raw) => match inquiry.check(&raw.text) {
                    Ok(answer) => {
                        let outcome = if round == 0 { Outcome::Answered } else { Outcome::Repaired };
                        return End { outcome, answer: Some(answer), note: problem, wait: None };
                    }
                    Err(wrong) => {
                        let said = raw.text.chars().take(SHOWN_BACK).collect();
                        request.repair = Some((said, wrong.clone()));
                        problem = wrong;
                    }
                },
                Err(Failure::Garbled(wrong)) => {
                    request.repair = Some((String::new(), wrong.clone()));
                    problem = wrong;
                }
                Err(failure @ Failure::Unfit(_)) => {
                    request.native_schema = false;
                    problem = failure.to_string();
                }
                Err(failure) => return failed(failure),
            }
        }
        End::without(Outcome::Malformed, problem)
    }

    /// The most one request can cost.
    fn worst(&self, request: &Request) -> ModelUsage {
        // What is shown back of a bad answer comes on top.
        let shown_back = (SHOWN_BACK * 4) as u64;
        self.price.of(request.most_tokens() + shown_back, request.max_tokens.into())
    }

    /// What a request did cost, as far as anybody says.
    fn cost(&self, asked: &Result<super::Raw, Failure>, most: ModelUsage) -> ModelUsage {
        match asked {
            Ok(super::Raw { tokens: Some((input, output)), .. })
            | Err(Failure::Refused { tokens: Some((input, output)) }) => self.price.of(*input, *output),
            Ok(_) | Err(Failure::Refused { .. } | Failure::Garbled(_) | Failure::Unreachable { read: true, .. }) => {
                most
            }
            Err(Failure::Unreachable { .. } | Failure::Denied(..) | Failure::Unfit(_)) => ModelUsage::default(),
        }
    }

    fn remember(&self, end: &End) {
        match end.outcome {
            Outcome::Answered | Outcome::Repaired | Outcome::Malformed | Outcome::Refused => self.rest.worked(),
            Outcome::Unreachable | Outcome::Late => self.rest.failed(&end.note, end.wait, false),
            Outcome::Denied => self.rest.failed(&end.note, None, true),
            Outcome::Resting | Outcome::DayBudget | Outcome::TaskBudget | Outcome::Lost => {}
        }
    }

    /// What questions that were given up in the middle can have cost, once.
    pub fn take_unrecorded(&self) -> ModelUsage {
        self.budget.take_unrecorded()
    }

    /// Nothing is under way whose cost nobody knows.
    pub fn is_settled(&self) -> bool {
        self.budget.is_settled()
    }

    pub const fn at_once(&self) -> usize {
        self.at_once
    }

    /// The most that can have been spent unseen when the program ended without a word.
    pub fn lost(settings: &LlmSettings) -> ModelUsage {
        let one = settings.price.of(MOST_REQUEST_BYTES, 1_000);
        one.times(ROUNDS.into()).times(settings.max_concurrent as u64)
    }
}

fn failed(failure: Failure) -> End {
    let note = failure.to_string();
    let (outcome, wait) = match failure {
        Failure::Unreachable { wait, .. } => (Outcome::Unreachable, wait),
        Failure::Denied(..) | Failure::Unfit(_) => (Outcome::Denied, None),
        Failure::Garbled(_) => (Outcome::Malformed, None),
        Failure::Refused { .. } => (Outcome::Refused, None),
    };
    End { outcome, answer: None, note, wait }
}

fn version_of(guidelines: &str) -> String {
    if guidelines.is_empty() {
        return String::new();
    }
    let mut version = sha256_hex(guidelines.as_bytes());
    version.truncate(12);
    version
}
