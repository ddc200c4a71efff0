//! The decisions of the approval screen, and what the person is told after each.

use chrono_tz::Tz;

use super::{
    super::{batch, editor},
    ApprovalScreen, describe_ended_item,
};
use crate::{
    app::{DecisionInput, ItemDetail},
    cli::description::{describe_effect, format_date_time},
    model::{DecisionKind, ItemId, ItemKind, ItemState, OutboxState},
    wording::item::headline,
};

impl ApprovalScreen<'_> {
    /// Carries out the decision of a key, if the kind of the shown item has that key.
    pub(super) async fn decide_by_key(&mut self, letter: char) -> anyhow::Result<()> {
        let Some((kind, doubt, consent)) = self.detail.as_ref().map(|detail| {
            let doubt = detail.action.as_ref().is_some_and(|row| row.state == OutboxState::NeedsHuman);
            (detail.item.kind, doubt, detail.item.asks_consent())
        }) else {
            return Ok(());
        };
        let outcome = match (kind, letter) {
            (_, 'z') => self.snooze().await,
            (ItemKind::Action | ItemKind::RuleProposal, 'a') => self.approve().await,
            (ItemKind::Question, 'a') if consent => self.approve().await,
            (ItemKind::Question, 'r') => self.submit_decision(DecisionKind::Reject, "").await,
            (ItemKind::Question, 't') if !consent => self.answer_question().await,
            (ItemKind::Action, 'e') => self.edit(None).await,
            (ItemKind::Action | ItemKind::RuleProposal, 'r') => {
                self.decide_with_reason(DecisionKind::Reject, "Why not? (Enter: no reason, Esc: back) ").await
            }
            (ItemKind::Action, 't') => self.respond().await,
            (ItemKind::FailedStep, 'R') => self.submit_decision(DecisionKind::Retry, "").await,
            (ItemKind::FailedStep, 'S') => {
                self.decide_with_reason(DecisionKind::Skip, "Go on without it. Why? (Enter: no reason, Esc: back) ")
                    .await
            }
            (ItemKind::FailedStep, 'W') if doubt => self.submit_decision(DecisionKind::Sent, "").await,
            (ItemKind::Action | ItemKind::FailedStep, 'C') => {
                self.decide_with_reason(DecisionKind::Cancel, "Cancel the task. Why? (Enter: no reason, Esc: back) ")
                    .await
            }
            _ => {
                self.notice = format!("'{letter}' does nothing here; ? helps.");
                return Ok(());
            }
        };
        // A refused decision is shown and does not end the session.
        if let Err(error) = outcome {
            self.notice = format!("Not done: {error:#}");
            self.refresh_queue().await?;
        }
        Ok(())
    }

    /// Approves the shown item, if nothing stands in the way and its end was on the screen.
    async fn approve(&mut self) -> anyhow::Result<()> {
        let obstacle = self.detail.as_ref().and_then(|detail| detail.obstacle.clone());
        if let Some(obstacle) = obstacle {
            self.notice = format!("Not yet: {obstacle}.");
            return Ok(());
        }
        if !self.viewport.is_seen_to_end {
            self.notice = "There is more of it below: space shows it. Then a.".into();
            return Ok(());
        }
        self.submit_decision(DecisionKind::Approve, "").await
    }

    /// Asks for a reason, and decides unless the person goes back.
    async fn decide_with_reason(&mut self, verdict: DecisionKind, question: &str) -> anyhow::Result<()> {
        match self.prompt_line(question)? {
            Some(reason) => self.submit_decision(verdict, &reason).await,
            None => {
                self.notice = "Nothing was decided.".into();
                Ok(())
            }
        }
    }

    /// Asks for the answer to a question of an agent, and hands it on.
    async fn answer_question(&mut self) -> anyhow::Result<()> {
        match self.prompt_line("Your answer? (Esc: back) ")?.filter(|words| !words.trim().is_empty()) {
            Some(words) => self.submit_decision(DecisionKind::Respond, &words).await,
            None => {
                self.notice = "Nothing was decided.".into();
                Ok(())
            }
        }
    }

    /// Asks what to do instead, says what it understood, and does it if that is right. What is not understood opens the
    /// text in the editor.
    async fn respond(&mut self) -> anyhow::Result<()> {
        let words = self.prompt_line("What should it do instead? (Esc: back) ")?.filter(|words| !words.is_empty());
        let (Some(words), Some(detail)) = (words, self.detail.as_ref()) else {
            self.notice = "Nothing was decided.".into();
            return Ok(());
        };
        let (id, task) = (detail.item.item_id, detail.item.task_id);
        let sha256 = detail.item.action_sha256.clone().unwrap_or_default();
        let Some(planned) = self.app.approvals().understand_response(&id.to_string(), &words).await? else {
            return self.edit(Some(&words)).await;
        };
        self.notice = format!("Understood: {}.", planned.understood.join("; "));
        if self.prompt_line("Do this? (Enter: yes, Esc: back) ")?.is_none() {
            self.notice = "Nothing was decided.".into();
            return Ok(());
        }
        let asks_again = planned.asks_again();
        let said = DecisionInput::at_terminal(DecisionKind::Respond, &words, &sha256);
        let now_waits = self.app.approvals().carry_out_response(planned, said).await?;
        if now_waits != id {
            return self.show_changed_item(now_waits).await;
        }
        self.expected_task = task.filter(|_| asks_again);
        let after = self.app.approvals().detail(&id.to_string()).await?;
        let decided = after.item.decision;
        if let Some(verdict) = decided {
            self.note_decision(id, verdict);
        }
        self.app.worker().try_finish_runs().await?;
        let after = self.app.approvals().detail(&id.to_string()).await?;
        let zone = self.app.config.me.time_zone;
        self.notice = match (decided, after.item.snooze_until) {
            (Some(verdict), _) => describe_outcome(&after, verdict, zone),
            (None, Some(until)) => format!("Hidden until {}.", format_date_time(until, zone)),
            (None, None) => describe_ended_item(&after),
        };
        self.refresh_queue().await
    }

    /// Shows the item that took the place of the one on the screen.
    async fn show_changed_item(&mut self, new: ItemId) -> anyhow::Result<()> {
        self.refresh_queue().await?;
        if let Some(at) = self.queue.iter().position(|id| *id == new) {
            self.show_item_at(at).await?;
        }
        self.notice = "Changed: this is what would be sent now. Nothing is approved yet.".into();
        Ok(())
    }

    /// Decides the item on the screen, bound to the digest of what was drawn.
    async fn submit_decision(&mut self, verdict: DecisionKind, reason: &str) -> anyhow::Result<()> {
        let Some(detail) = self.detail.as_ref() else { return Ok(()) };
        let (id, task) = (detail.item.item_id, detail.item.task_id);
        let sha256 = detail.item.action_sha256.clone().unwrap_or_default();
        self.app.approvals().decide(id, DecisionInput::at_terminal(verdict, reason, &sha256)).await?;
        self.note_decision(id, verdict);
        if verdict == DecisionKind::Retry {
            self.expected_task = task;
        }
        self.app.worker().try_finish_runs().await?;
        let after = self.app.approvals().detail(&id.to_string()).await?;
        self.notice = describe_outcome(&after, verdict, self.app.config.me.time_zone);
        self.refresh_queue().await
    }

    /// Notes the decision for the summary at the end, and an approval for `u`.
    fn note_decision(&mut self, id: ItemId, verdict: DecisionKind) {
        self.decided.retain(|(other, _)| *other != id);
        self.decided.push((id, verdict));
        if verdict == DecisionKind::Approve {
            self.approved.push(id);
        }
    }

    /// Opens the message in an editor, with the words of a response that was not understood, and shows the new item that
    /// the edit makes.
    async fn edit(&mut self, words: Option<&str>) -> anyhow::Result<()> {
        let Some(detail) = self.detail.as_ref() else { return Ok(()) };
        let id = detail.item.item_id;
        let message = detail.action.as_ref().and_then(|row| row.action.effect.message()).cloned();
        let Some(message) = message else {
            self.notice = "There is no text to edit.".into();
            return Ok(());
        };
        self.terminal.leave_alternate_screen()?;
        let edited = tokio::task::block_in_place(|| editor::edit_in_editor(self.app, id, &message, words));
        self.terminal.enter_alternate_screen()?;
        let Some((subject, text)) = edited? else {
            self.notice = "Nothing was changed.".into();
            return Ok(());
        };
        let new = self.app.approvals().edit_action(id, &subject, &text).await?;
        self.show_changed_item(new).await
    }

    /// Asks until when, and hides the item. Says so when the item expires before that.
    async fn snooze(&mut self) -> anyhow::Result<()> {
        let until = self.prompt_line("Until when? (2h, 3d, tomorrow 9am; Esc: back) ")?.filter(|text| !text.is_empty());
        let (Some(until), Some(detail)) = (until, self.detail.as_ref()) else {
            self.notice = "Nothing was decided.".into();
            return Ok(());
        };
        let (id, zone) = (detail.item.item_id, self.app.config.me.time_zone);
        let at = self.app.tasks().parse_future_time(&until)?;
        let void = detail.item.expires_at.filter(|void| *void <= at);
        self.app.approvals().snooze(id, Some(at)).await?;
        self.notice = format!("Hidden until {}.", format_date_time(at, zone));
        if let Some(void) = void {
            self.notice.push_str(&format!(" It expires before that, at {}.", format_date_time(void, zone)));
        }
        self.refresh_queue().await
    }

    /// Revokes the newest approval of this session whose effect has not begun.
    pub(super) async fn undo(&mut self) -> anyhow::Result<()> {
        let Some(id) = self.approved.last().copied() else {
            self.notice = "There is no approval of this session whose grace still runs.".into();
            return Ok(());
        };
        if let Err(error) = self.app.approvals().revoke(id).await {
            self.notice = format!("Not done: {error:#}");
            return Ok(());
        }
        self.approved.retain(|other| *other != id);
        self.decided.retain(|(other, _)| *other != id);
        self.refresh_queue().await?;
        if let Some(at) = self.queue.iter().position(|other| *other == id) {
            self.show_item_at(at).await?;
        }
        self.notice = "Taken back: nothing was sent, and it waits for you again.".into();
        Ok(())
    }

    /// Approves several items, chosen by number, after a preview.
    pub(super) async fn approve_batch(&mut self) -> anyhow::Result<()> {
        let mut details = Vec::new();
        for id in &self.queue {
            details.push(self.app.approvals().detail(&id.to_string()).await?);
        }
        self.terminal.leave_alternate_screen()?;
        let chosen = tokio::task::block_in_place(|| batch::choose(self.app, &self.terminal, self.printer, &details));
        self.terminal.enter_alternate_screen()?;
        let chosen = chosen?;
        if chosen.is_empty() {
            self.notice = "Nothing was approved.".into();
            return Ok(());
        }
        let mut refused = Vec::new();
        for detail in &chosen {
            match self.app.approvals().approve(&detail.item).await {
                Ok(_) => self.note_decision(detail.item.item_id, DecisionKind::Approve),
                Err(error) => refused.push(format!("{error:#}")),
            }
        }
        self.app.worker().try_finish_runs().await?;
        self.notice = format!("{} approved; u takes back the last of them.", chosen.len() - refused.len());
        for why in refused {
            self.notice.push_str(&format!(" Not approved: {why}."));
        }
        self.refresh_queue().await
    }
}

/// Returns the notice after a decision.
fn describe_outcome(detail: &ItemDetail, verdict: DecisionKind, zone: Tz) -> String {
    let task = detail.task.as_ref().map_or_else(String::new, |task| format!("; the task is {}", task.task.status));
    match (verdict, &detail.action) {
        (DecisionKind::Approve, Some(row)) if row.state == OutboxState::Held => {
            format!("{}: {} (u).", headline(detail), describe_effect(row, zone))
        }
        (DecisionKind::Approve, Some(row)) => format!("{}: {}.", headline(detail), describe_effect(row, zone)),
        (DecisionKind::Approve, None) => format!("Agreed{task}."),
        (DecisionKind::Respond, None) => "Answered; the agent goes on with it.".into(),
        (DecisionKind::Reject, None) => format!("Declined{task}."),
        (DecisionKind::Reject, _) => format!("Rejected{task}, and the step is yours."),
        (DecisionKind::Respond, _) => "Passed on; its next attempt is shown as soon as it is ready.".into(),
        (DecisionKind::Retry, _) => format!("Tried again{task}."),
        (verdict, _) => format!("Decided: {verdict}{task}."),
    }
}

/// Returns one line about an item for the end of the session.
pub(in crate::cli::hitl) fn describe_final_state(detail: &ItemDetail, zone: Tz) -> String {
    match &detail.action {
        Some(row) if detail.item.decision == Some(DecisionKind::Approve) => {
            format!("{}: {}", headline(detail), describe_effect(row, zone))
        }
        _ if detail.item.state == ItemState::Open => format!("{}: waits for you", headline(detail)),
        _ => format!("{}: {}", headline(detail), describe_ended_item(detail)),
    }
}
