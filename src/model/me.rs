//! The person: `[me]` of the configuration. Without it "for whom" and "by Friday" are guesses.

use std::collections::HashMap;

use chrono::{NaiveTime, Weekday};
use chrono_tz::Tz;

use super::{AccountId, Address, Mail};

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
const PLACEHOLDER_SENDER: &str = "me@localhost.localdomain";

impl Me {
    /// Whom a message of this account is from.
    pub fn sender(&self, account: &AccountId) -> &str {
        self.configured_sender(account).unwrap_or(PLACEHOLDER_SENDER)
    }

    /// The same, none when nobody has said it.
    pub fn configured_sender(&self, account: &AccountId) -> Option<&str> {
        self.senders.get(account).or_else(|| self.addresses.first()).map(String::as_str)
    }

    /// Whom a draft is from that answers this mail: who is configured, else the only one the mail was written to.
    pub fn reply_sender<'a>(&'a self, account: &AccountId, mail: Option<&'a Mail>) -> &'a str {
        let only = || mail.and_then(Mail::only_recipient).map(|one| one.addr.as_str());
        self.configured_sender(account).or_else(only).unwrap_or(PLACEHOLDER_SENDER)
    }

    /// Whether a message would be from somebody nobody knows.
    pub fn is_placeholder_sender(from: &str) -> bool {
        from == PLACEHOLDER_SENDER
    }

    /// What a letter is signed with where no signature is set: the name, else the address it is from.
    pub fn default_signature<'a>(&'a self, from: &'a str) -> &'a str {
        let address = if Self::is_placeholder_sender(from) { "" } else { from };
        self.names.first().map_or(address, String::as_str)
    }

    pub fn is_me(&self, address: &Address) -> bool {
        self.addresses.iter().any(|own| own == &address.addr)
    }
}
