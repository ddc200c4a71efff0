//! What a whole mail shows: its sentences together, its category, its distinct requests and its warnings.
//!
//! Nothing here fills in a task; that is the work of `task`.

pub(super) mod annotated_mail;
pub(super) mod category;
pub(super) mod requests;
pub(super) mod warnings;
