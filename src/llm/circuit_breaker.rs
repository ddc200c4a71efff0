//! A server that fails again and again is left alone for a while, so that mail does not wait for it one by one.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// In a row, before it rests.
const FAILURE_THRESHOLD: u32 = 3;
const FIRST_OPEN_TIME: Duration = Duration::from_secs(30);
const LONGEST_OPEN_TIME: Duration = Duration::from_secs(600);

#[derive(Default)]
pub(super) struct CircuitBreaker(Mutex<BreakerState>);

#[derive(Default)]
struct BreakerState {
    failures: u32,
    open_until: Option<Instant>,
    reason: String,
}

impl CircuitBreaker {
    /// Why it is left alone now, if it is.
    pub(super) fn open_reason(&self) -> Option<String> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = state.open_until?.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        Some(format!("left alone for another {} s: {}", left.as_secs() + 1, state.reason))
    }

    pub(super) fn record_success(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = BreakerState::default();
    }

    /// `wait` is what the server asked for; `hopeless` that asking again will not help before somebody does something.
    pub(super) fn record_failure(&self, reason: &str, wait: Option<Duration>, hopeless: bool) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures = state.failures.saturating_add(1);
        reason.clone_into(&mut state.reason);
        let doublings = state.failures.saturating_sub(FAILURE_THRESHOLD).min(8);
        let rest = match wait {
            _ if hopeless => Some(LONGEST_OPEN_TIME),
            Some(wait) => Some(wait.min(LONGEST_OPEN_TIME)),
            None if state.failures >= FAILURE_THRESHOLD => {
                Some((FIRST_OPEN_TIME * 2_u32.pow(doublings)).min(LONGEST_OPEN_TIME))
            }
            None => None,
        };
        state.open_until = rest.map(|rest| Instant::now() + rest).or(state.open_until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rests_after_several_failures_in_a_row_and_not_before() {
        let rest = CircuitBreaker::default();
        for _ in 1..FAILURE_THRESHOLD {
            rest.record_failure("nobody there", None, false);
            assert_eq!(rest.open_reason(), None);
        }
        rest.record_success();
        rest.record_failure("nobody there", None, false);
        assert_eq!(rest.open_reason(), None, "not in a row");
        rest.record_failure("nobody there", None, false);
        rest.record_failure("nobody there", None, false);
        assert!(rest.open_reason().unwrap().contains("nobody there"));
        rest.record_success();
        assert_eq!(rest.open_reason(), None);
    }

    #[test]
    fn a_server_that_says_how_long_is_heard() {
        let rest = CircuitBreaker::default();
        rest.record_failure("busy", Some(Duration::from_secs(90)), false);
        assert!(rest.open_reason().unwrap().contains("9"));
        let hopeless = CircuitBreaker::default();
        hopeless.record_failure("wrong key", None, true);
        assert!(hopeless.open_reason().is_some());
    }
}
