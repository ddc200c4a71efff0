//! Turns the bytes of a message into a [`crate::model::Mail`] (parsed, cleaned, with what the receiving server said
//! about its sender) and enters every message into the ledger.
//!
//! The input is hostile. Only `intake` reads a file or a clock. Nothing recurses on the input without a bound, indexes
//! into it, or takes more than linear time over it; the bounds and their reasons are in `limits`. No message is ever
//! dropped.

mod body;
mod bulk;
mod html;
mod identity;
mod intake;
mod limits;
mod mime;
mod parse;
mod received;
mod sender_auth;
mod text;
mod watchdog;

pub use html::{HtmlText, html_to_text};
pub use intake::{
    AccountIntake, EnteredMail, IntakeCounts, IntakePass, KnownMailUpdates, MAILS_PER_COMMIT, NEVER_TOUCH_REASON,
    PolledIntake, is_never_touched,
};
pub use parse::{MailParseError, MailTruncation, ParsedMail, parse_mail, parse_mail_in_full};
pub use sender_auth::TrustedServers;
pub use text::{Cleaned, Stripped, clean_body, escape_for_display, strip_hidden_chars};
pub use watchdog::{GuardedParser, ParseAborted, StepTracker, run_watched};
