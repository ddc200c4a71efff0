//! The quota of one account as a token bucket: no minute exceeds Google's limit, and work on old mail always leaves a
//! reserve for new mail.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::ApiError;
use crate::{clock::Clock, model::Instant};

/// Units that Google allows per user and minute.
pub const PER_MINUTE: u32 = 6_000;
/// Units that may be spent at once. Together with what a minute refills they are exactly [`PER_MINUTE`].
const BUCKET_CAPACITY: u32 = 1_200;
/// Units that are refilled per second.
const PER_SECOND: u32 = (PER_MINUTE - BUCKET_CAPACITY) / 60;
/// Units that the backlog must leave: enough to read thirty new mails at once.
const RESERVED_FOR_NEW_MAIL: u32 = 600;
/// The least that is waited for when the bucket is empty, so that a waiting caller does not come back for every single
/// call.
const MIN_UNITS_WAITED_FOR: u32 = 400;

/// The priority of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPriority {
    /// For new mail and effects.
    Immediate,
    /// For old mail that is read for the first time.
    Backlog,
}

/// The quota of one account, shared by all its clients.
#[derive(Debug)]
pub struct Quota {
    clock: Clock,
    bucket: Mutex<Bucket>,
}

/// The token bucket itself.
#[derive(Debug)]
struct Bucket {
    level: u32,
    filled_at: Instant,
    paused_until: Option<Instant>,
    /// Units that were spent during the last minute, and when.
    spent: VecDeque<(Instant, u32)>,
}

impl Quota {
    pub fn new(clock: Clock) -> Self {
        let filled_at = clock.now();
        let bucket = Bucket { level: BUCKET_CAPACITY, filled_at, paused_until: None, spent: VecDeque::new() };
        Self { clock, bucket: Mutex::new(bucket) }
    }

    /// Spends units, or returns a rate limit error with the time to wait. Never blocks.
    pub fn spend(&self, units: u32, lane: CallPriority) -> Result<(), ApiError> {
        let now = self.clock.now();
        let mut bucket = self.lock();
        bucket.fill(now);
        if let Some(until) = bucket.paused_until {
            return Err(ApiError::RateLimited { after: duration_between(now, until) });
        }
        let reserve = if lane == CallPriority::Backlog { RESERVED_FOR_NEW_MAIL } else { 0 };
        let wanted = units.min(BUCKET_CAPACITY - reserve) + reserve;
        if bucket.level < wanted {
            let missing = (wanted - bucket.level).max(MIN_UNITS_WAITED_FOR.min(BUCKET_CAPACITY - reserve));
            return Err(ApiError::RateLimited { after: Duration::from_secs(missing.div_ceil(PER_SECOND).into()) });
        }
        bucket.level = bucket.level.saturating_sub(units);
        bucket.spent.push_back((now, units));
        Ok(())
    }

    /// Blocks all calls for a time, because Google reported a rate limit.
    pub fn pause(&self, after: Duration) {
        let now = self.clock.now();
        let until = now.plus(chrono::Duration::from_std(after).unwrap_or_default());
        let mut bucket = self.lock();
        bucket.paused_until = bucket.paused_until.max(Some(until));
    }

    /// Returns the units that were spent during the last minute.
    pub fn used_last_minute(&self) -> u32 {
        let now = self.clock.now();
        let mut bucket = self.lock();
        bucket.fill(now);
        bucket.spent.iter().map(|(_, units)| units).sum()
    }

    fn lock(&self) -> MutexGuard<'_, Bucket> {
        // A panic elsewhere cannot leave these numbers half written.
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bucket {
    /// Refills the bucket for the seconds that have passed and forgets what is older than a minute.
    fn fill(&mut self, now: Instant) {
        let passed = u32::try_from(duration_between(self.filled_at, now).as_secs()).unwrap_or(u32::MAX);
        // After the clock was set back, refilling starts again from here.
        self.filled_at = now;
        self.level = self.level.saturating_add(passed.saturating_mul(PER_SECOND)).min(BUCKET_CAPACITY);
        self.paused_until = self.paused_until.filter(|until| now < *until);
        let minute_ago = now.plus(chrono::Duration::seconds(-60));
        while self.spent.front().is_some_and(|(at, _)| *at <= minute_ago) {
            self.spent.pop_front();
        }
    }
}

/// Returns the time from one instant to another; zero when the other is earlier.
fn duration_between(from: Instant, to: Instant) -> Duration {
    (to.utc() - from.utc()).to_std().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota() -> (Quota, Clock) {
        let clock = Clock::stopped_at("2026-11-16T08:00:00Z".parse().unwrap());
        (Quota::new(clock.clone()), clock)
    }

    #[test]
    fn no_minute_sees_more_than_its_share() {
        let (quota, clock) = quota();
        let mut paid: Vec<(u32, u32)> = Vec::new();
        for second in 0..300 {
            while quota.spend(20, CallPriority::Immediate).is_ok() {
                paid.push((second, 20));
            }
            clock.advance(1);
        }
        for start in 0..240 {
            let minute = paid.iter().filter(|(at, _)| (start..start + 60).contains(at)).map(|(_, units)| units);
            assert!(minute.sum::<u32>() <= PER_MINUTE, "from second {start}");
        }
        assert!(paid.len() > 1_200, "{} reads in five minutes", paid.len());
    }

    #[test]
    fn the_backlog_leaves_something_for_new_mail() {
        let (quota, _) = quota();
        while quota.spend(20, CallPriority::Backlog).is_ok() {}
        let new = std::iter::repeat_with(|| quota.spend(20, CallPriority::Immediate)).take_while(Result::is_ok).count();
        assert_eq!(new, 30);
    }

    #[test]
    fn one_who_waits_as_told_is_served() {
        let (quota, clock) = quota();
        for _ in 0..50 {
            for lane in [CallPriority::Immediate, CallPriority::Backlog] {
                if let Err(ApiError::RateLimited { after }) = quota.spend(100, lane) {
                    clock.advance(i64::try_from(after.as_secs()).unwrap());
                    assert_eq!(quota.spend(100, lane), Ok(()));
                }
            }
        }
    }

    #[test]
    fn what_google_says_counts() {
        let (quota, clock) = quota();
        quota.pause(Duration::from_secs(45));
        assert_eq!(
            quota.spend(1, CallPriority::Immediate),
            Err(ApiError::RateLimited { after: Duration::from_secs(45) })
        );
        clock.advance(45);
        assert_eq!(quota.spend(1, CallPriority::Immediate), Ok(()));
        assert_eq!(quota.used_last_minute(), 1);
        clock.advance(61);
        assert_eq!(quota.used_last_minute(), 0);
    }

    #[test]
    fn a_clock_set_back_stops_nothing() {
        let (quota, clock) = quota();
        while quota.spend(20, CallPriority::Immediate).is_ok() {}
        clock.advance(-3600);
        assert!(quota.spend(20, CallPriority::Immediate).is_err());
        clock.advance(5);
        assert_eq!(quota.spend(20, CallPriority::Immediate), Ok(()));
    }
}
