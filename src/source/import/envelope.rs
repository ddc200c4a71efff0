//! Reads when a message arrived, from the envelope line of an mbox or from the Date header.

use chrono::{DateTime, NaiveDateTime};

use crate::model::Instant;

/// Parses an envelope line such as `From dana@x.example Mon Mar  3 10:00:00 2025`, with whatever some programs append
/// to the time.
///
/// Returns none for lines of a body that merely begin with "From ". `Some(None)` is an envelope whose time is outside
/// the supported range.
pub(super) fn parse_from_line(line: &[u8]) -> Option<Option<Instant>> {
    let line = std::str::from_utf8(line.strip_prefix(b"From ")?.get(..).filter(|line| line.len() < 500)?).ok()?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let clock = words.iter().position(|word| {
        word.len() >= 5 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') && word.contains(':')
    })?;
    let month = words.get(clock.checked_sub(2)?)?;
    let day = words.get(clock.checked_sub(1)?)?;
    let year =
        words.iter().skip(clock + 1).find(|word| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit()))?;
    let time = words.get(clock)?;
    let time = if time.matches(':').count() == 1 { format!("{time}:00") } else { (*time).to_owned() };
    let zone = words.iter().skip(clock + 1).find(|word| word.len() == 5 && word.starts_with(['+', '-']));
    let text = format!("{day} {month} {year} {time}");
    let at = match zone {
        Some(zone) => DateTime::parse_from_str(&format!("{text} {zone}"), "%d %b %Y %H:%M:%S %z").ok()?.to_utc(),
        None => NaiveDateTime::parse_from_str(&text, "%d %b %Y %H:%M:%S").ok()?.and_utc(),
    };
    Some(Instant::new(at))
}

/// Returns the time of the Date header, if there is an unfolded one near the top.
pub(super) fn header_date(bytes: &[u8]) -> Option<Instant> {
    let head = bytes.get(..64 * 1024).unwrap_or(bytes);
    for line in head.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii_end();
        if line.is_empty() {
            return None;
        }
        if let Some(name) = line.get(..5)
            && name.eq_ignore_ascii_case(b"date:")
        {
            let text = std::str::from_utf8(line.get(5..)?).ok()?.trim();
            return DateTime::parse_from_rfc2822(text).ok().and_then(|at| Instant::new(at.to_utc()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_and_prose() {
        for (line, expected) in [
            ("From a@b.example Mon Mar  3 10:00:05 2025\n", Some("2025-03-03T10:00:05Z")),
            ("From a@b.example Mon Mar 3 10:00 2025", Some("2025-03-03T10:00:00Z")),
            ("From 1811@xxx Mon Mar 03 10:00:00 +0200 2025\r\n", Some("2025-03-03T08:00:00Z")),
            ("From MAILER-DAEMON Fri Jan 32 10:00:00 2025", None),
            ("From now on we meet at 10:00 sharp", None),
            ("From ", None),
            ("From: a@b.example", None),
        ] {
            let at = parse_from_line(line.as_bytes()).map(|at| at.unwrap().to_string());
            assert_eq!(at.as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn an_envelope_of_no_time_that_counts_still_begins_a_message() {
        for line in ["From a@b.example Mon Mar  3 10:00:05 1901\n", "From a@b.example Mon Mar 3 10:00:00 9999"] {
            assert_eq!(parse_from_line(line.as_bytes()), Some(None), "{line}");
        }
    }

    #[test]
    fn dates_of_headers_only() {
        let at = |text: &str| header_date(text.as_bytes()).map(|at| at.to_string());
        assert_eq!(
            at("Subject: x\r\nDATE: Mon, 3 Mar 2025 10:00:00 +0200 (IST)\r\n\r\n").as_deref(),
            Some("2025-03-03T08:00:00Z")
        );
        assert_eq!(at("Subject: x\n\nDate: Mon, 3 Mar 2025 10:00:00 +0200\n"), None);
        assert_eq!(at("Date: soon\n"), None);
        assert_eq!(at("Date: 1 Jan 99999 09:00:00 +0000\n"), None);
    }
}
