//! The section `[web]`: whether the page is served, where, and under which names.

use super::{home::Home, raw::RawWeb, secret};
use crate::model::Secret;

/// How the web page is served.
#[derive(Clone, Default)]
pub struct WebConfig {
    pub is_enabled: bool,
    /// The port on the loopback address; none for the usual one or the next free one.
    pub port: Option<u16>,
    /// The names under which a reverse proxy with TLS serves the page.
    pub allowed_hosts: Vec<String>,
    /// What a monitor must send to read the figures; none when there are no figures.
    pub metrics_token: Option<Secret>,
}

impl std::fmt::Debug for WebConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?} {:?}", self.is_enabled, self.port, self.allowed_hosts)
    }
}

/// The fewest characters of a token. Shorter ones can be guessed.
const SHORTEST_TOKEN: usize = 16;

pub(super) fn validate_web(raw: &RawWeb, home: &Home) -> Result<WebConfig, String> {
    let allowed_hosts = raw.allowed_hosts.iter().map(|host| validate_host(host)).collect::<Result<_, _>>()?;
    let metrics_token = secret::read("web.metrics_token", &raw.metrics_token, &raw.metrics_token_file, home)?;
    if metrics_token.as_ref().is_some_and(|token| {
        token.reveal().len() < SHORTEST_TOKEN || !token.reveal().bytes().all(|byte| byte.is_ascii_graphic())
    }) {
        return Err(format!(
            "web.metrics_token: expected at least {SHORTEST_TOKEN} letters, digits or signs, without blanks"
        ));
    }
    let port = (raw.port != 0).then_some(raw.port);
    Ok(WebConfig { is_enabled: raw.enabled, port, allowed_hosts, metrics_token })
}

/// Checks a name under which a reverse proxy serves the page. A pattern would let in names that nobody meant.
fn validate_host(host: &str) -> Result<String, String> {
    let host = host.trim().to_ascii_lowercase();
    let (name, port) = host.split_once(':').map_or((host.as_str(), None), |(name, port)| (name, Some(port)));
    let is_name = name
        .split('.')
        .all(|label| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if is_name && is_port {
        return Ok(host);
    }
    Err(format!("web.allowed_hosts has '{host}'; expected a name such as \"adjutant.example.org\", without https://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &RawWeb) -> Result<WebConfig, String> {
        validate_web(raw, &Home::at("/home/of/it".into()))
    }

    #[test]
    fn a_name_of_a_proxy_is_a_name_and_no_pattern() {
        for (host, is_accepted) in [
            ("adjutant.example.org", true),
            ("Adjutant.Example.org:8443", true),
            ("nas", true),
            ("https://adjutant.example.org", false),
            ("*.example.org", false),
            ("", false),
            ("a..b", false),
            ("a.b:port", false),
            ("a.b/c", false),
        ] {
            let checked = check(&RawWeb { allowed_hosts: vec![host.into()], ..RawWeb::default() });
            assert_eq!(checked.is_ok(), is_accepted, "{host}: {checked:?}");
        }
    }

    #[test]
    fn a_token_is_long_and_never_shown() {
        let with = |token: &str| check(&RawWeb { metrics_token: token.into(), ..RawWeb::default() });
        assert!(with("short").is_err());
        assert!(!format!("{:?}", with("0123456789abcdef").unwrap()).contains("abcdef"));
    }
}
