//! The recipients of a message: addresses in one spelling, and what each recipient is to the conversation.

use crate::model::{Address, Mail, text_enum::text_enum};

text_enum! {
    /// What a recipient is to the conversation, the least known first.
    Standing {
        /// Not part of the conversation.
        New = "new",
        /// A sender or recipient of the mail at hand.
        Thread = "thread",
        /// One of the person's own addresses.
        Own = "own",
    }
}

/// The longest mail address (RFC 5321).
const MAX_ADDRESS_BYTES: usize = 254;

/// Returns the one spelling of an address; none for what is not plainly an address. An address with letters outside
/// ASCII is none, because such letters can look like others and nobody could compare it by eye.
pub fn normalise_address(address: &str) -> Option<String> {
    let address = address.trim();
    let (local, domain) = address.rsplit_once('@')?;
    let plain = |c: char| {
        c.is_ascii_graphic()
            && !matches!(c, '@' | '<' | '>' | '(' | ')' | ',' | ';' | ':' | '\\' | '"' | '[' | ']' | '*')
    };
    let labels = domain.split('.').all(|label| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    });
    let sound = !local.is_empty()
        && local.chars().all(plain)
        && labels
        && domain.contains('.')
        && address.len() <= MAX_ADDRESS_BYTES;
    sound.then(|| address.to_ascii_lowercase())
}

/// Returns what a recipient is to the conversation; none for what is not an address.
pub fn recipient_role(address: &Address, mail: Option<&Mail>, own: &[String]) -> Option<Standing> {
    let addr = normalise_address(&address.addr)?;
    let known = |other: &str| normalise_address(other).is_some_and(|other| other == addr);
    if own.iter().any(|own| known(own)) {
        return Some(Standing::Own);
    }
    let there = mail.is_some_and(|mail| mail.participants().any(|person| known(&person.addr)));
    Some(if there { Standing::Thread } else { Standing::New })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mailbox_has_one_spelling_and_doubt_has_none() {
        for (text, expected) in [
            ("Dana@Work.Example", Some("dana@work.example")),
            (" dana@work.example ", Some("dana@work.example")),
            ("dana+x@work.example", Some("dana+x@work.example")),
            ("dana@work", None),
            ("dana", None),
            ("a@b@c.example", None),
            ("d\u{430}na@work.example", None),
            ("dana@w\u{43e}rk.example", None),
            ("dana@work.example, eve@evil.example", None),
            ("dana@work.example\r\nBcc: eve@evil.example", None),
            ("\"dana eve\"@work.example", None),
            ("*@work.example", None),
            ("dana@-work.example", None),
            ("@work.example", None),
        ] {
            assert_eq!(normalise_address(text).as_deref(), expected, "{text:?}");
        }
    }
}
