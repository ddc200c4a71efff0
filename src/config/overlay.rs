//! `ADJUTANT_SECTION_KEY=value` over the file.

/// These variables are not keys of the file.
const NOT_KEYS: &[&str] = &["ADJUTANT_HOME", "ADJUTANT_LOG"];
const SECTIONS: &[&str] = &["me", "mail", "engine", "memory", "llm"];

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
                    // A key is text, whatever it looks like.
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

/// A number, a list or a flag as in the file; anything else is a text.
fn parse_value(text: &str) -> toml::Value {
    let parsed = format!("value = {text}").parse::<toml::Table>().ok();
    parsed.and_then(|mut table| table.remove("value")).unwrap_or_else(|| toml::Value::String(text.to_owned()))
}
