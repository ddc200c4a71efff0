//! `tasks` and `why`.

use std::io::Write as _;

use comfy_table::Cell;

use super::{
    args::TasksCommand,
    description::{describe_effect, describe_wait},
    printer::{Printer, cell, escape_and_truncate},
};
use crate::{
    app::{App, NewTask, TaskDetail, next_step},
    model::{FollowUp, Instant, TaskContext, TaskEditKind, TaskRow, nightly::CorrectionKind},
};

/// Executes a `tasks` command; without one, lists the open tasks.
pub(super) async fn execute(app: &App, screen: Printer, command: Option<TasksCommand>) -> anyhow::Result<()> {
    let command = command.unwrap_or(TasksCommand::List { all: false, limit: 100 });
    match command {
        TasksCommand::List { all, limit } => list(app, screen, all, limit).await,
        TasksCommand::Show { task } => show(app, screen, &app.tasks().detail(&task).await?),
        TasksCommand::Add { objective, priority, due } => {
            let deadline = due.map(|text| app.tasks().parse_deadline(&text)).transpose()?;
            let row = app.tasks().add(NewTask { objective: objective.join(" "), priority, deadline }).await?;
            print_changed_task(screen, &row, "added")
        }
        TasksCommand::Done { task, step: None } => {
            print_changed_task(screen, &app.tasks().edit(&task, TaskEditKind::Done, "said done").await?, "done")
        }
        TasksCommand::Done { task, step: Some(step) } => print_changed_task(
            screen,
            &app.tasks().edit(&task, TaskEditKind::StepDone(step), "said done").await?,
            "step done",
        ),
        TasksCommand::Cancel { task, reason } => {
            print_changed_task(screen, &app.tasks().edit(&task, TaskEditKind::Cancel, &reason).await?, "cancelled")
        }
        TasksCommand::Set { task, priority, objective, due, reason } => {
            let mut wishes = Vec::new();
            wishes.extend(priority.map(TaskEditKind::Priority));
            wishes.extend(objective.map(TaskEditKind::Objective));
            if let Some(text) = due {
                wishes.push(parse_deadline_edit(app, &text)?);
            }
            let mut row = app.tasks().find(&task).await?;
            for wish in wishes {
                row = app.tasks().edit(&task, wish, &reason).await?;
            }
            let id = row.task.task_id;
            let teaches =
                app.rules().log_and_explain_correction(move |correction| correction.task_id == Some(id)).await?;
            print_changed_task_and_lesson(screen, &row, "changed", teaches)
        }
        TasksCommand::Reply { task, text } => {
            let wish = TaskEditKind::InstructStep { step: "send_reply".into(), words: text.join(" ") };
            let id = app.tasks().edit(&task, wish, "answered").await?.task.task_id;
            app.worker().finish_runs().await?;
            print_changed_task(
                screen,
                &app.tasks().find(&id.to_string()).await?,
                "is written; `adjutant hitl` shows it",
            )
        }
        TasksCommand::Snooze { task, until } => {
            let until = if until == "none" { None } else { Some(app.tasks().parse_future_time(&until)?) };
            print_changed_task(screen, &app.tasks().edit(&task, TaskEditKind::Snooze(until), "").await?, "snoozed")
        }
        TasksCommand::Undo { task } => {
            let row = app.tasks().edit(&task, TaskEditKind::Reopen, "taken back").await?;
            let teaches =
                app.rules().log_and_explain_correction(|correction| correction.kind == CorrectionKind::Undo).await?;
            print_changed_task_and_lesson(screen, &row, "open again", teaches)
        }
        TasksCommand::Invoices { csv } => list_invoices(app, screen, csv).await,
    }
}

/// Parses a deadline; "none" removes it.
fn parse_deadline_edit(app: &App, text: &str) -> anyhow::Result<TaskEditKind> {
    if text == "none" {
        return Ok(TaskEditKind::Deadline(None, None));
    }
    let (text, at): (String, Instant) = app.tasks().parse_deadline(text)?;
    Ok(TaskEditKind::Deadline(Some(text), Some(at)))
}

/// Prints a table of tasks.
async fn list(app: &App, screen: Printer, all: bool, limit: usize) -> anyhow::Result<()> {
    let rows = app.tasks().list(all, limit).await?;
    screen.print_json_or(&rows, |screen| {
        if rows.is_empty() {
            return screen.print_line("You're all caught up!");
        }
        let line = |row: &TaskRow| {
            vec![
                Cell::new(row.number.map_or_else(String::new, |number| number.to_string())),
                screen.priority(row.task.priority),
                Cell::new(row.task.status.as_str()),
                cell(&row.task.objective, 80),
                cell(row.task.context.person.as_deref().unwrap_or(""), 24),
                cell(row.task.context.deadline.as_deref().unwrap_or(""), 25),
                cell(&next_step(row), 30),
            ]
        };
        screen.print_table(
            &["task", "priority", "status", "objective", "person", "deadline", "next step"],
            rows.iter().map(line).collect(),
        )
    })?;
    Ok(())
}

/// Prints everything about a task.
fn show(app: &App, screen: Printer, detail: &TaskDetail) -> anyhow::Result<()> {
    screen.print_json_or(detail, |screen| {
        let row = &detail.row;
        let task = &row.task;
        let number = row.number.map_or_else(String::new, |number| format!("Task {number}: "));
        screen.print_line(&format!("{number}{}", escape_and_truncate(&task.objective, 200)))?;
        screen.print_line(&format!(
            "  {} · {} by {} · next: {}",
            task.status,
            task.priority,
            row.rule,
            next_step(row)
        ))?;
        let field = |name: &str, value: Option<&str>| match value {
            Some(value) if !value.is_empty() => {
                screen.print_line(&format!("  {name:<10} {}", escape_and_truncate(value, 300)))
            }
            _ => Ok(()),
        };
        field("id", Some(&task.task_id.to_string()))?;
        field("source", Some(&task.source))?;
        field("person", task.context.person.as_deref())?;
        field("deadline", task.context.deadline.as_deref())?;
        field("duration", task.context.meeting_duration.as_deref())?;
        field("because", task.context.more.get("evidence").and_then(|value| value.as_str()))?;
        field("mail", detail.mail.as_ref().map(|mail| format!("{} {}", mail.mail_id, mail.subject)).as_deref())?;
        print_follow_ups(screen, &detail.follow_ups)?;
        field("summary", task.result_summary.as_deref())?;
        if let Some(warnings) = task.context.more.get(TaskContext::WARNINGS).and_then(|value| value.as_array()) {
            for warning in warnings {
                field("WARNING", warning.get("text").and_then(|text| text.as_str()))?;
            }
        }
        screen.print_line("  Steps")?;
        for subtask in &task.subtasks {
            screen.print_line(&format!("    [{}] {}", if subtask.done { "x" } else { " " }, subtask.step))?;
        }
        let (now, zone) = (app.clock.now(), app.config.me.time_zone);
        for effect in &detail.effects {
            screen.print_line(&format!(
                "  Effect {} {}: {}",
                effect.action.tool,
                effect.class,
                describe_effect(effect, zone)
            ))?;
        }
        for waits in detail.waits.iter().filter_map(|run| describe_wait(run, now, zone)) {
            screen.print_line(&format!("  It {waits}"))?;
        }
        screen.print_line("  History")?;
        for entry in &detail.history {
            let from = if entry.from.is_empty() { "—" } else { &entry.from };
            screen.print_line(&format!(
                "    {} {}: {} → {} by {} ({})",
                entry.at,
                entry.field,
                escape_and_truncate(from, 60),
                escape_and_truncate(&entry.to, 60),
                entry.who,
                escape_and_truncate(&entry.why, 100)
            ))?;
        }
        Ok(())
    })
}

fn print_follow_ups(screen: Printer, mails: &[FollowUp]) -> std::io::Result<()> {
    mails.iter().try_for_each(|mail| {
        let FollowUp { mail_id, sender, subject, reason, at } = mail;
        let (sender, subject) = (escape_and_truncate(sender, 60), escape_and_truncate(subject, 80));
        screen.print_line(&format!(
            "  Follow-up  mail {mail_id} {subject} from {sender}, {at}: {}",
            escape_and_truncate(reason, 120)
        ))
    })
}

fn print_changed_task(screen: Printer, row: &TaskRow, verb: &str) -> anyhow::Result<()> {
    print_changed_task_and_lesson(screen, row, verb, None)
}

/// A task after a change, and what the change teaches.
#[derive(serde::Serialize)]
struct ChangedTask<'a> {
    #[serde(flatten)]
    row: &'a TaskRow,
    #[serde(skip_serializing_if = "Option::is_none")]
    teaches: Option<&'a str>,
}

fn print_changed_task_and_lesson(
    screen: Printer,
    row: &TaskRow,
    verb: &str,
    teaches: Option<String>,
) -> anyhow::Result<()> {
    screen.print_json_or(&ChangedTask { row, teaches: teaches.as_deref() }, |screen| {
        let number = row.number.map_or_else(|| row.task.task_id.to_string(), |number| number.to_string());
        screen.print_line(&format!(
            "Task {number} {verb}: {} ({}, {})",
            escape_and_truncate(&row.task.objective, 120),
            row.task.status,
            row.task.priority
        ))?;
        teaches.iter().try_for_each(|words| screen.print_line(&escape_and_truncate(words, 300)))
    })
}

/// Prints the invoices as a table, JSON or CSV.
async fn list_invoices(app: &App, screen: Printer, csv: bool) -> anyhow::Result<()> {
    let rows = app.tasks().list_invoices().await?;
    if csv {
        let mut out = std::io::stdout().lock();
        writeln!(out, "payee,amount,currency,due,number,recorded_at,task_id")?;
        for row in &rows {
            let amount = row.amount.map_or_else(String::new, |amount| format!("{amount:.2}"));
            let text = |value: &Option<String>| quote_csv_text(value.as_deref().unwrap_or(""));
            let (currency, due, number) = (text(&row.currency), text(&row.due), text(&row.number));
            let (payee, amount) = (quote_csv_text(&row.payee), in_quotes(&amount));
            let (at, task) = (in_quotes(&row.recorded_at.to_string()), in_quotes(&row.task_id.to_string()));
            writeln!(out, "{payee},{amount},{currency},{due},{number},{at},{task}")?;
        }
        return Ok(());
    }
    screen.print_json_or(&rows, |screen| {
        let line = |row: &crate::model::InvoiceRow| {
            let amount = row.amount.map_or_else(String::new, |amount| format!("{amount:.2}"));
            let text = |value: &Option<String>| cell(value.as_deref().unwrap_or(""), 40);
            vec![cell(&row.payee, 40), Cell::new(amount), text(&row.currency), text(&row.due), text(&row.number)]
        };
        screen.print_table(&["payee", "amount", "currency", "due", "number"], rows.iter().map(line).collect())
    })
}

/// Returns text from outside as a CSV field. What a spreadsheet would read as a formula becomes text, also for one that
/// separates by semicolons or tabs and so begins a cell in the middle of ours.
fn quote_csv_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 2);
    let mut begins = true;
    for (at, letter) in text.char_indices() {
        if begins && begins_formula(text.get(at..).unwrap_or_default()) {
            safe.push('\'');
        }
        safe.push(letter);
        begins = matches!(letter, ';' | '\t' | '\r' | '\n');
    }
    in_quotes(&safe)
}

/// Returns whether some program would read a cell that begins here as a formula, also behind blanks and quotes and in
/// full-width characters.
fn begins_formula(cell: &str) -> bool {
    let shown = cell.trim_start_matches(|c: char| c == '"' || c.is_whitespace() || c.is_control());
    shown.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
}

fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Prints why a task has its priority, and the smallest change that would give it another.
pub(super) async fn explain_priority(app: &App, screen: Printer, task: &str) -> anyhow::Result<()> {
    let why = app.tasks().explain_priority(task).await?;
    screen.print_json_or(&why, |screen| {
        let number = why.task.number.map_or_else(String::new, |number| format!(" {number}"));
        screen.print_line(&format!("Task{number}: {}", escape_and_truncate(&why.task.task.objective, 200)))?;
        if why.set_by_hand {
            screen.print_line(&format!(
                "Its priority is {}, set by hand: that stands. The rules alone would say:",
                why.level
            ))?;
        }
        if let Some(problem) = &why.rules_broken {
            screen.print_line(problem)?;
        }
        if let Some(sender) = &why.sender {
            screen.print_line(&escape_and_truncate(sender, 300))?;
        }
        print_follow_ups(screen, &why.follow_ups)?;
        screen.print_line(&why.trace.to_string())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{in_quotes, quote_csv_text};

    /// How a spreadsheet that separates by `separator` reads a file: quotes count where a cell begins with one.
    fn read_cells(file: &str, separator: char) -> Vec<String> {
        let (mut cells, mut cell) = (Vec::new(), String::new());
        let (mut quoted, mut fresh) = (false, true);
        let mut letters = file.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '"' if quoted && letters.peek() == Some(&'"') => {
                    letters.next();
                    cell.push('"');
                }
                '"' if quoted => quoted = false,
                '"' if fresh => quoted = true,
                letter if !quoted && (letter == separator || letter == '\n') => {
                    cells.push(std::mem::take(&mut cell));
                    fresh = true;
                    continue;
                }
                letter => cell.push(letter),
            }
            fresh = false;
        }
        cells.push(cell);
        cells
    }

    #[test]
    fn csv_fields_are_quoted_and_never_formulas() {
        for (text, expected) in [
            ("Acme", "\"Acme\""),
            ("A, \"B\"", "\"A, \"\"B\"\"\""),
            ("=HYPERLINK(1)", "\"'=HYPERLINK(1)\""),
            ("＝1+1", "\"'＝1+1\""),
            ("Acme;=cmd|'/C calc'!A0;x", "\"Acme;'=cmd|'/C calc'!A0;x\""),
            ("Acme; -5", "\"Acme;' -5\""),
            ("\t=1", "\"'\t'=1\""),
            ("Smith-Jones & Co", "\"Smith-Jones & Co\""),
            ("", "\"\""),
        ] {
            assert_eq!(quote_csv_text(text), expected);
        }
        assert_eq!(in_quotes("-5.00"), "\"-5.00\"");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn no_reader_finds_a_formula_and_commas_read_back(
            fields in proptest::collection::vec("[a=+\\-@＝＋－＠;,\"' \t\r\n]{0,12}", 1..5)
        ) {
            let file = fields.iter().map(|field| quote_csv_text(field)).collect::<Vec<_>>().join(",");
            let read = read_cells(&file, ',');
            prop_assert_eq!(read.len(), fields.len(), "{}", file);
            let without = |text: &str| text.replace('\'', "");
            for (read, field) in read.iter().zip(&fields) {
                prop_assert_eq!(without(read), without(field));
            }
            for separator in [',', ';', '\t'] {
                for cell in read_cells(&file, separator) {
                    let begin = cell.trim_start_matches(|c: char| c == '"' || c.is_whitespace());
                    // Behind a comma another reader's cell has begun already.
                    prop_assert!(!begin.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']), "{:?} of {:?}", cell, file);
                }
            }
        }
    }
}
