//! One way to call Google: paid for before it is made, timed, heard, and repeated only where that is safe.

use std::{sync::Arc, time::Duration};

use google_gmail1::{
    Delegate, Result as ApiResult,
    common::{Response, Retry},
    hyper::header::RETRY_AFTER,
};
use serde_json::Value;
use tokio::runtime::Handle;

use super::{ApiError, Bearer, CallPriority, Quota, TokenProvider, error};

/// Between the attempts at a call that changes nothing.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

/// What a call costs of the quota, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub struct CallPrice {
    pub units: u32,
    pub timeout: Duration,
}

impl CallPrice {
    pub const fn of(units: u32) -> Self {
        Self { units, timeout: Duration::from_secs(30) }
    }

    /// For answers that may be large.
    pub const fn with_timeout(self, patience: Duration) -> Self {
        Self { timeout: patience, ..self }
    }
}

/// What went over the wire, for those who must know more than the generated client tells: pass it as `delegate`.
#[derive(Debug, Default)]
pub struct FailureDetails {
    pub(super) status: u16,
    pub(super) reason: String,
    pub(super) retry_after: Option<Duration>,
}

impl Delegate for FailureDetails {
    fn http_failure(&mut self, answer: &Response, body: Option<&Value>) -> Retry {
        self.status = answer.status().as_u16();
        self.reason = error::error_reason(body);
        let seconds = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        self.retry_after = seconds.map(Duration::from_secs);
        Retry::Abort
    }
}

/// Makes calls in one account's name. Blocks: only for threads that may, never inside a future.
#[derive(Clone)]
pub struct ApiCaller {
    runtime: Handle,
    tokens: Arc<dyn TokenProvider>,
    quota: Arc<Quota>,
    priority: CallPriority,
}

impl ApiCaller {
    /// `runtime` drives the connections.
    pub fn new(runtime: Handle, tokens: Arc<dyn TokenProvider>, quota: Arc<Quota>) -> Self {
        Self { runtime, tokens, quota, priority: CallPriority::Immediate }
    }

    /// The same account, in no hurry: it leaves some of the quota to others.
    #[must_use]
    pub fn for_backlog(&self) -> Self {
        Self { priority: CallPriority::Backlog, ..self.clone() }
    }

    pub fn quota(&self) -> &Quota {
        &self.quota
    }

    /// What a hub wants for its `auth`.
    pub fn bearer(&self) -> Bearer {
        Bearer::new(Arc::clone(&self.tokens))
    }

    /// A call that changes nothing, or the same thing however often it is made: repeated with a new token, and after
    /// trouble on the way.
    pub fn call<T>(
        &self,
        price: CallPrice,
        request: impl AsyncFn(&mut FailureDetails) -> ApiResult<(Response, T)>,
    ) -> Result<T, ApiError> {
        let mut renewed = false;
        let mut pauses = RETRY_PAUSES.iter();
        loop {
            match self.call_once(price, &request) {
                Err(ApiError::TokenRejected) if !renewed => renewed = true,
                Err(error @ ApiError::Network { .. }) => match pauses.next() {
                    Some(pause) => std::thread::sleep(*pause),
                    None => return Err(error),
                },
                outcome => return outcome,
            }
        }
    }

    /// A call that is made once, whatever becomes of it: for everything that sends.
    pub fn call_once<T>(
        &self,
        price: CallPrice,
        request: impl AsyncFnOnce(&mut FailureDetails) -> ApiResult<(Response, T)>,
    ) -> Result<T, ApiError> {
        self.quota.spend(price.units, self.priority)?;
        let mut heard = FailureDetails::default();
        let answered = self.runtime.block_on(async { tokio::time::timeout(price.timeout, request(&mut heard)).await });
        let outcome = match answered {
            Ok(Ok((_, value))) => return Ok(value),
            Ok(Err(error)) => ApiError::from_call(error, &heard),
            Err(_) => ApiError::Network { what: format!("no answer in {} s", price.timeout.as_secs()), left: true },
        };
        match &outcome {
            ApiError::RateLimited { after } | ApiError::Overloaded { after } => self.quota.pause(*after),
            ApiError::TokenRejected => self.tokens.invalidate_token(),
            _ => {}
        }
        Err(outcome)
    }
}
