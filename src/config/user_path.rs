//! `~` at the beginning of a path means the home of the user, as in a shell.

use std::path::Path;

/// The keys that hold paths, in whatever section.
const PATH_KEYS: [&str; 6] = ["state", "path", "client_file", "key_file", "qdrant_api_key_file", "embeddings_key_file"];

/// Replaces `~` at the beginning of every path of the configuration.
pub(super) fn expand(table: &mut toml::Table, user_home: &Path) {
    for (key, value) in table.iter_mut() {
        match value {
            toml::Value::Table(inner) => expand(inner, user_home),
            toml::Value::Array(values) => {
                let tables = values.iter_mut().filter_map(toml::Value::as_table_mut);
                tables.for_each(|inner| expand(inner, user_home));
            }
            toml::Value::String(text) if PATH_KEYS.contains(&key.as_str()) => {
                let rest = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
                if let Some(rest) = rest {
                    *text = format!("{}{rest}", user_home.display());
                }
            }
            _ => {}
        }
    }
}
