//! Reads an mbox line by line (mboxrd and mboxo): one `>` is removed from quoted `>From ` lines.

use std::{
    collections::VecDeque,
    io::{self, BufRead, BufReader, Read},
};

use super::envelope::parse_from_line;
use crate::{model::Instant, source::MAX_FETCH_BYTES};

/// A line is read in pieces of this size, so that one without an end cannot fill the memory.
const PIECE: u64 = 64 * 1024;
/// How many lines after an envelope are examined for header fields.
const LOOKED_AHEAD: usize = 50;

/// An iterator over the messages of an mbox.
#[derive(Debug)]
pub(super) struct Mbox<R> {
    reader: BufReader<R>,
    /// Bytes that were consumed.
    offset: u64,
    /// Lines that were examined and are not consumed yet.
    ahead: VecDeque<Vec<u8>>,
    /// The envelope of the next message; none at the end of the file.
    envelope: Option<Envelope>,
}

/// The line that begins a message.
#[derive(Debug, Clone, Copy)]
struct Envelope {
    arrived_at: Option<Instant>,
}

/// One message of the mbox, without its envelope.
#[derive(Debug)]
pub(super) struct MboxMessage {
    pub(super) bytes: Vec<u8>,
    pub(super) arrived_at: Option<Instant>,
    /// The offset in the file at which the message ends.
    pub(super) end: u64,
}

impl<R: Read> Mbox<R> {
    /// Opens an mbox. Returns none when the file does not begin like one.
    pub(super) fn open(file: R) -> io::Result<Option<Mbox<R>>> {
        let mut mbox = Mbox {
            reader: BufReader::with_capacity(PIECE as usize, file),
            offset: 0,
            ahead: VecDeque::new(),
            envelope: None,
        };
        let mut line = Vec::new();
        while mbox.read_piece(&mut line)? {
            if line.starts_with(b"From ") {
                mbox.envelope = Some(Envelope { arrived_at: parse_from_line(&line).flatten() });
                return Ok(Some(mbox));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(None);
            }
        }
        Ok(None)
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.offset
    }

    /// Reads the next line, or the next piece of a long one. Returns whether there was any.
    fn read_piece(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        match self.ahead.pop_front() {
            Some(looked_at) => *line = looked_at,
            None => drop((&mut self.reader).take(PIECE).read_until(b'\n', line)?),
        }
        self.offset += line.len() as u64;
        Ok(!line.is_empty())
    }

    /// Returns whether header fields follow, at least one of them with a name that only mail has. Consumes nothing.
    fn precedes_headers(&mut self) -> io::Result<bool> {
        for nth in 0..LOOKED_AHEAD {
            if nth == self.ahead.len() {
                let mut line = Vec::new();
                (&mut self.reader).take(PIECE).read_until(b'\n', &mut line)?;
                if line.is_empty() {
                    return Ok(false);
                }
                self.ahead.push_back(line);
            }
            let line = self.ahead.get(nth).map(Vec::as_slice).unwrap_or_default();
            match field_name(line) {
                Some(name) if is_mail_field(name) => return Ok(true),
                Some(_) => {}
                None if nth > 0 && matches!(line.first(), Some(b' ' | b'\t')) => {}
                None => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Parses a line that follows an empty one as an envelope. A line that header fields follow is an envelope whatever
    /// its time says: otherwise its message would be lost inside the one before it.
    fn parse_envelope(&mut self, line: &[u8]) -> io::Result<Option<Envelope>> {
        if !line.starts_with(b"From ") {
            return Ok(None);
        }
        if let Some(arrived_at) = parse_from_line(line) {
            return Ok(Some(Envelope { arrived_at }));
        }
        Ok(self.precedes_headers()?.then_some(Envelope { arrived_at: None }))
    }

    /// Reads the message that begins here, up to the next envelope. What exceeds the fetch limit is skipped, not kept.
    fn read_message(&mut self, at: Option<Instant>) -> io::Result<MboxMessage> {
        let mut bytes = Vec::new();
        let mut line = Vec::new();
        // An envelope counts only after an empty line, or directly after another envelope.
        let (mut starts_line, mut after_empty) = (true, true);
        let mut end = self.offset;
        while self.read_piece(&mut line)? {
            if starts_line
                && after_empty
                && let Some(next) = self.parse_envelope(&line)?
            {
                self.envelope = Some(next);
                break;
            }
            end = self.offset;
            let quoted = starts_line && is_quoted_from(&line);
            let text = if quoted { line.get(1..).unwrap_or_default() } else { &line };
            if (bytes.len() + text.len()) as u64 <= MAX_FETCH_BYTES {
                bytes.extend_from_slice(text);
            }
            after_empty = starts_line && line.trim_ascii().is_empty();
            starts_line = line.last() == Some(&b'\n');
        }
        drop_last_empty_line(&mut bytes);
        Ok(MboxMessage { bytes, arrived_at: at, end })
    }
}

/// Returns the name of the header field on a line; none for any other line.
fn field_name(line: &[u8]) -> Option<&[u8]> {
    let name = line.get(..line.iter().position(|byte| *byte == b':')?)?;
    let legal = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    legal.then_some(name)
}

/// Returns whether fields of this name occur in mail headers and hardly in prose.
fn is_mail_field(name: &[u8]) -> bool {
    const NAMES: [&str; 16] = [
        "From",
        "To",
        "Cc",
        "Bcc",
        "Subject",
        "Date",
        "Sender",
        "Reply-To",
        "Message-ID",
        "In-Reply-To",
        "References",
        "Received",
        "Return-Path",
        "Delivered-To",
        "MIME-Version",
        "Content-Type",
    ];
    let starts = |start: &str| name.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start.as_bytes()));
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
        || ["X-", "DKIM-", "ARC-", "List-"].iter().any(|start| starts(start))
}

/// Returns whether a line is a quoted `From ` line, such as `>From ` or `>>From `.
fn is_quoted_from(line: &[u8]) -> bool {
    let quotes = line.iter().take_while(|byte| **byte == b'>').count();
    quotes > 0 && line.get(quotes..).is_some_and(|rest| rest.starts_with(b"From "))
}

/// Removes the last empty line, which separates messages in an mbox and does not belong to the message.
fn drop_last_empty_line(bytes: &mut Vec<u8>) {
    for end in [&b"\r\n\r\n"[..], b"\n\n"] {
        if bytes.ends_with(end) {
            bytes.truncate(bytes.len() - end.len() / 2);
            return;
        }
    }
}

impl<R: Read> Iterator for Mbox<R> {
    type Item = io::Result<MboxMessage>;

    fn next(&mut self) -> Option<Self::Item> {
        let envelope = self.envelope.take()?;
        Some(self.read_message(envelope.arrived_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let mbox = Mbox::open(text.as_bytes()).unwrap().unwrap();
        let found: Vec<_> = mbox.map(|message| String::from_utf8(message.unwrap().bytes).unwrap()).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    const ENVELOPE: &str = "From a@b.example Mon Mar  3 10:00:00 2025\n";

    #[test]
    fn messages_of_an_mbox() {
        check(&format!("{ENVELOPE}A: 1\n\none\n\n{ENVELOPE}A: 2\n\ntwo\n"), &["A: 1\n\none\n", "A: 2\n\ntwo\n"]);
        check(&format!("\n\n{ENVELOPE}A: 1\n\none"), &["A: 1\n\none"]);
        check(&format!("{ENVELOPE}A: 1\n\n>From x\n>>From y\n> From z\n"), &["A: 1\n\nFrom x\n>From y\n> From z\n"]);
        check(&format!("{ENVELOPE}A: 1\n\nFrom now on\n\nFrom here\n"), &["A: 1\n\nFrom now on\n\nFrom here\n"]);
        check(&format!("{ENVELOPE}A: 1\n\nno gap\n{ENVELOPE}"), &[&format!("A: 1\n\nno gap\n{ENVELOPE}")]);
        check(&format!("{ENVELOPE}A: 1\r\n\r\none\r\n\r\n{ENVELOPE}"), &["A: 1\r\n\r\none\r\n", ""]);
    }

    #[test]
    fn a_line_that_header_fields_follow_is_an_envelope_whatever_its_time_says() {
        for time in [
            "Thu Jan 01 00:00:00 99999",
            "Thu Jan 01 99:99:99 2026",
            "Thu Feb 31 00:00:00 2026",
            "Thu, 01 Jan 2026 00:00:00 +0000",
            "",
        ] {
            let text = format!("{ENVELOPE}A: 1\n\none\n\nFrom a@b {time}\nA: 2\n b\nSubject: x\n\ntwo\n");
            check(&text, &["A: 1\n\none\n", "A: 2\n b\nSubject: x\n\ntwo\n"]);
        }
        for prose in [
            "From here on:\nplease read.\n",
            "From now on\nNote: we meet at ten.\n",
            "From me\n\nSubject: x\n",
            "From the end",
        ] {
            check(&format!("{ENVELOPE}A: 1\n\n{prose}"), &[&format!("A: 1\n\n{prose}")]);
        }
    }

    #[test]
    fn other_files_are_no_mbox() {
        for text in ["", "\n\n", "Subject: x\n\nFrom a", "From: a@b\n"] {
            assert!(Mbox::open(text.as_bytes()).unwrap().is_none(), "{text:?}");
        }
    }

    #[test]
    fn a_message_without_end_is_cut_and_the_next_is_found() {
        let long = "x".repeat(MAX_FETCH_BYTES as usize + 100_000);
        let text = format!("{ENVELOPE}A: 1\n\n{long}\n\n{ENVELOPE}A: 2\n\n");
        let found: Vec<_> =
            Mbox::open(text.as_bytes()).unwrap().unwrap().map(|message| message.unwrap().bytes.len() as u64).collect();
        assert_eq!(found.len(), 2);
        assert!(found[0] <= MAX_FETCH_BYTES && found[0] > MAX_FETCH_BYTES - 2 * PIECE, "{found:?}");
    }
}
