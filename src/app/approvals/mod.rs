//! The use cases of the approval queue: what waits for a person, and their decisions. What a decision means is in
//! [`crate::approval`]; this module reads what it depends on and stores the result. It carries out no effect: a
//! decision only opens a run.

mod edit;
mod known_people;
mod meeting;
mod queue;
mod response;

use anyhow::Context as _;
use chrono::Duration;
use serde::Serialize;

pub use response::PlannedResponse;

use crate::{
    app::{App, NotFound},
    config::AccountKind,
    hitl,
    model::{
        AccountId, AccountMode, Action, Actor, Decision, DecisionChannel, DecisionKind, Effect, Instant, ItemId,
        ItemKind, ItemRow, LedgerRow, OutboxRow, ReevaluatedAction, RunId, StepInstruction, TaskRow,
        action::{ComposedMessage, SendKind},
    },
    policy::{
        EffectPolicy,
        recipient::{self, Standing},
    },
    store::{Receipt, SkipUnreadable as _, StoreError, Write},
};

/// Why an item whose effect cannot be read cannot be approved.
const LOST_EFFECT: &str = "what it would do is stored and cannot be read; `adjutant doctor` says more";

/// Everything about one item of the queue.
#[derive(Debug, Serialize)]
pub struct ItemDetail {
    #[serde(flatten)]
    pub item: ItemRow,
    #[serde(serialize_with = "hitl::with_named_digests")]
    pub task: Option<TaskRow>,
    pub mail: Option<LedgerRow>,
    #[serde(serialize_with = "hitl::with_named_digests")]
    pub action: Option<OutboxRow>,
    /// The recipients of the message, with the role of each in the conversation.
    pub recipients: Vec<Recipient>,
    /// The text of the mail that caused the item.
    pub cause: Option<String>,
    /// What an approval would do.
    pub on_yes: String,
    /// Why an approval would be refused as things are; none when it would be accepted.
    pub obstacle: Option<String>,
}

/// A recipient of a message that waits for approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recipient {
    pub address: String,
    /// The recipient's role in the conversation; none for an address that has nothing to do with it.
    pub standing: Option<Standing>,
    /// Whether the receiving server verified a mail of this address in the conversation.
    pub verified: bool,
    /// Whether the person has written to this address before.
    pub known: bool,
}

/// A person's decision, from whichever interface it came.
#[derive(Debug, Clone)]
pub struct DecisionInput {
    pub kind: DecisionKind,
    pub reason: String,
    pub channel: DecisionChannel,
    /// The digest of the action that the person saw. An approval counts for nothing else.
    pub seen_sha256: String,
    /// The digest of the decision file, if the decision came as one.
    pub file_digest: Option<String>,
}

impl DecisionInput {
    /// Returns a decision made at a terminal.
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
    /// Returns the open items that are not snoozed, the most urgent first.
    pub async fn list(self) -> anyhow::Result<Vec<ItemRow>> {
        let now = self.app.clock.now();
        let mut items = self.app.store.read(|reader| reader.approvals().open_items()).await?;
        items.retain(|item| item.snooze_until.is_none_or(|until| until <= now));
        Ok(items)
    }

    /// Returns all open items; the snoozed ones come last.
    pub async fn list_with_snoozed(self) -> anyhow::Result<Vec<ItemRow>> {
        let now = self.app.clock.now();
        let mut items = self.app.store.read(|reader| reader.approvals().open_items()).await?;
        items.sort_by_key(|item| item.snooze_until.is_some_and(|until| until > now));
        Ok(items)
    }

    /// Returns how many open items are not snoozed.
    pub async fn count_waiting(self) -> anyhow::Result<u64> {
        let now = self.app.clock.now();
        Ok(self.app.store.read(move |reader| reader.approvals().count_waiting(now)).await?)
    }

    /// Returns the approved items whose effect has not begun yet, so that the approval can be taken back.
    pub async fn list_in_grace(self) -> anyhow::Result<Vec<ItemRow>> {
        Ok(self.app.store.read(|reader| reader.approvals().items_in_grace()).await?)
    }

    /// Returns everything about the item of this number or id. The digest in it belongs to exactly what is shown, so
    /// that an approval of it covers nothing else.
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
            // The digest is that of the effect as read here, not the one that the item was created with.
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
        // What an approval would do depends on the account's configuration, which the store does not have.
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
            (None, ItemKind::Question) if detail.item.asks_consent() => {
                "the team starts and works in the background".into()
            }
            (None, _) => String::new(),
        };
        Ok(detail)
    }

    /// Stores a decision made at a terminal, other than an approval, on the item of this number or id. An approval must
    /// name what was seen, so it has its own method, [`Self::approve`].
    pub async fn answer(self, reference: &str, verdict: DecisionKind, reason: &str) -> anyhow::Result<ItemId> {
        anyhow::ensure!(verdict != DecisionKind::Approve, "an approval names what was seen");
        if verdict == DecisionKind::Respond && !self.detail(reference).await?.item.asks_words() {
            let planned = self.understand_or_refuse(reference, reason).await?;
            return self.carry_out_response(planned, DecisionInput::at_terminal(verdict, reason, "")).await;
        }
        let item_id = self.find_id(reference).await?;
        self.decide(item_id, DecisionInput::at_terminal(verdict, reason, "")).await?;
        Ok(item_id)
    }

    /// Stores an approval of exactly what was shown. If the action has changed since, it is refused.
    pub async fn approve(self, seen: &ItemRow) -> anyhow::Result<Vec<RunId>> {
        let sha256 = seen.action_sha256.as_deref().unwrap_or_default();
        self.decide(seen.item_id, DecisionInput::at_terminal(DecisionKind::Approve, "", sha256)).await
    }

    /// Stores a decision, and adopts an approved proposal at once. Returns the runs that go on because of it; the
    /// daemon or the next `once` works on them.
    pub async fn decide(self, item_id: ItemId, said: DecisionInput) -> anyhow::Result<Vec<RunId>> {
        let (kind, runs) = self.record_decision(item_id, said, None).await?;
        if kind == ItemKind::RuleProposal {
            self.app.rules().adopt_approved_proposals().await?;
        }
        Ok(runs)
    }

    /// Stores a decision and does nothing more. Returns the kind of the item, and the runs that go on. An approval is
    /// refused when the account only observes, or when the policy has changed since the person was asked.
    pub(in crate::app) async fn record_decision(
        self,
        item_id: ItemId,
        said: DecisionInput,
        instruction: Option<StepInstruction>,
    ) -> anyhow::Result<(ItemKind, Vec<RunId>)> {
        let now = self.app.clock.now();
        let policy = self.app.effects().load_policy();
        let (item, epoch) =
            self.app.store.read(move |reader| Ok((reader.approvals().item(item_id)?, reader.audit().epoch()?))).await?;
        let item = item.ok_or_else(|| NotFound(format!("there is no item {item_id}")))?;
        if said.kind == DecisionKind::Approve
            && let Some(action_id) = item.action_id
        {
            // While the policy file is broken, nothing can be approved: nobody could say under which limits.
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
            instruction,
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

    /// Fails while an account only observes: an effect approved then would be withheld and never carried out.
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

    /// Judges a waiting action under the new policy, and stores the new terms or that it is denied.
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

    /// Judges every waiting action again that was judged under another policy. Returns their number.
    pub async fn reevaluate_parked_actions(self) -> anyhow::Result<usize> {
        let Ok(EffectPolicy { version, .. }) = self.app.effects().try_load_policy() else { return Ok(0) };
        let parked = self.app.store.read(|reader| reader.outbox().parked()).await?;
        let stale = |row: &&OutboxRow| row.action.terms.as_ref().is_some_and(|terms| terms.policy != version);
        let stale: Vec<&OutboxRow> = parked.iter().filter(stale).collect();
        for row in &stale {
            match self.reevaluate_action(row).await {
                // The action waits as it is. It cannot be approved, because its policy is not the one in force.
                Err(error) if is_unreadable(&error) => tracing::warn!("an action that waits could not be judged again"),
                outcome => outcome?,
            }
        }
        Ok(stale.len())
    }

    /// Hides an item until a time, or shows it again. It still expires at its time.
    pub async fn snooze(self, item_id: ItemId, until: Option<Instant>) -> anyhow::Result<()> {
        self.app.store.write(Write::SnoozeItem { item_id, until, at: self.app.clock.now() }).await?;
        Ok(())
    }

    /// Takes back an approval during its grace.
    pub async fn revoke(self, item_id: ItemId) -> anyhow::Result<()> {
        self.app.store.write(Write::RevokeApproval { item_id, who: Actor::Person, at: self.app.clock.now() }).await?;
        Ok(())
    }
}

/// Returns whether the error is a row that cannot be read as its type.
fn is_unreadable(error: &anyhow::Error) -> bool {
    error.downcast_ref::<StoreError>().is_some_and(StoreError::is_unreadable)
}

/// Returns, in words, what an approval would do. It says so when a message would only be saved and not transmitted.
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

/// Returns why an approval would be refused now; none when it would be accepted.
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
    (terms.policy != policy.version).then(|| "the policy has changed; you are asked again in a moment".into())
}

/// Returns whether the item can be approved; the other kinds need another answer.
pub fn is_approvable(item: &ItemRow) -> bool {
    matches!(item.kind, ItemKind::Action | ItemKind::RuleProposal) || item.asks_consent()
}
