//! Identifiers as newtypes. Each has one canonical text form, the one stored in the database.
//!
//! Ids of tasks, runs, effects and items are derived from what they stand for, so that doing something again after a
//! crash finds the row of the first time instead of adding another.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use ulid::Ulid;

use super::Instant;

// Defines an id that is a ULID: sortable by time, with one text form.
macro_rules! ulid_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Ulid);

        impl $name {
            /// Returns the id that anyone who knows `at` and `parts` computes again: creating twice is creating once.
            pub fn derive(at: Instant, parts: &[&str]) -> Self {
                Self(derive_ulid(at, parts))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.0.array_to_str(&mut [0; ulid::ULID_LEN]))
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                Ulid::from_string(text).map(Self).map_err(|_| BadId { text: text.to_owned() })
            }
        }
    };
}

ulid_id!(
    /// The id of a task, derived from the mail's arrival and (account, source, ordinal).
    TaskId
);
ulid_id!(
    /// The id of a run, one pass through the graph.
    RunId
);
ulid_id!(
    /// The id of an effect in the outbox, derived from (task, step, generation).
    ActionId
);
ulid_id!(
    /// The id of an item of the approval queue.
    ItemId
);
ulid_id!(
    /// The id of a team: a task manager with its workers.
    TeamId
);
ulid_id!(
    /// The id of an agent of a team, derived from the team and the agent's place in it.
    AgentId
);

impl ActionId {
    /// Returns the same id in the letters that a calendar allows in the id of an event.
    pub fn event_id(self) -> String {
        format!("adjutant{:032x}", self.0.0)
    }

    /// Returns the part of the id that stands for task, step and generation. When a restored database plans the same
    /// action again, its id has another time and the same key.
    pub const fn step_key(self) -> u128 {
        self.0.random()
    }
}

/// A text that is not the id of anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not an id; expected 26 characters like 01JY4Z7Q8X9W3V5T6R2P0N1M4K")]
pub struct BadId {
    pub text: String,
}

// Defines an id that is a name which a person chose.
macro_rules! name_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

name_id!(
    /// The name that the person gave to an account.
    AccountId
);
name_id!(
    /// The name of a person who owns accounts and tasks.
    UserId
);

/// The number of a mail in the ledger, as a person types it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MailId(pub i64);

impl fmt::Display for MailId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Returns a ULID of `at` and the digest of `parts`. Each part is preceded by its length, so that no two lists of parts
/// give the same digest.
fn derive_ulid(at: Instant, parts: &[&str]) -> Ulid {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let digest: [u8; 32] = hash.finalize().into();
    let random = digest.iter().take(10).fold(0_u128, |acc, byte| (acc << 8) | u128::from(*byte));
    Ulid::from_parts(at.unix_ms(), random)
}

impl TaskId {
    /// Returns the lowest id that a task of this time can have, as the bound of a period.
    pub fn lowest_at(at: Instant) -> Self {
        Self(Ulid::from_parts(at.unix_ms(), 0))
    }
}

/// Returns the SHA-256 of `bytes` in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns `bytes` in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0'));
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_repeat_and_keep_the_time() {
        let at: Instant = "2025-06-23T03:15:00Z".parse().unwrap();
        let one = TaskId::derive(at, &["samples", "email:a", "0"]);
        assert_eq!(one, TaskId::derive(at, &["samples", "email:a", "0"]));
        assert_ne!(one, TaskId::derive(at, &["samples", "email:a", "1"]));
        assert_ne!(one, TaskId::derive(at, &["samples", "email:", "a0"]), "parts are framed");
        assert_eq!(one.0.timestamp_ms(), at.unix_ms());
        assert_eq!(one.to_string().parse::<TaskId>().unwrap(), one);
    }

    #[test]
    fn bad_ids_say_what_was_expected() {
        assert!("seven".parse::<TaskId>().unwrap_err().to_string().contains("26 characters"));
    }

    #[test]
    fn hex_is_lower_case() {
        assert_eq!(hex(&[0x00, 0xaf]), "00af");
    }
}
