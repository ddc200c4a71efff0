//! `mail` and `search`.

use comfy_table::Cell;

use super::{
    args::MailCommand,
    printer::{Printer, cell, escape_and_truncate},
};
use crate::{
    app::{App, MailDetail, SearchResults, parse_mail_id},
    memory::FoundDocument,
    model::LedgerRow,
};

/// Executes a `mail` command; without one, lists the newest mails.
pub(super) async fn execute(app: &App, screen: Printer, command: Option<MailCommand>) -> anyhow::Result<()> {
    match command.unwrap_or(MailCommand::List { state: None, limit: 50 }) {
        MailCommand::List { state, limit } => {
            let rows = app.mail().list(state, limit).await?;
            screen.print_json_or(&rows, |screen| {
                screen.print_table(
                    &["mail", "account", "from", "subject", "state", "reason"],
                    rows.iter().map(ledger_row_cells).collect(),
                )
            })
        }
        MailCommand::Show { mail } => show(screen, &app.mail().detail(parse_mail_id(&mail)?).await?),
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
        MailCommand::Mute { mail, off } => {
            let words = app.mail().set_sender_muted(parse_mail_id(&mail)?, !off).await?;
            print_corrected_mail_and_mute(app, screen, &mail, Some(&words)).await
        }
        MailCommand::Accounts => {
            let accounts = app.accounts().list().await?;
            let conditions = app.accounts().conditions().await?;
            screen.print_json_or(&accounts, |screen| {
                let line = |account: &crate::model::Account| {
                    let condition = conditions.iter().find(|known| known.account == account.account);
                    let polled = super::health::last_poll_words(account.polled_at, condition);
                    vec![
                        Cell::new(&account.account),
                        Cell::new(account.kind),
                        Cell::new(account.mode),
                        Cell::new(polled),
                    ]
                };
                screen.print_table(&["account", "kind", "mode", "last poll"], accounts.iter().map(line).collect())
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

/// Returns the cells of a mail in a table. Text from outside is made safe and short.
fn ledger_row_cells(row: &LedgerRow) -> Vec<Cell> {
    vec![
        Cell::new(row.mail_id),
        Cell::new(&row.account),
        cell(&row.sender, 28),
        cell(&row.subject, 40),
        Cell::new(row.state),
        cell(&row.reason, 80),
    ]
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

fn show(screen: Printer, detail: &MailDetail) -> anyhow::Result<()> {
    screen.print_json_or(detail, |screen| {
        let row = &detail.row;
        screen.print_line(&format!("Mail {} in {} ({}), {}", row.mail_id, row.account, row.folder, row.arrived_at))?;
        screen.print_line(&format!("  {}: {}", row.state, escape_and_truncate(&row.reason, 300)))?;
        for task in &detail.tasks {
            let number = task.number.map_or_else(String::new, |number| number.to_string());
            screen.print_line(&format!(
                "  task {number}: {} ({}, {})",
                escape_and_truncate(&task.task.objective, 120),
                task.task.priority,
                task.task.status
            ))?;
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

/// Searches by words and by meaning, after rebuilding the index of words if asked to.
pub(super) async fn search(app: &App, screen: Printer, text: &str, rebuild: bool, limit: usize) -> anyhow::Result<()> {
    if rebuild {
        app.search().rebuild_index().await?;
        if text.is_empty() {
            return screen.print_json_or(&serde_json::json!({ "rebuilt": true }), |screen| {
                screen.print_line("The search index was rebuilt.")
            });
        }
    }
    let SearchResults { found, trouble } = app.search().find(text, limit).await?;
    screen.print_json_or(&found, |screen| {
        if let Some(trouble) = &trouble {
            screen.print_line(&format!("Found by words only: {}", escape_and_truncate(trouble, 200)))?;
        }
        if found.is_empty() {
            return screen.print_line("Nothing found.");
        }
        let line = |found: &FoundDocument| {
            let because: Vec<String> = found.reasons.iter().map(ToString::to_string).collect();
            vec![
                Cell::new(&found.doc),
                cell(&found.title, 60),
                Cell::new(found.at),
                Cell::new(format!("{:.2}", found.score)),
                cell(&because.join(", "), 80),
            ]
        };
        screen.print_table(&["where", "what", "when", "score", "because"], found.iter().map(line).collect())
    })
}
