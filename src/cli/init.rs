//! `init`: the files of a new home, and at a terminal the questions of a first start.

use std::{
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use serde_json::json;

use super::{printer::Printer, read};
use crate::{
    app::{App, CheckedAnswers, FirstAnswers, FirstStart, FoundMailbox, MailboxFormat},
    clock::Clock,
    config::{Config, Home},
    ingest::escape_for_display,
};

/// The end of the advice without a terminal.
const NEXT: &str = "Next: enter yourself ([me]) and your mailbox into adjutant.toml, then start `adjutant run`. Without a mailbox it shows sample mails.";

/// Writes the files of a new home. If its configuration is new, asks for the answers of a first start, shows what the
/// last week's mail would become, and leaves the mailbox observed.
pub(super) async fn init(screen: Printer, dir: Option<PathBuf>) -> anyhow::Result<ExitCode> {
    let root = match dir {
        Some(dir) => dir,
        None => std::env::current_dir()?,
    };
    let written = App::init_home(&root)?;
    let asks = written.iter().any(|file| file == "adjutant.toml") && !screen.is_json && has_person();
    screen.print_json_or(&json!({ "home": root, "written": written }), |screen| {
        if written.is_empty() {
            return screen.print_line("Everything is there already; nothing was changed.");
        }
        screen.print_line(&format!("Wrote {} in {}.", written.join(", "), root.display()))?;
        if asks { Ok(()) } else { screen.print_line(NEXT) }
    })?;
    if asks {
        ask_and_enter(screen, Home::at(root)).await?;
    }
    Ok(ExitCode::SUCCESS)
}

fn has_person() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Asks, enters the answers, and shows the last week of the mailbox.
async fn ask_and_enter(screen: Printer, home: Home) -> anyhow::Result<()> {
    let start = FirstStart::at(home.clone());
    let Some(checked) = ask(screen, &start, &Config::load(&home)?)? else {
        return screen.print_line(NEXT).map_err(Into::into);
    };
    start.write(&checked)?;
    screen.print_line("Entered into adjutant.toml.")?;
    if let Some(account) = &checked.account {
        let app = App::open(home, checked.config.clone(), Clock::System).await?;
        screen.print_line("Your last week:")?;
        // A mailbox that cannot be read is a message, because the answers are entered already.
        if let Err(error) = read::preview(&app, screen, account, None).await {
            screen.print_line(&format!("It cannot be read: {error:#}"))?;
        }
        screen.print_line(&format!(
            "Account {account} only observes: nothing in it is changed until `adjutant mail mode {account} active`."
        ))?;
    }
    screen.print_line("Next: start `adjutant run`.")?;
    Ok(())
}

/// A question, and where its answer belongs.
type Question = (&'static str, fn(&mut FirstAnswers) -> &mut String);

/// The questions about the person, in their order.
const QUESTIONS: [Question; 4] = [
    ("Your name, as you sign", |answers| &mut answers.name),
    ("Your mail addresses, separated by commas", |answers| &mut answers.addresses),
    ("Your time zone", |answers| &mut answers.time_zone),
    ("Your working hours", |answers| &mut answers.working_hours),
];

/// Asks every question until its answer is accepted. An empty answer keeps what is proposed. Returns none at the end of
/// the input.
fn ask(screen: Printer, start: &FirstStart, config: &Config) -> anyhow::Result<Option<CheckedAnswers>> {
    let mut answers = start.current_answers(config);
    for (question, field) in QUESTIONS {
        let proposed = field(&mut answers).clone();
        let hint = if proposed.is_empty() { "empty: later".to_owned() } else { proposed.clone() };
        loop {
            let Some(answer) = read_answer(&format!("{question} ({hint}): "))? else { return Ok(None) };
            *field(&mut answers) = if answer.is_empty() { proposed.clone() } else { answer };
            match start.check(&answers) {
                Ok(_) => break,
                Err(error) => screen.print_line(&format!("{error:#}"))?,
            }
        }
    }
    let found = start.find_mailboxes();
    let can_follow = show_found(screen, &found)?;
    loop {
        let Some(answer) = read_answer("The mailbox to follow: a number, a path, or empty for none: ")? else {
            return Ok(None);
        };
        let numbered = answer.parse::<usize>().ok().and_then(|number| can_follow.get(number.checked_sub(1)?));
        answers.mailbox = numbered.map_or(answer, |mailbox| mailbox.path.display().to_string());
        match start.check(&answers) {
            Ok(checked) => return Ok(Some(checked)),
            Err(error) => screen.print_line(&format!("{error:#}"))?,
        }
    }
}

/// Lists the mailboxes that were found. Returns those that can be followed, in the order of their numbers.
fn show_found(screen: Printer, found: &[FoundMailbox]) -> io::Result<Vec<&FoundMailbox>> {
    let (follow, look): (Vec<_>, Vec<_>) = found.iter().partition(|mailbox| mailbox.format == MailboxFormat::Maildir);
    for (nth, mailbox) in follow.iter().enumerate() {
        let path = escape_for_display(&mailbox.path.display().to_string());
        screen.print_line(&format!("  {}. {path} ({} mails in the inbox)", nth + 1, mailbox.mails))?;
    }
    for mailbox in look {
        let path = escape_for_display(&mailbox.path.display().to_string());
        screen.print_line(&format!("  A file with mail: `adjutant import {path}` reads it once"))?;
    }
    Ok(follow)
}

/// Asks for a line. Returns none at the end of the input.
fn read_answer(question: &str) -> io::Result<Option<String>> {
    let mut out = io::stdout().lock();
    out.write_all(question.as_bytes())?;
    out.flush()?;
    drop(out);
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer)?;
    Ok((read > 0).then(|| answer.trim().to_owned()))
}
