//! `mail` and `search`.

use std::collections::HashSet;

use super::{
    args::MailCommand,
    description::{describe_effect, format_timestamp, localise_times},
    health::last_poll_words,
    printer::{Printer, cell, escape_and_truncate},
    table::{Cell, Column},
};
use crate::{
    app::{App, LOCAL_ACCOUNT, MailDetail, parse_mail_id},
    model::{AccountId, LedgerRow, MailState, MutedSender, reading::MailWarning},
};

/// The columns of the ledger. The account is left empty where there is only one.
const LEDGER_COLUMNS: [Column<'static>; 7] = [
    Column::fixed("mail"),
    Column::text("arrived", 10).folding(3),
    Column::text("account", 8).folding(4),
    Column::text("from", 16).folding(1),
    Column::text("subject", 20),
    Column::fixed("state"),
    Column::text("reason", 24).folding(2),
];

/// Executes a `mail` command; without one, lists the newest mails.
pub(super) async fn execute(app: &App, screen: Printer, command: Option<MailCommand>) -> anyhow::Result<()> {
    match command.unwrap_or(MailCommand::List { state: None, limit: 50 }) {
        MailCommand::List { state, limit } => list(app, screen, state, limit).await,
        MailCommand::Show { mail } => show(app, screen, &app.mail().detail(parse_mail_id(&mail)?).await?),
        MailCommand::NotATask { mail, reason } => {
            let id = parse_mail_id(&mail)?;
            app.mail().mark_not_a_task(id, &reason).await?;
            print_corrected_mail(app, screen, &mail).await
        }
        MailCommand::MakeTask { mail, reason } => {
            let id = parse_mail_id(&mail)?;
            app.mail().make_task(id, &reason).await?;
            app.worker().finish_runs().await?;
            print_corrected_mail(app, screen, &mail).await
        }
        MailCommand::Archive { mail, reason } => {
            let id = parse_mail_id(&mail)?;
            app.mail().archive(id, &reason).await?;
            app.worker().finish_runs().await?;
            print_corrected_mail(app, screen, &mail).await
        }
        MailCommand::Genuine { mail, reason } => {
            let id = parse_mail_id(&mail)?;
            app.mail().mark_genuine(id, &reason).await?;
            app.worker().finish_runs().await?;
            print_corrected_mail(app, screen, &mail).await
        }
        MailCommand::Mute { mail, off } => {
            let words = app.mail().set_sender_muted(parse_mail_id(&mail)?, !off).await?;
            print_corrected_mail_and_mute(app, screen, &mail, Some(&words)).await
        }
        MailCommand::Muted => list_muted(app, screen).await,
        MailCommand::Accounts => {
            let accounts = app.accounts().list().await?;
            let zone = app.config.me.time_zone;
            let conditions = app.accounts().conditions().await?;
            screen.print_json_or(&accounts, |screen| {
                let line = |account: &crate::model::Account| {
                    let condition = conditions.iter().find(|known| known.account == account.account);
                    let polled = last_poll_words(account.polled_at, condition, zone);
                    vec![
                        Cell::new(&account.account),
                        Cell::new(account.kind),
                        Cell::new(account.mode),
                        Cell::new(polled),
                    ]
                };
                let columns = [
                    Column::fixed("account"),
                    Column::fixed("kind"),
                    Column::fixed("mode"),
                    Column::text("last poll", 16),
                ];
                screen.print_table(&columns, accounts.iter().map(line).collect())
            })
        }
        MailCommand::Mode { account, mode } => {
            app.accounts().set_mode(&account, mode).await?;
            screen.print_json_or(&serde_json::json!({ "account": account, "mode": mode }), |screen| {
                screen.print_line(&format!("Account {account} is {mode} now; only later mail is concerned."))
            })
        }
    }
}

/// Prints a table of mails, and how many there are if not all are shown.
async fn list(app: &App, screen: Printer, state: Option<MailState>, limit: usize) -> anyhow::Result<()> {
    let rows = app.mail().list(state, limit).await?;
    let total = app.mail().count(state).await?;
    let zone = app.config.me.time_zone;
    screen.print_json_or(&rows, |screen| {
        if rows.is_empty() {
            return screen.print_line("There is no mail.");
        }
        let several = has_several_accounts(rows.iter().map(|row| &row.account));
        let line = |row: &LedgerRow| {
            vec![
                Cell::new(row.mail_id),
                Cell::new(format_timestamp(row.arrived_at, zone)),
                Cell::new(if several { row.account.as_str() } else { "" }),
                cell(&row.sender, 28),
                cell(&row.subject, 60),
                Cell::new(row.state),
                cell(&format!("{}{}", warning_marks(&row.warnings), localise_times(&row.reason, zone)), 100),
            ]
        };
        screen.print_table(&LEDGER_COLUMNS, rows.iter().map(line).collect())?;
        screen.print_count(rows.len(), total)
    })
}

/// Returns whether the rows of a list come from several mailboxes, so that the list must say from which. What a person
/// typed in comes from none.
pub(super) fn has_several_accounts<'a>(accounts: impl Iterator<Item = &'a AccountId>) -> bool {
    accounts.filter(|account| account.as_str() != LOCAL_ACCOUNT).collect::<HashSet<_>>().len() > 1
}

/// Prints the senders that are muted.
async fn list_muted(app: &App, screen: Printer) -> anyhow::Result<()> {
    let muted = app.mail().list_muted().await?;
    let zone = app.config.me.time_zone;
    screen.print_json_or(&muted, |screen| {
        if muted.is_empty() {
            return screen.print_line("Nobody is muted.");
        }
        let line = |sender: &MutedSender| {
            let what = if sender.unverified_only { "unverified mail only" } else { "all mail" };
            vec![
                cell(&sender.address, 80),
                Cell::new(what),
                Cell::new(format_timestamp(sender.at, zone)),
                Cell::new(&sender.account),
            ]
        };
        let columns = [
            Column::text("sender", 24),
            Column::text("muted", 10),
            Column::text("since", 10).folding(1),
            Column::text("account", 8).folding(2),
        ];
        screen.print_table(&columns, muted.iter().map(line).collect())?;
        screen.print_line("adjutant mail mute MAIL --off, with any mail of the sender, opens tasks for it again")
    })
}

/// Returns the kinds of the warnings as marks in front of a text: `[phishing!]`.
pub(super) fn warning_marks(warnings: &[MailWarning]) -> String {
    warnings.iter().map(|warning| format!("[{}!] ", warning.kind)).collect()
}

/// Prints the warnings of a mail, and what a person can do about one that deceives.
fn print_warnings(screen: Printer, row: &LedgerRow) -> std::io::Result<()> {
    for warning in &row.warnings {
        screen.print_line(&format!("  WARNING  {}: {}", warning.kind, escape_and_truncate(&warning.text, 300)))?;
    }
    if row.warnings.iter().any(MailWarning::is_about_deceit) {
        let id = row.mail_id;
        screen.print_line(&format!(
            "  You can  adjutant mail archive {id} | adjutant mail mute {id} | adjutant mail genuine {id}"
        ))?;
    }
    Ok(())
}

/// A mail after a correction, and what the correction teaches.
#[derive(serde::Serialize)]
struct CorrectedMail<'a> {
    #[serde(flatten)]
    row: &'a LedgerRow,
    /// What a mute means, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    muted: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    teaches: Option<&'a str>,
}

async fn print_corrected_mail(app: &App, screen: Printer, mail: &str) -> anyhow::Result<()> {
    print_corrected_mail_and_mute(app, screen, mail, None).await
}

/// Prints a mail after a correction, what a mute means, and what the correction teaches.
async fn print_corrected_mail_and_mute(
    app: &App,
    screen: Printer,
    mail: &str,
    muted: Option<&str>,
) -> anyhow::Result<()> {
    let detail = app.mail().detail(parse_mail_id(mail)?).await?;
    let id = detail.row.mail_id;
    let teaches = app.rules().log_and_explain_correction(move |correction| correction.mail_id == Some(id)).await?;
    screen.print_json_or(&CorrectedMail { row: &detail.row, muted, teaches: teaches.as_deref() }, |screen| {
        screen.print_line(&format!(
            "Mail {}: {}, {}",
            detail.row.mail_id,
            detail.row.state,
            escape_and_truncate(&detail.row.reason, 200)
        ))?;
        muted.iter().try_for_each(|words| screen.print_line(&escape_and_truncate(words, 1000)))?;
        teaches.iter().try_for_each(|words| screen.print_line(&escape_and_truncate(words, 300)))
    })
}

fn show(app: &App, screen: Printer, detail: &MailDetail) -> anyhow::Result<()> {
    let zone = app.config.me.time_zone;
    screen.print_json_or(detail, |screen| {
        let row = &detail.row;
        let (folder, arrived) = (escape_and_truncate(&row.folder, 80), format_timestamp(row.arrived_at, zone));
        screen.print_line(&format!("Mail {} in {} ({folder}), {arrived}", row.mail_id, row.account))?;
        let reason = localise_times(&row.reason, zone);
        screen.print_line(&format!("  {}: {}", row.state, escape_and_truncate(&reason, 300)))?;
        print_warnings(screen, row)?;
        for task in &detail.tasks {
            let number = task.number.map_or_else(String::new, |number| number.to_string());
            screen.print_line(&format!(
                "  task {number}: {} ({}, {})",
                escape_and_truncate(&task.task.objective, 160),
                task.task.priority,
                task.task.status
            ))?;
        }
        for effect in &detail.effects {
            let (step, what) = (escape_and_truncate(&effect.action.step, 80), describe_effect(effect, zone));
            screen.print_line(&format!("  by your rules: {step}: {}", escape_and_truncate(&what, 200)))?;
        }
        let Some(mail) = &detail.mail else { return screen.print_line("  It could not be read.") };
        let sender = if mail.authentication.verified { "verified" } else { &mail.authentication.reason };
        screen.print_line(&format!(
            "  From     {} <{}> ({})",
            escape_and_truncate(mail.from.label(), 80),
            escape_and_truncate(&mail.from.addr, 80),
            escape_and_truncate(sender, 100)
        ))?;
        screen.print_line(&format!("  Subject  {}", escape_and_truncate(&mail.subject, 200)))?;
        for attachment in &mail.attachments {
            screen.print_line(&format!(
                "  Attached {} ({}, {} bytes)",
                escape_and_truncate(&attachment.name, 80),
                escape_and_truncate(&attachment.content_type, 60),
                attachment.size
            ))?;
        }
        screen.print_line("")?;
        screen.print_line(&crate::ingest::escape_for_display(&mail.text))
    })
}
