//! The file of an open item: everything that is known about it, as JSON, with a seal.

use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::{Value, json};

use crate::{
    model::{ItemId, ids::sha256_hex},
    store::{Result, SkipUnreadable as _, StoreReader},
};

/// The file of one open item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueFile {
    pub item_id: ItemId,
    pub text: String,
}

/// The start of the last field of a file, which holds the digest of everything above it. By it a file that the program
/// wrote earlier is told from one that somebody changed.
const SEAL: &str = ",\n  \"view_sha256\": \"";

/// Returns the JSON with the seal as its last field.
fn append_seal(text: &str) -> String {
    let body = text.strip_suffix("\n}").unwrap_or(text);
    format!("{body}{SEAL}{}\"\n}}\n", sha256_hex(body.as_bytes()))
}

/// Returns whether the bytes are exactly as some version of the item was written.
pub(super) fn has_valid_seal(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    text.rsplit_once(SEAL).is_some_and(|(body, seal)| seal == format!("{}\"\n}}\n", sha256_hex(body.as_bytes())))
}

/// The field with the digest that an approval must name.
const ACTION_DIGEST: &str = "action_sha256";

/// Leaves one digest that can be taken for the one to approve, at the top of the file. Those of attachments and of a
/// replaced draft get names that say what they are of, and the action's own is not repeated further down.
fn name_digests(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove(ACTION_DIGEST);
            if let Some(digest) = fields.remove("sha256") {
                let of =
                    if fields.contains_key("content_type") { "attachment_sha256" } else { "replaced_draft_sha256" };
                fields.insert(of.to_owned(), digest);
            }
            fields.values_mut().for_each(name_digests);
        }
        Value::Array(values) => values.iter_mut().for_each(name_digests),
        _ => {}
    }
}

/// Serialises a part of an item, with digests that cannot be taken for the one to approve.
pub fn with_named_digests<T: Serialize, S: Serializer>(
    part: &T,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let mut value = serde_json::to_value(part).map_err(S::Error::custom)?;
    name_digests(&mut value);
    value.serialize(serializer)
}

/// Returns the files of all open items, with task, mail, effect and run as the database has them. An unreadable row is
/// left out of its file and does not keep the item from being shown.
pub(super) fn render_open_items(reader: &StoreReader<'_>) -> Result<Vec<QueueFile>> {
    let mut files = Vec::new();
    for item in reader.approvals().open_items()? {
        let task = item.task_id.map(|id| reader.tasks().get(id).skip_unreadable()).transpose()?.flatten();
        let mail = item.mail_id.map(|id| reader.ledger().get(id).skip_unreadable()).transpose()?.flatten();
        let action = item.action_id.map(|id| reader.outbox().get(id).skip_unreadable()).transpose()?.flatten();
        let run = item.run_id.map(|id| reader.runs().get(id).skip_unreadable()).transpose()?.flatten();
        let state = run.as_ref().map(
            |record| json!({ "run": record.row, "arrival": record.initial_state, "checkpoints": record.checkpoints }),
        );
        let action_sha256 = match item.action_id {
            Some(_) => action.as_ref().map(|row| row.sha256.clone()),
            None => item.action_sha256.clone(),
        };
        let mut whole = json!({
            "schema": 1,
            "item_id": item.item_id,
            "number": item.number,
            "item": item,
            "task": task,
            "mail": mail,
            "action": action,
            "state": state,
        });
        name_digests(&mut whole);
        if let Some(fields) = whole.as_object_mut() {
            fields.insert(ACTION_DIGEST.into(), json!(action_sha256));
        }
        let text = append_seal(&format!("{whole:#}"));
        files.push(QueueFile { item_id: item.item_id, text });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_byte_breaks_the_seal() {
        let text = append_seal("{\n  \"item\": \"x\",\n  \"schema\": 1\n}");
        assert!(has_valid_seal(text.as_bytes()));
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(!has_valid_seal(&bytes), "byte {at}");
        }
        assert!(!has_valid_seal(b"") && !has_valid_seal(b"{}\n"));
    }
}
