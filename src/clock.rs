//! The only reader of the time. Tests and replays hand out a stopped one.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime},
};

use chrono::DateTime;

use crate::model::Instant;

/// How often a stopped clock is looked at by those who wait.
const STOPPED_CLOCK_POLL_INTERVAL: Duration = Duration::from_millis(1);

#[derive(Debug, Clone)]
pub enum Clock {
    System,
    /// Stands still until it is moved; seconds since 1970.
    Stopped(Arc<AtomicI64>),
}

/// The machine's clock stands before the first moment that can be written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the clock of this machine says that it is before 1970. Nothing was done; set the clock, then run it again")]
pub struct ClockNotSet;

impl Clock {
    /// Checks that the machine's clock has been set at all.
    pub fn check_system() -> Result<(), ClockNotSet> {
        ensure_set(SystemTime::now())
    }

    pub fn stopped_at(at: Instant) -> Self {
        Clock::Stopped(Arc::new(AtomicI64::new(at.utc().timestamp())))
    }

    pub fn now(&self) -> Instant {
        match self {
            Clock::System => clamp(SystemTime::now()),
            Clock::Stopped(seconds) => Instant::from_utc_clamped(
                DateTime::from_timestamp(seconds.load(Ordering::SeqCst), 0).unwrap_or_default(),
            ),
        }
    }

    /// Waits until so much time has passed on this clock: on a stopped one, until somebody has moved it.
    pub async fn sleep(&self, time: Duration) {
        let Clock::Stopped(now) = self else { return tokio::time::sleep(time).await };
        let until = now
            .load(Ordering::SeqCst)
            .saturating_add(i64::try_from(time.as_millis().div_ceil(1000)).unwrap_or(i64::MAX));
        // Less than a second is no time on such a clock.
        if time < Duration::from_secs(1) {
            return tokio::time::sleep(time).await;
        }
        while now.load(Ordering::SeqCst) < until {
            tokio::time::sleep(STOPPED_CLOCK_POLL_INTERVAL).await;
        }
    }

    /// Moves a stopped clock; the system's goes its own way.
    pub fn advance(&self, seconds: i64) {
        if let Clock::Stopped(now) = self {
            now.fetch_add(seconds, Ordering::SeqCst);
        }
    }
}

fn ensure_set(now: SystemTime) -> Result<(), ClockNotSet> {
    if now < SystemTime::UNIX_EPOCH { Err(ClockNotSet) } else { Ok(()) }
}

/// Returns the nearest time there is: a clock may be put anywhere while the program runs.
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
