//! A mail as the program reads it: parsed, cleaned, with what the receiving server said about its sender.

mod arrival;
mod context;
mod ledger;

pub use arrival::{Arrival, ArrivalContent, ArrivalFile, ArrivalReceipt, Arrivals, UnchangedFile};
pub use context::{FollowUp, Kinship, MailContext, RelatedTask};
pub use ledger::{LedgerFileRow, LedgerRow, MailEdit, MailEditKind, MailState};

use serde::{Deserialize, Serialize};

use super::{Instant, text_enum::text_enum};

text_enum! {
    /// Received, or written by the person.
    Direction { In = "in", Out = "out" }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Lower case, without angle brackets. Empty when the header held none.
    pub addr: String,
}

impl Address {
    pub fn domain(&self) -> &str {
        self.addr.rsplit_once('@').map_or("", |(_, domain)| domain)
    }

    /// The name if there is one, else the address.
    pub fn label(&self) -> &str {
        self.name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(&self.addr)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub name: String,
    pub content_type: String,
    pub size: u64,
    pub sha256: String,
}

/// A link in an HTML part whose text says something else than its target, or simply a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub text: String,
    pub href: String,
}

/// A calendar part (iTIP).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invite {
    /// REQUEST, CANCEL, REPLY …, upper case.
    pub method: String,
    pub uid: String,
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Instant>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Instant>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organizer: Option<String>,
    /// Counts the organizer's changes.
    #[serde(default, skip_serializing_if = "is_first")]
    pub sequence: u32,
    /// Which event of a series it is about, as written; none for the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence_id: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape serde asks for")]
const fn is_first(sequence: &u32) -> bool {
    *sequence == 0
}

/// What the topmost Authentication-Results of a trusted server said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authentication {
    /// An aligned DMARC pass for the From domain.
    pub verified: bool,
    /// In words, for `why` and `doctor`.
    pub reason: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Mail {
    /// With angle brackets, as in the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The first message of the conversation, as far as the headers tell.
    pub thread: String,
    /// In-Reply-To and References, oldest first.
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
    /// The Date header; the arrival where that names no time that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Instant>,
    /// It has a Date header, which names no time that counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub date_ignored: bool,
    /// The sender's own words: quotes, signature, notices and footers cut, tricks stripped.
    pub text: String,
    /// The signature, and the legal notices, taglines and footers that were cut from the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invite: Option<Invite>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_id: Option<String>,
    /// The header that marks it as sent to many or by a machine: `List-Unsubscribe`, `Precedence: bulk`, `Auto-Submitted` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bulk_header: Option<String>,
    pub authentication: Authentication,
    /// Bidirectional overrides and zero-width characters taken out of what machines read.
    #[serde(default)]
    pub tricks: u32,
    /// Fingerprints of the sentences it quotes (see [`crate::followup::fingerprint`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quoted: Vec<String>,
    /// Over everything a sender writes: the fields (not the trace headers) and every part.
    pub content_sha256: String,
    /// The same over less, as it was stored before every part counted: by it, mail of that time is known again.
    #[serde(skip)]
    pub former_content_sha256: String,
    /// Over the parts that are neither in `text` nor among the attachments; none without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_parts_sha256: Option<String>,
    /// What of it was not read, in words, because it is too large.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truncations: Vec<String>,
    pub size: u64,
}

impl Mail {
    /// Whom it was written to, if that is one alone with an address that can be written to.
    pub fn only_recipient(&self) -> Option<&Address> {
        match (self.to.as_slice(), self.cc.as_slice()) {
            ([one], []) if one.addr.is_ascii() && one.addr.contains('@') => Some(one),
            _ => None,
        }
    }

    /// Everyone a reply to all would reach, the sender first.
    pub fn participants(&self) -> impl Iterator<Item = &Address> {
        std::iter::once(&self.from).chain(&self.to).chain(&self.cc)
    }

    /// Replies would go somewhere else than where the mail came from.
    pub fn reply_to_differs(&self) -> bool {
        self.reply_to.iter().any(|address| address.addr != self.from.addr)
    }
}
