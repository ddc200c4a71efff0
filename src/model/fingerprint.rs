//! What a request is recognised by when it comes again, as one text: the kind, a colon and a digest or a name.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::text_enum::{UnknownVariant, text_enum};

text_enum! {
    /// What a fingerprint was taken of.
    FingerprintKind {
        /// A whole mail, with its further parts.
        Mail = "mail",
        /// A whole mail, before its further parts counted.
        FormerMail = "text",
        /// An event of its organizer's calendar.
        Invitation = "invite",
        /// A mail whose beginning was read before the rest had come.
        WholeMail = "whole",
        /// An invoice number of its sender.
        Invoice = "invoice",
        /// A subject of its sender.
        Subject = "subject",
        /// An objective of its sender on one day.
        Request = "request",
        /// A sentence, whoever says it.
        Sentence = "says",
    }
}

impl FingerprintKind {
    /// Whether two tasks with an equal fingerprint of this kind are about one thing. Another person may say the same
    /// sentence, and one person may write twice under one subject: only what names a sender and a thing stands for one.
    pub const fn names_sender(self) -> bool {
        !matches!(self, FingerprintKind::Sentence | FingerprintKind::Subject)
    }
}

/// A fingerprint. Equal fingerprints are evidence, never proof of who wrote.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint {
    kind: FingerprintKind,
    text: String,
}

impl Fingerprint {
    pub fn new(kind: FingerprintKind, value: impl fmt::Display) -> Self {
        Self { kind, text: format!("{kind}:{value}") }
    }

    pub const fn kind(&self) -> FingerprintKind {
        self.kind
    }

    /// Returns the text as it is stored.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Fingerprint {
    type Err = UnknownVariant;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, _) = text.split_once(':').unwrap_or((text, ""));
        Ok(Self { kind: kind.parse()?, text: text.to_owned() })
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_one_text_everywhere_and_an_unknown_kind_is_refused() {
        let made = Fingerprint::new(FingerprintKind::Invoice, "ann@x.example 7:1");
        assert_eq!(made.as_str(), "invoice:ann@x.example 7:1");
        assert_eq!(made.as_str().parse(), Ok(made.clone()));
        let json = serde_json::to_string(&made).unwrap();
        assert_eq!(json, "\"invoice:ann@x.example 7:1\"");
        assert_eq!(serde_json::from_str::<Fingerprint>(&json).unwrap(), made);
        for bad in ["", "bill:7", "7"] {
            assert!(bad.parse::<Fingerprint>().is_err(), "{bad}");
        }
    }
}
