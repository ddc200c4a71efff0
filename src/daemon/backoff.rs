//! The pause between requests to a server: with jitter, and longer while it fails.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

/// Upper bound of the backoff, unless the regular interval is longer.
const MAX_BACKOFF: Duration = Duration::from_secs(300);

/// Returns the time with up to a tenth more or less, so that programs that were started together do not poll together.
pub(super) fn add_jitter(time: Duration) -> Duration {
    let dice = RandomState::new().hash_one(0) % 201;
    time.mul_f64(0.9 + 0.001 * f64::from(u32::try_from(dice).unwrap_or(100)))
}

/// Returns the pause after a number of failures in a row: the regular interval first, then doubled each time.
pub(super) fn delay_after_failures(every: Duration, troubles: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(troubles.saturating_sub(1));
    every.saturating_mul(doubled).min(MAX_BACKOFF.max(every))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_slows_it_down_to_a_limit() {
        let every = Duration::from_secs(30);
        let seconds: Vec<u64> = (1..=6).map(|troubles| delay_after_failures(every, troubles).as_secs()).collect();
        assert_eq!(seconds, [30, 60, 120, 240, 300, 300]);
        assert_eq!(delay_after_failures(Duration::from_secs(900), 1).as_secs(), 900);
        assert_eq!(delay_after_failures(every, u32::MAX).as_secs(), 300);
    }

    #[test]
    fn two_programs_do_not_stay_together() {
        let every = Duration::from_secs(30);
        let times: Vec<Duration> = (0..50).map(|_| add_jitter(every)).collect();
        assert!(times.iter().all(|time| (27.0..=33.0).contains(&time.as_secs_f64())));
        assert!(times.iter().any(|time| *time != times[0]));
    }
}
