//! The person: `[me]` of the configuration. Without it "for whom" and "by Friday" are guesses.

use std::collections::HashMap;

use chrono::{NaiveTime, Weekday};
use chrono_tz::Tz;

use super::{AccountId, Address, Mail};

/// Who the person is, and when and how they work.
#[derive(Debug, Clone, PartialEq)]
pub struct Me {
    pub names: Vec<String>,
    /// Own addresses and aliases, lower case.
    pub addresses: Vec<String>,
    /// The address that an account writes as, where it is not the first of `addresses`.
    pub senders: HashMap<AccountId, String>,
    pub time_zone: Tz,
    pub work_start: NaiveTime,
    pub work_end: NaiveTime,
    pub work_days: Vec<Weekday>,
    pub signature: String,
    /// What the person writes to decline, without greeting and closing; empty if they have no such text.
    pub decline: String,
    /// The languages of the person (ISO 639-1), the preferred one first.
    pub languages: Vec<String>,
}

/// Stands for the sender of a message while the configuration names no address. Nothing is ever sent from it.
const PLACEHOLDER_SENDER: &str = "me@localhost.localdomain";

impl Me {
    /// Returns somebody of whom only the zone is known. It reads times in a text that was written before.
    pub fn in_zone(time_zone: Tz) -> Self {
        Self {
            names: Vec::new(),
            addresses: Vec::new(),
            senders: HashMap::new(),
            time_zone,
            work_start: NaiveTime::MIN,
            work_end: NaiveTime::from_hms_opt(23, 59, 0).unwrap_or(NaiveTime::MIN),
            work_days: Self::usual_work_days(Tz::UTC),
            signature: String::new(),
            decline: String::new(),
            languages: Vec::new(),
        }
    }

    /// Returns the days on which people work where this zone is, for a person who names none.
    pub fn usual_work_days(time_zone: Tz) -> Vec<Weekday> {
        use Weekday::{Fri, Mon, Sun, Thu, Tue, Wed};
        match time_zone {
            Tz::Asia__Jerusalem | Tz::Asia__Tel_Aviv | Tz::Israel => vec![Sun, Mon, Tue, Wed, Thu],
            _ => vec![Mon, Tue, Wed, Thu, Fri],
        }
    }

    /// Returns the address that a message of this account is from.
    pub fn sender(&self, account: &AccountId) -> &str {
        self.configured_sender(account).unwrap_or(PLACEHOLDER_SENDER)
    }

    /// Returns the address that a message of this account is from; none when the configuration names none.
    pub fn configured_sender(&self, account: &AccountId) -> Option<&str> {
        self.senders.get(account).or_else(|| self.addresses.first()).map(String::as_str)
    }

    /// Returns the address that an answer to this mail is from: the configured one, else the only recipient of the
    /// mail.
    pub fn reply_sender<'a>(&'a self, account: &AccountId, mail: Option<&'a Mail>) -> &'a str {
        let only = || mail.and_then(Mail::only_recipient).map(|one| one.addr.as_str());
        self.configured_sender(account).or_else(only).unwrap_or(PLACEHOLDER_SENDER)
    }

    /// Returns whether a message would be from the placeholder, so that it cannot be sent.
    pub fn is_placeholder_sender(from: &str) -> bool {
        from == PLACEHOLDER_SENDER
    }

    /// Returns what a message is signed with where no signature is configured: the name, else the address it is from.
    pub fn default_signature<'a>(&'a self, from: &'a str) -> &'a str {
        let address = if Self::is_placeholder_sender(from) { "" } else { from };
        self.names.first().map_or(address, String::as_str)
    }

    /// Returns whether the address is one of the person's own.
    pub fn is_me(&self, address: &Address) -> bool {
        self.addresses.iter().any(|own| own == &address.addr)
    }
}
