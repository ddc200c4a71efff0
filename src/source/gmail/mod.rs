//! Gmail as a source of mail and as a mailbox, through its API.
//!
//! Nothing in here deletes a message for good, and nothing is asked of Google outside [`client::Client`].

pub mod client;
mod cursor;
mod list;
mod mailbox;
pub mod push;
mod read;
mod scope;
mod sync;

pub use client::{Client, SCOPE_NAME};
pub use list::{MOST_READ, PAGE};
pub use mailbox::Postbox;
pub use push::Push;
pub use sync::{Gmail, Watch};

/// Gmail has labels, not folders; all its mail lies in one.
pub const FOLDER: &str = "gmail";
