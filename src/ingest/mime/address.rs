//! Parses address fields.
//!
//! An address is kept as its sender wrote it, except that ASCII letters become lower case. An address that is not plain
//! is never turned into another, plain one: otherwise a sender could pass for somebody else.

use mail_parser::{HeaderValue, parsers::MessageStream};

use super::header::{Headers, field_parser_input};
use crate::{
    ingest::{
        limits::{FIELD_BYTES, RECIPIENTS, SHORT_CHARS, truncate_chars},
        text::{collapse_whitespace, strip_hidden_chars},
    },
    model::Address,
};

/// The people in the fields of one name.
#[derive(Debug, Default)]
pub(crate) struct AddressList {
    pub(crate) addresses: Vec<Address>,
    /// Number of people in the fields, including those beyond the bound.
    pub(crate) total: usize,
    /// Number of hidden or deceptive characters in names and addresses.
    pub(crate) tricks: u32,
}

/// Returns everyone in all fields of that name, with the ASCII letters of addresses in lower case.
pub(crate) fn parse_addresses(headers: &Headers<'_>, field: &str) -> AddressList {
    let mut people = AddressList::default();
    for value in headers.all(field) {
        if people.addresses.len() >= RECIPIENTS {
            break;
        }
        let line = field_parser_input(value, FIELD_BYTES);
        if let HeaderValue::Address(list) = MessageStream::new(&line).parse_address() {
            let mut written = RawAddressField { bytes: &line, at: 0 };
            for one in list.iter() {
                people.add(one, &mut written);
            }
        }
    }
    people
}

/// A field as it was written, and how far its addresses have been found in it.
struct RawAddressField<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl RawAddressField<'_> {
    /// Returns whether the address occurs literally in the field, after those found before. The parser drops comments
    /// and backslashes, and so can make one address of another.
    fn contains_next(&mut self, address: &str) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_edge = |byte: Option<&u8>| {
            byte.is_none_or(|byte| {
                byte.is_ascii_whitespace() || matches!(byte, b'<' | b'>' | b',' | b';' | b':' | b'"' | b'(' | b')')
            })
        };
        let found = rest.windows(address.len().max(1)).enumerate().find(|(at, window)| {
            window.eq_ignore_ascii_case(address.as_bytes())
                && is_edge(at.checked_sub(1).and_then(|before| rest.get(before)))
                && is_edge(rest.get(at + address.len()))
        });
        self.at += found.map_or(0, |(at, _)| at + address.len());
        found.is_some()
    }
}

impl AddressList {
    /// Adds a person, without an address if the one that the parser returns was not written like that.
    fn add(&mut self, one: &mail_parser::Addr<'_>, written: &mut RawAddressField<'_>) {
        if self.addresses.len() >= RECIPIENTS {
            self.total += 1;
            return;
        }
        let addr = one.address().unwrap_or_default().trim_ascii();
        let name = one.name().map(|name| strip_hidden_chars(name.trim()));
        self.tricks += strip_hidden_chars(addr).tricks + name.as_ref().map_or(0, |name| name.tricks);
        let name = name.map(|name| collapse_whitespace(&name.text)).filter(|name| !name.is_empty());
        let (name, addr) = match name {
            // Some programs write the address as a name and nothing else.
            Some(name) if addr.is_empty() && is_address(&name) && written.contains_next(&name) => (None, name),
            name if addr.is_empty() || !is_address(addr) || written.contains_next(addr) => (name, addr.to_owned()),
            // The sender wrote another address than the parser returns. Nobody can be written to under it, so it is
            // kept as a name.
            name => (name.or_else(|| Some(addr.to_owned())), String::new()),
        };
        if addr.is_empty() && name.is_none() {
            return;
        }
        self.total += 1;
        self.addresses.push(Address {
            name: name.map(|name| truncate_chars(name, SHORT_CHARS).0),
            addr: truncate_chars(addr.to_ascii_lowercase(), SHORT_CHARS).0,
        });
    }
}

/// Returns whether `address` is the only address of a field and stands where every mail program looks for it: in angle
/// brackets at the end, or alone with a comment. A comment or quoted name then cannot make another program see another
/// address.
pub(crate) fn is_sole_address(field: &[u8], address: &str) -> bool {
    let field = field.trim_ascii();
    let is_it = |text: &[u8]| text.trim_ascii().eq_ignore_ascii_case(address.as_bytes());
    if let Some(rest) = field.strip_suffix(b">") {
        let open = rest.iter().rposition(|byte| *byte == b'<');
        let parts = open.and_then(|open| Some((rest.get(..open)?, rest.get(open + 1..)?)));
        return parts.is_some_and(|(name, inside)| is_it(inside) && is_closed(name));
    }
    let end = field.iter().position(u8::is_ascii_whitespace).unwrap_or(field.len());
    let (word, rest) = field.split_at(end);
    let bare = word.strip_prefix(b"\"").and_then(|word| word.strip_suffix(b"\"")).unwrap_or(word);
    let rest = rest.trim_ascii();
    is_it(bare) && (rest.is_empty() || (rest.starts_with(b"(") && rest.ends_with(b")")))
}

/// Returns whether every quote and every comment in the text is closed.
fn is_closed(text: &[u8]) -> bool {
    let (mut quoted, mut depth, mut escaped) = (false, 0_usize, false);
    for byte in text {
        match byte {
            _ if std::mem::take(&mut escaped) => {}
            b'\\' => escaped = true,
            b'"' if depth == 0 => quoted = !quoted,
            b'(' if !quoted => depth += 1,
            b')' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    !quoted && depth == 0 && !escaped
}

/// Returns whether a text is a plain address: ASCII, one `@`, before it letters, digits and the characters that need no
/// quotes (RFC 5322 §3.2.3), after it a domain of ordinary characters.
pub(crate) fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let is_local = |byte: u8| byte.is_ascii_alphanumeric() || b".!#$%&'*+-/=?^_`{|}~".contains(&byte);
    !local.is_empty()
        && local.bytes().all(is_local)
        && domain.split('.').all(|label| !label.is_empty())
        && domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: &[(Option<&str>, &str)]) {
        let raw = format!("To: {value}\n\n");
        let people = parse_addresses(&Headers::parse(raw.as_bytes(), 0).0, "to");
        let found: Vec<_> = people.addresses.iter().map(|one| (one.name.as_deref(), one.addr.as_str())).collect();
        assert_eq!(found, expected, "{value}");
    }

    #[test]
    fn the_ways_people_write_addresses() {
        check("A.B@C.Example", &[(None, "a.b@c.example")]);
        check(
            "Dana <d@x.example>, \"Cohen, Avi\" <avi@x.example>",
            &[(Some("Dana"), "d@x.example"), (Some("Cohen, Avi"), "avi@x.example")],
        );
        check("=?utf-8?B?15PXoNeU?= <d@x.example>", &[(Some("דנה"), "d@x.example")]);
        check("team: a@x.example, b@x.example;", &[(None, "a@x.example"), (None, "b@x.example")]);
        check("undisclosed-recipients:;", &[]);
        check("d@x.example (Dana)", &[(Some("Dana"), "d@x.example")]);
        check("\"boss@bank.example\" <evil@x.example>", &[(Some("boss@bank.example"), "evil@x.example")]);
        check("\"d@x.example\"", &[(None, "d@x.example")]);
        check("", &[]);
    }

    #[test]
    fn an_address_that_is_not_plain_becomes_no_other() {
        for odd in [
            "\u{212a}aren@work.example",
            "ka\u{ad}ren@work.example",
            "ka\u{200b}ren@work.example",
            "\u{feff}karen@work.example",
            "\u{a0}karen@work.example",
            "ka ren@work.example",
            "karen @work.example",
            "karen@wor\u{212a}.example",
            "karen@work.example\u{1}",
            "\"karen\"@work.example",
            "kare\u{301}n@work.example",
        ] {
            check(&format!("Eve <{odd}>"), &[(Some("Eve"), odd)]);
            assert!(!is_address(odd), "{odd:?}");
        }
        // The parser reads these as karen's address.
        check("Eve <kar\\en@work.example>", &[(Some("Eve"), "")]);
        check("<\\karen@work.example>", &[(Some("karen@work.example"), "")]);
        check("Eve <kar(x)en@work.example>", &[(Some("Eve (x)"), "")]);
        check("=?utf-8?Q?karen=40work.example?=", &[(Some("karen@work.example"), "")]);
    }

    #[test]
    fn the_sole_address_stands_where_it_is_looked_for() {
        for (field, expected) in [
            ("karen@work.example", true),
            (" Karen <KAREN@work.example>", true),
            ("karen@work.example (Karen)", true),
            ("\"karen@work.example\"", true),
            ("\"karen@work.example\" <kar\\en@work.example>", false),
            ("kar\\en@work.example (<karen@work.example>)", false),
            ("kar\\en@work.example (<karen@work.example>", false),
            ("\"kar\\en@work.example <karen@work.example>", false),
            ("\"Karen \\\"K\\\" Smith\" (home) <karen@work.example>", true),
            ("eve@work.example, karen@work.example", false),
            ("Karen <karen@work.example", false),
            ("", false),
        ] {
            assert_eq!(is_sole_address(field.as_bytes(), "karen@work.example"), expected, "{field}");
        }
    }

    #[test]
    fn the_number_kept_is_bounded_and_the_number_found_is_known() {
        let raw = format!("To: {}\n\n", "a@x.example, ".repeat(RECIPIENTS + 5));
        let people = parse_addresses(&Headers::parse(raw.as_bytes(), 0).0, "to");
        assert_eq!((people.addresses.len(), people.total), (RECIPIENTS, RECIPIENTS + 5));
    }

    #[test]
    fn what_an_address_is() {
        for (text, expected) in [
            ("a@b.c", true),
            ("a@b", true),
            ("a", false),
            ("a@b@c", false),
            ("a@b..c", false),
            ("@b.c", false),
            ("a b@c.d", false),
            ("o'neil+x@c.d", true),
            ("\u{e4}@b.c", false),
            ("a@b\u{e4}.c", false),
            ("\"a\"@b.c", false),
            ("a\\b@c.d", false),
        ] {
            assert_eq!(is_address(text), expected, "{text}");
        }
    }
}
