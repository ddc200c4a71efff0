//! Verifies the sender by what the receiving server recorded (RFC 8601).
//!
//! Only the topmost Authentication-Results counts, only from a server that the account trusts, and only where that
//! server can have written it (see `received`): everything below it could have been written by the sender. A doubt of
//! any kind makes the sender unverified, with the reason in words.

use super::{
    limits::FIELD_BYTES,
    mime::{Headers, is_address, is_sole_address},
    received::find_receiving_server_results,
};
use crate::model::mail::Authentication;

/// The receiving servers that an account trusts, by their authserv-id. Without any, no sender is verified.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedServers {
    pub servers: Vec<String>,
}

/// Decides whether the sender is verified, and says why. `from` holds every address of every From field.
pub(super) fn authenticate(
    headers: &Headers<'_>,
    from: &[crate::model::Address],
    trust: &TrustedServers,
) -> Authentication {
    match verify(headers, from, trust) {
        Ok(reason) => Authentication { verified: true, reason },
        Err(reason) => Authentication { verified: false, reason },
    }
}

/// Returns why the sender is verified; as an error, why not. Requires exactly one `dmarc=pass` for the domain of the
/// From address.
fn verify(headers: &Headers<'_>, from: &[crate::model::Address], trust: &TrustedServers) -> Result<String, String> {
    if trust.servers.is_empty() {
        return Err("no trusted server configured".into());
    }
    let value = find_receiving_server_results(headers, trust)?;
    let value = std::str::from_utf8(value).ok().filter(|value| value.len() <= FIELD_BYTES);
    let results = value.and_then(AuthResults::parse).ok_or("the topmost result is malformed")?;
    if !trust.servers.iter().any(|server| server.eq_ignore_ascii_case(&results.server)) {
        return Err(format!("topmost result is from {}, not trusted", results.server));
    }
    let domain = single_domain(headers, from)?;
    let mut dmarc = results.methods.iter().filter(|method| method.name == "dmarc");
    let result = dmarc.next().ok_or_else(|| format!("{} recorded no dmarc result", results.server))?;
    if dmarc.next().is_some() {
        return Err("more than one dmarc result".into());
    }
    if result.result != "pass" {
        return Err(format!("dmarc={}", result.result));
    }
    let claimed = result.header_from.as_deref().ok_or("dmarc=pass names no header.from")?;
    let claimed = claimed.rsplit('@').next().unwrap_or(claimed);
    if !is_aligned(&domain, claimed) {
        return Err(format!("dmarc=pass is for {claimed}, not for {domain}"));
    }
    Ok(format!("dmarc=pass for {claimed} by {}", results.server))
}

/// Returns the domain of the only From address. Several, or one that programs read differently, are an error.
fn single_domain(headers: &Headers<'_>, from: &[crate::model::Address]) -> Result<String, String> {
    match headers.all("From").count() {
        1 => {}
        0 => return Err("no From header".into()),
        count => return Err(format!("{count} From headers")),
    }
    let is_written = |address: &str| headers.first("From").is_some_and(|field| is_sole_address(field, address));
    match from {
        [one] if is_address(&one.addr) && is_written(&one.addr) => Ok(one.domain().trim_end_matches('.').to_owned()),
        [_] => Err("the From header holds no plain address".into()),
        [] => Err("the From header holds no address".into()),
        many => Err(format!("the From header holds {} addresses", many.len())),
    }
}

/// Returns whether the domain that the server checked is the From domain or an organisation above it, never one below
/// it.
fn is_aligned(domain: &str, claimed: &str) -> bool {
    let claimed = claimed.trim_end_matches('.').to_lowercase();
    let above = || claimed.contains('.') && domain.strip_suffix(claimed.as_str()).is_some_and(|sub| sub.ends_with('.'));
    !claimed.is_empty() && (domain == claimed || above())
}

/// A parsed Authentication-Results field.
struct AuthResults {
    server: String,
    methods: Vec<AuthMethod>,
}

/// One `method=result` in lower case, with the only property that is used.
struct AuthMethod {
    name: String,
    result: String,
    header_from: Option<String>,
}

impl AuthResults {
    fn parse(value: &str) -> Option<AuthResults> {
        let tokens = tokenise(value)?;
        let mut clauses = tokens.split(|token| *token == AuthResultsToken::Punctuation(';'));
        let server = match clauses.next()? {
            [AuthResultsToken::Word(server)] => server.clone(),
            [AuthResultsToken::Word(server), AuthResultsToken::Word(version)]
                if version.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                server.clone()
            }
            _ => return None,
        };
        let mut methods = Vec::new();
        for clause in clauses.filter(|clause| !clause.is_empty()) {
            if let [AuthResultsToken::Word(none)] = clause
                && none.eq_ignore_ascii_case("none")
            {
                continue;
            }
            methods.push(AuthMethod::parse(clause)?);
        }
        Some(AuthResults { server, methods })
    }
}

impl AuthMethod {
    /// Parses one clause; none when it is malformed or names `header.from` twice.
    fn parse(clause: &[AuthResultsToken]) -> Option<AuthMethod> {
        let mut pairs = parse_pairs(clause)?.into_iter();
        let (name, result) = pairs.next()?;
        let name = name.split('/').next().unwrap_or_default().trim().to_owned();
        let mut header_from = None;
        for (key, value) in pairs {
            if key == "header.from" && header_from.replace(value).is_some() {
                return None;
            }
        }
        Some(AuthMethod { name, result: result.to_lowercase(), header_from })
    }
}

/// Parses `key = value` groups; none for anything else. White space and comments were dropped before.
fn parse_pairs(clause: &[AuthResultsToken]) -> Option<Vec<(String, String)>> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut rest = clause;
    while !rest.is_empty() {
        let [
            AuthResultsToken::Word(key),
            AuthResultsToken::Punctuation('='),
            AuthResultsToken::Word(value),
            after @ ..,
        ] = rest
        else {
            return None;
        };
        pairs.push((key.to_lowercase(), value.clone()));
        rest = after;
    }
    Some(pairs)
}

/// A token of the field. `Punctuation` is `;` or `=`.
#[derive(Debug, PartialEq, Eq)]
enum AuthResultsToken {
    Word(String),
    Punctuation(char),
}

/// Splits a field into words, quoted strings, `;` and `=`, and drops comments. Returns none for unclosed quotes or
/// comments.
fn tokenise(value: &str) -> Option<Vec<AuthResultsToken>> {
    let mut tokens = Vec::new();
    let mut chars = value.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => {}
            '(' => skip_comment(&mut chars)?,
            ';' | '=' => tokens.push(AuthResultsToken::Punctuation(c)),
            '"' => tokens.push(AuthResultsToken::Word(read_quoted(&mut chars)?)),
            c => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| !(c.is_whitespace() || matches!(c, ';' | '=' | '(' | '"'))) {
                    word.push(c);
                }
                // Base64 in `header.b=abc=` is one value, so an `=` right after a value belongs to it.
                if matches!(tokens.last(), Some(AuthResultsToken::Punctuation('='))) {
                    while chars.next_if_eq(&'=').is_some() {
                        word.push('=');
                    }
                }
                tokens.push(AuthResultsToken::Word(word));
            }
        }
    }
    Some(tokens)
}

/// Skips the rest of a comment, which may be nested; none when it is not closed.
fn skip_comment(chars: &mut impl Iterator<Item = char>) -> Option<()> {
    let mut depth = 1_usize;
    while depth > 0 {
        match chars.next()? {
            '\\' => drop(chars.next()?),
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    Some(())
}

/// Reads the rest of a quoted string; none when it is not closed.
fn read_quoted(chars: &mut impl Iterator<Item = char>) -> Option<String> {
    let mut text = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\\' => text.push(chars.next()?),
            c => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::mime::parse_addresses;

    const PASS: &str = "Authentication-Results: mx.home.example; dmarc=pass header.from=bank.example\n";
    const FROM: &str = "From: Bank <info@bank.example>\n";

    fn check(headers: &str, servers: &[&str], verified: bool, reason: &str) {
        let raw = format!("{headers}\n");
        let headers = Headers::parse(raw.as_bytes(), 0).0;
        let trust = TrustedServers { servers: servers.iter().map(|server| (*server).to_owned()).collect() };
        let found = authenticate(&headers, &parse_addresses(&headers, "From").addresses, &trust);
        assert_eq!((found.verified, found.reason.as_str()), (verified, reason), "{raw}");
    }

    const HOME: &[&str] = &["mx.home.example"];

    #[test]
    fn an_aligned_pass_of_a_trusted_server_verifies() {
        let ok = "dmarc=pass for bank.example by mx.home.example";
        check(&format!("{PASS}{FROM}"), HOME, true, ok);
        check(&format!("{PASS}{FROM}"), &["other", "MX.Home.Example"], true, ok);
        let folded = "Authentication-Results: mx.home.example 1 (a (nested\\)) comment);\r\n\tspf=pass smtp.mailfrom=x@y.example;\r\n dkim=pass\
            header.i=@bank.example header.b=\"a;b\";\r\n DMARC=Pass (p=REJECT; dis=NONE) header.from=Bank.Example\r\n";
        let folded = folded.replace("dkim=passheader", "dkim=pass header");
        check(&format!("{folded}{FROM}"), HOME, true, "dmarc=pass for Bank.Example by mx.home.example");
        check(&format!("{PASS}From: a@news.bank.example\n"), HOME, true, ok);
        let base64 =
            "Authentication-Results: mx.home.example; dkim=pass header.b=abc==; dmarc=pass header.from=bank.example\n";
        check(&format!("{base64}{FROM}"), HOME, true, ok);
    }

    #[test]
    fn any_doubt_is_unverified_and_says_why() {
        let topmost = |value: &str| format!("Authentication-Results: {value}\n{PASS}{FROM}");
        for (headers, servers, reason) in [
            (format!("{PASS}{FROM}"), &[] as &[&str], "no trusted server configured"),
            (FROM.into(), HOME, "the receiving server recorded no result"),
            (
                topmost("mx.evil.example; dmarc=pass header.from=bank.example"),
                HOME,
                "topmost result is from mx.evil.example, not trusted",
            ),
            (topmost("mx.home.example; none"), HOME, "mx.home.example recorded no dmarc result"),
            (topmost("mx.home.example; dmarc=fail header.from=bank.example"), HOME, "dmarc=fail"),
            (topmost("mx.home.example; dmarc=pass"), HOME, "dmarc=pass names no header.from"),
            (
                topmost("mx.home.example; dmarc=pass header.from=evil.example"),
                HOME,
                "dmarc=pass is for evil.example, not for bank.example",
            ),
            (
                topmost("mx.home.example; dmarc=pass header.from=a.bank.example"),
                HOME,
                "dmarc=pass is for a.bank.example, not for bank.example",
            ),
            (
                topmost("mx.home.example; dmarc=pass header.from=example"),
                HOME,
                "dmarc=pass is for example, not for bank.example",
            ),
            (
                topmost("mx.home.example; dmarc=fail; dmarc=pass header.from=bank.example"),
                HOME,
                "more than one dmarc result",
            ),
            (topmost("mx.home.example; dmarc=fail (dmarc=pass header.from=bank.example)"), HOME, "dmarc=fail"),
            (
                topmost("mx.home.example; spf=fail reason=\"; dmarc=pass header.from=bank.example\""),
                HOME,
                "mx.home.example recorded no dmarc result",
            ),
            (
                topmost("mx.home.example; dmarc=pass (open header.from=bank.example"),
                HOME,
                "the topmost result is malformed",
            ),
            (
                topmost("mx.home.example; dmarc=pass header.from=\"bank.example"),
                HOME,
                "the topmost result is malformed",
            ),
            (topmost("mx.home.example; dmarc = = pass"), HOME, "the topmost result is malformed"),
            (
                topmost("mx.home.example.evil.example; dmarc=pass header.from=bank.example"),
                HOME,
                "topmost result is from mx.home.example.evil.example, not trusted",
            ),
            (format!("{PASS}{FROM}From: x@evil.example\n"), HOME, "2 From headers"),
            (format!("{PASS}From: a@bank.example, b@evil.example\n"), HOME, "the From header holds 2 addresses"),
            (format!("{PASS}From: \n"), HOME, "the From header holds no address"),
            (format!("{PASS}From: Bank\n"), HOME, "the From header holds no plain address"),
            (PASS.into(), HOME, "no From header"),
            (
                format!("{PASS}From: x@evilbank.example\n"),
                HOME,
                "dmarc=pass is for bank.example, not for evilbank.example",
            ),
        ] {
            check(&headers, servers, false, reason);
        }
    }
}
