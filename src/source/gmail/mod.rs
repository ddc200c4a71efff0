//! Gmail as a source of mail and as a mailbox, through its API.
//!
//! Nothing in this module deletes a message for good, and no call to Google is made outside [`client::GmailClient`].

pub mod client;
mod cursor;
mod list;
mod mailbox;
pub mod push;
mod read;
mod sync;
mod watched_labels;

pub use client::{GmailClient, SCOPE_NAME};
pub use list::{MAX_PAGE_SIZE, MAX_READ_PER_LABEL};
pub use mailbox::GmailMailbox;
pub use push::PushSubscription;
pub use sync::{GmailSource, GmailWatchSettings};

/// The one folder that all mail of a Gmail account lies in: Gmail has labels, not folders.
pub const FOLDER: &str = "gmail";
