//! The files of the approval queue, and the expiry of items.

use chrono::Duration;

use crate::{
    app::{ApprovalUseCases, BadInput, DecisionInput, NotFound},
    hitl::{DecisionFile, Queue, QueueReport},
    model::{DecisionChannel, DecisionKind, ItemRow},
    store::{StoreError, Write},
};

/// How long before its expiry an item is announced.
const BEFORE_EXPIRY: Duration = Duration::hours(12);

impl ApprovalUseCases<'_> {
    /// Brings the queue's files and the database into agreement, and acts on the decision files that were dropped
    /// there. A decision that can never be accepted is moved to quarantine with the reason.
    pub async fn reconcile_queue(self) -> anyhow::Result<QueueReport> {
        let queue = Queue::at(self.app.home.queue());
        let now = self.app.clock.now();
        let looked = queue.reconcile(&self.app.store, now).await?;
        for dropped in &looked.decisions {
            match self.act_on_file(dropped).await {
                Ok(_) => queue.remove_decision(dropped)?,
                Err(error) if is_permanent_refusal(&error) => {
                    queue.quarantine_decision(dropped, &format!("{error:#}"), now)?
                }
                // A failure such as a full disk is no refusal: the file stays and is tried again.
                Err(error) => {
                    tracing::warn!(
                        error = format!("{error:#}"),
                        "a decision file could not be acted on yet and is kept"
                    );
                }
            }
        }
        if looked.decisions.is_empty() {
            return Ok(looked);
        }
        // The decisions changed the items, so the files are brought into agreement once more.
        let after = queue.reconcile(&self.app.store, now).await?;
        Ok(QueueReport { written: looked.written + after.written, removed: looked.removed + after.removed, ..looked })
    }

    /// Acts on one decision file. A response in words must be understood, like one that is typed.
    async fn act_on_file(self, dropped: &DecisionFile) -> anyhow::Result<()> {
        let said = decision_from_file(dropped);
        let item_id = dropped.item_id;
        let item = self.app.store.read(move |reader| reader.approvals().item(item_id)).await?;
        // What is answered to a question of an agent is for the agent to understand.
        if said.kind != DecisionKind::Respond || item.is_some_and(|item| item.asks_words()) {
            return self.record_decision(dropped.item_id, said, None).await.map(drop);
        }
        let planned = self.understand_or_refuse(&dropped.item_id.to_string(), &said.reason).await?;
        self.carry_out_response(planned, said).await.map(drop)
    }

    /// Expires overdue items. Returns those that expire within twelve hours and have not been announced yet.
    pub async fn expire_overdue(self) -> anyhow::Result<Vec<ItemRow>> {
        let now = self.app.clock.now();
        let due = self.app.store.read(move |reader| reader.approvals().unannounced_expiring_items(now)).await?;
        let expired = self.app.store.read(move |reader| reader.approvals().has_overdue_items(now)).await?;
        if expired || !due.is_empty() {
            self.app.store.write(Write::ExpireOverdueItems { at: now }).await?;
        }
        let soon = self
            .app
            .store
            .read(move |reader| reader.approvals().unannounced_expiring_items(now.plus(BEFORE_EXPIRY)))
            .await?;
        if !soon.is_empty() {
            let items = soon.iter().map(|item| item.item_id).collect();
            self.app.store.write(Write::MarkItemsReminded { items, at: now }).await?;
        }
        Ok(soon)
    }
}

/// Returns whether a decision would be refused whenever it is tried.
fn is_permanent_refusal(error: &anyhow::Error) -> bool {
    let refused = matches!(error.downcast_ref(), Some(StoreError::Refused(_) | StoreError::NotFound(_)));
    refused || error.downcast_ref::<NotFound>().is_some() || error.downcast_ref::<BadInput>().is_some()
}

/// Returns the decision of a file that was dropped into the queue.
fn decision_from_file(dropped: &DecisionFile) -> DecisionInput {
    DecisionInput {
        kind: dropped.kind,
        reason: dropped.reason.clone(),
        channel: DecisionChannel::File,
        seen_sha256: dropped.action_sha256.clone(),
        file_digest: Some(dropped.digest.clone()),
    }
}
