//! The commands of `hitl`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum HitlCommand {
    /// List what waits for your decision, the most urgent first, and the steps that wait for something else
    List {
        /// List snoozed items too; with --json, also the steps that wait for something else
        #[arg(long, short)]
        all: bool,
    },
    /// Show everything about an item: recipients, text, the mail that caused it, and what an approval does
    Show {
        /// The number of the item, its id, or six or more letters of the beginning or end of its id
        item: String,
    },
    /// Approve exactly what is shown: at a terminal you see it first and are asked; scripts give --sha256
    Approve {
        /// The numbers or ids of the items
        #[arg(required = true)]
        items: Vec<String>,
        /// The `action_sha256` of the item as you saw it (`show --json`), once for each item; then you are not asked
        #[arg(long, value_name = "ACTION_SHA256")]
        sha256: Vec<String>,
        /// Never ask; every item then needs its --sha256
        #[arg(long, short)]
        yes: bool,
    },
    /// Change subject or text of a message; the result is a new item that needs your approval
    Edit {
        /// The number or id of the item
        item: String,
        /// The new subject
        #[arg(long)]
        subject: Option<String>,
        /// The new text; "-" for stdin [default: with no --subject either, at a terminal, $VISUAL or $EDITOR opens]
        #[arg(long)]
        text: Option<String>,
    },
    /// Reject an action; the step is then yours to do
    Reject {
        /// The number or id of the item
        item: String,
        /// Why; the nightly job learns from it
        #[arg(long, default_value = "", hide_default_value = true)]
        reason: String,
        /// Cancel the whole task as well
        #[arg(long)]
        cancel: bool,
    },
    /// Tell the agent what to do instead: "make it Thursday at three", "tell her I am ill", "to Marc instead", "decline",
    /// "later", "shorter", "send nothing"
    ///
    /// It says what it understood, and at a terminal asks before it does it. What it does not understand opens the text in
    /// your editor. Nothing is sent: the changed message needs your approval.
    Respond {
        /// The number or id of the item
        item: String,
        /// What to do, in English, German or Hebrew
        #[arg(required = true)]
        text: Vec<String>,
        /// Only say what is understood
        #[arg(long)]
        dry_run: bool,
        /// Do not ask whether it was understood rightly
        #[arg(long, short)]
        yes: bool,
    },
    /// Hide an item until a time; it still expires at its time
    Snooze {
        /// The number or id of the item
        item: String,
        /// "90m", "2h", "3d", "1w", "tomorrow 9am" or a date; "none" shows the item again
        until: String,
    },
    /// Take back an approval before the message is sent, or undo an effect of the journal
    Undo {
        /// The number or id of the item, or the id of an effect
        item: String,
    },
    /// List labels, archived mails and drafts that can be undone
    Journal {
        /// The most effects to print
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
    /// Say that a message with an unknown outcome was sent after all
    Sent {
        /// The number or id of the item
        item: String,
    },
    /// Try a failed step again
    Retry {
        /// The number or id of the item
        item: String,
        /// Why, for the record
        #[arg(long, default_value = "", hide_default_value = true)]
        reason: String,
    },
    /// Continue the task without the failed step
    Skip {
        /// The number or id of the item
        item: String,
        /// Why, for the record
        #[arg(long, default_value = "", hide_default_value = true)]
        reason: String,
    },
    /// Cancel the whole task of an item
    Cancel {
        /// The number or id of the item
        item: String,
        /// Why, for the record
        #[arg(long, default_value = "", hide_default_value = true)]
        reason: String,
    },
}
