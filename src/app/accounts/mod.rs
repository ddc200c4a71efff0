//! The accounts: how each kind is opened and signed in to, and how it is doing.

pub(in crate::app) mod gmail;
mod maildir;
mod samples;

pub use gmail::PendingSignIn;
