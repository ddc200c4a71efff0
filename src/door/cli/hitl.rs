//! `hitl`: what waits for a person.

use std::io::Read as _;

use anyhow::{Context as _, bail};
use comfy_table::Cell;

use super::{
    args::HitlCommand,
    screen::{Screen, cell, shown},
};
use crate::{
    app::{App, ItemDetail, Said},
    ingest::escape_for_people,
    model::{ActionId, ItemId},
    store::value::{ItemRow, Verdict},
};

pub(super) async fn hitl(app: &App, screen: Screen, command: Option<HitlCommand>) -> anyhow::Result<()> {
    match command.unwrap_or(HitlCommand::List) {
        HitlCommand::List => list(app, screen).await,
        HitlCommand::Show { item } => show(screen, &app.item_detail(&item).await?),
        HitlCommand::Approve { items, sha256 } => approve(app, screen, &items, sha256.as_deref()).await,
        HitlCommand::Edit { item, subject, text } => edit(app, screen, &item, subject, text).await,
        HitlCommand::Reject { item, reason, cancel } => {
            let verdict = if cancel { Verdict::Cancel } else { Verdict::Reject };
            decide(app, screen, &item, verdict, &reason).await
        }
        HitlCommand::Respond { item, text } => decide(app, screen, &item, Verdict::Respond, &text.join(" ")).await,
        HitlCommand::Snooze { item, until } => snooze(app, screen, &item, &until).await,
        HitlCommand::Undo { item } => undo(app, screen, &item).await,
        HitlCommand::Journal { limit } => journal(app, screen, limit).await,
        HitlCommand::Retry { item, reason } => decide(app, screen, &item, Verdict::Retry, &reason).await,
        HitlCommand::Skip { item, reason } => decide(app, screen, &item, Verdict::Skip, &reason).await,
        HitlCommand::Cancel { item, reason } => decide(app, screen, &item, Verdict::Cancel, &reason).await,
        HitlCommand::Sent { item } => decide(app, screen, &item, Verdict::Sent, "").await,
    }
}

async fn list(app: &App, screen: Screen) -> anyhow::Result<()> {
    let items = app.items().await?;
    screen.answer(&items, |screen| {
        if items.is_empty() {
            return screen.line("Nothing waits for you.");
        }
        let line = |(nth, item): (usize, &ItemRow)| {
            vec![
                Cell::new(nth + 1),
                Cell::new(item.kind.as_str().replace('_', " ")),
                cell(&item.title, 90),
                Cell::new(item.expires_at.map_or_else(String::new, |at| at.to_string())),
                Cell::new(item.item_id),
            ]
        };
        screen.table(&["nr", "kind", "what", "void at", "item"], items.iter().enumerate().map(line).collect())?;
        screen.line("adjutant hitl show|approve|edit|reject|respond|snooze|retry|skip|cancel NR")
    })
}

fn show(screen: Screen, detail: &ItemDetail) -> anyhow::Result<()> {
    screen.answer(detail, |screen| draw(screen, detail))
}

/// Drawn from the bytes that would be sent.
pub(super) fn draw(screen: Screen, detail: &ItemDetail) -> std::io::Result<()> {
    let item = &detail.item;
    screen.line(&format!("{}: {}", item.kind.as_str().replace('_', " "), shown(&item.title, 300)))?;
    screen.line(&format!("  item     {} since {}, {}", item.item_id, item.created_at, item.state))?;
    if let Some(expires) = item.expires_at {
        screen.line(&format!("  void at  {expires}"))?;
    }
    if let Some(task) = &detail.task {
        let number = task.number.map_or_else(String::new, |number| format!("{number}: "));
        let task = &task.task;
        screen.line(&format!(
            "  task     {number}{} ({}, {})",
            shown(&task.objective, 120),
            task.priority,
            task.status
        ))?;
    }
    if let Some(mail) = &detail.mail {
        screen.line(&format!(
            "  mail     {}: {} from {}",
            mail.mail_id,
            shown(&mail.subject, 100),
            shown(&mail.sender, 60)
        ))?;
    }
    if let Some(action) = &detail.action {
        screen.line(&format!("  effect   {} {} {}", action.action.tool, action.class, action.state))?;
        screen.line(&format!("  sha256   {}", action.sha256))?;
        if let Some(message) = action.action.effect.message() {
            for to in &detail.recipients {
                let mut marks = vec![to.standing.map_or("not an address", |standing| standing.as_str())];
                marks.extend((!to.verified).then_some("unverified"));
                marks.extend((!to.known).then_some("you never wrote to them"));
                screen.line(&format!("  to       {} [{}]", shown(&to.address, 120), marks.join(", ")))?;
            }
            screen.line(&format!("  subject  {}", shown(&message.subject, 200)))?;
            for attached in &message.attachments {
                screen.line(&format!(
                    "  attached {} ({}, {} bytes, sha256 {})",
                    shown(&attached.name, 60),
                    shown(&attached.content_type, 40),
                    attached.size,
                    attached.sha256
                ))?;
            }
            screen.line("")?;
            for line in message.body.lines() {
                screen.line(&format!("    {}", escape_for_people(line)))?;
            }
            screen.line("")?;
        }
    }
    if !detail.on_yes.is_empty() {
        screen.line(&format!("  on yes   {}", shown(&detail.on_yes, 300)))?;
    }
    if item.kind == crate::model::ItemKind::FailedStep {
        screen.line("  retry does it again, skip goes on without it, cancel gives the task up")?;
    }
    if let Some(obstacle) = &detail.obstacle {
        screen.line(&format!("  but      {obstacle}"))?;
    }
    Ok(())
}

async fn approve(app: &App, screen: Screen, items: &[String], sha256: Option<&str>) -> anyhow::Result<()> {
    let mut ids = Vec::new();
    for item in items {
        ids.push(app.item_named(item).await?);
    }
    for id in &ids {
        let detail = app.item_detail(&id.to_string()).await?;
        let stored = detail.action.map(|row| row.sha256).unwrap_or_default();
        app.decide(*id, Said::here(Verdict::Approve, "", sha256.unwrap_or(&stored))).await?;
    }
    report(app, screen, &ids, Verdict::Approve).await
}

async fn decide(app: &App, screen: Screen, item: &str, verdict: Verdict, reason: &str) -> anyhow::Result<()> {
    let id = app.answer(item, verdict, reason).await?;
    report(app, screen, &[id], verdict).await
}

async fn report(app: &App, screen: Screen, ids: &[ItemId], verdict: Verdict) -> anyhow::Result<()> {
    app.let_runs_finish().await?;
    let mut details = Vec::new();
    for id in ids {
        details.push(app.item_detail(&id.to_string()).await?);
    }
    screen.answer(&details, |screen| {
        for detail in &details {
            let task =
                detail.task.as_ref().map_or_else(String::new, |task| format!(" The task is {} now.", task.task.status));
            let effect = detail.action.as_ref().map_or_else(String::new, |row| {
                let release = row.release_at.filter(|_| row.state == crate::model::OutboxState::Held);
                let release =
                    release.map_or_else(String::new, |at| format!(" until {at}; `adjutant hitl undo` takes it back"));
                format!(" The effect is {}{release}.", row.state.as_str().replace('_', " "))
            });
            screen.line(&format!("Decided: {verdict}.{effect}{task}"))?;
        }
        Ok(())
    })
}

async fn edit(
    app: &App,
    screen: Screen,
    item: &str,
    subject: Option<String>,
    text: Option<String>,
) -> anyhow::Result<()> {
    let id = app.item_named(item).await?;
    let detail = app.item_detail(&id.to_string()).await?;
    let message =
        detail.action.as_ref().and_then(|row| row.action.effect.message()).context("there is no message to edit")?;
    let (subject, text) = match (subject, text.as_deref()) {
        (subject, Some("-")) => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            (subject.unwrap_or_else(|| message.subject.clone()), text)
        }
        (subject, Some(text)) => (subject.unwrap_or_else(|| message.subject.clone()), text.to_owned()),
        (Some(subject), None) => (subject, message.body.clone()),
        (None, None) => bail!("give --subject or --text, or use the interactive `adjutant hitl`"),
    };
    let new = app.edit_action(id, &subject, &text).await?;
    show(screen, &app.item_detail(&new.to_string()).await?)
}

async fn snooze(app: &App, screen: Screen, item: &str, until: &str) -> anyhow::Result<()> {
    let id = app.item_named(item).await?;
    let until = if until == "none" { None } else { Some(app.deadline(until)?.1) };
    app.snooze_item(id, until).await?;
    let detail = app.item_detail(&id.to_string()).await?;
    screen.answer(&detail.item, |screen| {
        screen.line(&until.map_or_else(|| "It is shown again.".to_owned(), |until| format!("Hidden until {until}.")))
    })
}

/// An item whose grace still runs, or an effect of the journal.
async fn undo(app: &App, screen: Screen, reference: &str) -> anyhow::Result<()> {
    let told = if let Ok(id) = app.item_named(reference).await
        && let Ok(detail) = app.item_detail(&id.to_string()).await
    {
        app.take_back(detail.item.item_id).await?;
        "Taken back; it waits for you again.".to_owned()
    } else {
        let action: ActionId = reference.parse().map_err(|_| {
            anyhow::anyhow!("'{reference}' is neither an item nor an effect; `adjutant hitl journal` lists them")
        })?;
        app.undo_effect(action).await?
    };
    screen.answer(&serde_json::json!({ "undone": told }), |screen| screen.line(&told))
}

async fn journal(app: &App, screen: Screen, limit: usize) -> anyhow::Result<()> {
    let rows = app.journal(limit).await?;
    screen.answer(&rows, |screen| {
        if rows.is_empty() {
            return screen.line("There is nothing to take back.");
        }
        let line = |entry: &crate::store::JournalRow| {
            vec![
                Cell::new(entry.done_at),
                Cell::new(&entry.row.action.tool),
                cell(&entry.row.result, 60),
                Cell::new(entry.row.action.action_id),
            ]
        };
        screen.table(&["when", "what", "result", "effect"], rows.iter().map(line).collect())?;
        screen.line("adjutant hitl undo EFFECT")
    })
}
