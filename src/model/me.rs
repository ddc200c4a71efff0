//! The person: `[me]` of the configuration. Without it "for whom" and "by Friday" are guesses.

use std::collections::HashMap;

use chrono::{NaiveTime, Weekday};
use chrono_tz::Tz;

use super::{AccountId, Address};

#[derive(Debug, Clone, PartialEq)]
pub struct Me {
    pub names: Vec<String>,
    /// Own addresses and aliases, lower case.
    pub addresses: Vec<String>,
    /// The one that an account writes as, where it is not the first.
    pub senders: HashMap<AccountId, String>,
    pub time_zone: Tz,
    pub work_start: NaiveTime,
    pub work_end: NaiveTime,
    pub work_days: Vec<Weekday>,
    pub signature: String,
    /// ISO 639-1, the preferred one first.
    pub languages: Vec<String>,
}

/// Of somebody who has not said who they are.
const NOBODY: &str = "me@localhost.localdomain";

impl Me {
    /// Whom a message of this account is from.
    pub fn sender(&self, account: &AccountId) -> &str {
        self.senders.get(account).or_else(|| self.addresses.first()).map_or(NOBODY, String::as_str)
    }

    pub fn is_me(&self, address: &Address) -> bool {
        self.addresses.iter().any(|own| own == &address.addr)
    }
}
