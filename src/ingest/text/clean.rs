//! A body taken apart: everything, the sender's own words, and what stands under them.

use std::borrow::Cow;

use super::{
    notice::{NoticePlace, cut_notices},
    quote, signature,
};
use crate::{followup::fingerprint, model::Fingerprint};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The whole text, quotes and signature included.
    pub body: String,
    /// The sender's own words, and what was forwarded.
    pub reply: String,
    /// The signature, then legal notices, taglines and footers.
    pub signature: Option<String>,
    /// Marks of the sentences it quotes.
    pub quoted_fingerprints: Vec<Fingerprint>,
}

/// The subject tells a forward from a reply where the text alone does not.
pub fn clean_body(body: &str, subject: &str) -> Cleaned {
    let lines: Vec<&str> = body.lines().collect();
    let split = quote::split_quotes(&lines, subject);
    let (own, mut notices) = cut_notices(&split.own, NoticePlace::End);
    let own: Vec<&str> = own.iter().map(Cow::as_ref).collect();
    let end = signature::find_signature(&own).unwrap_or(own.len());
    let (own, under) = own.split_at_checked(end).unwrap_or((&own, &[]));
    let (forwarded, of_forwarded) = cut_notices(&split.forwarded, NoticePlace::Anywhere);
    notices.extend(of_forwarded);
    let mut reply = join_lines(own);
    append_paragraph(&mut reply, &join_lines(&forwarded.iter().map(Cow::as_ref).collect::<Vec<_>>()));
    let under = join_lines(under);
    let mut signature = under.strip_prefix("--\n").map_or(under.as_str(), str::trim).to_owned();
    append_paragraph(&mut signature, &join_lines(&notices));
    Cleaned {
        body: join_lines(&lines),
        reply,
        signature: Some(signature).filter(|text| !text.is_empty()),
        quoted_fingerprints: fingerprint::of_quoted_sentences(split.quoted.into_iter()),
    }
}

fn append_paragraph(text: &mut String, paragraph: &str) {
    if !text.is_empty() && !paragraph.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(paragraph);
}

/// Ends trimmed, runs of empty lines as one.
fn join_lines(lines: &[&str]) -> String {
    let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    let mut empty = 0;
    for line in lines {
        let line = line.trim_end();
        if line.is_empty() {
            empty += 1;
            continue;
        }
        if !text.is_empty() {
            text.push_str(if empty > 0 { "\n\n" } else { "\n" });
        }
        empty = 0;
        text.push_str(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_pieces() {
        let body = "Yes, Friday works.  \n\n\n\nThanks,\nDana\n\nOn 3/3/25 Avi <a@x.example> wrote:\n> When?\n";
        let cleaned = clean_body(body, "Re: lunch");
        assert_eq!(cleaned.reply, "Yes, Friday works.");
        assert_eq!(cleaned.signature.as_deref(), Some("Thanks,\nDana"));
        assert_eq!(cleaned.body, "Yes, Friday works.\n\nThanks,\nDana\n\nOn 3/3/25 Avi <a@x.example> wrote:\n> When?");
    }

    #[test]
    fn the_signature_above_a_forward_does_not_cut_it() {
        let cleaned = clean_body(
            "Please pay.\n-- \nDana\n\n---------- Forwarded message ---------\nFrom: x\n\nInvoice 7",
            "Fwd: x",
        );
        assert_eq!(cleaned.reply, "Please pay.\n\n---------- Forwarded message ---------\nFrom: x\n\nInvoice 7");
        assert_eq!(cleaned.signature.as_deref(), Some("Dana"));
    }

    #[test]
    fn mails_of_the_common_programs() {
        let mails = include_str!("client_mails.txt").split("\n=== ").skip(1);
        let mut read = 0;
        for mail in mails {
            let (name, rest) = mail.split_once('\n').unwrap();
            let (_, subject) = name.split_once(" | ").unwrap();
            let (body, expected) = rest.split_once("\n--- read\n").unwrap();
            let cleaned = clean_body(body, subject);
            assert_eq!(cleaned.reply, expected.trim_end(), "{name}; cut: {:?}", cleaned.signature);
            read += 1;
        }
        assert!(read > 60, "{read}");
    }

    #[test]
    fn an_empty_body_is_empty() {
        assert_eq!(clean_body(" \n\n", "x"), Cleaned::default());
    }
}
