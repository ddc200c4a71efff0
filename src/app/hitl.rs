//! What waits for a person, and their word on it.

use serde::Serialize;

use super::{App, NotFound};
use crate::{
    model::RunId,
    store::{
        Receipt, Write,
        value::{Decision, ItemRow, LedgerRow, OutboxRow, TaskRow, Verdict},
    },
};

#[derive(Debug, Serialize)]
pub struct ItemDetail {
    #[serde(flatten)]
    pub item: ItemRow,
    pub task: Option<TaskRow>,
    pub mail: Option<LedgerRow>,
    pub action: Option<OutboxRow>,
}

impl App {
    pub async fn items(&self) -> anyhow::Result<Vec<ItemRow>> {
        Ok(self.store.read(|reader| reader.open_items()).await?)
    }

    pub async fn item_detail(&self, reference: &str) -> anyhow::Result<ItemDetail> {
        let id = self.item_named(reference).await?;
        let found = self.store.read(move |reader| {
            let Some(item) = reader.item(id)? else { return Ok(None) };
            Ok(Some(ItemDetail {
                task: item.task_id.map(|task_id| reader.task(task_id)).transpose()?.flatten(),
                mail: item.mail_id.map(|mail_id| reader.ledger_entry(mail_id)).transpose()?.flatten(),
                action: item.action_id.map(|action_id| reader.action(action_id)).transpose()?.flatten(),
                item,
            }))
        });
        found
            .await?
            .ok_or_else(|| NotFound(format!("there is no item '{reference}'; `adjutant hitl list` shows them")).into())
    }

    /// The runs that go on because of it; the daemon, or the next `once`, works them.
    pub async fn decide(&self, reference: &str, verdict: Verdict, reason: &str) -> anyhow::Result<Vec<RunId>> {
        let item_id = self.item_named(reference).await?;
        let decision =
            Decision { item_id, verdict, who: "person".into(), reason: reason.to_owned(), at: self.clock.now() };
        match self.store.write(Write::Decide(Box::new(decision))).await? {
            Receipt::Runs(runs) => Ok(runs),
            _ => Ok(Vec::new()),
        }
    }
}
