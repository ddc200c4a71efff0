//! The commands of `mail`.

use clap::Subcommand;

use super::words;
use crate::model::{AccountMode, MailState};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum MailCommand {
    /// List mails and what became of them, the newest first
    List {
        /// Only mails in this state
        #[arg(long, value_parser = words(MailState::ALL, MailState::as_str))]
        state: Option<MailState>,
        /// The most mails to print
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Show a mail: its text, its sender, its tasks, and why it is in its state
    Show {
        /// The number of the mail, as `mail list` and `search` print it
        mail: String,
    },
    /// Correct a mail that should not have opened a task; the nightly job learns from it
    NotATask {
        /// The number of the mail
        mail: String,
        /// Why, for the record
        #[arg(long, default_value = "", hide_default_value = true)]
        reason: String,
    },
    /// Correct a mail that should have opened a task; the nightly job learns from it
    MakeTask {
        /// The number of the mail
        mail: String,
        /// Why, for the record
        #[arg(long, default_value = "", hide_default_value = true)]
        reason: String,
    },
    /// Move a mail that has no task to the archive
    Archive {
        /// The number of the mail
        mail: String,
        /// Why, for the record
        #[arg(long, default_value = "", hide_default_value = true)]
        reason: String,
    },
    /// Say that a mail is genuine: its warnings are lifted, and it opens the task that it would have opened
    Genuine {
        /// The number of the mail
        mail: String,
        /// Why, for the record
        #[arg(long, default_value = "", hide_default_value = true)]
        reason: String,
    },
    /// Open no more tasks for mail from the sender of this mail
    Mute {
        /// The number of the mail
        mail: String,
        /// Open tasks for it again
        #[arg(long)]
        off: bool,
    },
    /// List the senders whose mail opens no task
    Muted,
    /// List the accounts with kind, mode and last poll
    Accounts,
    /// Let an account act on later mail, or only observe
    Mode {
        /// The name of the account
        account: String,
        /// `active` acts, `observe` changes nothing in the mailbox, `retired` cancels its open tasks and is final
        #[arg(value_parser = words(AccountMode::ALL, AccountMode::as_str))]
        mode: AccountMode,
    },
}
