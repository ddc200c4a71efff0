//! The command line, as stable names.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::{
    app::EvalKind,
    model::{AccountMode, MailState, NodeName, Priority, RunStatus},
};

/// A self-hosted email task agent: reads a mailbox, opens and ranks tasks, works them with tools, and asks before
/// anything risky.
///
/// Exit codes: 0 done; 1 it failed; 2 the command line was wrong; 3 there is no such thing; 4 a check found something.
#[derive(Debug, Parser)]
#[command(name = "adjutant", version, propagate_version = true, arg_required_else_help = true)]
pub(super) struct Cli {
    /// Where rules, guidelines and data live [default: the nearest folder upward with adjutant.toml or rules/]
    #[arg(long, global = true, value_name = "DIR", env = "ADJUTANT_HOME")]
    pub(super) home: Option<PathBuf>,
    /// Answer in JSON on stdout
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// More log lines on stderr; twice for all
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// The daemon: follows the mailboxes until Ctrl-C
    Run,
    /// Take in what is there, work it, report, exit. With a daemon running, asks it to
    Once,
    /// Write a commented configuration, rules and guidelines into a folder
    Init { dir: Option<PathBuf> },
    /// Sign in to a mailbox
    Auth {
        #[command(subcommand)]
        command: AuthCommand,
    },
    /// Take in an mbox, an .eml, a folder of them, or a Maildir, as an account that only observes
    Import {
        path: PathBuf,
        /// Its name
        #[arg(long, default_value = "import")]
        account: String,
        /// Let old mail open tasks too
        #[arg(long)]
        tasks: bool,
    },
    /// What would become of recent mail, with nothing touched. Of a Gmail account: what its first look would do
    Preview {
        /// An account's name or a path
        place: String,
        /// How far back [default: 7, or as far as the Gmail account's first look goes]
        #[arg(long)]
        days: Option<u32>,
    },
    /// What would it do with this mail? Stores nothing
    Plan {
        /// A raw mail; "-" for stdin
        #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
        eml: Option<PathBuf>,
        /// JSON lines on stdin: {"id", "text" | "eml"}
        #[arg(long)]
        jsonl: bool,
    },
    /// Tasks, most urgent first
    #[command(subcommand_required = false)]
    Tasks {
        #[command(subcommand)]
        command: Option<TasksCommand>,
    },
    /// The ledger: what became of every mail
    Mail {
        #[command(subcommand)]
        command: Option<MailCommand>,
    },
    /// Why a task has its priority, and the smallest change that would give it another
    Why { task: String },
    /// Find mails and tasks by words
    Search {
        #[arg(required_unless_present = "rebuild")]
        text: Vec<String>,
        /// Build the index anew from what is stored, first
        #[arg(long)]
        rebuild: bool,
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
    /// What waits for you. Without a command, on a terminal: decide with single keys
    Hitl {
        #[command(subcommand)]
        command: Option<HitlCommand>,
    },
    /// Journeys through the graph
    Runs {
        #[command(subcommand)]
        command: Option<RunsCommand>,
    },
    /// The rules file
    Rules {
        #[command(subcommand)]
        command: RulesCommand,
    },
    /// The nightly job, now: learn from your corrections. With a daemon running, asks it to
    Reflect {
        /// Show tonight's proposal; touch nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// The morning summary: done, waiting, overdue, learned, archived
    Digest {
        /// How far back
        #[arg(long, default_value_t = 24)]
        hours: i64,
    },
    /// The graph as Mermaid, or as DOT
    Graph {
        #[arg(long)]
        dot: bool,
    },
    /// Is everything accounted for, whole and in order?
    Doctor,
    /// What the model cost, by day, node and rule
    Cost {
        /// So many days, today included
        #[arg(long, default_value_t = 30)]
        days: u32,
    },
    /// The chain of everything that was done
    Audit {
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// What tasks and mails are found by beside their words: where it is, and whether it is complete
    Memory {
        #[command(subcommand)]
        command: Option<MemoryCommand>,
    },
    /// Hold every effect at once
    Pause,
    /// Let effects go again
    Resume,
    /// Answer JSON lines on stdin with the product's own reading, one line for one line
    Eval {
        /// tasks or mails
        kind: EvalKind,
    },
    /// Completions for a shell
    Completions { shell: clap_complete::Shell },
}

#[derive(Debug, Subcommand)]
pub(super) enum TasksCommand {
    /// Open tasks; with --all also ended ones
    List {
        #[arg(long, short)]
        all: bool,
        #[arg(long, default_value_t = 100)]
        limit: usize,
    },
    /// Everything about one
    Show { task: String },
    /// Add one by hand
    Add {
        #[arg(required = true)]
        objective: Vec<String>,
        #[arg(long)]
        priority: Option<Priority>,
        /// A date, with or without a time: 2026-11-20, "2026-11-20 17:00", "friday 5pm"
        #[arg(long)]
        due: Option<String>,
    },
    /// It is done; with --step only that step of it
    Done {
        task: String,
        #[arg(long)]
        step: Option<String>,
    },
    /// It will not be done
    Cancel {
        task: String,
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Change its priority, wording or deadline
    #[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
    Set {
        task: String,
        #[arg(long, group = "what")]
        priority: Option<Priority>,
        #[arg(long, group = "what")]
        objective: Option<String>,
        /// A date, or "none"
        #[arg(long, group = "what")]
        due: Option<String>,
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Answer its mail in your words; shown to you once more before it leaves
    Reply {
        task: String,
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Hide it until then: "2h", "3d", "tomorrow 9am", a date, or "none"
    Snooze { task: String, until: String },
    /// Take back a completion or a cancellation
    Undo { task: String },
    /// The invoices that were recorded
    Invoices {
        #[arg(long)]
        csv: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum MailCommand {
    /// The newest first
    List {
        #[arg(long)]
        state: Option<MailState>,
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    Show {
        mail: String,
    },
    /// This mail should not have opened a task
    NotATask {
        mail: String,
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// This mail should have opened a task
    MakeTask {
        mail: String,
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// No more tasks from this mail's sender
    Mute {
        mail: String,
        /// Take it back
        #[arg(long)]
        off: bool,
    },
    /// The accounts and their modes
    Accounts,
    /// Let an account act, or only observe
    Mode {
        account: String,
        /// active or observe
        mode: AccountMode,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum AuthCommand {
    /// Let Google ask you, and keep the answer for the daemon
    Gmail {
        /// Which account of adjutant.toml [default: the only one of kind "gmail"]
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        /// For a server: open the address in a browser anywhere, and paste back where it ends
        #[arg(long)]
        no_browser: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum MemoryCommand {
    Status,
    /// Make all of it anew, in the place the configuration names. With a daemon running, asks it to
    Rebuild,
}

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Walk the chain and its anchors; exit code 4 when anything was edited or is missing
    Verify,
}

#[derive(Debug, Subcommand)]
pub(super) enum HitlCommand {
    /// What waits for you, most urgent first, and what was set aside
    List {
        /// Snoozed ones too
        #[arg(long, short)]
        all: bool,
    },
    /// Everything about one: recipients, text, the mail behind it, what a yes does
    Show {
        /// Its number, its id, or the end of its id
        item: String,
    },
    /// Do exactly this. It is shown first, and you are asked. Scripts name what they saw with --sha256
    Approve {
        /// Numbers or ids
        #[arg(required = true)]
        items: Vec<String>,
        /// The `action_sha256` of the item as you saw it (`show --json`); once for each item. Nobody is asked then
        #[arg(long, value_name = "ACTION_SHA256")]
        sha256: Vec<String>,
        /// Ask nothing; every item then needs its --sha256
        #[arg(long, short)]
        yes: bool,
    },
    /// Change subject or text; makes a new action that is asked about in turn
    Edit {
        item: String,
        #[arg(long)]
        subject: Option<String>,
        /// The new text; "-" for stdin. With neither, on a terminal, $VISUAL or $EDITOR opens
        #[arg(long)]
        text: Option<String>,
    },
    /// Do not do it
    Reject {
        item: String,
        #[arg(long, default_value = "")]
        reason: String,
        /// Give the task up as well
        #[arg(long)]
        cancel: bool,
    },
    /// Tell the agent what to do instead
    Respond {
        item: String,
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Hide it until then. It still becomes void at its time
    Snooze {
        item: String,
        /// "2h", "3d", "tomorrow 9am", a date, or "none"
        until: String,
    },
    /// Take an approval back before it leaves, or an effect of the journal
    Undo { item: String },
    /// Small effects that can be taken back
    Journal {
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
    /// It was sent after all: for an effect nobody knows the end of
    Sent { item: String },
    /// Try the failed step again
    Retry {
        item: String,
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Go on without it
    Skip {
        item: String,
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Give the task up
    Cancel {
        item: String,
        #[arg(long, default_value = "")]
        reason: String,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum RunsCommand {
    List {
        #[arg(long)]
        status: Option<RunStatus>,
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    Show {
        run: String,
    },
    /// Do it again from its record, asking nobody; exit code 4 when anything comes out otherwise
    Replay {
        run: String,
    },
    /// Try it again from a node on; its effects are void
    Fork {
        run: String,
        #[arg(long, value_name = "NODE")]
        from: NodeName,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum RulesCommand {
    /// Is the file right? Exit code 4 when not
    Check { file: Option<PathBuf> },
    /// What would this file make of every task so far? Exit code 4 when any level would change
    WhatIf { file: PathBuf },
    /// What changed, why, how it was tested, and where each learned entry comes from
    History {
        #[arg(long, default_value_t = 10)]
        limit: usize,
    },
    /// From a version to the file as it is; without one, what the newest version changed
    Diff {
        #[arg(value_name = "VERSION")]
        from: Option<i64>,
    },
    /// Take the learned part back to a version; without one, to the one before. What you wrote yourself stays
    Rollback {
        #[arg(value_name = "VERSION")]
        to: Option<i64>,
    },
}
