//! The person: `[me]` of the configuration. Without it "for whom" and "by Friday" are guesses.

use chrono::{NaiveTime, Weekday};
use chrono_tz::Tz;

use super::Address;

#[derive(Debug, Clone, PartialEq)]
pub struct Me {
    pub names: Vec<String>,
    /// Own addresses and aliases, lower case.
    pub addresses: Vec<String>,
    pub time_zone: Tz,
    pub work_start: NaiveTime,
    pub work_end: NaiveTime,
    pub work_days: Vec<Weekday>,
    pub signature: String,
    /// ISO 639-1, the preferred one first.
    pub languages: Vec<String>,
}

impl Me {
    pub fn is_me(&self, address: &Address) -> bool {
        self.addresses.iter().any(|own| own == &address.addr)
    }
}
