//! The retry of calls that read: transient errors are tried again with an exponential backoff, permanent ones are not.
//! An effect is never tried again; its outcome is probed.

use std::{io::ErrorKind, time::Duration};

use backon::ExponentialBuilder;

/// The pause before the first retry; doubled for each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// A call that was given up because its time limit had passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no answer within {0:?}")]
pub struct CallTimedOut(pub Duration);

/// Returns the pauses between the attempts: 500 ms, then 1000 ms, and so on, for so many retries.
pub fn retry_pauses(max_retry_attempts: usize) -> ExponentialBuilder {
    ExponentialBuilder::default().with_min_delay(FIRST_PAUSE).with_factor(2.0).with_max_times(max_retry_attempts)
}

/// Returns whether an error may be gone on the next attempt: a connection that failed, a time limit, a busy server.
pub fn is_transient(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        if let Some(error) = cause.downcast_ref::<std::io::Error>() {
            return is_transient_io(error.kind());
        }
        if let Some(error) = cause.downcast_ref::<reqwest::Error>() {
            let is_busy =
                |status: reqwest::StatusCode| status.is_server_error() || matches!(status.as_u16(), 408 | 429);
            return error.is_timeout() || error.is_connect() || error.status().is_some_and(is_busy);
        }
        cause.is::<CallTimedOut>() || cause.is::<tokio::time::error::Elapsed>()
    })
}

const fn is_transient_io(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::TimedOut
            | ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::NotConnected
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof
            | ErrorKind::Interrupted
            | ErrorKind::WouldBlock
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
    )
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;
    use backon::BackoffBuilder as _;

    use super::*;

    #[test]
    fn the_pauses_are_those_of_the_specification() {
        let pauses: Vec<Duration> = retry_pauses(2).build().collect();
        assert_eq!(pauses, [Duration::from_millis(500), Duration::from_millis(1000)]);
        assert_eq!(retry_pauses(0).build().count(), 0);
    }

    #[test]
    fn transient_errors_are_told_from_permanent_ones() {
        let io = |kind: ErrorKind| anyhow::Error::from(std::io::Error::from(kind)).context("asking");
        assert!(is_transient(&io(ErrorKind::TimedOut)));
        assert!(is_transient(&io(ErrorKind::ConnectionReset)));
        assert!(!is_transient(&io(ErrorKind::NotFound)));
        assert!(!is_transient(&io(ErrorKind::PermissionDenied)));
        assert!(!is_transient(&anyhow!("timeout, says a text")));
        assert!(is_transient(&CallTimedOut(Duration::from_secs(1)).into()));
    }
}
