//! The grammar of the command line. Names of commands and options are stable; every one of them has a help text.

mod ask;
mod chat;
mod hitl;
mod mail;
mod tasks;
mod team;

use std::path::PathBuf;

use clap::{
    Parser, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};

pub(super) use self::{
    ask::AskArgs, chat::ChatOptions, hitl::HitlCommand, mail::MailCommand, tasks::TasksCommand, team::TeamArgs,
};
use crate::{
    app::EvalKind,
    model::{NodeName, RunStatus, UnknownVariant},
};

/// A self-hosted email task agent: reads a mailbox, opens and ranks tasks, works on them with tools, and asks before
/// anything risky
///
/// Data go to stdout, messages to stderr. Exit codes: 0 done; 1 failed; 2 the command line or the configuration is
/// wrong; 3 not found; 4 a check found something.
#[derive(Debug, Parser)]
#[command(name = "adjutant", version, propagate_version = true, arg_required_else_help = true)]
pub(super) struct Cli {
    /// The folder with configuration, rules and data [default: the nearest folder upward with adjutant.toml or rules/]
    #[arg(long, global = true, value_name = "DIR", env = "ADJUTANT_HOME")]
    pub(super) home: Option<PathBuf>,
    /// Print JSON on stdout instead of text
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Log more to stderr: -v for information, -vv for details
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the daemon: follow the mailboxes and work on tasks until Ctrl-C
    Run,
    /// Process the mail that is there, print a report and exit; if a daemon runs, it does this
    Once,
    /// Write a commented adjutant.toml, rules and guidelines into a folder; existing files are not changed
    Init {
        /// The folder [default: --home, or the current folder]
        dir: Option<PathBuf>,
    },
    /// Sign in to a mailbox
    Auth {
        #[command(subcommand)]
        command: AuthCommand,
    },
    /// Add an mbox, an .eml file, a folder of .eml files or a Maildir as an account that only observes
    Import {
        /// The file or folder
        path: PathBuf,
        /// The name of the account
        #[arg(long, value_name = "NAME", default_value = "import")]
        account: String,
        /// Open tasks also for mail older than old_after_days
        #[arg(long)]
        tasks: bool,
    },
    /// Show which tasks recent mail would become; changes and stores nothing
    Preview {
        /// The name of an account, or the path of an mbox, an .eml file, a folder of .eml files or a Maildir
        place: String,
        /// How many days back [default: 7, or `since` of a Gmail account]
        #[arg(long)]
        days: Option<u32>,
    },
    /// Show what would be done with one mail; stores nothing
    Plan {
        /// The file with the raw mail; "-" for stdin [default: stdin]
        #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
        eml: Option<PathBuf>,
        /// Read one JSON object per line from stdin, {"id", "text"} or {"id", "eml"}, and print one per line
        #[arg(long)]
        jsonl: bool,
    },
    /// Do a request with several steps: shows the plan, asks, and follows it to its end
    Ask(AskArgs),
    /// Let a task manager with up to five workers do a request about your mail and tasks; needs a model
    Team(TeamArgs),
    /// List, show and change tasks; without a command, list the open ones
    #[command(subcommand_required = false)]
    Tasks {
        #[command(subcommand)]
        command: Option<TasksCommand>,
    },
    /// Show what became of every mail, correct it, and manage accounts; without a command, list the newest mails
    Mail {
        #[command(subcommand)]
        command: Option<MailCommand>,
    },
    /// Explain the priority of a task, and the smallest change that would give it another
    Why {
        /// The number or id of the task
        task: String,
    },
    /// Search tasks and mails by words and by meaning
    Search {
        /// What to search for
        #[arg(required_unless_present = "rebuild")]
        text: Vec<String>,
        /// Rebuild the index of words from the stored tasks and mails first
        #[arg(long)]
        rebuild: bool,
        /// The most results to print
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
    /// Human in the loop, the approval queue: decide what waits for you; without a command, with single keys
    Hitl {
        #[command(subcommand)]
        command: Option<HitlCommand>,
    },
    /// Talk about your tasks: add, list, complete, change, delete, undo; English or Hebrew
    ///
    /// It can show what waits for your approval, and cannot approve it. Commands within the conversation: /profile direct,
    /// /profile guided, /undo, /help, /new, /quit.
    Chat(ChatOptions),
    /// List, show, replay and fork processing runs; without a command, list the newest
    Runs {
        #[command(subcommand)]
        command: Option<RunsCommand>,
    },
    /// Check, compare and roll back the rules file
    Rules {
        #[command(subcommand)]
        command: RulesCommand,
    },
    /// Run the nightly job now, once per date: learn from your corrections; if a daemon runs, it does this
    Reflect {
        /// Show what would be learned now; changes nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Summarise what was done, is waiting, is overdue, was learned and was archived
    Digest {
        /// How many hours back
        #[arg(long, default_value_t = 24)]
        hours: i64,
    },
    /// Print the processing graph in Mermaid format
    Graph {
        /// Print it in DOT format (Graphviz) instead
        #[arg(long)]
        dot: bool,
    },
    /// Check mail, tasks, effects, audit chain, files and accounts; exit code 4 when something is wrong
    Doctor,
    /// Show what the language model cost, by day, node and rule
    Cost {
        /// How many days back, today included
        #[arg(long, default_value_t = 30)]
        days: u32,
    },
    /// Verify the audit chain, the log of everything that was done
    Audit {
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// Show or rebuild the vectors for search by meaning; without a command, show their status
    Memory {
        #[command(subcommand)]
        command: Option<MemoryCommand>,
    },
    /// Print a new sign-in link to the web page of the running daemon
    Web,
    /// Serve assistants and editors by the Model Context Protocol: on stdin and stdout, until they close it
    Mcp {
        /// Serve them over HTTP instead, at the address `http` of `[mcp]` in adjutant.toml, until Ctrl-C
        #[arg(long)]
        http: bool,
    },
    /// Stop all effects at once, approved ones too; mail is still read
    Pause,
    /// Carry out effects again after `pause`
    Resume,
    /// For developers: read JSON lines from stdin as the daemon reads mail, and print one line for each
    Eval {
        /// What the lines contain
        #[arg(value_parser = words(EvalKind::ALL, EvalKind::as_str))]
        kind: EvalKind,
    },
    /// Print the completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum AuthCommand {
    /// Sign in to Gmail with a browser and store the sign-in for the daemon
    Gmail {
        /// The account in adjutant.toml [default: the only one of kind "gmail"]
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        /// For a server: print the address to open in any browser, and read the address where it ends from stdin
        #[arg(long)]
        no_browser: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum MemoryCommand {
    /// Show where the vectors are stored, who makes them, and whether they are complete
    Status,
    /// Rebuild all vectors in the place that adjutant.toml names; if a daemon runs, it does this
    Rebuild,
}

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Compare the audit chain with its anchors and its witness; exit code 4 when a line was edited or is missing
    Verify,
}

#[derive(Debug, Subcommand)]
pub(super) enum RunsCommand {
    /// List runs, the newest first
    List {
        /// Only runs with this status
        #[arg(long, value_parser = words(RunStatus::ALL, RunStatus::as_str))]
        status: Option<RunStatus>,
        /// The most runs to print
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Show the checkpoints and model calls of a run
    Show {
        /// The id of the run, or six or more letters of its beginning or end
        run: String,
    },
    /// Repeat a run from its recorded replies, without any call; exit code 4 when the result differs
    Replay {
        /// The id of the run, or six or more letters of its beginning or end
        run: String,
    },
    /// Repeat a run with new calls from a node on; its effects are not carried out
    Fork {
        /// The id of the run, or six or more letters of its beginning or end
        run: String,
        /// The first node that is run anew
        #[arg(long, value_name = "NODE", value_parser = words(NodeName::ALL, NodeName::as_str))]
        from: NodeName,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum RulesCommand {
    /// Check a rules file for mistakes; exit code 4 when it has one
    Check {
        /// The file [default: rules/priority.yml]
        file: Option<PathBuf>,
    },
    /// Show which past tasks would get another priority by this file; exit code 4 if any
    WhatIf {
        /// The other rules file
        file: PathBuf,
    },
    /// Show what changed, why, how it was tested, and which corrections each learned entry comes from
    History {
        /// The most versions to print
        #[arg(long, default_value_t = 10)]
        limit: usize,
    },
    /// Show the newest change, or all changes from a version to the file as it is
    Diff {
        /// The version to compare the file with
        #[arg(value_name = "VERSION")]
        from: Option<i64>,
    },
    /// Undo the newest learned change, or go back to a version; what you wrote yourself stays
    Rollback {
        /// The version to go back to
        #[arg(value_name = "VERSION")]
        to: Option<i64>,
    },
}

/// Returns a parser that accepts the words of a closed set, and names them in the help and in errors.
fn words<T>(all: &'static [T], as_str: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + std::str::FromStr<Err = UnknownVariant> + 'static,
{
    PossibleValuesParser::new(all.iter().map(|member| as_str(*member))).try_map(|word| word.parse::<T>())
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _};

    use super::Cli;

    /// Pictures and jargon that a person who reads the help would have to learn first.
    const PRIVATE_WORDS: [&str; 12] =
        ["door", "house", "desk", "night", "journey", "journeys", "pulse", "charter", "sieve", "kin", "void", "letter"];

    fn check_help(path: &str, text: Option<String>, problems: &mut Vec<String>) {
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return problems.push(format!("{path}: no help"));
        };
        let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        problems.extend(
            words
                .filter(|word| PRIVATE_WORDS.contains(&word.as_str()))
                .map(|word| format!("{path}: says '{word}': {text}")),
        );
        if !text.starts_with(|c: char| c.is_uppercase() || matches!(c, '"' | '`')) {
            problems.push(format!("{path}: does not begin like a sentence: {text}"));
        }
    }

    fn walk(path: &str, command: &Command, problems: &mut Vec<String>) {
        check_help(path, command.get_about().map(ToString::to_string), problems);
        for argument in command.get_arguments().filter(|argument| !argument.is_global_set() || path == "adjutant") {
            let text = argument.get_long_help().or(argument.get_help()).map(ToString::to_string);
            check_help(&format!("{path} {}", argument.get_id()), text, problems);
        }
        for inner in command.get_subcommands() {
            walk(&format!("{path} {}", inner.get_name()), inner, problems);
        }
    }

    #[test]
    fn every_command_and_option_has_help_in_plain_words() {
        let mut command = Cli::command();
        command.build();
        let mut problems = Vec::new();
        walk("adjutant", &command, &mut problems);
        assert!(problems.is_empty(), "{}", problems.join("\n"));
        let hitl = command.find_subcommand("hitl").and_then(Command::get_about).unwrap().to_string();
        assert!(hitl.contains("Human in the loop"), "{hitl}");
    }
}
