//! Conversations with tasks in memory: what the specifications say, message by message.

mod beyond;
mod conversation;
mod direct_examples;
mod guided_checklists;
mod invariants;
mod tasks_in_memory;

use chrono::{NaiveTime, Weekday};

use crate::model::Me;

/// The person of the tests.
pub(super) fn me() -> Me {
    Me {
        names: vec!["Dana Levi".into()],
        addresses: vec!["dana@example.org".into()],
        senders: std::collections::HashMap::new(),
        time_zone: chrono_tz::Tz::UTC,
        work_start: NaiveTime::from_hms_opt(9, 0, 0).unwrap(),
        work_end: NaiveTime::from_hms_opt(17, 0, 0).unwrap(),
        work_days: vec![Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri],
        signature: String::new(),
        decline: String::new(),
        languages: vec!["en".into()],
    }
}
