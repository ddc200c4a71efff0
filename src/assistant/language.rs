//! The language of a conversation. Each message decides it again; one without letters keeps the one before.
#![allow(unreachable_pub, reason = "the macro writes `pub`; the module is private")]

use crate::model::text_enum::text_enum;

text_enum! {
    /// A language that the assistant speaks.
    ChatLanguage {
        English = "en",
        Hebrew = "he",
    }
}

impl ChatLanguage {
    /// Returns the language of a message: Hebrew if there is one Hebrew character, English if there is another letter.
    pub fn detect(message: &str, before: Self) -> Self {
        if message.chars().any(|c| ('\u{590}'..='\u{5ff}').contains(&c)) {
            Self::Hebrew
        } else if message.chars().any(char::is_alphabetic) {
            Self::English
        } else {
            before
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ChatLanguage::{self, English, Hebrew};

    #[test]
    fn a_message_without_letters_keeps_the_language() {
        for (message, before, expected) in [
            ("תוסיף חלב", English, Hebrew),
            ("מחק את Q4 report", English, Hebrew),
            ("add milk", Hebrew, English),
            ("2", Hebrew, Hebrew),
            ("#3!", English, English),
            ("", Hebrew, Hebrew),
        ] {
            assert_eq!(ChatLanguage::detect(message, before), expected, "{message}");
        }
    }
}
