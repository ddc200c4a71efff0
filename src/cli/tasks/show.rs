//! Everything about one task.

use std::io;

use chrono_tz::Tz;

use super::super::{
    description::{describe_effect, describe_wait, format_deadline, format_moment, format_timestamp, localise_times},
    printer::{Printer, escape_and_truncate},
};
use crate::{
    app::{App, TaskDetail, next_step},
    model::FollowUp,
    wording::output::describe_output,
};

/// Prints everything about a task.
pub(super) fn show(app: &App, screen: Printer, detail: &TaskDetail) -> anyhow::Result<()> {
    screen.print_json_or(detail, |screen| {
        print_fields(app, screen, detail)?;
        screen.print_line("  Steps")?;
        for subtask in &detail.row.task.subtasks {
            screen.print_line(&format!("    [{}] {}", if subtask.done { "x" } else { " " }, subtask.step))?;
        }
        let (now, zone) = (app.clock.now(), app.config.me.time_zone);
        for effect in &detail.effects {
            let done = describe_effect(effect, zone);
            screen.print_line(&format!("  Effect {} {}: {done}", effect.action.tool, effect.class))?;
        }
        for waits in detail.waits.iter().filter_map(|run| describe_wait(run, now, zone)) {
            screen.print_line(&format!("  It {waits}"))?;
        }
        print_found(screen, detail, zone)?;
        print_history(screen, detail, zone)
    })
}

/// Prints what the task is about, where it comes from, and what was said about it.
fn print_fields(app: &App, screen: Printer, detail: &TaskDetail) -> io::Result<()> {
    let (row, zone) = (&detail.row, app.config.me.time_zone);
    let task = &row.task;
    let number = row.number.map_or_else(String::new, |number| format!("Task {number}: "));
    screen.print_line(&format!("{number}{}", escape_and_truncate(&task.objective, 200)))?;
    let next = next_step(row);
    screen.print_line(&format!("  {} · {} by {} · next: {next}", task.status, task.priority, row.rule))?;
    let field = |name: &str, value: Option<&str>| match value {
        Some(value) if !value.is_empty() => {
            screen.print_line(&format!("  {name:<10} {}", escape_and_truncate(value, 300)))
        }
        _ => Ok(()),
    };
    field("id", Some(&task.task_id.to_string()))?;
    field("account", Some(row.account.as_str()))?;
    field("source", Some(&task.source))?;
    field("about", task.context.description.as_deref())?;
    field("person", task.context.person.as_deref())?;
    field("deadline", task.context.deadline.as_deref().map(|stored| format_deadline(stored, zone)).as_deref())?;
    field("duration", task.context.meeting_duration.as_deref())?;
    let snoozed = row.snooze_until.filter(|until| *until > app.clock.now());
    field("hidden", snoozed.map(|until| format!("until {}", format_moment(until, zone))).as_deref())?;
    field("because", task.context.more.get("evidence").and_then(|value| value.as_str()))?;
    field("mail", detail.mail.as_ref().map(|mail| format!("{} {}", mail.mail_id, mail.subject)).as_deref())?;
    print_follow_ups(screen, &detail.follow_ups, zone)?;
    for note in task.context.notes() {
        field("said", Some(&format!("{}, {}: “{}”", note.who, localise_times(&note.at.to_string(), zone), note.text)))?;
    }
    field("summary", task.result_summary.as_deref())?;
    for warning in task.context.warnings() {
        field("WARNING", Some(&format!("{}: {}", warning.kind, warning.text)))?;
    }
    match row.mail_id.filter(|_| !task.context.warnings().is_empty()) {
        Some(mail_id) => {
            field("you can", Some(&format!("adjutant mail mute {mail_id} | adjutant mail genuine {mail_id}")))
        }
        None => Ok(()),
    }
}

/// Prints what the tools found out, and what was known before that may have to do with the task.
fn print_found(screen: Printer, detail: &TaskDetail, zone: Tz) -> io::Result<()> {
    let lines = describe_output(detail.row.task.tool_output.as_ref(), zone);
    if !lines.is_empty() {
        screen.print_line("  Found")?;
        lines.iter().try_for_each(|line| screen.print_line(&format!("    {line}")))?;
    }
    if !detail.documents.is_empty() {
        screen.print_line("  Related")?;
    }
    detail.documents.iter().try_for_each(|doc| {
        let title = escape_and_truncate(&doc.title, 80);
        screen.print_line(&format!(
            "    {} {title} ({})",
            doc.doc.replace(':', " "),
            escape_and_truncate(&doc.reasons.join(", "), 120)
        ))
    })
}

fn print_history(screen: Printer, detail: &TaskDetail, zone: Tz) -> io::Result<()> {
    screen.print_line("  History")?;
    detail.history.iter().try_for_each(|entry| {
        let from = if entry.from.is_empty() { "—" } else { &entry.from };
        screen.print_line(&format!(
            "    {} {}: {} → {} by {} ({})",
            format_timestamp(entry.at, zone),
            entry.field,
            escape_and_truncate(&localise_times(from, zone), 60),
            escape_and_truncate(&localise_times(&entry.to, zone), 60),
            entry.who,
            escape_and_truncate(&localise_times(&entry.why, zone), 100)
        ))
    })
}

/// Prints the later mails about a task, each with the evidence.
pub(super) fn print_follow_ups(screen: Printer, mails: &[FollowUp], zone: Tz) -> io::Result<()> {
    mails.iter().try_for_each(|mail| {
        let FollowUp { mail_id, sender, subject, reason, at } = mail;
        let (sender, subject) = (escape_and_truncate(sender, 60), escape_and_truncate(subject, 80));
        screen.print_line(&format!(
            "  Follow-up  mail {mail_id} {subject} from {sender}, {}: {}",
            format_timestamp(*at, zone),
            escape_and_truncate(reason, 120)
        ))
    })
}
