//! Facts: all that rules can see of a mail or a task, stored once so that any rule can be replayed over the past.
//!
//! The rule fields of `rules/priority.yml` are exactly these. Two fields carry a qualifier that a verdict needs:
//! `sender_verified` (rules on the sender count only for a verified one) and `urgency_origin`.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{
    Instant,
    reading::{NoTask, TaskKind},
    text_enum::{UnknownVariant, text_enum},
};

text_enum! {
    /// How the mail reached the person: as a recipient, as a copy, or through a mailing list.
    Addressed { To = "to", Cc = "cc", List = "list" }
}

text_enum! {
    /// Who estimated the urgency: the built-in estimate or a language model.
    UrgencyOrigin { BuiltIn = "built_in", Model = "model" }
}

/// What a mail was read as. Its text is one word, the same in JSON, in the database and in rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FactsKind {
    /// A mail with tasks, before the facts are those of one of them. Never stored.
    #[default]
    Undecided,
    Task(TaskKind),
    NoTask(NoTask),
    /// A mail about a task that was there already.
    FollowUp,
}
impl FactsKind {
    /// Returns the word; empty for [`FactsKind::Undecided`].
    pub const fn as_str(self) -> &'static str {
        match self {
            FactsKind::Undecided => "",
            FactsKind::Task(kind) => kind.as_str(),
            FactsKind::NoTask(kind) => kind.as_str(),
            FactsKind::FollowUp => "follow_up",
        }
    }
    /// Returns every kind that is stored.
    pub fn stored() -> impl Iterator<Item = FactsKind> {
        let tasks = TaskKind::ALL.iter().copied().map(FactsKind::Task);
        tasks.chain(NoTask::ALL.iter().copied().map(FactsKind::NoTask)).chain([FactsKind::FollowUp])
    }
}
impl fmt::Display for FactsKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
impl FromStr for FactsKind {
    type Err = UnknownVariant;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = FactsKind::stored().chain([FactsKind::Undecided]).find(|kind| kind.as_str() == text);
        found.ok_or_else(|| UnknownVariant {
            text: text.to_owned(),
            expected: FactsKind::stored().map(FactsKind::as_str).collect::<Vec<_>>().join(", "),
        })
    }
}
impl Serialize for FactsKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
impl<'de> Deserialize<'de> for FactsKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// The facts of one mail or task. A field that a mail does not name is none or empty, never guessed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Lower-case address of the sender.
    pub sender: String,
    pub sender_domain: String,
    /// Whether the receiving server vouched for the sender (aligned DMARC pass).
    pub sender_verified: bool,
    /// Whether the person has written to the sender before.
    pub known_contact: bool,
    pub addressed: Addressed,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_id: Option<String>,
    pub subject: String,
    /// The objective of the task; empty for a mail that opened no task.
    #[serde(default)]
    pub objective: String,
    /// The kind of the task, or the reason why there is none.
    pub kind: FactsKind,
    /// The language of the mail (ISO 639-1).
    pub language: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<f64>,
    /// The rule field `due_in` is the hours from the moment of ranking to this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Instant>,
    /// The estimated urgency, 0..=1.
    pub urgency: f64,
    pub urgency_origin: UrgencyOrigin,
    pub attachment: bool,
    /// Whether the person has written in this conversation.
    pub thread_mine: bool,
    /// The name of the account that the mail came in by.
    pub account: String,
}

impl Facts {
    /// Merges the facts of a follow-up into those of its task. Nothing that was known becomes less urgent or later by
    /// it.
    pub fn merge_follow_up(&mut self, later: &Facts) {
        if later.urgency > self.urgency {
            (self.urgency, self.urgency_origin) = (later.urgency, later.urgency_origin);
        }
        self.due_at = match (self.due_at, later.due_at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.amount = self.amount.or(later.amount);
        self.attachment |= later.attachment;
        self.thread_mine |= later.thread_mine;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_word_of_its_own_and_no_other_word_is_one() {
        let words: std::collections::BTreeSet<&str> = FactsKind::stored().map(FactsKind::as_str).collect();
        assert_eq!(words.len(), FactsKind::stored().count());
        for kind in FactsKind::stored().chain([FactsKind::Undecided]) {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("\"{kind}\""));
            assert_eq!(serde_json::from_str::<FactsKind>(&json).unwrap(), kind);
        }
        assert!("bill".parse::<FactsKind>().is_err());
        assert!(serde_json::from_str::<FactsKind>("\"bill\"").is_err());
    }
}
