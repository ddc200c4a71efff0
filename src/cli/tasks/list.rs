//! The list of tasks.

use super::super::{
    description::format_deadline,
    mail::{has_several_accounts, warning_marks},
    printer::{Printer, cell},
    table::{Cell, Column},
};
use crate::{
    app::{App, next_step},
    model::{ReminderRow, TaskRow},
};

/// The columns of the list. The account is left empty where there is only one.
const COLUMNS: [Column<'static>; 8] = [
    Column::fixed("task"),
    Column::fixed("priority"),
    Column::fixed("status").folding(4),
    Column::text("objective", 30),
    Column::text("person", 12).folding(2),
    Column::text("deadline", 15).folding(1),
    Column::text("next step", 16).folding(3),
    Column::text("account", 8).folding(5),
];

/// A task in a list, with its reminder that is due or was shown in the last day.
#[derive(serde::Serialize)]
struct ListedTask<'a> {
    #[serde(flatten)]
    row: &'a TaskRow,
    #[serde(skip_serializing_if = "Option::is_none")]
    reminder: Option<&'a ReminderRow>,
}

/// Prints a table of tasks, and how many there are if not all are shown.
pub(super) async fn list(app: &App, screen: Printer, all: bool, limit: usize) -> anyhow::Result<()> {
    let rows = app.tasks().list(all, limit).await?;
    let total = app.tasks().count(all).await?;
    let mut reminders = app.tasks().due_reminders().await?;
    reminders.extend(app.tasks().recent_reminders().await?);
    let reminder_of = |row: &TaskRow| reminders.iter().find(|reminder| reminder.task_id == row.task.task_id);
    let listed: Vec<ListedTask<'_>> = rows.iter().map(|row| ListedTask { row, reminder: reminder_of(row) }).collect();
    let zone = app.config.me.time_zone;
    screen.print_json_or(&listed, |screen| {
        if rows.is_empty() {
            return screen.print_line("You're all caught up!");
        }
        let several = has_several_accounts(rows.iter().map(|row| &row.account));
        let line = |row: &TaskRow| {
            let marks = warning_marks(&row.task.context.warnings());
            let deadline = row.task.context.deadline.as_deref().unwrap_or("");
            vec![
                Cell::new(row.number.map_or_else(String::new, |number| number.to_string())),
                screen.priority(row.task.priority),
                Cell::new(row.task.status.as_str()),
                cell(&format!("{marks}{}", row.task.objective), 120),
                cell(row.task.context.person.as_deref().unwrap_or(""), 24),
                cell(&format_deadline(deadline, zone), 25),
                cell(&next_step(row), 40),
                Cell::new(if several { row.account.as_str() } else { "" }),
            ]
        };
        screen.print_table(&COLUMNS, rows.iter().map(line).collect())?;
        screen.print_count(rows.len(), total)
    })
}
