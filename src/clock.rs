//! The only reader of the time. Tests and replays use a stopped clock, so that no result depends on when they run.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime},
};

use chrono::DateTime;

use crate::model::Instant;

/// How often a sleeper on a stopped clock looks whether the clock was advanced.
const STOPPED_CLOCK_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Where the time comes from. Clones of a stopped clock share one time.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The clock of the machine.
    System,
    /// A clock that stands still until it is advanced; in seconds since 1970.
    Stopped(Arc<AtomicI64>),
}

/// The clock of the machine says a time before 1970, which cannot be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the clock of this machine says that it is before 1970. Nothing was done; set the clock, then run it again")]
pub struct ClockNotSet;

impl Clock {
    /// Checks that the machine's clock has been set at all.
    pub fn check_system() -> Result<(), ClockNotSet> {
        ensure_set(SystemTime::now())
    }

    /// Returns a clock that stands at a time, rounded down to seconds.
    pub fn stopped_at(at: Instant) -> Self {
        Clock::Stopped(Arc::new(AtomicI64::new(at.utc().timestamp())))
    }

    /// Returns the current time, limited to the range of [`Instant`].
    pub fn now(&self) -> Instant {
        match self {
            Clock::System => clamp(SystemTime::now()),
            Clock::Stopped(seconds) => Instant::from_utc_clamped(
                DateTime::from_timestamp(seconds.load(Ordering::SeqCst), 0).unwrap_or_default(),
            ),
        }
    }

    /// Waits until so much time has passed on this clock; on a stopped clock, until it was advanced so far.
    pub async fn sleep(&self, time: Duration) {
        let Clock::Stopped(now) = self else { return tokio::time::sleep(time).await };
        let until = now
            .load(Ordering::SeqCst)
            .saturating_add(i64::try_from(time.as_millis().div_ceil(1000)).unwrap_or(i64::MAX));
        // A stopped clock counts whole seconds, so a shorter sleep really passes.
        if time < Duration::from_secs(1) {
            return tokio::time::sleep(time).await;
        }
        while now.load(Ordering::SeqCst) < until {
            tokio::time::sleep(STOPPED_CLOCK_POLL_INTERVAL).await;
        }
    }

    /// Advances a stopped clock; does nothing on the system clock.
    pub fn advance(&self, seconds: i64) {
        if let Clock::Stopped(now) = self {
            now.fetch_add(seconds, Ordering::SeqCst);
        }
    }
}

fn ensure_set(now: SystemTime) -> Result<(), ClockNotSet> {
    if now < SystemTime::UNIX_EPOCH { Err(ClockNotSet) } else { Ok(()) }
}

/// Returns the nearest valid time, because the machine's clock may be set to anything while the program runs.
fn clamp(now: SystemTime) -> Instant {
    let beyond = if now < SystemTime::UNIX_EPOCH { Instant::EARLIEST } else { Instant::LATEST };
    Instant::from_file_time(now).unwrap_or(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_1970_is_not_set() {
        let before = SystemTime::UNIX_EPOCH - Duration::from_nanos(1);
        assert_eq!((ensure_set(SystemTime::UNIX_EPOCH), ensure_set(before)), (Ok(()), Err(ClockNotSet)));
        assert_eq!((clamp(before), clamp(SystemTime::UNIX_EPOCH)), (Instant::EARLIEST, Instant::EARLIEST));
        assert_eq!(clamp(SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40)), Instant::LATEST);
    }
}
