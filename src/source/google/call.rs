//! One way to call Google: paid for before it is made, timed, heard, and repeated only where that is safe.

use std::{sync::Arc, time::Duration};

use google_gmail1::{
    Delegate, Result as ApiResult,
    common::{Response, Retry},
    hyper::header::RETRY_AFTER,
};
use serde_json::Value;
use tokio::runtime::Handle;

use super::{ApiError, Bearer, Lane, Quota, Tokens, error};

/// Between the attempts at a call that changes nothing.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

/// What a call costs of the quota, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub struct Price {
    pub units: u32,
    pub patience: Duration,
}

impl Price {
    pub const fn of(units: u32) -> Self {
        Self { units, patience: Duration::from_secs(30) }
    }

    /// For answers that may be large.
    pub const fn patient(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }
}

/// What went over the wire, for those who must know more than the generated client tells: pass it as `delegate`.
#[derive(Debug, Default)]
pub struct Heard {
    pub(super) status: u16,
    pub(super) reason: String,
    pub(super) retry_after: Option<Duration>,
}

impl Delegate for Heard {
    fn http_failure(&mut self, answer: &Response, body: Option<&Value>) -> Retry {
        self.status = answer.status().as_u16();
        self.reason = error::reason(body);
        let seconds = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        self.retry_after = seconds.map(Duration::from_secs);
        Retry::Abort
    }
}

/// Makes calls in one account's name. Blocks: only for threads that may, never inside a future.
#[derive(Clone)]
pub struct Caller {
    runtime: Handle,
    tokens: Arc<dyn Tokens>,
    quota: Arc<Quota>,
    lane: Lane,
}

impl Caller {
    /// `runtime` drives the connections.
    pub fn new(runtime: Handle, tokens: Arc<dyn Tokens>, quota: Arc<Quota>) -> Self {
        Self { runtime, tokens, quota, lane: Lane::Now }
    }

    /// The same account, in no hurry: it leaves some of the quota to others.
    #[must_use]
    pub fn in_no_hurry(&self) -> Self {
        Self { lane: Lane::Backlog, ..self.clone() }
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
    pub fn ask<T>(
        &self,
        price: Price,
        request: impl AsyncFn(&mut Heard) -> ApiResult<(Response, T)>,
    ) -> Result<T, ApiError> {
        let mut renewed = false;
        let mut pauses = PAUSES.iter();
        loop {
            match self.once(price, &request) {
                Err(ApiError::Stale) if !renewed => renewed = true,
                Err(error @ ApiError::Network { .. }) => match pauses.next() {
                    Some(pause) => std::thread::sleep(*pause),
                    None => return Err(error),
                },
                outcome => return outcome,
            }
        }
    }

    /// A call that is made once, whatever becomes of it: for everything that sends.
    pub fn once<T>(
        &self,
        price: Price,
        request: impl AsyncFnOnce(&mut Heard) -> ApiResult<(Response, T)>,
    ) -> Result<T, ApiError> {
        self.quota.take(price.units, self.lane)?;
        let mut heard = Heard::default();
        let answered = self.runtime.block_on(async { tokio::time::timeout(price.patience, request(&mut heard)).await });
        let outcome = match answered {
            Ok(Ok((_, value))) => return Ok(value),
            Ok(Err(error)) => ApiError::read(error, &heard),
            Err(_) => ApiError::Network { what: format!("no answer in {} s", price.patience.as_secs()), left: true },
        };
        match &outcome {
            ApiError::RateLimited { after } | ApiError::Overloaded { after } => self.quota.hold(*after),
            ApiError::Stale => self.tokens.refused(),
            _ => {}
        }
        Err(outcome)
    }
}
