//! Keys of servers. They come from a variable or from a file that only the person can read, never from `adjutant.toml`,
//! and are never sent unencrypted over a network.

use std::{os::unix::fs::PermissionsExt as _, path::Path};

use super::home::Home;
use crate::model::Secret;

/// The keys that `adjutant.toml` must not hold, because people read, copy and show that file.
const KEYS: [(&str, &str); 5] = [
    ("llm", "key"),
    ("memory", "qdrant_api_key"),
    ("memory", "embeddings_key"),
    ("mcp", "token"),
    ("web", "metrics_token"),
];

/// Returns an error if the configuration file holds a key.
pub(super) fn reject_keys_in_file(table: &toml::Table, file: &Path) -> Result<(), String> {
    let held = |section: &str, key: &str| {
        let value = table.get(section).and_then(toml::Value::as_table).and_then(|section| section.get(key));
        value.is_some_and(|value| value.as_str() != Some(""))
    };
    match KEYS.iter().find(|(section, key)| held(section, key)) {
        None => Ok(()),
        Some((section, key)) => Err(format!(
            "{section}.{key}: a key does not belong into {}; set the variable ADJUTANT_{}_{}, or {section}.{key}_file to a file of mode 600",
            file.display(),
            section.to_uppercase(),
            key.to_uppercase()
        )),
    }
}

/// Returns the key from the variable, or from a file that nobody else can read. `name` is the name of the key in
/// errors.
pub(super) fn read(name: &str, given: &str, file: &str, home: &Home) -> Result<Option<Secret>, String> {
    if !given.is_empty() {
        return Ok(Some(Secret::new(given.trim())));
    }
    if file.is_empty() {
        return Ok(None);
    }
    let path = home.root().join(file);
    let shown = path.display();
    let refuse = |error: std::io::Error| format!("{name}_file: {shown} cannot be read: {error}");
    let mode = std::fs::metadata(&path).map_err(refuse)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(format!("{name}_file: {shown} can be read by others; `chmod 600 {shown}` first"));
    }
    let text = crate::regular_file::read_to_string(&path).map_err(refuse)?;
    match text.trim() {
        "" => Err(format!("{name}_file: {shown} is empty")),
        text => Ok(Some(Secret::new(text))),
    }
}

/// Returns whether the host of an address, which may be followed by a port and a path, is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let name = host.split(['/', '?']).next().unwrap_or_default();
    let name = if name.starts_with('[') { name.split_inclusive(']').next() } else { name.split(':').next() };
    matches!(name, Some("127.0.0.1" | "localhost" | "[::1]"))
}
