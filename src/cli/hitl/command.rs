//! One decision per command, for scripts and for people who prefer to type.

use std::io::Read as _;

use anyhow::Context as _;

use super::{
    super::{
        UsageError,
        description::{describe_effect, format_date_time, format_timestamp, localise_times},
        printer::{Printer, cell},
        table::{Cell, Column},
    },
    PAUSED_NOTICE, batch, editor, print_item, show_item,
    terminal::is_interactive,
};
use crate::{
    app::{App, ItemDetail},
    model::{
        ActionId, DecisionKind, ItemId, OutboxState,
        nightly::{CorrectionKind, CorrectionRow},
    },
    wording::item::{headline, is_send},
};

/// Approves exactly what was seen: on a terminal the items are shown and the person is asked; a script gives the digest
/// of each. Of several items, all that can be approved are; the others are named, and the command fails.
pub(super) async fn approve(
    app: &App,
    screen: Printer,
    items: &[String],
    sha256: &[String],
    yes: bool,
) -> anyhow::Result<()> {
    let mut details: Vec<ItemDetail> = Vec::new();
    for item in items {
        let detail = app.approvals().detail(item).await?;
        if details.iter().all(|other| other.item.item_id != detail.item.item_id) {
            details.push(detail);
        }
    }
    if sha256.is_empty() {
        if yes || screen.is_json || !is_interactive() {
            let words = "name what you saw with --sha256, the action_sha256 of each item (`adjutant hitl show NR --json`); or approve at a terminal, where it is shown";
            return Err(UsageError(words.into()).into());
        }
        if !ask_confirmation(app, screen, &details)? {
            return Ok(screen.print_line("Nothing was approved.")?);
        }
    } else {
        ensure_seen_digests(&details, sha256)?;
    }
    let mut ids = Vec::new();
    let mut refused = Vec::new();
    for detail in details {
        match app.approvals().approve(&detail.item).await {
            Ok(_) => ids.push(detail.item.item_id),
            Err(error) => refused.push(error),
        }
    }
    if !ids.is_empty() {
        let details = report(app, screen, &ids, DecisionKind::Approve, &ResponseOutcome::default()).await?;
        refused.extend(details.iter().filter_map(came_to_nothing));
    }
    match refused.pop() {
        None => Ok(()),
        Some(last) if refused.is_empty() => Err(last),
        Some(last) => {
            Err(last.context(format!("{} were not approved or not done; the last because", refused.len() + 1)))
        }
    }
}

/// Checks that every item has one of the digests, and that there are as many digests as items. Otherwise nothing is
/// approved.
fn ensure_seen_digests(details: &[ItemDetail], sha256: &[String]) -> anyhow::Result<()> {
    if details.len() != sha256.len() {
        let words = format!("{} items and {} --sha256: each item needs its own", details.len(), sha256.len());
        return Err(UsageError(words).into());
    }
    for detail in details {
        let seen = detail.item.action_sha256.as_ref().is_some_and(|digest| sha256.contains(digest));
        anyhow::ensure!(
            seen,
            "nothing was approved: number {} is not what you saw (no --sha256 is its digest now); look at it again",
            detail.item.number
        );
    }
    Ok(())
}

/// Shows all items and asks. What is approved afterwards is exactly what was shown here.
fn ask_confirmation(app: &App, screen: Printer, details: &[ItemDetail]) -> anyhow::Result<bool> {
    for detail in details {
        print_item(app, screen, detail)?;
        screen.print_line("")?;
    }
    screen.print_line(&format!("Type {} to approve {}:", batch::YES, batch::how_many(details.len())))?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(answer.trim() == batch::YES)
}

/// Stores a decision other than an approval, and prints the result.
pub(super) async fn decide(
    app: &App,
    screen: Printer,
    item: &str,
    verdict: DecisionKind,
    reason: &str,
) -> anyhow::Result<()> {
    let id = app.approvals().answer(item, verdict, reason).await?;
    report(app, screen, &[id], verdict, &ResponseOutcome::default()).await.map(drop)
}

/// Returns why an approved effect was not carried out, if it has ended that way.
fn came_to_nothing(detail: &ItemDetail) -> Option<anyhow::Error> {
    let row = detail.action.as_ref()?;
    let ended = matches!(row.state, OutboxState::Failed | OutboxState::NeedsHuman);
    ended.then(|| anyhow::anyhow!("number {} was approved, but {}: {}", detail.item.number, row.state, row.result))
}

/// An item after its decision, and what the decision teaches.
#[derive(serde::Serialize)]
struct DecidedItem<'a> {
    #[serde(flatten)]
    detail: &'a ItemDetail,
    /// Whether all effects are paused, so that an approval has none yet.
    paused: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    teaches: Option<&'a str>,
    #[serde(flatten)]
    outcome: &'a ResponseOutcome<'a>,
}

/// What came of a response in words.
#[derive(Default, serde::Serialize)]
pub(super) struct ResponseOutcome<'a> {
    /// What was understood; none for any other decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) understood: Option<&'a [String]>,
    /// The item that waits now in place of the decided one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<ItemDetail>,
}

/// Waits until the decided items have been worked on, and prints them. Returns the items as they are then.
pub(super) async fn report(
    app: &App,
    screen: Printer,
    ids: &[ItemId],
    verdict: DecisionKind,
    outcome: &ResponseOutcome<'_>,
) -> anyhow::Result<Vec<ItemDetail>> {
    let alone = app.worker().try_finish_runs().await?;
    // The decision is stored, whether or not a busy daemon has worked on it yet.
    if !alone && let Err(error) = app.worker().finish_runs().await {
        tracing::warn!("{error:#}");
    }
    let mut details = Vec::new();
    for id in ids {
        details.push(app.approvals().detail(&id.to_string()).await?);
    }
    let paused = app.effects().is_paused().await?;
    let corrects = |row: &CorrectionRow| matches!(row.kind, CorrectionKind::Reject | CorrectionKind::Respond);
    let teaches =
        if verdict == DecisionKind::Approve { None } else { app.rules().log_and_explain_correction(corrects).await? };
    let decided: Vec<DecidedItem<'_>> =
        details.iter().map(|detail| DecidedItem { detail, paused, teaches: teaches.as_deref(), outcome }).collect();
    screen.print_json_or(&decided, |screen| {
        if paused {
            screen.print_line(PAUSED_NOTICE)?;
        }
        details.iter().try_for_each(|detail| screen.print_line(&describe_decision(app, detail, verdict, alone)))?;
        teaches.iter().try_for_each(|words| screen.print_line(words))
    })?;
    Ok(details)
}

/// Returns the result of a decision in one line, with the command that takes an approval back.
fn describe_decision(app: &App, detail: &ItemDetail, verdict: DecisionKind, alone: bool) -> String {
    let task = detail.task.as_ref().map_or_else(String::new, |task| format!(" The task is {} now.", task.task.status));
    let Some(row) = &detail.action else { return format!("Decided: {verdict}.{task}") };
    let effect = describe_effect(row, app.config.me.time_zone);
    let held = row.state == OutboxState::Held;
    let undo = if held { format!(" (adjutant hitl undo {})", detail.item.number) } else { String::new() };
    let worker =
        if held && alone && is_send(row) { " No daemon runs: `adjutant run` or `once` lets it go." } else { "" };
    format!("Decided: {verdict}. {}: {effect}{undo}.{task}{worker}", headline(detail))
}

/// Changes subject or text of a message, by options or in an editor. Shows the new item.
pub(super) async fn edit(
    app: &App,
    screen: Printer,
    item: &str,
    subject: Option<String>,
    text: Option<String>,
) -> anyhow::Result<()> {
    let detail = app.approvals().detail(item).await?;
    let id = detail.item.item_id;
    let message =
        detail.action.as_ref().and_then(|row| row.action.effect.message()).context("there is no message to edit")?;
    let (subject, text) = match (subject, text.as_deref()) {
        (None, None) if is_interactive() => return edit_in_editor(app, screen, item, None).await,
        (None, None) => return Err(UsageError("without a terminal, give --subject or --text".into()).into()),
        (subject, text) => {
            let text = match text {
                Some("-") => {
                    let mut text = String::new();
                    std::io::stdin().read_to_string(&mut text)?;
                    text
                }
                Some(text) => text.to_owned(),
                None => message.body.clone(),
            };
            (subject.unwrap_or_else(|| message.subject.clone()), text)
        }
    };
    anyhow::ensure!(!text.trim().is_empty(), "an empty text changes nothing; to send nothing, reject it");
    let new = app.approvals().edit_action(id, &subject, &text).await?;
    show_item(app, screen, &app.approvals().detail(&new.to_string()).await?)
}

/// Opens a message in the person's editor, with the words of a response that was not understood. Shows the new item.
pub(super) async fn edit_in_editor(app: &App, screen: Printer, item: &str, words: Option<&str>) -> anyhow::Result<()> {
    let detail = app.approvals().detail(item).await?;
    let id = detail.item.item_id;
    let message =
        detail.action.as_ref().and_then(|row| row.action.effect.message()).context("there is no message to edit")?;
    let Some((subject, text)) = editor::edit_in_editor(app, id, message, words)? else {
        return screen.print_json_or(&detail, |screen| screen.print_line("Nothing was changed."));
    };
    let new = app.approvals().edit_action(id, &subject, &text).await?;
    show_item(app, screen, &app.approvals().detail(&new.to_string()).await?)
}

/// Hides an item until a time, and says when it expires.
pub(super) async fn snooze(app: &App, screen: Printer, item: &str, until: &str) -> anyhow::Result<()> {
    let id = app.approvals().find_id(item).await?;
    let until = if until == "none" { None } else { Some(app.tasks().parse_future_time(until)?) };
    app.approvals().snooze(id, until).await?;
    let detail = app.approvals().detail(&id.to_string()).await?;
    let zone = app.config.me.time_zone;
    screen.print_json_or(&detail.item, |screen| {
        let Some(until) = until else { return screen.print_line("It is shown again.") };
        let void = detail
            .item
            .expires_at
            .map_or_else(String::new, |at| format!(" It expires at {}.", format_date_time(at, zone)));
        screen.print_line(&format!("Hidden until {}.{void}", format_date_time(until, zone)))
    })
}

/// Takes back an approval during its grace, or undoes an effect of the journal.
pub(super) async fn undo(app: &App, screen: Printer, reference: &str) -> anyhow::Result<()> {
    let told = if let Ok(id) = app.approvals().find_id(reference).await
        && app.approvals().detail(&id.to_string()).await.is_ok()
    {
        app.approvals().revoke(id).await?;
        "Taken back; nothing was sent, and it waits for you again.".to_owned()
    } else {
        let action: ActionId = reference.parse().map_err(|_| {
            crate::app::NotFound(format!(
                "'{reference}' is neither an item nor an effect; `adjutant hitl journal` lists them"
            ))
        })?;
        app.effects().undo(action).await?
    };
    screen.print_json_or(&serde_json::json!({ "undone": told }), |screen| screen.print_line(&told))
}

/// Lists the effects that can be undone.
pub(super) async fn journal(app: &App, screen: Printer, limit: usize) -> anyhow::Result<()> {
    let rows = app.effects().list_undoable(limit).await?;
    let zone = app.config.me.time_zone;
    screen.print_json_or(&rows, |screen| {
        if rows.is_empty() {
            return screen.print_line("There is nothing to undo.");
        }
        let line = |entry: &crate::model::JournalRow| {
            vec![
                Cell::new(format_timestamp(entry.done_at, zone)),
                Cell::new(&entry.row.action.tool),
                cell(&localise_times(&entry.row.result, zone), 60),
                Cell::new(entry.row.action.action_id),
            ]
        };
        let columns = [
            Column::text("when", 10),
            Column::fixed("what"),
            Column::text("result", 20).folding(2),
            Column::text("effect", 26).folding(1),
        ];
        screen.print_table(&columns, rows.iter().map(line).collect())?;
        screen.print_line("adjutant hitl undo EFFECT")
    })
}
