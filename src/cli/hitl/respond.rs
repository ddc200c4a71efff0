//! `hitl respond`: a person's answer in words. What was understood is printed first; what was not opens the text in the
//! editor.

use super::{
    super::{UsageError, description::format_date_time, printer::Printer},
    command::{ResponseOutcome, edit_in_editor, report},
    print_item,
    terminal::is_interactive,
};
use crate::{
    app::{App, DecisionInput, ItemDetail, PlannedResponse},
    model::{DecisionKind, ItemId},
};

/// Whether the person is asked if it was understood rightly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Confirmation {
    /// At a terminal.
    Ask,
    /// The person did not want to be asked.
    Given,
    /// Nothing is to be done.
    DryRun,
}

impl Confirmation {
    pub(super) const fn new(dry_run: bool, yes: bool) -> Self {
        match (dry_run, yes) {
            (true, _) => Self::DryRun,
            (false, true) => Self::Given,
            (false, false) => Self::Ask,
        }
    }
}

/// The JSON form of a response that was understood and not carried out.
#[derive(serde::Serialize)]
struct Understood<'a> {
    #[serde(flatten)]
    planned: &'a PlannedResponse,
    done: bool,
}

/// Carries out what the words ask for, once the person has seen what was understood.
pub(super) async fn execute(
    app: &App,
    screen: Printer,
    item: &str,
    words: &str,
    confirmation: Confirmation,
) -> anyhow::Result<()> {
    let at_terminal = is_interactive() && !screen.is_json;
    let detail = app.approvals().detail(item).await?;
    if detail.item.asks_words() {
        if confirmation == Confirmation::DryRun {
            return Ok(screen.print_line("This would answer the question. Nothing was changed.")?);
        }
        return super::command::decide(app, screen, item, DecisionKind::Respond, words).await;
    }
    let Some(planned) = app.approvals().understand_response(item, words).await? else {
        if !at_terminal || confirmation == Confirmation::DryRun {
            // The refusal says what is understood, and how to write the text oneself.
            return app.approvals().answer(item, DecisionKind::Respond, words).await.map(drop);
        }
        screen.print_line("This is not understood, so the text opens in your editor.")?;
        return edit_in_editor(app, screen, item, Some(words)).await;
    };
    if confirmation == Confirmation::DryRun {
        return screen.print_json_or(&Understood { planned: &planned, done: false }, |screen| {
            print_understood(screen, &planned)?;
            screen.print_line("Nothing was changed.")
        });
    }
    if !screen.is_json {
        print_understood(screen, &planned)?;
    }
    if at_terminal && confirmation == Confirmation::Ask && !ask(screen)? {
        return Ok(screen.print_line("Nothing was changed.")?);
    }
    carry_out(app, screen, planned).await
}

fn print_understood(screen: Printer, planned: &PlannedResponse) -> std::io::Result<()> {
    let mut lines = planned.understood.iter();
    lines.try_for_each(|line| screen.print_line(&format!("Understood: {line}.")))
}

fn ask(screen: Printer) -> anyhow::Result<bool> {
    screen.print_line("Do this? (y/n)")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" | "j" | "ja" | "כן" => Ok(true),
        "" | "n" | "no" | "nein" | "לא" => Ok(false),
        other => Err(UsageError(format!("'{other}' is neither yes nor no; nothing was changed")).into()),
    }
}

/// Carries the response out, and prints what waits for the person now.
async fn carry_out(app: &App, screen: Printer, planned: PlannedResponse) -> anyhow::Result<()> {
    let before = app.approvals().detail(&planned.item_id.to_string()).await?;
    let (asks_again, understood) = (planned.asks_again(), planned.understood.clone());
    let sha256 = before.item.action_sha256.clone().unwrap_or_default();
    let said = DecisionInput::at_terminal(DecisionKind::Respond, &planned.words, &sha256);
    let id = app.approvals().carry_out_response(planned, said).await?;
    let mut outcome = ResponseOutcome { understood: Some(&understood), next: None };
    let after = app.approvals().detail(&id.to_string()).await?;
    if id != before.item.item_id {
        outcome.next = Some(after);
    } else if after.item.decision.is_none() {
        let until = after.item.snooze_until;
        return screen.print_json_or(&after, |screen| {
            let until = until.map_or_else(String::new, |until| format_date_time(until, app.config.me.time_zone));
            screen.print_line(&format!("Hidden until {until}."))
        });
    } else if asks_again {
        app.worker().try_finish_runs().await?;
        outcome.next = next_item(app, &before, id).await?;
    }
    report(app, screen, &[before.item.item_id], DecisionKind::Respond, &outcome).await?;
    match outcome.next.filter(|_| !screen.is_json) {
        Some(next) => {
            screen.print_line("")?;
            print_item(app, screen, &next)?;
            Ok(screen.print_line(&format!("\nadjutant hitl approve {}", next.item.number))?)
        }
        None => Ok(()),
    }
}

/// Returns the item in which the task shows its next attempt; none while a daemon is still at it.
async fn next_item(app: &App, before: &ItemDetail, answered: ItemId) -> anyhow::Result<Option<ItemDetail>> {
    let items = app.approvals().list().await?;
    let next = items.iter().find(|item| item.task_id == before.item.task_id && item.item_id != answered);
    match next {
        Some(item) => app.approvals().detail(&item.item_id.to_string()).await.map(Some),
        None => Ok(None),
    }
}
