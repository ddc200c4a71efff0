//! Entering answers into `adjutant.toml` without losing anything that a person wrote there.
//!
//! Only the value of a key is replaced, or a line is added. The edited text is parsed again and must differ from the old
//! one in exactly the intended keys; otherwise nothing is written.

use std::ops::Range;

use toml::{
    Spanned, Table, Value,
    de::{DeTable, DeValue},
};

/// A text that cannot be edited by the program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigEditError {
    /// The text is no TOML, in the words of the parser.
    #[error("{0}")]
    Broken(String),
    /// The key is written in a form that the program does not edit.
    #[error("{key} cannot be entered into this file; enter it yourself: {key} = {value}")]
    Unusual { key: String, value: String },
}

/// Sets a key of a section. An existing value is replaced; else the line of the key that is commented out; else a line
/// is added to the section.
pub(super) fn set_key(text: &str, section: &str, key: &str, value: &Value) -> Result<String, ConfigEditError> {
    let mut wanted = parse(text)?;
    let inner = wanted.entry(section).or_insert_with(|| Table::new().into());
    let unusual = || ConfigEditError::Unusual { key: format!("{section}.{key}"), value: value.to_string() };
    inner.as_table_mut().ok_or_else(unusual)?.insert(key.to_owned(), value.clone());
    let edited = match find_value(text, section, key) {
        Some(range) => replace_range(text, range, &value.to_string()),
        None => add_line(text, section, key, value),
    };
    check_edit(edited, &wanted, unusual)
}

/// Adds an account at the end of the text.
pub(super) fn add_account(text: &str, name: &str, path: &str) -> Result<String, ConfigEditError> {
    let mut wanted = parse(text)?;
    let account =
        Table::from_iter([("name", name), ("path", path)].map(|(key, text)| (key.to_owned(), Value::from(text))));
    let accounts = wanted.entry("account").or_insert_with(|| Value::Array(Vec::new()));
    let unusual = || ConfigEditError::Unusual { key: "account".to_owned(), value: account.to_string() };
    accounts.as_array_mut().ok_or_else(unusual)?.push(account.clone().into());
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let (name, path) = (Value::from(name), Value::from(path));
    check_edit(format!("{text}{gap}\n[[account]]\nname = {name}\npath = {path}\n"), &wanted, unusual)
}

fn parse(text: &str) -> Result<Table, ConfigEditError> {
    text.parse().map_err(|error: toml::de::Error| ConfigEditError::Broken(error.to_string()))
}

/// Returns the edited text if it says exactly what was wanted.
fn check_edit(
    edited: String,
    wanted: &Table,
    unusual: impl Fn() -> ConfigEditError,
) -> Result<String, ConfigEditError> {
    match edited.parse::<Table>() {
        Ok(table) if table == *wanted => Ok(edited),
        _ => Err(unusual()),
    }
}

/// Returns where the value of a key stands.
fn find_value(text: &str, section: &str, key: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let section = find_key(document.get_ref(), section)?;
    let DeValue::Table(inner) = section.get_ref() else { return None };
    Some(find_key(inner, key)?.span())
}

fn find_key<'t, 'i>(table: &'t DeTable<'i>, name: &str) -> Option<&'t Spanned<DeValue<'i>>> {
    table.iter().find(|(known, _)| known.get_ref().as_ref() == name).map(|(_, value)| value)
}

fn replace_range(text: &str, range: Range<usize>, by: &str) -> String {
    let (before, after) = (text.get(..range.start).unwrap_or_default(), text.get(range.end..).unwrap_or_default());
    format!("{before}{by}{after}")
}

/// Adds the key to its section: in place of the line where it is commented out, else as the first line.
fn add_line(text: &str, section: &str, key: &str, value: &Value) -> String {
    let head = format!("[{section}]");
    let line = format!("{key} = {value}");
    let Some(place) = text.lines().position(|line| line.trim() == head) else {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return format!("{text}{gap}\n{head}\n{line}\n");
    };
    let is_commented = |line: &str| {
        let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
        rest.and_then(|rest| rest.strip_prefix(key)).is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let in_section = text.lines().enumerate().skip(place + 1).take_while(|(_, line)| !line.trim().starts_with('['));
    let commented = in_section.filter(|(_, line)| is_commented(line)).map(|(index, _)| index).next();
    let mut edited = String::with_capacity(text.len() + line.len() + 1);
    for (index, old) in text.split_inclusive('\n').enumerate() {
        let ending = if old.ends_with("\r\n") { "\r\n" } else { "\n" };
        if Some(index) == commented {
            edited.push_str(&format!("{line}{ending}"));
            continue;
        }
        edited.push_str(old);
        if index == place && commented.is_none() {
            if !old.ends_with('\n') {
                edited.push('\n');
            }
            edited.push_str(&format!("{line}{ending}"));
        }
    }
    edited
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TEMPLATE;

    fn names(text: &str) -> Result<String, ConfigEditError> {
        set_key(text, "me", "names", &Value::Array(vec!["Dana \"D\" Levi".into()]))
    }

    #[test]
    fn only_the_line_of_the_key_changes() {
        for (text, expected) in [
            ("", "\n[me]\nnames = ['Dana \"D\" Levi']\n"),
            ("[me]", "[me]\nnames = ['Dana \"D\" Levi']\n"),
            (
                "# mine\n[me]\n# why\n# names = []\nx = 1 # one\n",
                "# mine\n[me]\n# why\nnames = ['Dana \"D\" Levi']\nx = 1 # one\n",
            ),
            ("[me]\nnames = [ # first\n \"A\",\n] # last\n[b]\n", "[me]\nnames = ['Dana \"D\" Levi'] # last\n[b]\n"),
            ("[me]\r\nx = 1\r\n", "[me]\r\nnames = ['Dana \"D\" Levi']\r\nx = 1\r\n"),
            ("me.names = []\n", "me.names = ['Dana \"D\" Levi']\n"),
            ("me = { names = [] } # inline\n", "me = { names = ['Dana \"D\" Levi'] } # inline\n"),
            ("[b]\n# names = []\n", "[b]\n# names = []\n\n[me]\nnames = ['Dana \"D\" Levi']\n"),
        ] {
            assert_eq!(names(text).as_deref(), Ok(expected), "{text}");
        }
        let edited = names(TEMPLATE).unwrap();
        let changed: Vec<_> = TEMPLATE.lines().zip(edited.lines()).filter(|(old, new)| old != new).collect();
        assert_eq!(changed, [("# names = []", "names = ['Dana \"D\" Levi']")]);
    }

    #[test]
    fn what_cannot_be_edited_is_refused_with_the_line_to_enter() {
        assert!(matches!(names("[me"), Err(ConfigEditError::Broken(_))));
        for text in ["me = 1\n", "me = {}\n", "me.x = 1\n"] {
            let error = names(text).unwrap_err().to_string();
            assert!(error.contains("me.names = ['Dana"), "{text}: {error}");
        }
    }

    #[test]
    fn an_account_is_added_after_everything() {
        let text = "[[account]]\nname = \"a\"\npath = \"x\" # the first";
        let edited = add_account(text, "b", "/home/you/Mail \"dir\"").unwrap();
        assert_eq!(edited, format!("{text}\n\n[[account]]\nname = \"b\"\npath = '/home/you/Mail \"dir\"'\n"));
        assert!(add_account("account = 3", "b", "y").is_err());
    }
}
