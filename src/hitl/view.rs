//! The state behind one item, serialised.

use serde_json::json;

use crate::{
    model::{ItemId, ids::sha256_hex},
    store::{LeaveOut as _, Reader, Result},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub item_id: ItemId,
    pub text: String,
}

/// Before the digest of everything above it, the last thing in a file: tells what we once wrote from what others did.
const SEAL: &str = ",\n  \"view_sha256\": \"";

fn sealed(text: &str) -> String {
    let body = text.strip_suffix("\n}").unwrap_or(text);
    format!("{body}{SEAL}{}\"\n}}\n", sha256_hex(body.as_bytes()))
}

/// Exactly as some version of it was written.
pub(super) fn is_whole(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    text.rsplit_once(SEAL).is_some_and(|(body, seal)| seal == format!("{}\"\n}}\n", sha256_hex(body.as_bytes())))
}

/// Every item that waits, with its task, its effect and the run that parked, as the database has them.
pub(super) fn all(reader: &Reader<'_>) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for item in reader.open_items()? {
        let task = item.task_id.map(|id| reader.task(id).or_left_out()).transpose()?.flatten();
        let mail = item.mail_id.map(|id| reader.ledger_entry(id).or_left_out()).transpose()?.flatten();
        let action = item.action_id.map(|id| reader.action(id).or_left_out()).transpose()?.flatten();
        let run = item.run_id.map(|id| reader.run(id).or_left_out()).transpose()?.flatten();
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
        let text = sealed(&serde_json::to_string_pretty(&whole).unwrap_or_default());
        files.push(File { item_id: item.item_id, text });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_byte_breaks_the_seal() {
        let text = sealed("{\n  \"item\": \"x\",\n  \"schema\": 1\n}");
        assert!(is_whole(text.as_bytes()));
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(!is_whole(&bytes), "byte {at}");
        }
        assert!(!is_whole(b"") && !is_whole(b"{}\n"));
    }
}
