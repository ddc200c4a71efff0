//! Address fields to people.

use mail_parser::{HeaderValue, parsers::MessageStream};

use super::{
    header::{Headers, field_parser_input},
    hidden_chars::strip_hidden_chars,
    limits::{FIELD_BYTES, RECIPIENTS, SHORT_CHARS, truncate_chars},
};
use crate::model::Address;

#[derive(Debug, Default)]
pub(super) struct AddressList {
    pub(super) addresses: Vec<Address>,
    /// Of all, before the bound.
    pub(super) total: usize,
    pub(super) tricks: u32,
}

/// Everyone in all fields of that name, addresses in lower case.
pub(super) fn parse_addresses(headers: &Headers<'_>, field: &str) -> AddressList {
    let mut people = AddressList::default();
    for value in headers.all(field) {
        if people.addresses.len() >= RECIPIENTS {
            break;
        }
        let line = field_parser_input(value, FIELD_BYTES);
        if let HeaderValue::Address(list) = MessageStream::new(&line).parse_address() {
            for one in list.iter() {
                people.add(one);
            }
        }
    }
    people
}

impl AddressList {
    fn add(&mut self, one: &mail_parser::Addr<'_>) {
        let addr = strip_hidden_chars(one.address().unwrap_or_default().trim());
        let name = one.name().map(|name| strip_hidden_chars(name.trim()));
        self.tricks += addr.tricks + name.as_ref().map_or(0, |name| name.tricks);
        let name = name.map(|name| collapse_whitespace(&name.text)).filter(|name| !name.is_empty());
        let mut addr = addr.text.to_lowercase();
        addr.retain(|c| !c.is_whitespace() && c != '<' && c != '>');
        // A name alone that is an address, as some programs write it.
        let (name, addr) = match name {
            Some(name) if addr.is_empty() && is_address(&name) => (None, name.to_lowercase()),
            name => (name, addr),
        };
        if addr.is_empty() && name.is_none() {
            return;
        }
        self.total += 1;
        if self.addresses.len() < RECIPIENTS {
            self.addresses.push(Address {
                name: name.map(|name| truncate_chars(name, SHORT_CHARS).0),
                addr: truncate_chars(addr, SHORT_CHARS).0,
            });
        }
    }
}

/// White space of any kind becomes one space.
pub(super) fn collapse_whitespace(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// One `@`, something on both sides, a domain of ordinary characters.
pub(super) fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    !local.is_empty()
        && domain.split('.').all(|label| !label.is_empty())
        && domain.chars().all(|c| c.is_alphanumeric() || c == '.' || c == '-')
        && !local.chars().any(|c| c.is_whitespace() || c.is_control())
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
        ] {
            assert_eq!(is_address(text), expected, "{text}");
        }
    }
}
