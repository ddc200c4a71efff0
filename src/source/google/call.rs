//! The only way to call Google: a call is paid from the quota before it is made, has a timeout, and is repeated only
//! where that is safe.

use std::{sync::Arc, time::Duration};

use google_gmail1::{
    Delegate, Result as ApiResult,
    common::{Response, Retry},
    hyper::header::RETRY_AFTER,
};
use serde_json::Value;
use tokio::runtime::Handle;

use super::{ApiError, Bearer, CallPriority, Quota, TokenProvider, error};

/// Pauses between the attempts at an idempotent call.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

/// What a call costs of the quota, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub struct CallPrice {
    pub units: u32,
    pub timeout: Duration,
}

impl CallPrice {
    /// Returns a price with the default timeout of 30 seconds.
    pub const fn of(units: u32) -> Self {
        Self { units, timeout: Duration::from_secs(30) }
    }

    /// Returns the same price with another timeout, for answers that may be large.
    pub const fn with_timeout(self, patience: Duration) -> Self {
        Self { timeout: patience, ..self }
    }
}

/// The HTTP status and error of a failed call, which the generated client does not return. Pass it as the `delegate`.
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

/// Makes calls on behalf of one account. Its methods block: they must run on a blocking thread, never inside a future.
#[derive(Clone)]
pub struct ApiCaller {
    runtime: Handle,
    tokens: Arc<dyn TokenProvider>,
    quota: Arc<Quota>,
    priority: CallPriority,
}

impl ApiCaller {
    /// Creates a caller. `runtime` drives the connections.
    pub fn new(runtime: Handle, tokens: Arc<dyn TokenProvider>, quota: Arc<Quota>) -> Self {
        Self { runtime, tokens, quota, priority: CallPriority::Immediate }
    }

    /// Returns a caller for the same account at low priority: it leaves a reserve of the quota to other calls.
    #[must_use]
    pub fn for_backlog(&self) -> Self {
        Self { priority: CallPriority::Backlog, ..self.clone() }
    }

    pub fn quota(&self) -> &Quota {
        &self.quota
    }

    /// Returns the authenticator that a generated client is built with.
    pub fn bearer(&self) -> Bearer {
        Bearer::new(Arc::clone(&self.tokens))
    }

    /// Makes an idempotent call. It is repeated once with a new token if the token was rejected, and with pauses after
    /// network errors.
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

    /// Makes a call exactly once, whatever its outcome. Everything that sends uses this.
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
