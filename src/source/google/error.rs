//! The errors of a call, as far as a caller branches on them. An error never holds a body, an address or a token.

use std::{io, time::Duration};

use google_gmail1::{Error, hyper_util};
use serde_json::Value;

use super::call::FailureDetails;
use crate::source::SourceError;

/// Delay when Google reports a rate limit without saying for how long.
const DEFAULT_WAIT: Duration = Duration::from_secs(30);
/// Upper bound of the delay that a server may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// Reasons of a 403 answer that mean a rate limit.
const RATE_LIMIT_REASONS: [&str; 5] =
    ["rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "RESOURCE_EXHAUSTED"];
/// Reasons of a 403 answer that mean that the sign-in does not cover the call.
const MISSING_SCOPE_REASONS: [&str; 3] =
    ["insufficientPermissions", "insufficientScopes", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"];

/// Why a call failed. The variants differ in whether the call may have been carried out, and in what helps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// The person must sign in, for the first time or again.
    #[error("{0}")]
    Auth(String),
    /// The person is signed in, but has not consented to the scope of this call.
    #[error("{0}")]
    MissingScope(String),
    /// The access token was rejected; a new one may be accepted.
    #[error("the access token was not accepted")]
    TokenRejected,
    /// Nothing was done, because a rate limit is reached. A later call may succeed.
    #[error("Google's limit is reached; it goes on in {} s", after.as_secs())]
    RateLimited { after: Duration },
    /// The server asks to be called later, but may have carried out the request.
    #[error("Google is overloaded; it goes on in {} s", after.as_secs())]
    Overloaded { after: Duration },
    /// Status 404 or 410: what the call was about does not exist.
    #[error("it is not there any more")]
    Gone,
    /// Status 409 or 412: it exists already, or was changed meanwhile.
    #[error("it is there already, or was changed meanwhile")]
    Conflict,
    /// Nothing was done, and repeating the call would not help.
    #[error("Google refused it ({status} {reason})")]
    Refused { status: u16, reason: String },
    /// No complete answer was received. With `left`, the request may have arrived and been carried out.
    #[error("Google cannot be reached ({what})")]
    Network { what: String, left: bool },
}

impl ApiError {
    /// Returns whether it is certain that nothing was done.
    pub fn is_certainly_not_done(&self) -> bool {
        !matches!(self, Self::Network { left: true, .. } | Self::Overloaded { .. })
    }

    /// Converts the error for the callers of a source or mailbox. `key` is the message that the call was about, if any.
    pub fn into_source_error(self, key: Option<&str>) -> SourceError {
        match (self, key) {
            (Self::Gone, Some(key)) => SourceError::Gone { key: key.to_owned() },
            (Self::RateLimited { after } | Self::Overloaded { after }, _) => SourceError::RateLimited { after },
            (error @ (Self::Auth(_) | Self::MissingScope(_) | Self::TokenRejected), _) => {
                SourceError::Auth { problem: error.to_string() }
            }
            (error @ (Self::Refused { .. } | Self::Conflict), Some(key)) => {
                SourceError::Unreadable { key: key.to_owned(), source: io::Error::other(error) }
            }
            (error, _) => SourceError::Unavailable { what: "Gmail".into(), source: io::Error::other(error) },
        }
    }

    /// Makes an error of what the generated client returned and what was heard on the wire. The body is dropped here.
    pub(super) fn from_call(error: Error, heard: &FailureDetails) -> Self {
        match error {
            Error::MissingToken(cause) => match cause.downcast::<ApiError>() {
                Ok(error) => *error,
                Err(_) => Self::Auth("there is no token".into()),
            },
            Error::HttpError(error) => Self::from_transport(&error),
            _ if heard.status != 0 => Self::from_response(heard),
            // A successful answer whose body could not be read to its end.
            _ => Self::Network { what: "the answer is not whole".into(), left: true },
        }
    }

    /// Converts a transport error. Without a connection nothing was sent; otherwise the request may have arrived.
    fn from_transport(error: &hyper_util::client::legacy::Error) -> Self {
        if error.is_connect() {
            return Self::Network { what: "no connection".into(), left: false };
        }
        Self::Network { what: "the connection broke".into(), left: true }
    }

    /// Converts an HTTP status and Google's reason for it.
    fn from_response(heard: &FailureDetails) -> Self {
        let reason = heard.reason.clone();
        match heard.status {
            401 => Self::TokenRejected,
            403 if MISSING_SCOPE_REASONS.contains(&reason.as_str()) => {
                Self::MissingScope("the sign-in does not cover what is needed".into())
            }
            403 if RATE_LIMIT_REASONS.contains(&reason.as_str()) => Self::RateLimited { after: retry_delay(heard) },
            429 => Self::RateLimited { after: retry_delay(heard) },
            503 if heard.retry_after.is_some() => Self::Overloaded { after: retry_delay(heard) },
            404 | 410 => Self::Gone,
            409 | 412 => Self::Conflict,
            status @ (408 | 500..) => Self::Network { what: format!("it answered {status}"), left: true },
            status => Self::Refused { status, reason },
        }
    }
}

/// Returns the delay that the server asked for, within bounds.
fn retry_delay(heard: &FailureDetails) -> Duration {
    heard.retry_after.unwrap_or(DEFAULT_WAIT).min(LONGEST_WAIT)
}

/// Returns Google's short name of an error, such as `rateLimitExceeded`. Anything that is not a plain identifier is
/// dropped, because free text may contain addresses.
pub(super) fn error_reason(body: Option<&Value>) -> String {
    let error = body.and_then(|body| body.get("error"));
    let nested = error.and_then(|error| error.pointer("/errors/0/reason"));
    let detailed = error.and_then(|error| error.pointer("/details/0/reason"));
    let name = nested.or(detailed).or_else(|| error.and_then(|error| error.get("status"))).and_then(Value::as_str);
    let plain = |name: &&str| name.len() <= 60 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    name.filter(plain).unwrap_or_default().to_owned()
}
