//! Decides when a request is repeated, and after which pause.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use chrono::DateTime;

/// How often one request is sent at most.
pub(super) const ATTEMPTS: u32 = 3;
/// The pause before the second attempt; doubled for each further one.
const FIRST_BACKOFF: Duration = Duration::from_millis(400);

/// Returns whether a status means that the server is busy or broken for now. With any other status a retry would fail
/// again.
pub(super) const fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504 | 529)
}

/// Returns the pause after an attempt with a jitter of one half, so that clients that failed together do not retry
/// together.
pub(super) fn jittered_backoff(attempt: u32) -> Duration {
    let full = FIRST_BACKOFF * 2_u32.saturating_pow(attempt.saturating_sub(1));
    let share = (RandomState::new().hash_one(attempt) % 1000) as f64 / 1000.0;
    full.mul_f64(0.5 + share)
}

/// Parses `Retry-After`: seconds, or a date, which is counted from the server's own `Date` because clocks differ.
pub(super) fn parse_retry_after(value: Option<&str>, date: Option<&str>) -> Option<Duration> {
    let value = value?.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let until = DateTime::parse_from_rfc2822(value).ok()?;
    let now = DateTime::parse_from_rfc2822(date?.trim()).ok()?;
    (until - now).to_std().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_differ() {
        for attempt in 1..4 {
            let full = FIRST_BACKOFF * 2_u32.pow(attempt - 1);
            for _ in 0..50 {
                let pause = jittered_backoff(attempt);
                assert!(pause >= full / 2 && pause <= full * 3 / 2, "{pause:?}");
            }
        }
        assert!((0..50).map(|_| jittered_backoff(1)).collect::<std::collections::HashSet<_>>().len() > 10);
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        assert_eq!(parse_retry_after(Some("7"), None), Some(Duration::from_secs(7)));
        let (until, now) = ("Mon, 16 Nov 2026 08:00:30 GMT", "Mon, 16 Nov 2026 08:00:00 GMT");
        assert_eq!(parse_retry_after(Some(until), Some(now)), Some(Duration::from_secs(30)));
        assert_eq!(parse_retry_after(Some(until), None), None);
        assert_eq!(parse_retry_after(Some("soon"), Some(now)), None);
        assert_eq!(parse_retry_after(None, Some(now)), None);
    }
}
