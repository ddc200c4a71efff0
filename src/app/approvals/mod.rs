//! What waits for a person, and their word on it.

mod queue;

use anyhow::{Context as _, bail};
use chrono::Duration;
use serde::Serialize;

use crate::{
    app::{App, NotFound},
    config::AccountKind,
    hitl,
    model::{
        AccountId, AccountMode, Action, ActionEdit, ActionId, Actor, Decision, DecisionChannel, DecisionKind, Effect,
        Instant, ItemId, ItemKind, ItemRow, LedgerRow, Mail, NewAction, OutboxRow, ReevaluatedAction, RunId, TaskRow,
        action::{Argument, ComposedMessage, Origin, SendKind},
    },
    outbox::approval_request,
    policy::{
        EffectPolicy, PolicyContext, PolicyVerdict as Judged, judge_action,
        recipient::{self, Standing},
    },
    store::{Receipt, SkipUnreadable as _, StoreError, Write},
    tool::rewrite_message,
};

const LOST_EFFECT: &str = "what it would do is stored and cannot be read; `adjutant doctor` says more";

#[derive(Debug, Serialize)]
pub struct ItemDetail {
    #[serde(flatten)]
    pub item: ItemRow,
    #[serde(serialize_with = "hitl::with_named_digests")]
    pub task: Option<TaskRow>,
    pub mail: Option<LedgerRow>,
    #[serde(serialize_with = "hitl::with_named_digests")]
    pub action: Option<OutboxRow>,
    /// Who the message goes to, and what each is to the conversation.
    pub recipients: Vec<Recipient>,
    /// The text of the mail that caused it.
    pub cause: Option<String>,
    /// What a yes would do.
    pub on_yes: String,
    /// Why a yes would not count as it stands.
    pub obstacle: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recipient {
    pub address: String,
    pub standing: Option<Standing>,
    /// The receiving server vouched for them in this conversation.
    pub verified: bool,
    /// The person has written to them before.
    pub known: bool,
}

/// A word of a person, wherever it came in.
#[derive(Debug, Clone)]
pub struct DecisionInput {
    pub kind: DecisionKind,
    pub reason: String,
    pub channel: DecisionChannel,
    /// Of the action they saw.
    pub seen_sha256: String,
    pub file_digest: Option<String>,
}

impl DecisionInput {
    pub fn at_terminal(kind: DecisionKind, reason: &str, sha256: &str) -> Self {
        Self {
            kind,
            reason: reason.to_owned(),
            channel: DecisionChannel::Cli,
            seen_sha256: sha256.to_owned(),
            file_digest: None,
        }
    }
}

/// The use cases of the approval queue: what waits for a person, and their decisions.
#[derive(Clone, Copy)]
pub struct ApprovalUseCases<'a> {
    pub(super) app: &'a App,
}

impl ApprovalUseCases<'_> {
    /// Everything that waits and is not snoozed, the most urgent first.
    pub async fn list(self) -> anyhow::Result<Vec<ItemRow>> {
        let now = self.app.clock.now();
        let mut items = self.app.store.read(|reader| reader.approvals().open_items()).await?;
        items.retain(|item| item.snooze_until.is_none_or(|until| until <= now));
        Ok(items)
    }

    /// The same, and behind them what is snoozed.
    pub async fn list_with_snoozed(self) -> anyhow::Result<Vec<ItemRow>> {
        let now = self.app.clock.now();
        let mut items = self.app.store.read(|reader| reader.approvals().open_items()).await?;
        items.sort_by_key(|item| item.snooze_until.is_some_and(|until| until > now));
        Ok(items)
    }

    pub async fn detail(self, reference: &str) -> anyhow::Result<ItemDetail> {
        let id = self.find_id(reference).await?;
        let own = self.app.config.me.addresses.clone();
        let policy = self.app.effects().load_policy();
        let now = self.app.clock.now();
        let found = self.app.store.read(move |reader| {
            let Some(item) = reader.approvals().item(id)? else { return Ok(None) };
            let action =
                item.action_id.map(|action_id| reader.outbox().get(action_id).skip_unreadable()).transpose()?.flatten();
            let mail = item.mail_id.map(|mail_id| reader.mails().get(mail_id).skip_unreadable()).transpose()?.flatten();
            let message = action.as_ref().and_then(|row| row.action.effect.message());
            let mut recipients = Vec::new();
            for address in message.into_iter().flat_map(ComposedMessage::recipients) {
                recipients.push(Recipient {
                    address: address.addr.clone(),
                    standing: recipient::recipient_role(address, mail.as_ref(), &own),
                    verified: mail
                        .as_ref()
                        .is_some_and(|mail| mail.authentication.verified && mail.from.addr == address.addr),
                    known: reader.mails().is_contact(&item.account, &address.addr)?,
                });
            }
            let obstacle = match &action {
                Some(row) => obstacle(row, &policy, now),
                None => item.action_id.map(|_| LOST_EFFECT.to_owned()),
            };
            // The digest of exactly what is shown.
            let action_sha256 = match item.action_id {
                Some(_) => action.as_ref().map(|row| row.sha256.clone()),
                None => item.action_sha256.clone(),
            };
            let item = ItemRow { action_sha256, ..item };
            Ok(Some(ItemDetail {
                task: item.task_id.map(|task_id| reader.tasks().get(task_id).skip_unreadable()).transpose()?.flatten(),
                mail: item.mail_id.map(|mail_id| reader.ledger().get(mail_id).skip_unreadable()).transpose()?.flatten(),
                on_yes: String::new(),
                cause: mail.map(|mail| mail.text),
                obstacle,
                recipients,
                action,
                item,
            }))
        });
        let mut detail = found
            .await?
            .ok_or_else(|| NotFound(format!("there is no item '{reference}'; `adjutant hitl list` shows them")))?;
        detail.on_yes = match (&detail.action, detail.item.kind) {
            (Some(row), _) => {
                let account = self.app.config.accounts.iter().find(|account| account.name == row.action.account);
                describe_approval_effect(&row.action, account.map(|account| &account.kind))
            }
            (None, ItemKind::RuleProposal) => {
                "it is written into the learned part of rules/priority.yml; `adjutant rules rollback` takes it back"
                    .into()
            }
            (None, _) => String::new(),
        };
        Ok(detail)
    }

    /// A word at this terminal on the item of this number or id; a yes is for [`Self::approve`].
    pub async fn answer(self, reference: &str, verdict: DecisionKind, reason: &str) -> anyhow::Result<ItemId> {
        anyhow::ensure!(verdict != DecisionKind::Approve, "an approval names what was seen");
        let item_id = self.find_id(reference).await?;
        self.decide(item_id, DecisionInput::at_terminal(verdict, reason, "")).await?;
        Ok(item_id)
    }

    /// A yes at this terminal to exactly what was shown, and to nothing that became of it since.
    pub async fn approve(self, seen: &ItemRow) -> anyhow::Result<Vec<RunId>> {
        let sha256 = seen.action_sha256.as_deref().unwrap_or_default();
        self.decide(seen.item_id, DecisionInput::at_terminal(DecisionKind::Approve, "", sha256)).await
    }

    /// The runs that go on because of it; the daemon, or the next `once`, works them.
    pub async fn decide(self, item_id: ItemId, said: DecisionInput) -> anyhow::Result<Vec<RunId>> {
        let (kind, runs) = self.record_decision(item_id, said).await?;
        if kind == ItemKind::RuleProposal {
            self.app.rules().adopt_approved_proposals().await?;
        }
        Ok(runs)
    }

    /// Stores it and nothing more: what kind of item it was on, and the runs that go on.
    pub(in crate::app) async fn record_decision(
        self,
        item_id: ItemId,
        said: DecisionInput,
    ) -> anyhow::Result<(ItemKind, Vec<RunId>)> {
        let now = self.app.clock.now();
        let policy = self.app.effects().load_policy();
        let (item, epoch) =
            self.app.store.read(move |reader| Ok((reader.approvals().item(item_id)?, reader.audit().epoch()?))).await?;
        let item = item.ok_or_else(|| NotFound(format!("there is no item {item_id}")))?;
        if said.kind == DecisionKind::Approve
            && let Some(action_id) = item.action_id
        {
            policy.ensure_whole()?;
            let row = self
                .app
                .store
                .read(move |reader| reader.outbox().get(action_id))
                .await?
                .context("the effect is gone")?;
            self.ensure_account_acts(&row.action.account).await?;
            if row.action.terms.as_ref().is_some_and(|terms| terms.policy != policy.version) {
                self.reevaluate_action(&row).await?;
                return Err(StoreError::Refused("the policy has changed since it was asked; look at it again".into()))?;
            }
        }
        let grace = policy.approvals.grace_seconds;
        let decision = Decision {
            item_id,
            kind: said.kind,
            who: Actor::Person,
            reason: said.reason,
            at: now,
            channel: said.channel,
            sha256: said.seen_sha256,
            release_at: (grace > 0).then(|| now.plus(Duration::seconds(i64::from(grace)))),
            epoch,
            file_sha256: said.file_digest,
        };
        match self.app.store.write(Write::DecideItem(Box::new(decision))).await? {
            Receipt::Runs(runs) => Ok((item.kind, runs)),
            _ => Ok((item.kind, Vec::new())),
        }
    }

    /// Errs while an account only observes: what was approved then would be withheld, and never carried out.
    async fn ensure_account_acts(self, account: &AccountId) -> anyhow::Result<()> {
        let id = account.clone();
        let row =
            self.app.store.read(move |reader| reader.accounts().get(&id)).await?.context("the account is gone")?;
        if row.mode == AccountMode::Active {
            return Ok(());
        }
        let refused = format!(
            "nothing was approved: account {account} only observes, so nothing of it is carried out; turn it on first with \
             `adjutant mail mode {account} active`"
        );
        Err(StoreError::Refused(refused))?
    }

    /// Other words make another action, which is asked about in turn. The new item.
    pub async fn edit_action(self, item_id: ItemId, subject: &str, text: &str) -> anyhow::Result<ItemId> {
        self.app.effects().load_policy().ensure_whole()?;
        let now = self.app.clock.now();
        let (item, row, mail) = self.load_item_with_action(item_id).await?;
        let generation = row.action.generation + 1;
        let mut action = row.action.clone();
        action.generation = generation;
        let parts = [&action.task_id.to_string(), action.step.as_str(), &generation.to_string()];
        let created = self
            .app
            .store
            .read(move |reader| reader.tasks().get(row.action.task_id))
            .await?
            .context("the task is gone")?;
        action.action_id = ActionId::derive(created.task.created_at, &parts);
        let Effect::Send { message, .. } = &mut action.effect else { bail!("only a message can be edited") };
        *message = rewrite_message(message, &action.action_id.to_string(), subject, text, now)?;
        action.arguments.retain(|argument| argument.name == Argument::RECIPIENTS);
        action.arguments.push(Argument::new("subject", Origin::Person));
        action.arguments.push(Argument::new(Argument::TEXT, Origin::Person));
        let (action, class, reason) = self.evaluate_for_approval(action, mail.as_ref(), now)?;
        let policy = self.app.effects().load_policy();
        let output = item.body.get("planned").cloned().unwrap_or_default();
        let mut asked =
            approval_request::new_approval_item(&action, class, &reason, &output, mail.as_ref(), &policy, now)?;
        asked.queue_limits = None;
        let new_id = asked.item_id;
        let sender = mail.map(|mail| mail.from.addr).unwrap_or_default();
        let new = NewAction { action, class, state: crate::model::OutboxState::Parked, reason, sender };
        let edit = ActionEdit { item_id, action: Box::new(new), item: Box::new(asked), who: Actor::Person, at: now };
        self.app.store.write(Write::EditAction(Box::new(edit))).await?;
        Ok(new_id)
    }

    async fn load_item_with_action(self, item_id: ItemId) -> anyhow::Result<(ItemRow, OutboxRow, Option<Mail>)> {
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

    /// Judges an action anew, with the terms a person would agree to.
    fn evaluate_for_approval(
        self,
        action: Action,
        mail: Option<&Mail>,
        now: Instant,
    ) -> anyhow::Result<(Action, crate::model::RiskClass, String)> {
        let policy = self.app.effects().load_policy();
        let situation = PolicyContext {
            mode: crate::model::AccountMode::Active,
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
        let action = Action { terms: None, ..action };
        let (class, reason) = match judge_action(action.clone(), &situation) {
            Judged::NeedsApproval { class, reason } => (class, reason),
            // Allowed beforehand or not: what a person has edited, they are shown again.
            Judged::Allowed(approved) => (approved.class(), "you edited it".to_owned()),
            Judged::Withheld { reason, .. } | Judged::Denied { reason } => bail!("it is not allowed: {reason}"),
        };
        Ok((approval_request::bind_approval_terms(action, &policy, now, "again"), class, reason))
    }

    /// What a new policy makes of an action that waits.
    async fn reevaluate_action(self, row: &OutboxRow) -> anyhow::Result<()> {
        let now = self.app.clock.now();
        let mail_id = row.action.mail_id;
        let mail =
            self.app.store.read(move |reader| mail_id.map(|id| reader.mails().get(id)).transpose()).await?.flatten();
        let judged = match self.evaluate_for_approval(row.action.clone(), mail.as_ref(), now) {
            Ok((action, class, reason)) => {
                ReevaluatedAction { action: Box::new(action), class, denied: None, reason, at: now }
            }
            Err(error) => ReevaluatedAction {
                action: Box::new(row.action.clone()),
                class: row.class,
                denied: Some(error.to_string()),
                reason: String::new(),
                at: now,
            },
        };
        self.app.store.write(Write::ReevaluateAction(Box::new(judged))).await?;
        Ok(())
    }

    /// Asks anew about everything that was asked under another policy; how many.
    pub async fn reevaluate_parked_actions(self) -> anyhow::Result<usize> {
        let Ok(EffectPolicy { version, .. }) = self.app.effects().try_load_policy() else { return Ok(0) };
        let parked = self.app.store.read(|reader| reader.outbox().parked()).await?;
        let stale = |row: &&OutboxRow| row.action.terms.as_ref().is_some_and(|terms| terms.policy != version);
        let stale: Vec<&OutboxRow> = parked.iter().filter(stale).collect();
        for row in &stale {
            match self.reevaluate_action(row).await {
                // It waits as it is: an answer to it is refused, for its policy is not the one in force.
                Err(error) if is_unreadable(&error) => tracing::warn!("an action that waits could not be judged again"),
                outcome => outcome?,
            }
        }
        Ok(stale.len())
    }

    pub async fn snooze(self, item_id: ItemId, until: Option<Instant>) -> anyhow::Result<()> {
        self.app.store.write(Write::SnoozeItem { item_id, until, at: self.app.clock.now() }).await?;
        Ok(())
    }

    /// Takes an approval back while its grace runs.
    pub async fn revoke(self, item_id: ItemId) -> anyhow::Result<()> {
        self.app.store.write(Write::RevokeApproval { item_id, who: Actor::Person, at: self.app.clock.now() }).await?;
        Ok(())
    }
}

fn is_unreadable(error: &anyhow::Error) -> bool {
    error.downcast_ref::<StoreError>().is_some_and(StoreError::is_unreadable)
}

fn describe_approval_effect(action: &Action, account: Option<&AccountKind>) -> String {
    match &action.effect {
        Effect::Send { .. } if !account.is_some_and(AccountKind::transmits) => {
            "it is saved in Sent, not transmitted: the account has no transport (sendmail)".into()
        }
        Effect::Send { kind, message, .. } => {
            let to: Vec<&str> = message.recipients().map(|address| address.addr.as_str()).collect();
            let beside = match kind {
                SendKind::Invite if account.is_some_and(AccountKind::keeps_calendar) => {
                    ", and entered in your calendar"
                }
                SendKind::Answer if account.is_some_and(AccountKind::keeps_calendar) => {
                    ", and noted at that event in your calendar"
                }
                _ => "",
            };
            format!("it is sent to {}{beside}", to.join(", "))
        }
        Effect::Draft { .. } => "it is stored as a draft".into(),
        other => format!(
            "{} is done",
            serde_json::to_value(other).ok().and_then(|value| value.get("effect").cloned()).unwrap_or_default()
        ),
    }
}

/// What stands in the way of a plain yes.
fn obstacle(row: &OutboxRow, policy: &EffectPolicy, now: Instant) -> Option<String> {
    if row.action.effect.message().is_some_and(ComposedMessage::has_gap) {
        return Some("its text has a gap (…) that only you can fill; edit it first".into());
    }
    let terms = row.action.terms.as_ref()?;
    if terms.expires_at <= now {
        return Some("it has expired".into());
    }
    if policy.is_broken {
        return Some(EffectPolicy::BROKEN.into());
    }
    (terms.policy != policy.version).then(|| "the policy has changed; it is asked anew in a moment".into())
}

/// Kinds of items a plain yes is an answer to.
pub fn is_approvable(item: &ItemRow) -> bool {
    matches!(item.kind, ItemKind::Action | ItemKind::RuleProposal)
}
