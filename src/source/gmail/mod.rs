//! Gmail as a source of mail and as a mailbox, through its API.
//!
//! Nothing in here deletes a message for good, and nothing is asked of Google outside [`client::GmailClient`].

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

/// Gmail has labels, not folders; all its mail lies in one.
pub const FOLDER: &str = "gmail";
