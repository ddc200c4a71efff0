//! Due reminders, printed on stderr before the output of every command, so that stdout has only data.

use std::io::{self, Write as _};

use chrono_tz::Tz;

use super::{description::format_date_time, printer::escape_and_truncate};
use crate::{app::App, model::ReminderRow};

/// Returns a line such as "Due now: Call the plumber (Mon 16 Nov, 14:30)".
pub(super) fn format_reminder(word: &str, reminder: &ReminderRow, zone: Tz) -> String {
    let again = if reminder.every.is_some() { ", comes again" } else { "" };
    format!("{word}: {} ({}{again})", escape_and_truncate(&reminder.text, 200), format_date_time(reminder.due_at, zone))
}

/// Prints due reminders and then marks them as shown. In this order a crash shows a reminder twice and loses none.
pub(super) async fn show_due(app: &App) -> anyhow::Result<()> {
    let due = app.tasks().due_reminders().await?;
    if due.is_empty() {
        return Ok(());
    }
    print_reminders("Due now", &due, app.config.me.time_zone)?;
    app.tasks().mark_reminders_shown(&due).await
}

/// Prints again what was shown in the last day, for a person who may not have seen it.
pub(super) async fn repeat_recent(app: &App) -> anyhow::Result<()> {
    let recent = app.tasks().recent_reminders().await?;
    Ok(print_reminders("Reminded", &recent, app.config.me.time_zone)?)
}

fn print_reminders(word: &str, reminders: &[ReminderRow], zone: Tz) -> io::Result<()> {
    let mut err = io::stderr().lock();
    reminders.iter().try_for_each(|reminder| writeln!(err, "{}", format_reminder(word, reminder, zone)))?;
    err.flush()
}
