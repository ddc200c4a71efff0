//! The command line: arguments in, one call, text or JSON out, an exit code scripts can trust.

mod args;
mod auth;
mod check;
mod cost;
mod description;
mod health;
mod hitl;
mod mail;
mod memory;
mod nightly;
mod printer;
mod progress;
mod read;
mod reminders;
mod run;
mod runs;
mod tasks;

use std::{io, process::ExitCode};

use clap::{CommandFactory as _, Parser as _};

use self::{
    args::{Cli, Command},
    printer::Printer,
};
use crate::{
    app::{App, BadInput, NotFound},
    clock::Clock,
    config::{BadConfig, Config, Home, NoHome},
    ingest::escape_for_display,
    rules,
    store::StoreError,
};

/// What a check that found something exits with.
const EXIT_FINDINGS: u8 = 4;
const EXIT_NOT_FOUND: u8 = 3;
const EXIT_FAILURE: u8 = 1;
/// Packages that talk to servers.
const HTTP_CRATES: [&str; 6] = ["h2", "hyper", "hyper_util", "hyper_rustls", "reqwest", "rustls"];

/// The command line was wrong in a way only the data could tell.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UsageError(String);

/// Parses the process's arguments, does what they say, and answers with its exit code.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Err(error) = Clock::check_system() {
        return report_error(&error.into());
    }
    start_log(cli.verbose);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads()).enable_all().build();
    let outcome = runtime.map_err(anyhow::Error::from).and_then(|runtime| runtime.block_on(dispatch(cli)));
    match outcome {
        Ok(code) => code,
        Err(error) => report_error(&error),
    }
}

/// Nodes are short, the writer has a thread of its own; a few are enough, and idle ones cost memory.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4)
}

fn start_log(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "adjutant=info,warn",
        _ => "adjutant=debug,info",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_env("ADJUTANT_LOG").unwrap_or_else(|_| level.into());
    // What goes over the wire holds mail and tokens; no level of detail may show it.
    let filter = HTTP_CRATES.iter().fold(filter, |filter, name| match format!("{name}=warn").parse() {
        Ok(quiet) => filter.add_directive(quiet),
        Err(_) => filter,
    });
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_target(false).init();
}

/// One line on stderr that says what happened and what to do, and the code that goes with it.
fn report_error(error: &anyhow::Error) -> ExitCode {
    let broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(broken_pipe) {
        return ExitCode::SUCCESS;
    }
    let missing = error.chain().any(|cause| {
        cause.is::<NotFound>() || matches!(cause.downcast_ref::<StoreError>(), Some(StoreError::NotFound(_)))
    });
    let usage = error.chain().any(|cause| {
        cause.is::<NoHome>() || cause.is::<BadConfig>() || cause.is::<BadInput>() || cause.is::<UsageError>()
    });
    drop(io::Write::write_fmt(&mut io::stderr().lock(), format_args!("adjutant: {error:#}\n")));
    ExitCode::from(if missing {
        EXIT_NOT_FOUND
    } else if usage {
        2
    } else {
        EXIT_FAILURE
    })
}

async fn dispatch(cli: Cli) -> anyhow::Result<ExitCode> {
    let screen = Printer::new(cli.json, std::env::var_os("NO_COLOR").is_some());
    match &cli.command {
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "adjutant", &mut script);
            io::Write::write_all(&mut io::stdout().lock(), &script)?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Init { dir } => return check::init(screen, dir.clone().or(cli.home)),
        Command::Eval { kind } => return read::eval(*kind),
        Command::Graph { dot } => return check::print_graph(screen, *dot),
        _ => {}
    }
    let home = Home::find(cli.home, &std::env::current_dir()?)?;
    if let Command::Rules { command: args::RulesCommand::Check { file } } = &cli.command {
        let current = rules::load(&home.rules_file(), &home.last_good_rules());
        warn_about_broken_rules(&current)?;
        return match file {
            Some(file) => check::check_rules_file(screen, file, None),
            None => check::check_rules_file(screen, &home.rules_file(), current.broken.map(|broken| broken.error)),
        };
    }
    let config = Config::load(&home)?;
    let app = App::open(home, config, Clock::System).await?;
    warn_about_broken_rules(&app.rules().load())?;
    warn_about_broken_policy(&app)?;
    warn_about_model(&app, &cli.command)?;
    let outcome = execute_with_reminders(&app, screen, cli.command).await;
    app.audit().record_head().await;
    outcome
}

/// Shows what is due before a command, and after `once`.
async fn execute_with_reminders(app: &App, screen: Printer, command: Command) -> anyhow::Result<ExitCode> {
    if screen.is_json {
        // A program reads this: what is due waits for a person.
        return execute_command(app, screen, command).await;
    }
    let (is_run, is_once) = (matches!(command, Command::Run), matches!(command, Command::Once));
    if matches!(command, Command::Tasks { .. } | Command::Hitl { .. } | Command::Digest { .. }) {
        reminders::repeat_recent(app).await?;
    }
    // The daemon shows by itself what comes due.
    if !is_run {
        reminders::show_due(app).await?;
    }
    let code = execute_command(app, screen, command).await?;
    if is_once {
        reminders::show_due(app).await?;
    }
    Ok(code)
}

/// One line on stderr of every command, whatever it answers: a file that does not count is said until it is mended.
fn warn_about_broken_rules(current: &rules::CurrentRules) -> io::Result<()> {
    current.broken.iter().try_for_each(|broken| print_warning(&broken.to_string()))
}

fn warn_about_broken_policy(app: &App) -> io::Result<()> {
    let Err(problem) = app.effects().try_load_policy() else { return Ok(()) };
    let problem = problem.lines().next().unwrap_or_default();
    print_warning(&format!(
        "{} is broken: {problem}. Until it is mended nobody knows what you allow, so nothing is done: every effect waits, mail is still read.",
        app.home.policy_file().display()
    ))
}

fn print_warning(problem: &str) -> io::Result<()> {
    io::Write::write_fmt(&mut io::stderr().lock(), format_args!("adjutant: {}\n", escape_for_display(problem)))
}

/// Beside the data, for the commands that do not say it themselves.
fn warn_about_model(app: &App, command: &Command) -> io::Result<()> {
    let elsewhere = matches!(
        command,
        Command::Tasks { .. }
            | Command::Mail { .. }
            | Command::Why { .. }
            | Command::Hitl { .. }
            | Command::Runs { .. }
    );
    match app.model().warning().filter(|_| elsewhere) {
        Some(note) => io::Write::write_fmt(&mut io::stderr().lock(), format_args!("{note}\n")),
        None => Ok(()),
    }
}

async fn execute_command(app: &App, screen: Printer, command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Run => run::run_daemon(app, screen).await?,
        Command::Once => run::run_once(app, screen).await?,
        Command::Import { path, account, tasks } => read::import(app, screen, &path, &account, tasks).await?,
        Command::Auth { command: args::AuthCommand::Gmail { account, no_browser } } => {
            auth::sign_in_gmail(app, screen, account.as_deref(), no_browser).await?;
        }
        Command::Preview { place, days } => read::preview(app, screen, &place, days).await?,
        Command::Plan { eml, jsonl } => return read::plan(app, screen, eml, jsonl),
        Command::Tasks { command } => tasks::execute(app, screen, command).await?,
        Command::Mail { command } => mail::execute(app, screen, command).await?,
        Command::Why { task } => tasks::explain_priority(app, screen, &task).await?,
        Command::Search { text, rebuild, limit } => mail::search(app, screen, &text.join(" "), rebuild, limit).await?,
        Command::Hitl { command } => hitl::execute(app, screen, command).await?,
        Command::Runs { command } => return runs::execute(app, screen, command).await,
        Command::Doctor => return check::run_doctor(app, screen).await,
        Command::Cost { days } => cost::show_cost(app, screen, days).await?,
        Command::Audit { command: args::AuditCommand::Verify } => return check::verify_audit(app, screen).await,
        Command::Memory { command } => memory::execute(app, screen, command).await?,
        Command::Rules { command } => return nightly::execute_rules(app, screen, command).await,
        Command::Reflect { dry_run } => nightly::reflect(app, screen, dry_run).await?,
        Command::Digest { hours } => nightly::show_digest(app, screen, hours).await?,
        Command::Pause => check::set_paused(app, screen, true).await?,
        Command::Resume => check::set_paused(app, screen, false).await?,
        // Answered before a home was needed.
        Command::Completions { .. } | Command::Init { .. } | Command::Eval { .. } | Command::Graph { .. } => {}
    }
    Ok(ExitCode::SUCCESS)
}
