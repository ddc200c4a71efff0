//! Another wording of an action that waits. It is a new action, which is judged again and needs its own approval.

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::meeting;
use crate::{
    app::{ApprovalUseCases, NotFound},
    approval,
    model::{
        AccountMode, Action, ActionEdit, ActionId, Actor, Effect, Instant, ItemId, ItemRow, Mail, NewAction, OutboxRow,
        OutboxState, RiskClass,
        action::{Argument, ComposedMessage, Origin},
        nightly::CorrectionKind,
    },
    policy::{PolicyContext, PolicyVerdict as Judged, judge_action},
    store::Write,
    tool::{ToolError, edit_message},
};

/// Why a message takes the place of another, and what of it the person named.
pub(super) struct MessageReplacement<'a> {
    /// The arguments that the person supplied; all others come from where they came.
    pub(super) by_person: &'a [&'a str],
    pub(super) kind: CorrectionKind,
    /// The words of a response; empty for an edit.
    pub(super) words: &'a str,
    /// What was understood of the words, for the new item.
    pub(super) understood: Option<Value>,
}

impl ApprovalUseCases<'_> {
    /// Replaces the wording of a message. That makes a new action, which needs its own approval. Returns the new item.
    pub async fn edit_action(self, item_id: ItemId, subject: &str, text: &str) -> anyhow::Result<ItemId> {
        let edit = MessageReplacement {
            // The person now answers for subject and text; only the recipients still come from where they came.
            by_person: &["subject", Argument::TEXT],
            kind: CorrectionKind::Edit,
            words: "",
            understood: None,
        };
        let rewrite = |message: &ComposedMessage, _: ActionId, new: ActionId, now: Instant| {
            edit_message(message, &new.to_string(), subject, text, now)
        };
        self.replace_message(item_id, edit, rewrite).await
    }

    /// Replaces the message of an action by what `rewrite` makes of it, under the ids of the old action and of the new
    /// one. Returns the new item.
    pub(super) async fn replace_message(
        self,
        item_id: ItemId,
        replacement: MessageReplacement<'_>,
        rewrite: impl FnOnce(&ComposedMessage, ActionId, ActionId, Instant) -> Result<ComposedMessage, ToolError>,
    ) -> anyhow::Result<ItemId> {
        self.app.effects().load_policy().ensure_whole()?;
        let now = self.app.clock.now();
        let (item, row, mail) = self.load_item_with_action(item_id).await?;
        // A new generation gives the new action an id of its own, so that the old approval cannot be used for it.
        let generation = row.action.generation + 1;
        let mut action = row.action.clone();
        action.generation = generation;
        let task_id = action.task_id.context("the effect is for no task")?;
        let parts = [&task_id.to_string(), action.step.as_str(), &generation.to_string()];
        let created =
            self.app.store.read(move |reader| reader.tasks().get(task_id)).await?.context("the task is gone")?;
        action.action_id = ActionId::derive(created.task.created_at, &parts);
        let (Effect::Send { message, .. } | Effect::Draft { message }) = &mut action.effect else {
            bail!("only a message can be edited")
        };
        *message = rewrite(message, row.action.action_id, action.action_id, now)?;
        action.arguments.retain(|argument| !replacement.by_person.contains(&argument.name.as_str()));
        action.arguments.extend(replacement.by_person.iter().map(|name| Argument::new(name, Origin::Person)));
        let (action, class, reason) = self.evaluate_for_approval(action, mail.as_ref(), now)?;
        let policy = self.app.effects().load_policy();
        let output = meeting::planned_as_edited(&item, &action);
        let step_output = meeting::proposal_as_edited(&created.task, &action);
        let mut asked = approval::new_approval_item(&action, class, &reason, &output, mail.as_ref(), &policy, now)?;
        if let (Some(fields), Some(understood)) = (asked.body.as_object_mut(), replacement.understood) {
            fields.insert("response".into(), understood);
        }
        // The edited item takes the place of the old one, so the queue limits do not apply.
        asked.queue_limits = None;
        let new_id = asked.item_id;
        let sender = mail.map(|mail| mail.from.addr).unwrap_or_default();
        let new = NewAction { action, class, state: OutboxState::Parked, reason, sender };
        let edit = ActionEdit {
            item_id,
            action: Box::new(new),
            item: Box::new(asked),
            kind: replacement.kind,
            words: replacement.words.to_owned(),
            step_output,
            who: Actor::Person,
            at: now,
        };
        self.app.store.write(Write::EditAction(Box::new(edit))).await?;
        Ok(new_id)
    }

    /// Returns an item with its effect and its mail. Fails when the item is about no effect.
    pub(super) async fn load_item_with_action(
        self,
        item_id: ItemId,
    ) -> anyhow::Result<(ItemRow, OutboxRow, Option<Mail>)> {
        let found = self.app.store.read(move |reader| {
            let Some(item) = reader.approvals().item(item_id)? else { return Ok(None) };
            let Some(row) = item.action_id.map(|id| reader.outbox().get(id)).transpose()?.flatten() else {
                return Ok(None);
            };
            let mail = item.mail_id.map(|id| reader.mails().get(id)).transpose()?.flatten();
            Ok(Some((item, row, mail)))
        });
        found.await?.ok_or_else(|| NotFound(format!("item {item_id} is about no effect")).into())
    }

    /// Judges an action under the policy in force, and binds the terms that a person would approve. It never results in
    /// an action that is carried out without approval.
    pub(super) fn evaluate_for_approval(
        self,
        action: Action,
        mail: Option<&Mail>,
        now: Instant,
    ) -> anyhow::Result<(Action, RiskClass, String)> {
        let policy = self.app.effects().load_policy();
        let situation = PolicyContext {
            mode: AccountMode::Active,
            mail,
            labels: &self.app.config.labels,
            is_phishing: false,
            own: &self.app.config.me.addresses,
            policy: &policy,
            approval: None,
            epoch: 0,
            restored_at: None,
            now,
        };
        // The old terms belong to the old judgement and must not influence the new one.
        let action = Action { terms: None, ..action };
        let (class, reason) = match judge_action(action.clone(), &situation) {
            Judged::NeedsApproval { class, reason } => (class, reason),
            // Even if the allow-list permits the action: a person who edited it is shown the result.
            Judged::Allowed(approved) => (approved.class(), "you edited it".to_owned()),
            Judged::Withheld { reason, .. } | Judged::Denied { reason } => bail!("it is not allowed: {reason}"),
        };
        Ok((approval::bind_approval_terms(action, &policy, now, "again"), class, reason))
    }
}
