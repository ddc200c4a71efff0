//! Due reminders, printed on stderr before the output of every command, so that stdout has only data.

use std::io::{self, Write as _};

use chrono_tz::Tz;

use super::super::{
    description::format_date_time,
    printer::{Printer, cell, escape_and_truncate, group_digits},
    table::{Cell, Column},
};
use crate::{app::App, model::ReminderRow};

/// The most reminders before a command's own output; a person finds the rest in a list of their own.
const MOST_SHOWN: usize = 5;

/// Returns a line such as "Due now: Call the plumber (Mon 16 Nov, 14:30)".
pub(in crate::cli) fn format_reminder(word: &str, reminder: &ReminderRow, zone: Tz) -> String {
    let again = if reminder.every.is_some() { ", comes again" } else { "" };
    format!("{word}: {} ({}{again})", escape_and_truncate(&reminder.text, 200), format_date_time(reminder.due_at, zone))
}

/// Prints due reminders and then marks them as shown. In this order a crash shows a reminder twice and loses none. With
/// `repeat`, also prints again what was shown in the last day, the newest first, for a person who may not have seen it.
pub(in crate::cli) async fn show(app: &App, repeat: bool) -> anyhow::Result<()> {
    let due = app.tasks().due_reminders().await?;
    let recent = if repeat { app.tasks().recent_reminders().await? } else { Vec::new() };
    let zone = app.config.me.time_zone;
    let lines = due.iter().map(|row| ("Due now", row)).chain(recent.iter().rev().map(|row| ("Reminded", row)));
    let mut err = io::stderr().lock();
    for (word, reminder) in lines.take(MOST_SHOWN) {
        writeln!(err, "{}", format_reminder(word, reminder, zone))?;
    }
    let more = (due.len() + recent.len()).saturating_sub(MOST_SHOWN);
    if more > 0 {
        writeln!(err, "… and {} more reminders: adjutant tasks reminders", group_digits(more as u64))?;
    }
    err.flush()?;
    drop(err);
    if due.is_empty() { Ok(()) } else { app.tasks().mark_reminders_shown(&due).await }
}

/// Prints the reminders that are due, and those of the last day.
pub(super) async fn list(app: &App, screen: Printer) -> anyhow::Result<()> {
    let due = app.tasks().due_reminders().await?;
    let recent = app.tasks().recent_reminders().await?;
    let rows: Vec<&ReminderRow> = due.iter().chain(&recent).collect();
    let mut numbers = Vec::new();
    for row in &rows {
        let task = app.tasks().find(&row.task_id.to_string()).await;
        numbers.push(task.ok().and_then(|task| task.number));
    }
    let zone = app.config.me.time_zone;
    screen.print_json_or(&rows, |screen| {
        if rows.is_empty() {
            return screen.print_line("No reminder is due.");
        }
        let line = |(row, number): (&&ReminderRow, &Option<i64>)| {
            vec![
                Cell::new(number.map_or_else(String::new, |number| number.to_string())),
                cell(&row.text, 120),
                Cell::new(format_date_time(row.due_at, zone)),
                Cell::new(if row.every.is_some() { "comes again" } else { "" }),
            ]
        };
        let columns = [
            Column::fixed("task"),
            Column::text("reminder", 24),
            Column::text("due", 14),
            Column::text("again", 6).folding(1),
        ];
        screen.print_table(&columns, rows.iter().zip(&numbers).map(line).collect())
    })
}
