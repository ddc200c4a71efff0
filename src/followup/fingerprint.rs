//! Fingerprints: short hashes by which a request is recognised when it comes again in another conversation.
//!
//! Equal fingerprints are evidence that two requests are the same, never proof of who wrote them; only the receiving
//! server can vouch for a sender. The prefix of a fingerprint (`mail:`, `says:`, `invoice:` …) says what it was taken
//! of.

use crate::model::{Fingerprint, FingerprintKind, Mail, MailId, ids::sha256_hex};

/// The number of words of a sentence that are hashed: enough not to repeat by chance, few enough to survive wrapping
/// and cutting by quoting programs.
const COMPARED_WORDS: usize = 8;
/// The shortest sentence with a fingerprint. Shorter ones occur in many mails.
const MIN_SENTENCE_WORDS: usize = 4;
/// The number of sentences of a quote that get a fingerprint.
const MAX_SENTENCES: usize = 24;
/// The number of places in a quote that are tried as the start of a sentence.
const MAX_SENTENCE_STARTS: usize = 400;
/// The number of bytes in which the compared words must lie, so that hostile text costs no more than this per sentence.
const MAX_SENTENCE_BYTES: usize = 400;
/// The number of hexadecimal digits that are kept of a SHA-256: 128 bits.
const DIGEST_LENGTH: usize = 32;

/// Returns the fingerprint of a mail: the same sender with the same words, subject, attachments, further parts and
/// Reply-To. The date is left out, because a mail that is sent again has another. Returns none for a mail without
/// words.
pub fn of_mail(mail: &Mail) -> Option<Fingerprint> {
    let mut whole = written_by_sender(mail)?;
    whole.extend(mail.other_parts_sha256.clone());
    Some(Fingerprint::new(FingerprintKind::Mail, short_digest(&whole.join("\n"))))
}

/// Returns the fingerprint of earlier versions, in which further parts did not count. Only tasks of those versions are
/// found by it.
pub fn former_of_mail(mail: &Mail) -> Option<Fingerprint> {
    Some(Fingerprint::new(FingerprintKind::FormerMail, short_digest(&written_by_sender(mail)?.join("\n"))))
}

/// Returns the parts that the sender wrote; none when there are no words. No part contains a line feed, so joining them
/// by one is unambiguous.
fn written_by_sender(mail: &Mail) -> Option<Vec<String>> {
    let text = normalise_words(&mail.text);
    if text.is_empty() {
        return None;
    }
    let mut whole = vec![mail.from.addr.clone(), normalise_words(strip_reply_prefixes(&mail.subject)), text];
    whole.extend(mail.reply_to.iter().map(|address| address.addr.clone()));
    whole.extend(mail.attachments.iter().map(|attachment| attachment.sha256.clone()));
    Some(whole)
}

/// Returns the fingerprint of an event, or of one occurrence of a series, from the same sender. An invitation and the
/// later changes and the cancellation by its organizer share it.
pub fn of_invitation(mail: &Mail) -> Option<Fingerprint> {
    let invite = mail.invite.as_ref().filter(|invite| ["REQUEST", "CANCEL"].contains(&invite.method.as_str()))?;
    let known = !invite.uid.is_empty() && !mail.from.addr.is_empty();
    let event = [mail.from.addr.as_str(), &invite.uid, invite.recurrence_id.as_deref().unwrap_or_default()];
    known.then(|| Fingerprint::new(FingerprintKind::Invitation, short_digest(&event.join("\n"))))
}

/// Returns the fingerprint under which a complete mail finds the tasks that were opened by its beginning, when it was
/// read while still being written.
pub fn of_whole(whole: MailId) -> Fingerprint {
    Fingerprint::new(FingerprintKind::WholeMail, whole)
}

/// Returns the fingerprint of an invoice number from a sender; none when the number has no digit or the sender is
/// unknown.
pub fn of_invoice(sender: &str, number: &str) -> Option<Fingerprint> {
    let number: String = number.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    (!sender.is_empty() && number.chars().any(|c| c.is_ascii_digit()))
        .then(|| Fingerprint::new(FingerprintKind::Invoice, format_args!("{sender} {number}")))
}

/// Returns the fingerprint of a subject of a sender, without `Re:` and its like; none for an empty one. A mail in whose
/// headers the conversation is missing is found by it.
pub fn of_subject(sender: &str, subject: &str) -> Option<Fingerprint> {
    let subject = normalise_words(strip_reply_prefixes(subject));
    (!sender.is_empty() && !subject.is_empty())
        .then(|| Fingerprint::new(FingerprintKind::Subject, short_digest(&format!("{sender}\n{subject}"))))
}

/// Returns the fingerprints by which a mail without references may find the tasks of its conversation: its subject, as
/// its own sender's, or, if it answers somebody, as that of each recipient.
pub fn of_missing_conversation(mail: &Mail) -> Vec<Fingerprint> {
    const MOST_RECIPIENTS: usize = 5;
    if !mail.references.is_empty() {
        return Vec::new();
    }
    let recipients = mail.to.iter().chain(&mail.cc).take(MOST_RECIPIENTS).filter(|_| is_reply_subject(&mail.subject));
    let people = std::iter::once(&mail.from).chain(recipients);
    people.filter_map(|person| of_subject(&person.addr, &mail.subject)).collect()
}

/// Returns the fingerprint of what the sender of a mail writes about under its subject on the day of the mail. The
/// numbers and files in the mail count: two orders or parcels are asked about in the same words.
pub fn of_request(mail: &Mail) -> Option<Fingerprint> {
    const SHORTEST_NUMBER: usize = 3;
    let day = mail.date?.day();
    let said = normalise_words(&format!("{} {}", mail.subject, mail.text));
    let is_number = |word: &&str| word.bytes().filter(u8::is_ascii_digit).count() >= SHORTEST_NUMBER;
    let mut numbers: Vec<&str> = said.split(' ').filter(is_number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let subject = normalise_words(strip_reply_prefixes(&mail.subject));
    let files: Vec<&str> = mail.attachments.iter().map(|attachment| attachment.sha256.as_str()).collect();
    let parts = mail.other_parts_sha256.as_deref().unwrap_or_default();
    let about = [&numbers.join(" "), &files.join(" "), parts].join("\n");
    let whole = [mail.from.addr.as_str(), &day, &subject, &about].join("\n");
    (!mail.from.addr.is_empty() && !subject.is_empty())
        .then(|| Fingerprint::new(FingerprintKind::Request, short_digest(&whole)))
}

/// Returns whether a subject says that the mail answers another.
pub fn is_reply_subject(subject: &str) -> bool {
    strip_reply_prefixes(subject).len() < subject.trim().len()
}

/// Returns the fingerprint of the first words of a sentence; none when it is too short.
pub fn of_sentence(sentence: &str) -> Option<Fingerprint> {
    let start = sentence.get(..sentence.floor_char_boundary(MAX_SENTENCE_BYTES)).unwrap_or_default();
    let words = normalise_words(start.split_inclusive(['.', '!', '?']).next().unwrap_or_default());
    let words: Vec<&str> = words.split(' ').take(COMPARED_WORDS).collect();
    (words.len() >= MIN_SENTENCE_WORDS)
        .then(|| Fingerprint::new(FingerprintKind::Sentence, short_digest(&words.join(" "))))
}

/// Returns the fingerprints of the sentences of a quoted text. The lines come without their quotation marks.
pub fn of_quoted_sentences<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Fingerprint> {
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let starts = std::iter::once(0).chain(text.match_indices(['.', '!', '?', '\n']).map(|(at, end)| at + end.len()));
    let mut found: Vec<Fingerprint> = Vec::new();
    for sentence in starts.take(MAX_SENTENCE_STARTS).filter_map(|start| of_sentence(text.get(start..)?)) {
        if found.len() == MAX_SENTENCES {
            break;
        }
        if !found.contains(&sentence) {
            found.push(sentence);
        }
    }
    found
}

fn short_digest(text: &str) -> String {
    let mut digest = sha256_hex(text.as_bytes());
    digest.truncate(DIGEST_LENGTH);
    digest
}

/// Returns the words in lower case with one space between them, so that neither wrapping nor punctuation counts.
pub fn normalise_words(text: &str) -> String {
    if text.is_ascii() {
        return normalise_ascii_words(text.as_bytes());
    }
    let mut out = String::with_capacity(text.len());
    let mut apart = false;
    for c in text.chars() {
        if !c.is_alphanumeric() {
            apart = true;
            continue;
        }
        if std::mem::take(&mut apart) && !out.is_empty() {
            out.push(' ');
        }
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
        } else {
            out.extend(c.to_lowercase());
        }
    }
    out
}

/// Does the same for ASCII by branch-free compaction: every byte is written, and the position advances only if it
/// counts. This avoids branch mispredictions at the end of every word.
fn normalise_ascii_words(text: &[u8]) -> String {
    let mut out = vec![0; text.len()];
    let (mut length, mut inside) = (0, false);
    for byte in text {
        let letter = byte.is_ascii_alphanumeric();
        if let Some(place) = out.get_mut(length) {
            *place = if letter { byte.to_ascii_lowercase() } else { b' ' };
        }
        length += usize::from(letter || inside);
        inside = letter;
    }
    out.truncate(length.saturating_sub(usize::from(!inside)));
    String::from_utf8(out).unwrap_or_default()
}

/// Returns the subject without `Re:`, `Fwd:` and their like.
fn strip_reply_prefixes(subject: &str) -> &str {
    let mut rest = subject.trim();
    while let Some((first, after)) = rest.split_once(':')
        && ["re", "fw", "fwd", "aw", "wg", "tr", "השב", "הועבר"]
            .iter()
            .any(|word| first.trim().eq_ignore_ascii_case(word))
    {
        rest = after.trim();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Address, Attachment, mail::Invite};

    fn mail(subject: &str, text: &str) -> Mail {
        let from = Address { name: None, addr: "a@x.example".into() };
        Mail { from, subject: subject.into(), text: text.into(), ..Mail::default() }
    }

    #[test]
    fn words_are_the_same_in_every_script() {
        for (text, expected) in [
            ("  Please,\r\nPAY 2041! ", "please pay 2041"),
            ("…Please, PAY", "please pay"),
            ("a-b", "a b"),
            ("?!", ""),
            ("", ""),
            ("שלום, Dana", "שלום dana"),
        ] {
            assert_eq!(normalise_words(text), expected, "{text}");
        }
    }

    #[test]
    fn a_resend_has_the_mark_of_the_first_and_any_other_mail_has_not() {
        let first = mail("Invoice 7", "Please pay\ninvoice 7.");
        let fingerprint = of_mail(&first);
        assert!(fingerprint.is_some());
        for again in
            [mail("Re: Invoice 7", "Please pay invoice 7"), mail("RE: AW: invoice 7", "please  pay invoice 7!")]
        {
            assert_eq!(of_mail(&again), fingerprint);
        }
        let elsewhere = Address { name: None, addr: "b@x.example".into() };
        let attached = Attachment { name: String::new(), content_type: String::new(), size: 1, sha256: "00".into() };
        for other in [
            mail("Invoice 8", "Please pay invoice 7."),
            mail("Invoice 7", "Please pay invoice 8."),
            Mail { from: elsewhere.clone(), ..first.clone() },
            Mail { reply_to: vec![elsewhere], ..first.clone() },
            Mail { attachments: vec![attached], ..first.clone() },
            Mail { other_parts_sha256: Some("00".into()), ..first.clone() },
        ] {
            assert_ne!(of_mail(&other), fingerprint, "{other:?}");
        }
        assert_eq!(of_mail(&mail("x", " \n")), None);
    }

    #[test]
    fn an_invitation_is_known_by_its_event_and_its_sender() {
        let invite = |uid: &str, recurrence_id: Option<&str>| Invite {
            method: "REQUEST".into(),
            uid: uid.into(),
            recurrence_id: recurrence_id.map(str::to_owned),
            ..Invite::default()
        };
        let of = |invite: Invite| of_invitation(&Mail { invite: Some(invite), ..mail("x", "y") });
        let fingerprint = of(invite("u", None));
        assert!(fingerprint.is_some());
        assert_eq!(of(Invite { method: "CANCEL".into(), sequence: 3, ..invite("u", None) }), fingerprint);
        assert_ne!(of(invite("v", None)), fingerprint);
        assert_ne!(of(invite("u", Some("20260301T100000Z"))), fingerprint);
        assert_eq!(of(Invite { method: "REPLY".into(), ..invite("u", None) }), None);
        assert_eq!(of(invite("", None)), None);
    }

    #[test]
    fn invoice_numbers_are_compared_without_their_dress() {
        let fingerprint = of_invoice("a@x.example", "INV-2024/771");
        assert_eq!(fingerprint, of_invoice("a@x.example", "inv 2024 771"));
        assert_ne!(fingerprint, of_invoice("b@x.example", "INV-2024/771"));
        assert_eq!(of_invoice("a@x.example", "none"), None);
        assert_eq!(of_invoice("", "7"), None);
    }

    #[test]
    fn a_quoted_sentence_is_recognised_however_it_is_wrapped() {
        let said = of_sentence("Could you send me the signed lease by Friday, please?").unwrap();
        for quote in [
            "Hello Alex,\n\nCould you send me the signed lease by Friday, please?\n\nTom",
            "Hello Alex,\nI hope you are well. Could you send\nme the signed lease by\nFriday, please? Tom",
        ] {
            assert!(of_quoted_sentences(quote.lines()).contains(&said), "{quote}");
        }
        assert!(!of_quoted_sentences("Could you send me the unsigned lease?".lines()).contains(&said));
        assert_eq!(of_sentence("Thank you."), None);
        assert_eq!(of_quoted_sentences(std::iter::repeat_n("a sentence of five words.", 500)).len(), 1);
        let many: Vec<String> = (0..500).map(|n| format!("this is sentence number {n} of many.")).collect();
        assert_eq!(of_quoted_sentences(many.iter().map(String::as_str)).len(), MAX_SENTENCES);
    }
}
