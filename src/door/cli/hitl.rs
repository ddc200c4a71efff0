//! `hitl`: what waits for a person.

use comfy_table::Cell;

use super::{
    args::HitlCommand,
    screen::{Screen, cell, shown},
};
use crate::{
    app::{App, ItemDetail},
    store::value::Verdict,
};

pub(super) async fn hitl(app: &App, screen: Screen, command: Option<HitlCommand>) -> anyhow::Result<()> {
    match command.unwrap_or(HitlCommand::List) {
        HitlCommand::List => list(app, screen).await,
        HitlCommand::Show { item } => show(screen, &app.item_detail(&item).await?),
        HitlCommand::Retry { item, reason } => decide(app, screen, &item, Verdict::Retry, &reason).await,
        HitlCommand::Skip { item, reason } => decide(app, screen, &item, Verdict::Skip, &reason).await,
        HitlCommand::Cancel { item, reason } => decide(app, screen, &item, Verdict::Cancel, &reason).await,
    }
}

async fn list(app: &App, screen: Screen) -> anyhow::Result<()> {
    let items = app.items().await?;
    screen.answer(&items, |screen| {
        if items.is_empty() {
            return screen.line("Nothing waits for you.");
        }
        let line = |(nth, item): (usize, &crate::store::value::ItemRow)| {
            vec![
                Cell::new(nth + 1),
                Cell::new(item.kind.as_str().replace('_', " ")),
                cell(&item.title, 90),
                Cell::new(item.created_at),
                Cell::new(item.item_id),
            ]
        };
        screen.table(&["nr", "kind", "what", "since", "item"], items.iter().enumerate().map(line).collect())?;
        screen.line("adjutant hitl show|retry|skip|cancel NR")
    })
}

fn show(screen: Screen, detail: &ItemDetail) -> anyhow::Result<()> {
    screen.answer(detail, |screen| {
        let item = &detail.item;
        screen.line(&format!("{}: {}", item.kind.as_str().replace('_', " "), shown(&item.title, 300)))?;
        screen.line(&format!("  item {} since {}, {}", item.item_id, item.created_at, item.state))?;
        if let Some(task) = &detail.task {
            let number = task.number.map_or_else(String::new, |number| number.to_string());
            screen.line(&format!(
                "  task {number}: {} ({}, {})",
                shown(&task.task.objective, 120),
                task.task.priority,
                task.task.status
            ))?;
        }
        if let Some(mail) = &detail.mail {
            screen.line(&format!(
                "  mail {}: {} from {}",
                mail.mail_id,
                shown(&mail.subject, 100),
                shown(&mail.sender, 60)
            ))?;
        }
        if let Some(action) = &detail.action {
            screen.line(&format!(
                "  effect {} {} {}: {}",
                action.action.tool,
                action.class,
                action.state,
                shown(&action.result, 200)
            ))?;
        }
        screen.line("  retry does it again, skip goes on without it, cancel gives the task up")
    })
}

async fn decide(app: &App, screen: Screen, item: &str, verdict: Verdict, reason: &str) -> anyhow::Result<()> {
    let id = app.item_named(item).await?.to_string();
    app.decide(&id, verdict, reason).await?;
    app.let_runs_finish().await?;
    let detail = app.item_detail(&id).await?;
    screen.answer(&detail, |screen| {
        let task =
            detail.task.as_ref().map_or_else(String::new, |task| format!(" The task is {} now.", task.task.status));
        screen.line(&format!("Decided: {verdict}.{task}"))
    })
}
