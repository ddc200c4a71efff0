//! The only reader of the time. Tests and replays hand out a stopped one.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::{DateTime, Utc};

use crate::model::Instant;

#[derive(Debug, Clone)]
pub enum Clock {
    System,
    /// Stands still until it is moved; seconds since 1970.
    Stopped(Arc<AtomicI64>),
}

impl Clock {
    pub fn stopped_at(at: Instant) -> Self {
        Clock::Stopped(Arc::new(AtomicI64::new(at.utc().timestamp())))
    }

    pub fn now(&self) -> Instant {
        match self {
            Clock::System => Utc::now().into(),
            Clock::Stopped(seconds) => {
                DateTime::from_timestamp(seconds.load(Ordering::SeqCst), 0).unwrap_or_default().into()
            }
        }
    }

    /// Moves a stopped clock; the system's goes its own way.
    pub fn advance(&self, seconds: i64) {
        if let Clock::Stopped(now) = self {
            now.fetch_add(seconds, Ordering::SeqCst);
        }
    }
}
