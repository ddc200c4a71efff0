//! A server that fails again and again is left alone for a while, so that mail does not wait for it one by one.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// In a row, before it rests.
const FAILURES: u32 = 3;
const FIRST_REST: Duration = Duration::from_secs(30);
const LONGEST_REST: Duration = Duration::from_secs(600);

#[derive(Default)]
pub(super) struct Rest(Mutex<State>);

#[derive(Default)]
struct State {
    failures: u32,
    until: Option<Instant>,
    reason: String,
}

impl Rest {
    /// Why it is left alone now, if it is.
    pub(super) fn reason(&self) -> Option<String> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = state.until?.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        Some(format!("left alone for another {} s: {}", left.as_secs() + 1, state.reason))
    }

    pub(super) fn worked(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = State::default();
    }

    /// `wait` is what the server asked for; `hopeless` that asking again will not help before somebody does something.
    pub(super) fn failed(&self, reason: &str, wait: Option<Duration>, hopeless: bool) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures = state.failures.saturating_add(1);
        reason.clone_into(&mut state.reason);
        let doublings = state.failures.saturating_sub(FAILURES).min(8);
        let rest = match wait {
            _ if hopeless => Some(LONGEST_REST),
            Some(wait) => Some(wait.min(LONGEST_REST)),
            None if state.failures >= FAILURES => Some((FIRST_REST * 2_u32.pow(doublings)).min(LONGEST_REST)),
            None => None,
        };
        state.until = rest.map(|rest| Instant::now() + rest).or(state.until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rests_after_several_failures_in_a_row_and_not_before() {
        let rest = Rest::default();
        for _ in 1..FAILURES {
            rest.failed("nobody there", None, false);
            assert_eq!(rest.reason(), None);
        }
        rest.worked();
        rest.failed("nobody there", None, false);
        assert_eq!(rest.reason(), None, "not in a row");
        rest.failed("nobody there", None, false);
        rest.failed("nobody there", None, false);
        assert!(rest.reason().unwrap().contains("nobody there"));
        rest.worked();
        assert_eq!(rest.reason(), None);
    }

    #[test]
    fn a_server_that_says_how_long_is_heard() {
        let rest = Rest::default();
        rest.failed("busy", Some(Duration::from_secs(90)), false);
        assert!(rest.reason().unwrap().contains("9"));
        let hopeless = Rest::default();
        hopeless.failed("wrong key", None, true);
        assert!(hopeless.reason().is_some());
    }
}
