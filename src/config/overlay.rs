//! The environment over the file: `ADJUTANT_SECTION_KEY=value` replaces a key of `adjutant.toml`, and
//! `ADJUTANT_ACCOUNT_NAME_KEY=value` a key of the account with that name.

/// Variables of the program that are not keys of the file.
const NOT_KEYS: &[&str] = &["ADJUTANT_HOME", "ADJUTANT_LOG"];
/// The sections whose keys can be given as variables.
const SECTIONS: &[&str] = &["me", "mail", "reading", "engine", "memory", "llm", "mcp", "planner", "web"];
/// The keys of an account, each before one that it ends with. An account is named by the variable, so that it has no
/// key `name`.
const ACCOUNT_KEYS: &[&str] = &[
    "kind",
    "path",
    "address",
    "trusted_servers",
    "sendmail_patience",
    "sendmail",
    "never_touch",
    "labels",
    "since",
    "client_file",
    "calendar",
    "push",
    "pubsub_api",
    "api",
];

/// Sets every key that a variable names. A name that is no key is found out when the table is parsed.
pub(super) fn apply(table: &mut toml::Table, vars: impl Iterator<Item = (String, String)>) {
    for (name, text) in vars {
        let Some(key) = name.strip_prefix("ADJUTANT_").filter(|_| !NOT_KEYS.contains(&name.as_str())) else { continue };
        let key = key.to_lowercase();
        if apply_to_account(table, &key, &text).is_some() {
            continue;
        }
        let section =
            SECTIONS.iter().find_map(|section| Some((*section, key.strip_prefix(section)?.strip_prefix('_')?)));
        match section {
            Some((section, key)) => {
                let inner = table.entry(section).or_insert_with(|| toml::Table::new().into());
                if let Some(inner) = inner.as_table_mut() {
                    // The key of a server is text, also when it looks like a number.
                    let value = if key.ends_with("key") || key.ends_with("token") {
                        toml::Value::String(text)
                    } else {
                        parse_value(&text)
                    };
                    inner.insert(key.to_owned(), value);
                }
            }
            None => {
                table.insert(key, parse_value(&text));
            }
        }
    }
}

/// Sets a key of an account, which is added if the file does not have it. Returns none for what is no such key.
fn apply_to_account(table: &mut toml::Table, key: &str, text: &str) -> Option<()> {
    let rest = key.strip_prefix("account_")?;
    let (name, key) = ACCOUNT_KEYS.iter().find_map(|key| Some((rest.strip_suffix(key)?.strip_suffix('_')?, *key)))?;
    let accounts = table.entry("account").or_insert_with(|| toml::Value::Array(Vec::new())).as_array_mut()?;
    // A variable has neither small letters nor - and . in its name.
    let as_variable = |name: &str| name.to_lowercase().replace(['-', '.'], "_");
    let is_meant = |account: &toml::Value| {
        account.get("name").and_then(toml::Value::as_str).is_some_and(|known| as_variable(known) == name)
    };
    let place = accounts.iter().position(is_meant).unwrap_or_else(|| {
        let account = toml::Table::from_iter([("name".to_owned(), toml::Value::String(name.to_owned()))]);
        accounts.push(account.into());
        accounts.len() - 1
    });
    accounts.get_mut(place)?.as_table_mut()?.insert(key.to_owned(), parse_value(text));
    Some(())
}

/// Returns a number, list or flag as the file would hold it; anything else is a text.
fn parse_value(text: &str) -> toml::Value {
    let parsed = format!("value = {text}").parse::<toml::Table>().ok();
    parsed.and_then(|mut table| table.remove("value")).unwrap_or_else(|| toml::Value::String(text.to_owned()))
}
