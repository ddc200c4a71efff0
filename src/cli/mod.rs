//! The command line: decodes the arguments, makes one call to `app`, and prints the result as text or JSON. Data go to
//! stdout, everything else to stderr, and the exit code tells a script how it ended. Nothing is decided here.

mod args;
mod ask;
mod auth;
mod beside_daemon;
mod chat;
mod check;
mod cost;
mod health;
mod hitl;
mod init;
mod mail;
mod mcp;
mod memory;
mod nightly;
mod printer;
mod progress;
mod read;
mod run;
mod runs;
mod search;
mod table;
mod tasks;
mod team;
mod web;

use std::{
    io::{self, IsTerminal as _},
    process::ExitCode,
};

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
    wording::description,
};

/// The exit code of a check that found something.
const EXIT_FINDINGS: u8 = 4;
/// The exit code when what the command names does not exist.
const EXIT_NOT_FOUND: u8 = 3;
/// The exit code of every other failure.
const EXIT_FAILURE: u8 = 1;
/// The packages that talk over a network, which log requests with mail and tokens at low levels.
const HTTP_CRATES: [&str; 7] = ["h2", "hyper", "hyper_util", "hyper_rustls", "reqwest", "rmcp", "rustls"];

/// The command line was wrong in a way that only the data could tell. It has the exit code of a wrong command line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UsageError(String);

/// Parses the arguments of the process and executes the command. Returns the exit code.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Err(error) = Clock::check_system() {
        return report_error(&error.into());
    }
    start_log(cli.verbose);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads()).enable_all().build();
    let outcome = runtime.map_err(anyhow::Error::from).and_then(|runtime| {
        let outcome = runtime.block_on(dispatch(cli));
        // A thread that still reads from a terminal would be waited for until the next line.
        runtime.shutdown_background();
        outcome
    });
    match outcome {
        Ok(code) => code,
        Err(error) => report_error(&error),
    }
}

/// Returns the number of worker threads. Nodes are short and the writer has its own thread, so a few are enough; idle
/// threads cost memory.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4)
}

/// Starts logging to stderr.
fn start_log(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "adjutant=info,warn",
        _ => "adjutant=debug,info",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_env("ADJUTANT_LOG").unwrap_or_else(|_| level.into());
    // Requests and responses contain mail and tokens, so no level of detail may show them.
    let filter = HTTP_CRATES.iter().fold(filter, |filter, name| match format!("{name}=warn").parse() {
        Ok(quiet) => filter.add_directive(quiet),
        Err(_) => filter,
    });
    let has_colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(crate::tui::log_writer).with_target(false);
    log.with_ansi(has_colour).init();
}

/// Prints one line on stderr that says what happened and what to do. Returns the exit code for it. A closed pipe, as in
/// `adjutant tasks | head`, is not a failure.
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

/// Executes a command. The first ones need no home; the others open it, print warnings about broken files, and record
/// the head of the audit chain at the end.
async fn dispatch(cli: Cli) -> anyhow::Result<ExitCode> {
    let screen = Printer::new(cli.json, std::env::var_os("NO_COLOR").is_some(), std::env::var("COLUMNS").ok());
    match &cli.command {
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "adjutant", &mut script);
            io::Write::write_all(&mut io::stdout().lock(), &script)?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Init { dir } => return init::init(screen, dir.clone().or(cli.home)).await,
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

/// Executes a command, and shows due reminders before it (after it for `once`, too).
async fn execute_with_reminders(app: &App, screen: Printer, command: Command) -> anyhow::Result<ExitCode> {
    if screen.is_json || matches!(command, Command::Mcp { .. }) {
        // A program reads the output, so reminders wait until a person is there.
        return execute_command(app, screen, command).await;
    }
    let (is_run, is_once) = (matches!(command, Command::Run), matches!(command, Command::Once));
    let is_list = matches!(command, Command::Tasks { command: Some(args::TasksCommand::Reminders) });
    let repeat = matches!(command, Command::Tasks { .. } | Command::Hitl { .. } | Command::Digest { .. });
    // The daemon shows reminders itself when they are due, and a list of them needs no second one before it.
    if !is_run && !is_list {
        tasks::reminders::show(app, repeat).await?;
    }
    let code = execute_command(app, screen, command).await?;
    if is_once {
        tasks::reminders::show(app, false).await?;
    }
    Ok(code)
}

/// Prints a warning on stderr, in every command, while the rules file is broken.
fn warn_about_broken_rules(current: &rules::CurrentRules) -> io::Result<()> {
    current.broken.iter().try_for_each(|broken| print_warning(&broken.to_string()))
}

/// Prints a warning on stderr, in every command, while the policy file is broken.
fn warn_about_broken_policy(app: &App) -> io::Result<()> {
    let Err(problem) = app.effects().try_load_policy() else { return Ok(()) };
    let problem = problem.lines().next().unwrap_or_default();
    print_warning(&format!(
        "{} is broken: {problem}. Until it is corrected, no effect is carried out; mail is still read.",
        app.home.policy_file().display()
    ))
}

fn print_warning(problem: &str) -> io::Result<()> {
    io::Write::write_fmt(&mut io::stderr().lock(), format_args!("adjutant: {}\n", escape_for_display(problem)))
}

/// Prints on stderr why the model cannot be used, in every command that does not print it as part of its output.
fn warn_about_model(app: &App, command: &Command) -> io::Result<()> {
    let prints_itself = matches!(command, Command::Run | Command::Once | Command::Doctor | Command::Cost { .. });
    match app.model().warning().filter(|_| !prints_itself) {
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
        Command::Ask(args) => return ask::execute(app, screen, args).await,
        Command::Team(args) => return team::execute(app, screen, args).await,
        Command::Plan { eml, jsonl } => return read::plan(app, screen, eml, jsonl),
        Command::Tasks { command } => tasks::execute(app, screen, command).await?,
        Command::Mail { command } => mail::execute(app, screen, command).await?,
        Command::Why { task } => tasks::explain_priority(app, screen, &task).await?,
        Command::Search { text, rebuild, limit } => {
            search::search(app, screen, &text.join(" "), rebuild, limit).await?
        }
        Command::Hitl { command } => hitl::execute(app, screen, command).await?,
        Command::Chat(options) => return chat::execute(app, screen, options).await,
        Command::Runs { command } => return runs::execute(app, screen, command).await,
        Command::Doctor => return check::run_doctor(app, screen).await,
        Command::Cost { days } => cost::show_cost(app, screen, days).await?,
        Command::Audit { command: args::AuditCommand::Verify } => return check::verify_audit(app, screen).await,
        Command::Memory { command } => memory::execute(app, screen, command).await?,
        Command::Web => web::print_sign_in_link(app, screen)?,
        Command::Mcp { http } => mcp::serve(app, screen, http).await?,
        Command::Rules { command } => return nightly::execute_rules(app, screen, command).await,
        Command::Reflect { dry_run } => nightly::reflect(app, screen, dry_run).await?,
        Command::Digest { hours } => nightly::show_digest(app, screen, hours).await?,
        Command::Pause => check::set_paused(app, screen, true).await?,
        Command::Resume => check::set_paused(app, screen, false).await?,
        // These were executed above, because they need no home.
        Command::Completions { .. } | Command::Init { .. } | Command::Eval { .. } | Command::Graph { .. } => {}
    }
    Ok(ExitCode::SUCCESS)
}
