//! Gmail as a source of mail and as a mailbox, through its API.
//!
//! Nothing in here deletes a message for good, and nothing is asked of Google outside [`client::Client`].

pub mod client;
mod mailbox;

pub use client::Client;
pub use mailbox::Postbox;
