//! The name under which a program that works for the person is recorded: in history, in the audit chain and as the
//! source of tasks.

use std::{fmt, str::FromStr};

/// The name of a client of the MCP server, with the interface before it: `mcp:claude-ai`.
///
/// A client names itself, so the name is no proof of anything. It has at most 32 small letters, digits, dots, dashes
/// and underscores, which are kept in place so that whoever acted can be copied like any other word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientName {
    /// ASCII, filled up with zeros.
    bytes: [u8; PREFIX.len() + LONGEST],
}

/// What every name begins with. No word of [`Actor`](super::Actor) does.
const PREFIX: &str = "mcp:";
/// The longest name, without the prefix.
const LONGEST: usize = 32;
/// The name of a client that gives none.
const UNNAMED: &str = "unnamed";

impl ClientName {
    /// Returns the name for what a client of the MCP server calls itself. Whatever is not allowed in a name becomes a
    /// dash.
    pub fn of_mcp_client(given: &str) -> Self {
        let mut name = String::with_capacity(LONGEST);
        for c in given.trim().chars().map(|c| c.to_ascii_lowercase()) {
            let c = if is_allowed(c) { c } else { '-' };
            if name.len() < LONGEST && !(c == '-' && (name.is_empty() || name.ends_with('-'))) {
                name.push(c);
            }
        }
        let name = name.trim_matches(['-', '.', '_']);
        Self::with_prefix(if name.is_empty() { UNNAMED } else { name })
    }

    fn with_prefix(name: &str) -> Self {
        let mut bytes = [0; PREFIX.len() + LONGEST];
        for (place, byte) in bytes.iter_mut().zip(PREFIX.bytes().chain(name.bytes())) {
            *place = byte;
        }
        Self { bytes }
    }

    pub fn as_str(&self) -> &str {
        let end = self.bytes.iter().position(|byte| *byte == 0).unwrap_or(self.bytes.len());
        self.bytes.get(..end).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or(PREFIX)
    }
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_')
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A stored text that is not the name of a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not the name of a client; expected such as mcp:claude-ai")]
pub struct BadClientName(String);

impl FromStr for ClientName {
    type Err = BadClientName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.strip_prefix(PREFIX).filter(|name| (1..=LONGEST).contains(&name.len()));
        let name = name.filter(|name| name.chars().all(is_allowed) && name.starts_with(|c: char| c.is_alphanumeric()));
        name.map(Self::with_prefix).ok_or_else(|| BadClientName(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_client_calls_itself_becomes_a_name_that_reads_back() {
        for (given, expected) in [
            ("claude-ai", "mcp:claude-ai"),
            ("Visual Studio Code", "mcp:visual-studio-code"),
            ("  inspector-cli ", "mcp:inspector-cli"),
            ("person", "mcp:person"),
            ("mcp:person", "mcp:mcp-person"),
            ("", "mcp:unnamed"),
            ("…\u{202e}", "mcp:unnamed"),
            ("'; DROP TABLE tasks; --", "mcp:drop-table-tasks"),
            ("_.hidden", "mcp:hidden"),
            ("עוזר", "mcp:unnamed"),
            ("a very long name of a client that never ends", "mcp:a-very-long-name-of-a-client-tha"),
        ] {
            let name = ClientName::of_mcp_client(given);
            assert_eq!(name.as_str(), expected, "{given}");
            assert_eq!(name.as_str().parse(), Ok(name), "{given}");
        }
    }

    #[test]
    fn nothing_else_reads_as_a_name() {
        for text in ["person", "mcp:", "mcp:A", "mcp: a", "mcp:-a", "chat:a", "mcp:a-very-long-name-of-a-client-that"] {
            assert!(text.parse::<ClientName>().is_err(), "{text}");
        }
    }
}
