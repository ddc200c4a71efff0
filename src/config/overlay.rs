//! The environment over the file: `ADJUTANT_SECTION_KEY=value` replaces a key of `adjutant.toml`.

/// Variables of the program that are not keys of the file.
const NOT_KEYS: &[&str] = &["ADJUTANT_HOME", "ADJUTANT_LOG"];
/// The sections whose keys can be given as variables. Accounts cannot.
const SECTIONS: &[&str] = &["me", "mail", "engine", "memory", "llm"];

/// Sets every key that a variable names. A name that is no key is found out when the table is parsed.
pub(super) fn apply(table: &mut toml::Table, vars: impl Iterator<Item = (String, String)>) {
    for (name, text) in vars {
        let Some(key) = name.strip_prefix("ADJUTANT_").filter(|_| !NOT_KEYS.contains(&name.as_str())) else { continue };
        let key = key.to_lowercase();
        let section =
            SECTIONS.iter().find_map(|section| Some((*section, key.strip_prefix(section)?.strip_prefix('_')?)));
        match section {
            Some((section, key)) => {
                let inner = table.entry(section).or_insert_with(|| toml::Table::new().into());
                if let Some(inner) = inner.as_table_mut() {
                    // The key of a server is text, also when it looks like a number.
                    let value = if key.ends_with("key") { toml::Value::String(text) } else { parse_value(&text) };
                    inner.insert(key.to_owned(), value);
                }
            }
            None => {
                table.insert(key, parse_value(&text));
            }
        }
    }
}

/// Returns a number, list or flag as the file would hold it; anything else is a text.
fn parse_value(text: &str) -> toml::Value {
    let parsed = format!("value = {text}").parse::<toml::Table>().ok();
    parsed.and_then(|mut table| table.remove("value")).unwrap_or_else(|| toml::Value::String(text.to_owned()))
}
