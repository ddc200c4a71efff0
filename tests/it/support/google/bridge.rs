//! Translates between Google's API and the emulator, where the two differ.
//!
//! History ids of 21 digits, which do not fit into a `u64`, become small ones; base64 is padded; a multipart upload,
//! which the emulator would store as empty, becomes one JSON object; unusual headers are read from the message itself.

use serde_json::{Map, Value, json};

/// The offset that is subtracted from the emulator's history ids, so that they fit and keep their order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ids {
    offset: u128,
}

impl Ids {
    /// Creates the translation. The emulator's ids begin with the current milliseconds, so all of them are above that
    /// of a day ago.
    pub(super) fn from_now() -> Self {
        let day_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(86_400);
        let millis = day_ago.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap().as_millis();
        Self { offset: millis * 100_000_000 }
    }

    fn to_google(self, id: &str) -> String {
        id.parse::<u128>().map_or_else(|_| id.to_owned(), |id| id.saturating_sub(self.offset).max(1).to_string())
    }

    fn to_emulator(self, id: &str) -> String {
        id.parse::<u128>().map_or_else(|_| id.to_owned(), |id| (id + self.offset).to_string())
    }

    /// Returns the query of a request for the emulator.
    pub(super) fn query(self, query: &str) -> String {
        let bridged = query.split('&').map(|pair| match pair.split_once('=') {
            Some(("startHistoryId", id)) => format!("startHistoryId={}", self.to_emulator(id)),
            // The emulator knows only the usual headers, so the whole message is requested and its headers are read
            // here.
            Some(("format", "metadata")) => "format=raw".to_owned(),
            _ => pair.to_owned(),
        });
        bridged.collect::<Vec<_>>().join("&")
    }

    /// Translates an answer of the emulator into Google's form.
    pub(super) fn answer(self, path: &str, query: &str, answer: &mut Value) {
        if path.ends_with("/history") {
            for entry in answer["history"].as_array_mut().into_iter().flatten() {
                if let Some(id) = entry["id"].as_str().map(|id| self.to_google(id)) {
                    entry["id"] = Value::from(id);
                }
            }
        }
        if query.contains("format=metadata") {
            metadata(answer, &wanted_headers(query));
        }
        self.fields(answer);
    }

    /// Translates history ids and base64 at every depth.
    fn fields(self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.fields(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match (name.as_str(), value.as_str()) {
                        ("historyId", Some(id)) => *value = Value::from(self.to_google(id)),
                        ("raw" | "data", Some(text)) => *value = Value::from(padded(text)),
                        _ => self.fields(value),
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the headers that a request asks for, in lower case.
fn wanted_headers(query: &str) -> Vec<String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| *name == "metadataHeaders").map(|(_, value)| value.to_ascii_lowercase()).collect()
}

/// Replaces a message by its headers, as `format=metadata` returns it.
fn metadata(answer: &mut Value, wanted: &[String]) {
    if let Some(messages) = answer["messages"].as_array_mut() {
        return messages.iter_mut().for_each(|message| metadata(message, wanted));
    }
    let message = if answer["message"].is_object() { &mut answer["message"] } else { answer };
    let Some(raw) = message["raw"].as_str().map(decode) else { return };
    let text = String::from_utf8_lossy(&raw).replace("\r\n", "\n");
    let head = text.split("\n\n").next().unwrap_or_default().replace("\n ", " ").replace("\n\t", " ");
    let headers = head.lines().filter_map(|line| line.split_once(':'));
    let headers: Vec<Value> = headers
        .filter(|(name, _)| wanted.is_empty() || wanted.contains(&name.to_ascii_lowercase()))
        .map(|(name, value)| json!({ "name": name, "value": value.trim() }))
        .collect();
    let fields = message.as_object_mut().unwrap();
    fields.remove("raw");
    fields.insert("payload".into(), json!({ "headers": headers }));
}

/// Translates a multipart upload into the JSON object that the emulator accepts: the fields of the first part, and the
/// second part as `raw`.
pub(super) fn upload(path: &str, content_type: &str, body: &[u8]) -> Option<Value> {
    let boundary = content_type.split("boundary=").nth(1)?.trim_matches('"');
    let parts = split(body, format!("--{boundary}").as_bytes());
    let (fields, message) = (content(parts.get(1)?)?, content(parts.get(2)?)?);
    let mut fields: Map<String, Value> = serde_json::from_slice(fields).ok()?;
    let raw = Value::from(encode(message));
    if path.contains("/drafts") {
        let message = fields.entry("message").or_insert_with(|| json!({}));
        message["raw"] = raw;
    } else {
        fields.insert("raw".into(), raw);
    }
    Some(Value::Object(fields))
}

/// Returns what is between two boundaries, without its headers and the line break before the next boundary.
fn content(part: &[u8]) -> Option<&[u8]> {
    let start = part.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    part[start..].strip_suffix(b"\r\n")
}

fn split<'a>(body: &'a [u8], by: &[u8]) -> Vec<&'a [u8]> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while at + by.len() <= body.len() {
        if &body[at..at + by.len()] == by {
            parts.push(&body[start..at]);
            at += by.len();
            start = at;
        } else {
            at += 1;
        }
    }
    parts.push(&body[start..]);
    parts
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn padded(text: &str) -> String {
    let text = text.trim_end_matches('=');
    format!("{text}{}", "=".repeat((4 - text.len() % 4) % 4))
}

/// Encodes bytes as base64url, as Gmail writes messages.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for nth in 0..=chunk.len() {
            text.push(ALPHABET[(word >> (18 - 6 * nth)) as usize & 63].into());
        }
    }
    padded(&text)
}

pub(super) fn decode(text: &str) -> Vec<u8> {
    let (mut bytes, mut word, mut bits) = (Vec::new(), 0_u32, 0);
    for letter in text.trim_end_matches('=').bytes() {
        let letter = match letter {
            b'+' => b'-',
            b'/' => b'_',
            other => other,
        };
        let value = ALPHABET.iter().position(|known| *known == letter).expect("base64");
        word = word << 6 | u32::try_from(value).unwrap();
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits & 255) as u8);
        }
    }
    bytes
}
