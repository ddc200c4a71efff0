//! What a whole mail shows: its sentences together, its category, its distinct requests and its warnings.
//!
//! Nothing here fills in a task; that is the work of `task`.

pub(super) mod addressing;
pub(super) mod annotated_mail;
pub(super) mod category;
mod impersonation;
mod injection;
mod machine_syntax;
mod phishing;
pub(super) mod requests;
pub(super) mod service;
pub(super) mod stakes;
pub(super) mod warnings;
