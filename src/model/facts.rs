//! Facts: what rules may ask about a mail or a task, stored once so that any rule can be replayed over the past.
//!
//! The rule fields of `rules/priority.yml` are exactly these. Two fields carry a qualifier that a verdict needs:
//! `sender_verified` (rules on the sender count only for a verified one) and `urgency_origin`.

use serde::{Deserialize, Serialize};

use super::{Instant, text_enum::text_enum};

text_enum! {
    /// How the mail reached the person.
    Addressed { To = "to", Cc = "cc", List = "list" }
}

text_enum! {
    /// Who estimated the urgency.
    UrgencyOrigin { BuiltIn = "built_in", Model = "model" }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Lower-case address of the sender.
    pub sender: String,
    pub sender_domain: String,
    /// The receiving server vouched for the sender (aligned DMARC pass).
    pub sender_verified: bool,
    pub known_contact: bool,
    pub addressed: Addressed,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_id: Option<String>,
    pub subject: String,
    /// Empty for a mail that opened no task.
    #[serde(default)]
    pub objective: String,
    /// The kind of task, or the reason there is none.
    pub kind: String,
    /// ISO 639-1.
    pub language: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<f64>,
    /// The rule field `due_in` is the hours from the moment of ranking to this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Instant>,
    /// 0..=1.
    pub urgency: f64,
    pub urgency_origin: UrgencyOrigin,
    pub attachment: bool,
    /// The person has written in this thread.
    pub thread_mine: bool,
    pub account: String,
}

impl Facts {
    /// Takes in what a follow-up says. Nothing in here lowers what was known.
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
