//! Whole messages through `parse_mail_in_full`, and bytes that are no messages.

use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_eq, proptest};

use super::*;
use crate::followup::fingerprint;

fn parse(raw: &str) -> ParsedMail {
    parse_mail_in_full(raw.as_bytes(), &TrustedServers::default()).unwrap()
}

const MIXED: &str = "From: Dana <Dana@X.example>\nTo: me@home.example\nSubject: =?utf-8?Q?Invoice_7?=\nDate: Mon, 3 Mar 2025 10:00:00 +0200\n\
    Message-ID: <a@x.example>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=m\n\n\
    --m\nContent-Type: multipart/alternative; boundary=a\n\n\
    --a\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nPlease pay =E2=82=AC5.\n\nBest regards,\nDana\n\
    --a\nContent-Type: text/html\n\n<p>Please pay <a href=\"http://pay.example\">here</a></p>\n--a--\n\
    --m\nContent-Type: application/pdf; name=\"i.pdf\"\nContent-Disposition: attachment\nContent-Transfer-Encoding: base64\n\naGVsbG8=\n--m--\n";

#[test]
fn a_mail_with_everything() {
    let ParsedMail { mail, body, truncations: notes } = parse(MIXED);
    assert_eq!(notes, []);
    assert_eq!((mail.from.addr.as_str(), mail.from.name.as_deref()), ("dana@x.example", Some("Dana")));
    assert_eq!((mail.subject.as_str(), mail.text.as_str()), ("Invoice 7", "Please pay €5."));
    assert_eq!(mail.signature.as_deref(), Some("Best regards,\nDana"));
    assert_eq!(body, "Please pay €5.\n\nBest regards,\nDana");
    assert_eq!(mail.date.unwrap().to_string(), "2025-03-03T08:00:00Z");
    assert_eq!((mail.message_id.as_deref(), mail.thread.as_str()), (Some("<a@x.example>"), "<a@x.example>"));
    assert_eq!(mail.links.iter().map(|link| link.href.as_str()).collect::<Vec<_>>(), ["http://pay.example"]);
    let [pdf] = mail.attachments.as_slice() else { panic!("{:?}", mail.attachments) };
    assert_eq!((pdf.name.as_str(), pdf.content_type.as_str(), pdf.size), ("i.pdf", "application/pdf", 5));
    assert_eq!(pdf.sha256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    assert_eq!(mail.size, MIXED.len() as u64);
}

/// Returns the body of a mail whose headers do not matter.
fn body_of(content: &str) -> String {
    parse(&format!("Subject: x\n{content}")).body
}

#[test]
fn which_text_is_read() {
    let alternative = |plain: &str, html: &str| {
        format!(
            "Content-Type: multipart/alternative; boundary=a\n\n--a\n\n{plain}\n--a\nContent-Type: text/html\n\n{html}\n--a--\n"
        )
    };
    for (content, expected) in [
        ("\nhello".to_owned(), "hello"),
        ("Content-Type: text/html\n\n<p>a</p><p>b</p>".to_owned(), "a\n\nb"),
        (alternative("plain", "<b>rich</b>"), "plain"),
        (alternative("  ", "<b>rich</b>"), "rich"),
        (alternative("Your client does not support HTML.", "<b>rich</b>"), "rich"),
        (alternative("Your client does not support HTML.", ""), "Your client does not support HTML."),
        ("Content-Type: text/plain; format=flowed\n\none \ntwo\n> q \nthree".to_owned(), "one two\n> q\nthree"),
        ("Content-Type: multipart/mixed; boundary=m\n\n--m\n\none\n--m\nContent-Type: text/html\n\n<i>two</i>\n--m--".to_owned(), "one\n\ntwo"),
        ("Content-Type: multipart/mixed; boundary=m\n\nthe boundary never comes".to_owned(), "the boundary never comes"),
        ("Content-Type: message/rfc822\n\nSubject: inner\n\nhanded on".to_owned(), "handed on"),
        ("Content-Type: text/plain; name=notes.txt\n\nnamed but alone".to_owned(), "named but alone"),
        ("Content-Type: application/octet-stream\n\nbinary".to_owned(), ""),
    ] {
        assert_eq!(body_of(&content), expected, "{content}");
    }
}

#[test]
fn what_counts_as_an_attachment() {
    for (headers, expected) in [
        ("Content-Type: application/pdf; name=a.pdf", 1),
        ("Content-Type: application/pdf", 1),
        ("Content-Type: text/plain\nContent-Disposition: attachment", 1),
        ("Content-Type: text/plain\nContent-Disposition: inline", 0),
        ("Content-Type: text/csv; name=a.csv", 1),
        ("Content-Type: image/png", 1),
        ("Content-Type: image/png; name=a.png\nContent-ID: <i>", 1),
        ("Content-Type: message/rfc822\nContent-Disposition: attachment", 1),
        ("Content-Type: message/rfc822; name=forwarded.eml", 1),
        ("Content-Type: message/delivery-status", 0),
        ("Content-Type: application/pgp-signature", 0),
        ("Content-Type: text/calendar; method=REQUEST", 0),
    ] {
        let raw = format!(
            "Subject: x\nContent-Type: multipart/mixed; boundary=m\n\n--m\n\ntext\n--m\n{headers}\n\nSubject: y\n\nz\n--m--"
        );
        assert_eq!(parse(&raw).mail.attachments.len(), expected, "{headers}");
        let raw = raw.replacen("multipart/mixed", "multipart/related", 1);
        let of_page = headers == "Content-Type: image/png";
        let raw = if of_page { raw.replace("image/png", "image/png\nContent-ID: <i>") } else { raw };
        assert_eq!(parse(&raw).mail.attachments.len(), if of_page { 0 } else { expected }, "related: {headers}");
    }
}

#[test]
fn an_invitation_is_read_from_part_or_file() {
    let event = "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:1\nSUMMARY:Talk\nEND:VEVENT\nEND:VCALENDAR";
    for (kind, attachments) in [("text/calendar; method=REQUEST", 0), ("application/octet-stream; name=invite.ICS", 1)]
    {
        let raw = format!(
            "Subject: x\nContent-Type: multipart/mixed; boundary=m\n\n--m\n\ntext\n--m\nContent-Type: {kind}\n\n{event}\n--m--"
        );
        let mail = parse(&raw).mail;
        assert_eq!(
            mail.invite.map(|invite| (invite.method, invite.summary)),
            Some(("REQUEST".into(), "Talk".into())),
            "{kind}"
        );
        assert_eq!((mail.text.as_str(), mail.attachments.len()), ("text", attachments), "{kind}");
    }
}

#[test]
fn tricks_are_counted_wherever_they_hide() {
    let raw = "From: Ba\u{200b}nk <a@x.example>\nSubject: pay\u{202e}now\nContent-Type: multipart/mixed; boundary=m\n\n--m\n\npass\u{200b}word\n\
        --m\nContent-Type: application/pdf; name=\"gpj\u{202e}exe\"\n\n--m--";
    let mail = parse(raw).mail;
    assert_eq!(mail.tricks, 4);
    assert_eq!(
        (mail.text.as_str(), mail.subject.as_str(), mail.from.name.as_deref()),
        ("password", "paynow", Some("Bank"))
    );
}

#[test]
fn what_is_no_mail_says_why() {
    for (raw, expected) in [
        ("", MailParseError::Empty),
        ("\r\n\r\n", MailParseError::Empty),
        ("just some text\n", MailParseError::NoHeaders),
        (" \n", MailParseError::NoHeaders),
    ] {
        assert_eq!(
            parse_mail_in_full(raw.as_bytes(), &TrustedServers::default()).map(|opened| opened.mail.subject),
            Err(expected),
            "{raw:?}"
        );
    }
}

#[test]
fn odd_starts_are_read() {
    for raw in ["\r\n\nSubject: x\n\nb", "\u{feff}Subject: x\n\nb", "Subject: x\r\rb", "From a@b Mon\nSubject: x\n\nb"]
    {
        let ParsedMail { mail, body, .. } = parse(raw);
        assert_eq!((mail.subject.as_str(), body.as_str()), ("x", "b"), "{raw:?}");
    }
}

#[test]
fn dates_in_the_forms_that_occur() {
    for (value, expected) in [
        ("Mon, 3 Mar 2025 10:00:00 +0200", Some("2025-03-03T08:00:00Z")),
        ("3 Mar 2025 10:00:00 GMT", Some("2025-03-03T10:00:00Z")),
        ("Mon, 3 Mar 2025 10:00:00", Some("2025-03-03T10:00:00Z")),
        ("2025-03-03T10:00:00+02:00", Some("2025-03-03T08:00:00Z")),
        ("yesterday", None),
        ("Mon, 99 Mar 2025 10:00:00 +0200", None),
        ("3 Mar 99 10:00:00 +0000", Some("1999-03-03T10:00:00Z")),
        ("29 Feb 2024 10:00:00 +0000", Some("2024-02-29T10:00:00Z")),
        // Days and years that do not exist, which mail-parser reads as others.
        ("29 Feb 2025 10:00:00 +0000", None),
        ("31 Apr 2026 10:00:00 +0000", None),
        ("1 Jan 0000 10:00:00 +0000", None),
        ("1 Jan 0001 10:00:00 +0000", None),
        ("1 Jan 20260 10:00:00 +0000", None),
        ("", None),
    ] {
        assert_eq!(parse_date(value.as_bytes()).map(|at| at.to_string()).as_deref(), expected, "{value}");
    }
}

#[test]
fn the_content_digest_ignores_the_journey() {
    let digest = |raw: &str| parse(raw).mail.content_sha256;
    let travelled = format!("Received: by mx.example; Mon\nX-Spam: no\n{MIXED}");
    assert_eq!(digest(&travelled), digest(MIXED));
    assert_eq!(digest(&MIXED.replace("<a@x.example>", "<b@x.example>")), digest(MIXED), "an id is no content");
    assert_ne!(digest(&MIXED.replace("aGVsbG8", "aGVsbG4")), digest(MIXED));
    assert_ne!(digest(&MIXED.replace("Please", "Kindly")), digest(MIXED));
    assert_eq!(digest(&MIXED.replace('\n', "\r\n")), digest(MIXED), "nor is the kind of line break");
}

/// Every part of a mail besides its text, each as two mails that differ in nothing else.
#[test]
fn every_part_is_in_the_digest_and_in_the_mark_of_a_mail() {
    let mail = |part: &str| {
        parse(&format!(
            "From: a@x.example\nSubject: x\nContent-Type: multipart/mixed; boundary=q\n\n--q\nContent-Type: multipart/alternative; boundary=r\n\n--r\n\nPlease look.\n{part}\n--r--\n--q--\n"
        ))
        .mail
    };
    let calendar = |text: &str| {
        format!(
            "--r\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:u\n{text}\nEND:VEVENT\nEND:VCALENDAR"
        )
    };
    let page = |text: &str| format!("--r\nContent-Type: text/html\n\n<p>{text}</p>");
    let attached = |text: &str| format!("--r--\n--q\nContent-Type: message/rfc822\n\nSubject: y\n\n{text}");
    let picture = |text: &str| format!("--r--\n--q\nContent-Type: image/png\nContent-ID: <p>\n\n{text}");
    let long = |text: &str| format!("{}\n{text}", "word ".repeat(TEXT_CHARS / 4));
    for (one, other) in [
        (calendar("DTSTART:20260301T100000Z"), calendar("DTSTART:20260302T100000Z")),
        (calendar("LOCATION:here"), calendar("LOCATION:there")),
        (page("Pay ten."), page("Pay twenty.")),
        (attached("Pay ten."), attached("Pay twenty.")),
        (picture("one"), picture("two")),
        (long("Pay ten."), long("Pay twenty.")),
    ] {
        let (one, other) = (mail(&one), mail(&other));
        assert_ne!(one.content_sha256, other.content_sha256);
        assert_ne!(fingerprint::of_mail(&one), fingerprint::of_mail(&other), "{:?}", one.invite);
    }
    // What differs each time the same mail is sent.
    let (one, other) = (mail(&calendar("DTSTAMP:20260301T100000Z")), mail(&calendar("DTSTAMP:20260302T100000Z")));
    assert_ne!(one.content_sha256, other.content_sha256);
    assert_eq!(fingerprint::of_mail(&one), fingerprint::of_mail(&other));
    assert_eq!(fingerprint::of_mail(&mail(&page("Please look."))), fingerprint::of_mail(&mail("")));
}

#[test]
fn oversize_mail_is_read_to_the_limit_and_flagged() {
    let head = MIXED.split("aGVsbG8=").next().unwrap();
    let raw = format!("{head}{}", "QUJD".repeat(MAIL_BYTES / 4 + 1_000_000));
    let ParsedMail { mail, truncations: notes, .. } = parse(&raw);
    assert_eq!(notes, [MailTruncation::Oversize]);
    assert_eq!((mail.text.as_str(), mail.size), ("Please pay €5.", raw.len() as u64));
    assert_eq!(mail.attachments.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["i.pdf (incomplete)"]);
}

#[test]
fn long_texts_and_lists_are_cut_and_flagged() {
    let people = "a@x.example, ".repeat(RECIPIENTS + 1);
    let ParsedMail { mail, body, truncations: notes } =
        parse(&format!("Subject: x\nTo: {people}\n\n{}", "word ".repeat(TEXT_CHARS / 4)));
    assert_eq!(notes, [MailTruncation::LongText, MailTruncation::ManyPeople]);
    assert!(body.len() <= TEXT_CHARS && mail.to.len() == RECIPIENTS);
    assert_eq!(mail.truncations.len(), 2);
    // A page with little text and much markup is cut before its end, too.
    let page = format!("Content-Type: text/html\n\n<p>Hello.</p>{}<p>Please pay.</p>", "<b></b>".repeat(400_000));
    assert_eq!(parse(&page).truncations, [MailTruncation::LongText]);
}

#[test]
fn hostile_mail_ends_soon() {
    let nested = |kind: &str| -> String {
        (0..2000).map(|n| format!("Content-Type: {kind}; boundary=b{n}\n\n--b{n}\n")).collect()
    };
    for (what, raw) in [
        ("multiparts", nested("multipart/mixed")),
        ("messages", "Content-Type: message/rfc822\n\n".repeat(100_000)),
        ("lost boundaries", "--x\nContent-Type: multipart/mixed; boundary=lost\n\n".repeat(50_000)),
        (
            "parts",
            format!(
                "Content-Type: multipart/mixed; boundary=x\n\n{}",
                "--x\nContent-Type: text/html\n\n<a\n".repeat(100_000)
            ),
        ),
        ("encoded words", format!("Subject: {}\n\n", "=?utf-8?Q?a".repeat(100_000))),
        ("parameters", format!("Content-Type: text/plain{}\n\n", "; a*1=b".repeat(100_000))),
        ("comments", format!("From: {}\n\n", "(".repeat(1_000_000))),
        ("quotes", format!("Subject: x\n\n{}", "On 1\n>".repeat(100_000))),
        ("blocks", format!("Subject: x\n\n{}", "From: a\nSent: b\n".repeat(50_000))),
        ("references", format!("References: {}\n\n", "<a@b>".repeat(100_000))),
        ("folds", format!("Subject: x\n{}\n", " y\n".repeat(300_000))),
    ] {
        let raw = format!("A: b\n{raw}");
        let start = std::time::Instant::now();
        let _ = parse_mail_in_full(raw.as_bytes(), &TrustedServers { servers: vec!["x".into()] });
        // Ten times the promised limit, because this is not the optimised build.
        assert!(start.elapsed().as_secs() < 10, "{what}: {:?}", start.elapsed());
    }
}

#[test]
fn a_hundred_levels_are_refused() {
    let raw: String = (0..100).map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n")).collect();
    assert_eq!(
        parse_mail_in_full(raw.as_bytes(), &TrustedServers::default()).map(|opened| opened.body),
        Err(MailParseError::TooDeep)
    );
}

/// Parses bytes and checks what must hold for every mail.
fn check_invariants(raw: &[u8]) -> Result<(), proptest::test_runner::TestCaseError> {
    if let Ok(opened) = parse_mail_in_full(raw, &TrustedServers { servers: vec!["mx".into()] }) {
        prop_assert_eq!(opened.mail.content_sha256.len(), 64);
        prop_assert!(!opened.mail.thread.is_empty());
        prop_assert!(!opened.body.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
        prop_assert!(!opened.mail.subject.contains('\n'));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_survived(raw in prop::collection::vec(any::<u8>(), 0..2000)) {
        check_invariants(&raw)?;
    }

    #[test]
    fn mutated_mail_is_survived(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<u8>()), 1..40)) {
        let mut raw = format!("Authentication-Results: mx; dmarc=pass header.from=x.example\n{MIXED}").into_bytes();
        for (at, what, byte) in edits {
            let at = at.index(raw.len());
            match what % 4 {
                0 => raw[at] = byte,
                1 => raw.insert(at, byte),
                2 if raw.len() > 1 => drop(raw.remove(at)),
                _ => raw.truncate(at.max(1)),
            }
        }
        check_invariants(&raw)?;
    }

    #[test]
    fn any_page_is_survived(html in "(<[/a-z!\"'= >-]{0,8}|&[a-z#0-9;]{0,6}|[a-z \n]{0,6}|\\PC){0,60}") {
        check_invariants(format!("Content-Type: text/html\n\n{html}").as_bytes())?;
    }
}
