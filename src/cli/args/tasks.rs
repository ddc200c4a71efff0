//! The grammar of `adjutant tasks`.

use clap::Subcommand;

use super::words;
use crate::model::Priority;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum TasksCommand {
    /// List open tasks, the most urgent first
    List {
        /// List finished, cancelled and snoozed tasks too
        #[arg(long, short)]
        all: bool,
        /// The most tasks to print
        #[arg(long, default_value_t = 100)]
        limit: usize,
    },
    /// Show everything about a task: source, steps, effects, follow-ups and history
    Show {
        /// The number or id of the task
        task: String,
    },
    /// Add a task by hand
    Add {
        /// What is to be done
        #[arg(required = true)]
        objective: Vec<String>,
        /// Its priority [default: what the rules say]
        #[arg(long, value_parser = words(Priority::ALL, Priority::as_str))]
        priority: Option<Priority>,
        /// Its deadline: 2026-11-20, "2026-11-20 17:00" or "friday 5pm" [default: the date that its words name]
        #[arg(long)]
        due: Option<String>,
        /// More about it
        #[arg(long)]
        description: Option<String>,
    },
    /// Mark a task, or one step of it, as done
    Done {
        /// The number or id of the task
        task: String,
        /// The name of the step, as `tasks show` prints it
        #[arg(long)]
        step: Option<String>,
    },
    /// Cancel a task
    Cancel {
        /// The number or id of the task
        task: String,
        /// Why, for its history
        #[arg(long, default_value = "", hide_default_value = true)]
        reason: String,
    },
    /// Change the priority, the wording, the description or the deadline of a task
    #[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
    Set {
        /// The number or id of the task
        task: String,
        /// Its new priority; the nightly job learns from it
        #[arg(long, group = "what", value_parser = words(Priority::ALL, Priority::as_str))]
        priority: Option<Priority>,
        /// Its new wording
        #[arg(long, group = "what")]
        objective: Option<String>,
        /// More about it, or "none"
        #[arg(long, group = "what")]
        description: Option<String>,
        /// Its new deadline (2026-11-20, "2026-11-20 17:00", "friday 5pm"), or "none"
        #[arg(long, group = "what")]
        due: Option<String>,
        /// Why, for its history
        #[arg(long, default_value = "", hide_default_value = true)]
        reason: String,
    },
    /// Answer the mail of a task in your own words; you approve the finished message before it is sent
    Reply {
        /// The number or id of the task
        task: String,
        /// What to answer
        words: Vec<String>,
        /// What to answer, as one text
        #[arg(long, conflicts_with = "words")]
        text: Option<String>,
        /// Say by when the task will be done
        #[arg(long, conflicts_with_all = ["words", "text"])]
        when: bool,
        /// Decline, in the words of `decline` in `[me]`
        #[arg(long, conflicts_with_all = ["words", "text", "when"])]
        decline: bool,
    },
    /// Forward the mail of a task; you approve the finished message before it is sent
    Forward {
        /// The number or id of the task
        task: String,
        /// The address of a recipient; repeat it for several
        #[arg(long, required = true, value_name = "ADDRESS")]
        to: Vec<String>,
        /// What to write above the forwarded text
        text: Vec<String>,
    },
    /// Write a new mail, from a task or on its own; you approve the finished message before it is sent
    Mail {
        /// The number or id of the task [default: a new task]
        #[arg(long, value_name = "TASK")]
        task: Option<String>,
        /// The address of a recipient; repeat it for several
        #[arg(long, required = true, value_name = "ADDRESS")]
        to: Vec<String>,
        /// The subject [default: the wording of the task]
        #[arg(long)]
        subject: Option<String>,
        /// The account to send from, for a new task [default: the only one]
        #[arg(long, value_name = "NAME", conflicts_with = "task")]
        account: Option<String>,
        /// What to write
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Move the mail of a task to the archive
    Archive {
        /// The number or id of the task
        task: String,
    },
    /// Hide a task until a time
    Snooze {
        /// The number or id of the task
        task: String,
        /// "90m", "2h", "3d", "1w", "tomorrow 9am" or a date; "none" shows the task again
        until: String,
    },
    /// Open a task again that was marked done or cancelled
    Undo {
        /// The number or id of the task
        task: String,
    },
    /// List the reminders that are due, and those of the last day
    Reminders,
    /// List the invoices that were recorded
    Invoices {
        /// Print them as CSV
        #[arg(long)]
        csv: bool,
    },
}
