//! The identity of a mail: its message id, the messages it refers to, and the digest of its content.

use super::{
    limits::{FIELD_BYTES, REFERENCES, SHORT_CHARS},
    mime::{FramedDigest, Headers},
};
use crate::model::{Address, Mail};

/// The message ids in the headers of a mail, each with its angle brackets.
pub(super) struct MessageIds {
    pub(super) message_id: Option<String>,
    /// The messages it refers to, the oldest first and the one it answers last.
    pub(super) references: Vec<String>,
}

impl MessageIds {
    /// Reads the ids from Message-ID, References and In-Reply-To.
    pub(super) fn from_headers(headers: &Headers<'_>) -> MessageIds {
        let of = |name| headers.first(name).map(message_ids).unwrap_or_default();
        let mut references = of("References");
        // The message that is answered is the last of the chain, whether or not References names it. In-Reply-To names
        // one or a few.
        for id in of("In-Reply-To").into_iter().take(REFERENCES) {
            if !references.contains(&id) {
                references.push(id);
            }
        }
        if references.len() > REFERENCES {
            references.drain(1..=references.len() - REFERENCES);
        }
        MessageIds { message_id: of("Message-ID").into_iter().next(), references }
    }

    /// Returns the id of the first message of the conversation. A mail without any id is its own conversation, named
    /// after its content.
    pub(super) fn thread(&self, content: &str) -> String {
        self.references.first().or(self.message_id.as_ref()).cloned().unwrap_or_else(|| format!("sha256:{content}"))
    }
}

/// Returns every `<id>` of a field. A bare id, without anything else in the field, is given its brackets.
fn message_ids(value: &[u8]) -> Vec<String> {
    let value = String::from_utf8_lossy(value.get(..FIELD_BYTES).unwrap_or(value));
    let tidy =
        |id: &str| id.chars().filter(|c| !c.is_whitespace() && !c.is_control()).take(SHORT_CHARS).collect::<String>();
    let mut ids: Vec<String> = Vec::new();
    for piece in value.split('<').skip(1) {
        let Some((id, _)) = piece.split_once('>') else { continue };
        let id = format!("<{}>", tidy(id));
        // Chains repeat themselves. Comparing with the last few ids suffices and keeps this linear.
        if id.len() > 2 && !ids.iter().rev().take(REFERENCES).any(|known| *known == id) {
            ids.push(id);
        }
    }
    let bare = value.trim();
    let bare = bare.trim_matches(['<', '>']);
    if ids.is_empty() && !bare.is_empty() && !bare.contains(char::is_whitespace) {
        ids.push(format!("<{}>", tidy(bare)));
    }
    ids
}

/// Returns the digest of everything that the sender wrote. Trace headers and flags do not change it. `parts` holds a
/// digest of each part, whether it is shown or not.
pub(super) fn content_sha256(mail: &Mail, body: &str, parts: &[String]) -> String {
    let mut digest = put_fields(mail, body);
    digest.put("parts");
    parts.iter().for_each(|part| digest.put(part));
    digest.finish()
}

/// Returns the digest of the fields, the visible text and the attachments, which identified a mail in databases of
/// version 1.
pub(super) fn former_content_sha256(mail: &Mail, body: &str) -> String {
    put_fields(mail, body).finish()
}

/// Begins a digest with the fields, the visible text and the attachments.
fn put_fields(mail: &Mail, body: &str) -> FramedDigest {
    let mut digest = FramedDigest::default();
    let people = |list: &[Address]| list.iter().map(|one| one.addr.as_str()).collect::<Vec<_>>().join(",");
    digest.put(&mail.from.addr);
    digest.put(&people(&mail.to));
    digest.put(&people(&mail.cc));
    // The Reply-To is part of what the sender wrote. Most mails have none, or the sender's own address.
    if mail.reply_to_differs() {
        digest.put(&people(&mail.reply_to));
    }
    digest.put(&mail.subject);
    digest.put(&mail.date.map(|date| date.to_string()).unwrap_or_default());
    digest.put(body);
    mail.attachments.iter().for_each(|attachment| digest.put(&attachment.sha256));
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, id: Option<&str>, references: &[&str], thread: &str) {
        let ids = MessageIds::from_headers(&Headers::parse(raw.as_bytes(), 0).0);
        assert_eq!(ids.message_id.as_deref(), id, "{raw}");
        assert_eq!(ids.references, references, "{raw}");
        assert_eq!(ids.thread("c"), thread, "{raw}");
    }

    #[test]
    fn ids_and_threads() {
        check("Message-ID: <a@x>\n", Some("<a@x>"), &[], "<a@x>");
        check("Message-Id: a@x\n", Some("<a@x>"), &[], "<a@x>");
        check("Message-ID: <a\n @x>\n", Some("<a@x>"), &[], "<a@x>");
        check(
            "Message-ID: <c@x>\nIn-Reply-To: <b@x>\nReferences: <a@x>\n\t<b@x>\n",
            Some("<c@x>"),
            &["<a@x>", "<b@x>"],
            "<a@x>",
        );
        check("In-Reply-To: your mail of <b@x>\nReferences: <a@x>\n", None, &["<a@x>", "<b@x>"], "<a@x>");
        check("In-Reply-To: some words\n", None, &[], "sha256:c");
        check("Subject: x\n", None, &[], "sha256:c");
        check("Message-ID: <>\n", None, &[], "sha256:c");
    }

    #[test]
    fn a_long_chain_keeps_its_first_and_its_last() {
        let chain: String = (0..300).map(|n| format!(" <{n}@x>")).collect();
        let ids = MessageIds::from_headers(&Headers::parse(format!("References:{chain}\n").as_bytes(), 0).0);
        assert_eq!(ids.references.len(), REFERENCES);
        assert_eq!(ids.references.first().map(String::as_str), Some("<0@x>"));
        assert_eq!(ids.references.last().map(String::as_str), Some("<299@x>"));
    }

    #[test]
    fn every_part_of_the_content_counts() {
        let mail = Mail { subject: "a".into(), from: Address { name: None, addr: "x@y".into() }, ..Mail::default() };
        let parts = ["one".to_owned(), "two".to_owned()];
        let base = content_sha256(&mail, "body", &parts);
        let changed = [
            Mail { subject: "b".into(), ..mail.clone() },
            Mail { to: vec![mail.from.clone()], ..mail.clone() },
            Mail { date: Some("2025-06-23T03:15:00Z".parse().unwrap()), ..mail.clone() },
        ];
        assert!(changed.iter().all(|other| content_sha256(other, "body", &parts) != base));
        assert_ne!(content_sha256(&mail, "other", &parts), base);
        assert_ne!(content_sha256(&mail, "body", &parts[..1]), base);
        assert_ne!(content_sha256(&mail, "body", &["onetwo".to_owned()]), base);
        assert_ne!(content_sha256(&mail, "body", &[]), former_content_sha256(&mail, "body"));
        let trace = Mail { size: 7, message_id: Some("<a>".into()), ..mail };
        assert_eq!(content_sha256(&trace, "body", &parts), base);
    }
}
