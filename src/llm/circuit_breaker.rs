//! A circuit breaker: a server that fails several times in a row is not called for a while, so that not every mail
//! waits for a timeout.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Failures in a row that open the breaker.
const FAILURE_THRESHOLD: u32 = 3;
/// How long the breaker is open at first; doubled with every further failure.
const FIRST_OPEN_TIME: Duration = Duration::from_secs(30);
/// Upper bound of the open time, also of what a server asks for.
const LONGEST_OPEN_TIME: Duration = Duration::from_secs(600);

/// One breaker per model, shared by all calls of the process.
#[derive(Default)]
pub(super) struct CircuitBreaker(Mutex<BreakerState>);

/// The default state is closed: calls are allowed.
#[derive(Default)]
struct BreakerState {
    /// Failures since the last success.
    failures: u32,
    /// Calls are refused until then.
    open_until: Option<Instant>,
    /// Why the last call failed; never text of the server.
    reason: String,
}

impl CircuitBreaker {
    /// Returns why calls are refused now, or none when they are allowed.
    pub(super) fn open_reason(&self) -> Option<String> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = state.open_until?.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        Some(format!("not called for another {} s after failures: {}", left.as_secs() + 1, state.reason))
    }

    /// Closes the breaker.
    pub(super) fn record_success(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = BreakerState::default();
    }

    /// Counts a failure and opens the breaker at the threshold. It opens at once when the server said how long to wait
    /// (`retry_after`), and for the longest time when only a person can mend the cause (`is_permanent`).
    pub(super) fn record_failure(&self, reason: &str, retry_after: Option<Duration>, is_permanent: bool) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures = state.failures.saturating_add(1);
        reason.clone_into(&mut state.reason);
        let doublings = state.failures.saturating_sub(FAILURE_THRESHOLD).min(8);
        let open_time = match retry_after {
            _ if is_permanent => Some(LONGEST_OPEN_TIME),
            Some(wait) => Some(wait.min(LONGEST_OPEN_TIME)),
            None if state.failures >= FAILURE_THRESHOLD => {
                Some((FIRST_OPEN_TIME * 2_u32.pow(doublings)).min(LONGEST_OPEN_TIME))
            }
            None => None,
        };
        state.open_until = open_time.map(|time| Instant::now() + time).or(state.open_until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_several_failures_in_a_row_and_not_before() {
        let breaker = CircuitBreaker::default();
        for _ in 1..FAILURE_THRESHOLD {
            breaker.record_failure("no answer", None, false);
            assert_eq!(breaker.open_reason(), None);
        }
        breaker.record_success();
        breaker.record_failure("no answer", None, false);
        assert_eq!(breaker.open_reason(), None, "not in a row");
        breaker.record_failure("no answer", None, false);
        breaker.record_failure("no answer", None, false);
        assert!(breaker.open_reason().unwrap().contains("no answer"));
        breaker.record_success();
        assert_eq!(breaker.open_reason(), None);
    }

    /// Returns for how many seconds calls are refused.
    fn open_seconds(breaker: &CircuitBreaker) -> u64 {
        let until = breaker.0.lock().unwrap().open_until.unwrap();
        until.duration_since(Instant::now()).as_secs() + 1
    }

    #[test]
    fn it_opens_at_once_for_as_long_as_the_server_asks_within_the_bound() {
        for (asked, permanent, expected) in [(Some(90), false, 90), (Some(6_000), false, 600), (None, true, 600)] {
            let breaker = CircuitBreaker::default();
            breaker.record_failure("busy", asked.map(Duration::from_secs), permanent);
            assert_eq!(open_seconds(&breaker), expected);
            assert!(breaker.open_reason().unwrap().contains("busy"));
        }
    }
}
