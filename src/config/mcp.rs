//! The section `[mcp]`: what a client of the MCP server may read, and whether it is served over HTTP.

use std::net::SocketAddr;

use super::{home::Home, raw::RawMcp, secret};
use crate::model::Secret;

/// What the MCP server may show, and where it is reached.
#[derive(Debug, Clone, Default)]
pub struct McpConfig {
    /// Whether clients may read the text of mails. Without it they read subjects and objectives.
    pub mail_text: bool,
    /// Where it is served over HTTP; none when it is not.
    pub http: Option<McpHttpConfig>,
}

/// The MCP server over HTTP.
#[derive(Clone)]
pub struct McpHttpConfig {
    /// An address of this machine.
    pub address: SocketAddr,
    /// What a client must send; none when the program makes a token of its own.
    pub token: Option<Secret>,
}

impl std::fmt::Debug for McpHttpConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.address)
    }
}

/// The fewest characters of a token. Shorter ones can be guessed.
const SHORTEST_TOKEN: usize = 16;

pub(super) fn validate_mcp(raw: &RawMcp, home: &Home) -> Result<McpConfig, String> {
    let http = match raw.http.trim() {
        "" => None,
        given => Some(McpHttpConfig { address: parse_address(given)?, token: read_token(raw, home)? }),
    };
    Ok(McpConfig { mail_text: raw.mail_text, http })
}

/// Parses an address with a port. It must be one of this machine, because requests are not encrypted.
fn parse_address(given: &str) -> Result<SocketAddr, String> {
    let numeric = given.strip_prefix("localhost:").map_or_else(|| given.to_owned(), |port| format!("127.0.0.1:{port}"));
    let address = numeric.parse::<SocketAddr>().ok().filter(|address| address.ip().is_loopback());
    address.ok_or_else(|| {
        format!("mcp.http is '{given}'; expected an address of this machine with a port, such as \"127.0.0.1:7373\"")
    })
}

fn read_token(raw: &RawMcp, home: &Home) -> Result<Option<Secret>, String> {
    let token = secret::read("mcp.token", &raw.token, &raw.token_file, home)?;
    match token {
        Some(token)
            if token.reveal().len() < SHORTEST_TOKEN || !token.reveal().bytes().all(|b| b.is_ascii_graphic()) =>
        {
            Err(format!("mcp.token: expected at least {SHORTEST_TOKEN} letters, digits or signs, without blanks"))
        }
        token => Ok(token),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(http: &str, token: &str) -> Result<McpConfig, String> {
        let raw = RawMcp { http: http.into(), token: token.into(), ..RawMcp::default() };
        validate_mcp(&raw, &Home::at("/home/of/it".into()))
    }

    #[test]
    fn only_an_address_of_this_machine_is_served() {
        assert!(check("", "").unwrap().http.is_none());
        for given in ["127.0.0.1:7373", "localhost:7373", "[::1]:7373", "127.0.0.1:0"] {
            assert!(check(given, "").unwrap().http.unwrap().token.is_none(), "{given}");
        }
        for given in ["0.0.0.0:7373", "192.0.2.7:7373", "[::]:7373", "127.0.0.1", "7373", "adjutant.example:80"] {
            assert!(check(given, "").unwrap_err().contains("127.0.0.1:7373"), "{given}");
        }
    }

    #[test]
    fn a_token_is_long_and_never_shown() {
        for token in ["short", "has blanks in its middle"] {
            assert!(check("127.0.0.1:7373", token).is_err(), "{token}");
        }
        let config = check("127.0.0.1:7373", "0123456789abcdef").unwrap();
        assert!(!format!("{config:?}").contains("abcdef"));
    }
}
