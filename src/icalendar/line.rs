//! One content line: a name, parameters and a value (RFC 5545 §3.1).

use super::time;
use crate::model::Instant;

/// A property as it was written. A value is decoded only by the method that asks for its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Property<'a> {
    name: &'a str,
    /// Everything between the name and the colon.
    parameters: &'a str,
    value: &'a str,
}

impl<'a> Property<'a> {
    /// Splits an unfolded line at the first colon outside quotes. Returns none when there is no such colon.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let mut is_quoted = false;
        let colon = line.find(|c| {
            is_quoted ^= c == '"';
            c == ':' && !is_quoted
        })?;
        let (head, value) = (line.get(..colon)?, line.get(colon + 1..)?);
        let (name, parameters) = head.split_once(';').unwrap_or((head, ""));
        Some(Self { name: name.trim(), parameters, value })
    }

    /// Compares the name without regard to case, as the format prescribes.
    pub fn is_named(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Returns the value as it was written, without white space around it.
    pub fn raw_value(&self) -> &'a str {
        self.value.trim()
    }

    /// Returns the value as text: its escapes are undone in one pass, so that an escaped backslash before an `n` stays
    /// a backslash and an `n`.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.value.len());
        let mut chars = self.value.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => {
                    text.extend(chars.next().map(|escaped| if matches!(escaped, 'n' | 'N') { '\n' } else { escaped }))
                }
                c => text.push(c),
            }
        }
        text
    }

    /// Returns the address behind `mailto:` as it was written; none when the value is no mail address.
    pub fn mail_address(&self) -> Option<&'a str> {
        const SCHEME: &str = "mailto:";
        let value = self.raw_value();
        let scheme = value.get(..SCHEME.len())?;
        let address = value.get(SCHEME.len()..)?;
        (scheme.eq_ignore_ascii_case(SCHEME) && !address.is_empty()).then_some(address)
    }

    /// Returns the last parameter of that name, without the quotes around it.
    pub fn parameter(&self, name: &str) -> Option<&'a str> {
        let mut pairs = self.parameters.split(';').filter_map(|pair| pair.split_once('='));
        let found = pairs.rfind(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim_matches('"'))
    }

    /// Returns the time that the value names. Returns none for a time in an unknown zone: a wrong hour is worse than no
    /// time.
    pub fn instant(&self) -> Option<Instant> {
        time::parse_instant(self.raw_value(), self.parameter("TZID"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_unescaped_in_one_pass() {
        for (value, expected) in [
            ("Budget\\, 2026\\; draft", "Budget, 2026; draft"),
            ("one\\ntwo\\Nthree", "one\ntwo\nthree"),
            ("C:\\\\new", "C:\\new"),
            ("a\\\\\\nb", "a\\\nb"),
            ("ends with\\", "ends with"),
            ("", ""),
        ] {
            assert_eq!(Property::parse(&format!("SUMMARY:{value}")).unwrap().text(), expected, "{value}");
        }
    }

    #[test]
    fn an_address_is_never_unescaped() {
        for (line, expected) in [
            ("ORGANIZER;CN=\"Dana: PM\":MAILTO:Dana@X.example", Some("Dana@X.example")),
            ("ORGANIZER:mailto:kar\\en@work.example", Some("kar\\en@work.example")),
            ("ORGANIZER:mailto:", None),
            ("ORGANIZER:dana", None),
            ("ORGANIZER:\u{5e9}\u{5e9}\u{5e9}\u{5e9}", None),
        ] {
            assert_eq!(Property::parse(line).unwrap().mail_address(), expected, "{line}");
        }
    }

    #[test]
    fn parameters_are_found_by_name() {
        let property = Property::parse(" attendee ;PARTSTAT=ACCEPTED;cn=\"Tom: Baker\";X:mailto:t@x.example").unwrap();
        assert!(property.is_named("ATTENDEE"));
        assert_eq!(property.parameter("PARTSTAT"), Some("ACCEPTED"));
        assert_eq!(property.parameter("CN"), Some("Tom: Baker"));
        assert_eq!(property.parameter("TZID"), None);
        assert_eq!(Property::parse("no colon; \"here:\""), None);
    }
}
