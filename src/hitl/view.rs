//! The state behind one item, serialised.

use serde_json::json;

use crate::{
    model::ItemId,
    store::{Reader, Result},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub item_id: ItemId,
    pub text: String,
}

/// Every item that waits, with its task, its effect and the run that parked, as the database has them.
pub(super) fn all(reader: &Reader<'_>) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for item in reader.open_items()? {
        let task = item.task_id.map(|id| reader.task(id)).transpose()?.flatten();
        let mail = item.mail_id.map(|id| reader.ledger_entry(id)).transpose()?.flatten();
        let action = item.action_id.map(|id| reader.action(id)).transpose()?.flatten();
        let run = item.run_id.map(|id| reader.run(id)).transpose()?.flatten();
        let state = run
            .as_ref()
            .map(|record| json!({ "run": record.row, "arrival": record.arrival, "checkpoints": record.checkpoints }));
        let whole = json!({
            "schema": 1,
            "item_id": item.item_id,
            "action_sha256": action.as_ref().map(|row| row.sha256.clone()),
            "item": item,
            "task": task,
            "mail": mail,
            "action": action,
            "state": state,
        });
        let text = serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n";
        files.push(File { item_id: item.item_id, text });
    }
    Ok(files)
}
