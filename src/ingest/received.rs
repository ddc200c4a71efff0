//! Decides by the Received fields (RFC 5321 §4.4, RFC 3848) which header fields the receiving server wrote. Every
//! server puts its Received field on top, so a sender cannot have written anything above the one with which the mail
//! came in from outside.

use std::net::IpAddr;

use super::{limits::FIELD_BYTES, mime::Headers, sender_auth::TrustedServers};

const AUTH_RESULTS: &str = "Authentication-Results";

/// Returns the topmost Authentication-Results if the receiving server can have written it; otherwise why it cannot.
///
/// Servers write it above their own Received field, or right below the one with which the mail came in. Everything
/// below that is from the sender. A server that records no result for some mail must remove fields in its own name from
/// it (RFC 8601 §5); many do not for clients that sign in or are on the same machine, so nothing below their Received
/// field counts.
pub(super) fn find_receiving_server_results<'a>(
    headers: &Headers<'a>,
    trust: &TrustedServers,
) -> Result<&'a [u8], String> {
    let mut has_come_in = false;
    for (name, value) in headers.iter() {
        if name.eq_ignore_ascii_case(AUTH_RESULTS.as_bytes()) {
            return Ok(value);
        }
        if !name.eq_ignore_ascii_case(b"Received") || headers.first(AUTH_RESULTS).is_none() {
            continue;
        }
        if has_come_in {
            return Err("the topmost result stands below what the receiving server wrote".into());
        }
        match Hop::parse(value).origin(trust) {
            HopOrigin::Inside => {}
            HopOrigin::Outside => has_come_in = true,
            HopOrigin::Unchecked(why) => return Err(format!("the topmost result stands below {why}")),
        }
    }
    Err("the receiving server recorded no result".into())
}

/// Where a server received a mail from.
#[derive(Debug, PartialEq, Eq)]
enum HopOrigin {
    /// From itself or a neighbour: the mail was inside the receiving organisation already.
    Inside,
    /// A trusted server received it from outside: its result may stand right below.
    Outside,
    /// Everything below was written by whoever handed the mail over, and nobody checked it.
    Unchecked(String),
}

/// One Received field, as far as it tells where a mail came from. All texts are in lower case.
#[derive(Debug, Default)]
struct Hop {
    has_from: bool,
    /// Every IP address in the from clause, including one in the name that a client gives itself.
    from: Vec<IpAddr>,
    by: String,
    /// The protocol, such as `esmtps`.
    with: String,
    /// Whether a user of the machine handed the mail over without SMTP.
    is_submission: bool,
}

impl Hop {
    /// Parses a Received field. Comments count only for IP addresses and the marks of a local submission.
    fn parse(value: &[u8]) -> Self {
        let text = String::from_utf8_lossy(value.get(..FIELD_BYTES).unwrap_or(value));
        let lower = text.to_lowercase();
        // How Postfix, sendmail and qmail mark a user of the machine who used no SMTP.
        let is_submission = ["from userid", "/submit)", "invoked by uid"].iter().any(|mark| lower.contains(mark));
        let mut hop = Self { is_submission, ..Self::default() };
        let mut clause = "";
        let mut depth = 0_usize;
        for word in lower.split_inclusive([' ', '\t', '\r', '\n', '(', ')', ';']) {
            let bare = word.trim_end_matches([' ', '\t', '\r', '\n', '(', ')', ';']);
            match (depth, clause) {
                (0, _) if matches!(bare, "from" | "by" | "with") => {
                    clause = if bare == "from" {
                        "from"
                    } else if bare == "by" {
                        "by"
                    } else {
                        "with"
                    };
                    hop.has_from |= clause == "from";
                }
                (_, "from") => hop.from.extend(parse_ip_address(bare)),
                (0, "by") if hop.by.is_empty() => bare.trim_end_matches('.').clone_into(&mut hop.by),
                (0, "with") if hop.with.is_empty() => bare.clone_into(&mut hop.with),
                _ => {}
            }
            match word.chars().next_back() {
                Some('(') => depth += 1,
                Some(')') => depth = depth.saturating_sub(1),
                Some(';') if depth == 0 => break,
                _ => {}
            }
        }
        hop
    }

    /// Classifies where the mail came from. Anything that is not certain is unchecked.
    fn origin(&self, trust: &TrustedServers) -> HopOrigin {
        let is_signed_in = self.with.contains("smtp") && self.with.ends_with('a');
        if self.is_submission || self.with == "local" || is_signed_in {
            return HopOrigin::Unchecked("a Received of a client that signed in or of the same machine".into());
        }
        // The mail was delivered to a mailbox or fetched from one.
        let is_delivery = ["lmtp", "imap", "pop"].iter().any(|protocol| self.with.starts_with(protocol));
        let is_trusted = trust.servers.iter().any(|server| is_server_or_below(&self.by, server));
        let is_near = |address: &IpAddr| address.is_loopback() || (is_private(address) && !is_trusted);
        let is_from_near = !self.from.is_empty() && self.from.iter().all(is_near);
        if !self.has_from || is_delivery || is_from_near {
            HopOrigin::Inside
        } else if is_trusted {
            HopOrigin::Outside
        } else {
            HopOrigin::Unchecked(format!("a Received of '{}', not trusted", self.by.escape_debug()))
        }
    }
}

/// Parses an IP address: `[192.0.2.1]`, `[IPv6:2001:db8::1]`, or bare, as qmail writes it.
fn parse_ip_address(word: &str) -> Option<IpAddr> {
    let word = word.trim_matches(['[', ']', ',']);
    word.strip_prefix("ipv6:").unwrap_or(word).parse().ok()
}

/// Returns whether an address is of a private or link-local network.
fn is_private(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
    }
}

/// Returns whether a host is the server itself or a host below its name.
fn is_server_or_below(host: &str, server: &str) -> bool {
    let server = server.trim_end_matches('.').to_lowercase();
    let name = host.strip_suffix(server.as_str());
    !server.is_empty() && name.is_some_and(|name| name.is_empty() || name.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "Authentication-Results: mx.home.example; own=1\n";
    const FORGED: &str = "Authentication-Results: mx.home.example; forged=1\n";
    const ENTRY: &str = "Received: from mail.bank.example (mail.bank.example [203.0.113.9])\n\tby mx.home.example (Postfix) with ESMTPS id 4XyZ\n\tfor <me@home.example>; Mon, 16 Nov 2026 08:00:00 +0000\n";

    fn found(headers: &str) -> Result<String, String> {
        let raw = format!("{headers}From: a@bank.example\n\n");
        let headers = Headers::parse(raw.as_bytes(), 0).0;
        let trust = TrustedServers { servers: vec!["mx.home.example".into(), "mx.google.com".into()] };
        find_receiving_server_results(&headers, &trust).map(|value| String::from_utf8_lossy(value).trim().to_owned())
    }

    /// Fields that receiving organisations of all kinds put above the Received field of the entry.
    const INSIDE: &[&str] = &[
        "",
        "Return-Path: <a@bank.example>\nDelivered-To: me@home.example\n",
        "Received: from mx.home.example\n\tby mx.home.example with LMTP\n\tid abc (envelope-from <a@bank.example>)\n",
        "Received: from localhost (localhost [127.0.0.1])\n\tby mx.home.example (Postfix) with ESMTP id 1; date\nReceived: from mx.home.example ([127.0.0.1])\n\tby localhost (mx.home.example [127.0.0.1]) (amavisd-new, port 10024)\n\twith ESMTP id 2; date\n",
        "Received: from compute2.internal (compute2.nyi.internal [10.202.2.42])\n\tby sloti22d1t05 (Cyrus 3.9) with LMTPA; date\nReceived: from mailmx.nyi ([10.202.2.201])\n\tby compute2.internal (MEProxy); date\n",
        "Received: by 2002:a05:6a10:8c5:b0:4d2:b0 with SMTP id f5csp1; Mon, 16 Nov 2026 00:00:00 -0800 (PST)\nX-Received: by 2002:a17:906:1 with SMTP id x; date\nARC-Authentication-Results: i=1; mx.google.com; forged=1\n",
        "Received: from imap.home.example [198.51.100.7]\n\tby laptop with IMAP (fetchmail-6.4.37)\n\tfor <alex@localhost> (single-drop); date\n",
        "Received: (qmail 4711 invoked from network); 16 Nov 2026 08:00:00 -0000\n",
    ];
    /// Fields that a sender may forge to look like a receiving organisation.
    const SENT: &[&str] = &[
        "",
        FORGED,
        "Received: from x by mx.home.example with LMTP; date\nAuthentication-Results: mx.home.example; forged=1\n",
        "Received: from localhost (localhost [127.0.0.1]) by mx.home.example; date\nAuthentication-Results: mx.home.example; forged=1\n",
        "Received: by mx.home.example; date\nAuthentication-Results: mx.home.example; forged=1\nReceived: from a by b; date\n",
        "Authentication-Results: mx.home.example; forged=1\nReceived: from y (y [203.0.113.7]) by mx.home.example with SMTP; date\n",
    ];

    #[test]
    fn what_the_receiving_server_wrote_counts_wherever_servers_write_it_and_whatever_a_sender_adds() {
        for inside in INSIDE {
            for sent in SENT {
                for own in [
                    format!("{inside}{OWN}{ENTRY}{sent}"),
                    format!("{inside}{ENTRY}{OWN}{sent}"),
                    format!("{inside}{ENTRY}Received-SPF: pass\n{OWN}{sent}"),
                ] {
                    assert_eq!(found(&own), Ok("mx.home.example; own=1".into()), "{own}");
                }
            }
        }
    }

    #[test]
    fn below_a_received_that_nobody_checked_nothing_counts() {
        let unchecked = [
            "Received: from [192.168.1.5] (client [203.0.113.9])\n\tby mx.home.example (Postfix) with ESMTPSA id 1; date\n",
            "Received: by mx.home.example (Postfix, from userid 33)\n\tid 1; date\n",
            "Received: from www-data by mx.home.example with local (Exim 4.96)\n\tid 1; date\n",
            "Received: (from www@localhost)\n\tby mx.home.example (8.15.2/8.15.2/Submit) id 1; date\n",
            "Received: (qmail 12 invoked by uid 89); date\n",
            "Received: from mx.home.example (relay [203.0.113.9]) by mx.evil.example with ESMTP; date\n",
            "Received: from a (b [203.0.113.9]) by mx.home.example.evil.example with ESMTP; date\n",
            "Received: from [127.0.0.1] (evil [203.0.113.9]) by relay.evil.example with ESMTP; date\n",
            "Received: from unknown (HELO [127.0.0.1]) (203.0.113.9)\n by relay.evil.example with SMTP; date\n",
            "Received: from x by y with SMTP; date\n",
            "Received: from x\n",
        ];
        for inside in INSIDE {
            for hop in unchecked {
                for sent in SENT.iter().filter(|sent| !sent.is_empty()) {
                    let raw = format!("{inside}{hop}{sent}");
                    assert!(found(&raw).is_err(), "{raw}");
                }
            }
            // Two entries from outside: only the upper one was written by the receiving server.
            let raw = format!("{inside}{ENTRY}{ENTRY}{FORGED}");
            assert!(found(&raw).is_err(), "{raw}");
            for sent in &SENT[2..5] {
                let raw = format!("{inside}{ENTRY}{sent}");
                assert!(found(&raw).is_err(), "{raw}");
            }
        }
    }

    #[test]
    fn gmail_writes_it_right_below_its_own() {
        let entry = "Received: from mail-sor-f41.google.com (mail-sor-f41.google.com. [209.85.220.41])\n        by mx.google.com with SMTPS id a1sor1\n        for <you@gmail.com>; Mon, 16 Nov 2026 00:00:00 -0800 (PST)\nReceived-SPF: pass\nAuthentication-Results: mx.google.com; own=1\n";
        assert_eq!(found(&format!("{}{entry}{FORGED}", INSIDE[5])), Ok("mx.google.com; own=1".into()));
    }
}
