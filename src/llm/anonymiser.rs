//! Prepares what a model is shown: people and messages as handles, mail as quoted data.
//!
//! No address and no link of a mail reaches a prompt.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

use crate::model::{Address, Instant, Mail, Me};

/// How many characters of a mail's text are shown.
const LONGEST_TEXT: usize = 4_000;
const LONGEST_SUBJECT: usize = 200;
const LONGEST_NAME: usize = 60;
/// How many people of a mail get a handle. The addresses of all others become `[address]`.
const MOST_PEOPLE: usize = 12;

/// Matches addresses and links, including bare domains. If it could not be compiled, no text is shown at all.
static ADDRESS_OR_LINK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?P<address>[^\s<>()\[\],;:@]+@[^\s<>()\[\],;:@]+)|[A-Za-z][A-Za-z0-9+.-]*://\S+|\bwww\.\S+|\b[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.\p{L}{2,}(?:/\S*)?",
    )
    .ok()
});

/// A person as the model sees them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// `P0` is the person that the program works for, `P1` the sender.
    pub handle: String,
    pub name: String,
    /// Who the person is in this mail, in words for the model.
    #[serde(rename = "is")]
    pub role: String,
}

/// A message as the model sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotedMessage {
    /// `M0` is the mail at hand.
    pub handle: String,
    /// The handle of the sender.
    pub from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Instant>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    pub text: String,
}

/// Replaces the people of one mail by handles; the position in the list is the number of the handle.
pub struct Anonymiser(Vec<AnonymisedPerson>);

/// A person with the addresses that their handle replaces, in lower case.
struct AnonymisedPerson {
    addresses: Vec<String>,
    name: String,
    role: &'static str,
}

impl Anonymiser {
    /// Gives handles to the person the program works for, the sender and the recipients.
    pub fn for_mail(mail: &Mail, me: &Me) -> Self {
        let own = me.names.first().cloned().unwrap_or_default();
        let person = AnonymisedPerson { addresses: me.addresses.clone(), name: own, role: "the person you work for" };
        let mut anonymiser = Self(vec![person]);
        for (nth, address) in mail.participants().enumerate() {
            let is_known = anonymiser.handle(&address.addr).is_some();
            if address.addr.is_empty() || is_known || anonymiser.0.len() >= MOST_PEOPLE {
                continue;
            }
            let role = if nth == 0 { "wrote M0" } else { "also received M0" };
            anonymiser.0.push(AnonymisedPerson {
                addresses: vec![address.addr.clone()],
                name: display_name(address),
                role,
            });
        }
        anonymiser
    }

    /// Returns everybody who has a handle.
    pub fn people(&self) -> Vec<Person> {
        let person = |(nth, known): (usize, &AnonymisedPerson)| Person {
            handle: format!("P{nth}"),
            name: self.redact(&known.name, LONGEST_NAME),
            role: known.role.to_owned(),
        };
        self.0.iter().enumerate().map(person).collect()
    }

    /// Returns the handle of an address, if it belongs to somebody who has one.
    fn handle(&self, addr: &str) -> Option<String> {
        let addr = addr.to_lowercase();
        let nth = self.0.iter().position(|known| known.addresses.contains(&addr))?;
        Some(format!("P{nth}"))
    }

    /// Returns the mail at hand as `M0`, cut and without addresses and links.
    pub fn message(&self, mail: &Mail) -> QuotedMessage {
        QuotedMessage {
            handle: "M0".into(),
            from: self.handle(&mail.from.addr).unwrap_or_else(|| "unknown".into()),
            sent: mail.date,
            subject: self.redact(&mail.subject, LONGEST_SUBJECT),
            text: self.redact(&mail.text, LONGEST_TEXT),
        }
    }

    /// Returns a text cut to a length, with handles in place of addresses and `[link]` in place of links.
    pub fn redact(&self, text: &str, longest: usize) -> String {
        redact_with(text, longest, |address| self.handle(address))
    }
}

/// Returns a text cut to a length, with the handles that `handle_of` knows in place of addresses, `[address]` in place
/// of all others, and `[link]` in place of links.
pub fn redact_with(text: &str, longest: usize, handle_of: impl Fn(&str) -> Option<String>) -> String {
    let short: String = text.chars().take(longest).collect();
    let Some(pattern) = ADDRESS_OR_LINK.as_ref() else { return String::new() };
    let replacement = |found: &Captures<'_>| match found.name("address") {
        Some(address) => handle_of(address.as_str().trim_matches('.')).unwrap_or_else(|| "[address]".into()),
        None => "[link]".into(),
    };
    pattern.replace_all(&short, replacement).into_owned()
}

/// Returns the name of an address, or a placeholder.
fn display_name(address: &Address) -> String {
    address.name.clone().filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "unnamed".into())
}

#[cfg(test)]
mod tests {
    use chrono::{NaiveTime, Weekday};

    use super::*;

    fn me() -> Me {
        Me {
            names: vec!["Alex Green".into()],
            addresses: vec!["you@home.example".into(), "alex@work.example".into()],
            time_zone: chrono_tz::UTC,
            work_start: NaiveTime::MIN,
            work_end: NaiveTime::MIN,
            work_days: vec![Weekday::Mon],
            signature: String::new(),
            decline: String::new(),
            senders: std::collections::HashMap::new(),
            languages: vec![],
        }
    }

    fn address(name: &str, addr: &str) -> Address {
        Address { name: Some(name.into()), addr: addr.into() }
    }

    #[test]
    fn no_address_and_no_link_is_shown() {
        let mail = Mail {
            from: address("Tom <eve@evil.example>", "tom@bakerand.example"),
            to: vec![address("Alex", "alex@work.example"), address("Dana", "dana@work.example")],
            subject: "see https://evil.example/?q=1".into(),
            text: "Ask Dana@work.example or eve@evil.example, www.evil.example or pay.evil.example/now. Thanks.".into(),
            ..Mail::default()
        };
        let anonymiser = Anonymiser::for_mail(&mail, &me());
        let shown = serde_json::to_string(&(anonymiser.people(), anonymiser.message(&mail))).unwrap();
        assert!(!shown.contains('@') && !shown.contains("evil"), "{shown}");
        assert!(shown.contains("Ask P2 or [address], [link] or [link]"), "{shown}");
        assert_eq!(anonymiser.people().iter().map(|p| p.handle.as_str()).collect::<Vec<_>>(), ["P0", "P1", "P2"]);
    }

    #[test]
    fn a_long_mail_is_cut_between_characters() {
        let mail = Mail { text: "א".repeat(LONGEST_TEXT + 5), ..Mail::default() };
        assert_eq!(Anonymiser::for_mail(&mail, &me()).message(&mail).text.chars().count(), LONGEST_TEXT);
    }
}
