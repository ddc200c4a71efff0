//! A mail as the program reads it: parsed, cleaned, with what the receiving server said about its sender.
//!
//! Everything in it was written by strangers. Only `authentication` is a statement of the person's own server.

mod arrival;
mod asked_times;
mod context;
mod ledger;
mod meeting_answer;
mod turn;

pub use arrival::{Arrival, ArrivalContent, ArrivalFile, ArrivalReceipt, Arrivals, UnchangedFile};
pub use asked_times::{AskedTime, AskedTimes, NamedZone};
pub use context::{FollowUp, MailContext, RelatedTask, TaskRelation};
pub use ledger::{
    LedgerFileRow, LedgerPage, LedgerPageQuery, LedgerRow, MailDay, MailEdit, MailEditKind, MailState, MutedSender,
};
pub use meeting_answer::MeetingAnswer;
pub use turn::{PromisedDate, Turn};

use serde::{Deserialize, Serialize};

use super::{Fingerprint, Instant, text_enum::text_enum};

text_enum! {
    /// Whether a mail was received, or written by the person.
    Direction { In = "in", Out = "out" }
}

/// A name and an address, as a header shows them. The name proves nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The address in lower case, without angle brackets; empty when the header has none.
    pub addr: String,
}

impl Address {
    /// Returns the part after the `@`; empty without one.
    pub fn domain(&self) -> &str {
        self.addr.rsplit_once('@').map_or("", |(_, domain)| domain)
    }

    /// Returns the name if there is one, else the address.
    pub fn label(&self) -> &str {
        self.name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(&self.addr)
    }
}

/// An attachment. Its content stays in the mailbox; the program keeps only its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub name: String,
    pub content_type: String,
    pub size: u64,
    pub sha256: String,
}

/// A link of an HTML part. Its text may name another address than its target, which is a warning sign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub text: String,
    pub href: String,
}

/// The first event of a calendar part (iTIP).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invite {
    /// The method in upper case: REQUEST, CANCEL, REPLY …
    pub method: String,
    /// The organizer's id of the event. It proves nothing alone.
    pub uid: String,
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Instant>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Instant>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organizer: Option<String>,
    /// The organizer's count of changes to the event.
    #[serde(default, skip_serializing_if = "is_first")]
    pub sequence: u32,
    /// Which event of a series it is about, as written; none for the whole series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence_id: Option<String>,
    /// Whether it is a series, which is not over after its first event.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recurs: bool,
}

/// Returns whether the sequence is left out of the stored form.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape serde asks for")]
const fn is_first(sequence: &u32) -> bool {
    *sequence == 0
}

/// What the topmost Authentication-Results header of a trusted server says about the sender.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authentication {
    /// Whether DMARC passed, aligned with the domain of From.
    pub verified: bool,
    /// Why, for a person; shown by `why` and `doctor`.
    pub reason: String,
}

/// A parsed and cleaned mail.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Mail {
    /// The Message-ID with angle brackets, as in the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The id of the first message of the conversation, as far as the headers tell.
    pub thread: String,
    /// The ids in References and In-Reply-To, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    pub from: Address,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reply_to: Vec<Address>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<Address>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cc: Vec<Address>,
    pub subject: String,
    /// The time in the Date header, or the arrival where the header names no valid time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Instant>,
    /// Whether there is a Date header that names no valid time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub date_ignored: bool,
    /// The sender's own words, without quotes, signature, notices, footers and invisible characters.
    pub text: String,
    /// The signature, and the legal notices, taglines and footers that were cut from the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The text of an HTML part that a person does not see. It is never read as the sender's words; it is only searched
    /// for orders to a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_text: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invite: Option<Invite>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_id: Option<String>,
    /// The header that marks the mail as sent to many or by a machine: `List-Unsubscribe`, `Precedence: bulk`,
    /// `Auto-Submitted` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bulk_header: Option<String>,
    pub authentication: Authentication,
    /// Whether it says that this program composed it. Anyone can write that, so it only keeps the mail from counting as
    /// the person's own answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub composed_by_agent: bool,
    /// How many bidirectional overrides and zero-width characters were taken out of the text.
    #[serde(default)]
    pub tricks: u32,
    /// Fingerprints of the sentences it quotes (see [`crate::followup::fingerprint`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quoted: Vec<Fingerprint>,
    /// The digest of everything a sender writes: all fields but the trace headers, and every part.
    pub content_sha256: String,
    /// The digest as earlier versions computed it, over fewer parts. It recognises mail that they stored.
    #[serde(skip)]
    pub former_content_sha256: String,
    /// The digest of the parts that are neither in `text` nor among the attachments; none without such parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_parts_sha256: Option<String>,
    /// What was not read because it is too large, for a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truncations: Vec<String>,
    pub size: u64,
}

impl Mail {
    /// Returns the recipient if there is exactly one, with an address that can be written to.
    pub fn only_recipient(&self) -> Option<&Address> {
        match (self.to.as_slice(), self.cc.as_slice()) {
            ([one], []) if one.addr.is_ascii() && one.addr.contains('@') => Some(one),
            _ => None,
        }
    }

    /// Returns everyone a reply to all would reach, the sender first.
    pub fn participants(&self) -> impl Iterator<Item = &Address> {
        std::iter::once(&self.from).chain(&self.to).chain(&self.cc)
    }

    /// Returns whether replies would go to another address than the sender's.
    pub fn reply_to_differs(&self) -> bool {
        self.reply_to.iter().any(|address| address.addr != self.from.addr)
    }
}
