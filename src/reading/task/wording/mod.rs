//! The fixed words of objectives, one file per language.
//!
//! Owns the templates and how they are filled. What is put into them is decided in `objective`.
#![allow(unreachable_pub, reason = "the macro writes `pub`; the module keeps it in the reading")]

use std::{collections::HashMap, sync::LazyLock};

use crate::model::text_enum::text_enum;
use crate::reading::language::Language;

text_enum! {
    /// A fixed form of an objective or of a part of one. Every language has each.
    Template {
        Reply = "reply",
        Tell = "tell",
        Give = "give",
        Answer = "answer",
        Quote = "quote",
        Meeting = "meeting",
        Invoice = "invoice",
        Deadline = "deadline",
        Alert = "alert",
        Invitation = "invitation",
        Unread = "unread",
        OneMoreQuestion = "one_more_question",
        MoreQuestions = "more_questions",
        Minutes = "minutes",
        Hours = "hours",
        Sum = "sum",
        Thousands = "thousands",
    }
}

/// The templates of one language.
pub(in crate::reading) struct Wording {
    /// By the number of the template.
    templates: Vec<&'static str>,
    /// By the code of the language.
    language_names: HashMap<&'static str, &'static str>,
    /// What a meeting is called, with the words that name it.
    nouns: Vec<(&'static str, Vec<&'static str>)>,
}

static ENGLISH: LazyLock<Wording> = LazyLock::new(|| Wording::parse(include_str!("english.txt")));
static GERMAN: LazyLock<Wording> = LazyLock::new(|| Wording::parse(include_str!("german.txt")));
static HEBREW: LazyLock<Wording> = LazyLock::new(|| Wording::parse(include_str!("hebrew.txt")));

impl Wording {
    /// Languages that are not read are spoken of in English.
    pub(in crate::reading) fn of(language: Language) -> &'static Self {
        match language {
            Language::German => &GERMAN,
            Language::Hebrew => &HEBREW,
            _ => &ENGLISH,
        }
    }

    fn parse(file: &'static str) -> Self {
        let lines = file.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" ="));
        let (mut templates, mut language_names, mut nouns) = (HashMap::new(), HashMap::new(), Vec::new());
        for (key, value) in lines {
            let value = value.strip_prefix(' ').unwrap_or(value);
            if let Some(noun) = key.strip_prefix("noun ") {
                nouns.push((noun, value.split(" | ").filter(|sign| !sign.is_empty()).collect()));
            } else if let Some(code) = key.strip_prefix("language ") {
                language_names.insert(code, value);
            } else {
                templates.insert(key, value);
            }
        }
        let template = |template: &Template| templates.get(template.as_str()).copied().unwrap_or_default();
        Self { templates: Template::ALL.iter().map(template).collect(), language_names, nouns }
    }

    pub(in crate::reading) fn template(&self, template: Template) -> &'static str {
        self.templates.get(template as usize).copied().unwrap_or_default()
    }

    /// Fills a template: names in braces by their values, and what stands in brackets only if its names have values.
    pub(in crate::reading) fn fill(&self, template: Template, values: &[(&str, &str)]) -> String {
        let mut filled = String::new();
        let mut rest = self.template(template);
        while let Some((before, after)) = rest.split_once('[') {
            fill_names(before, values, &mut filled);
            let (optional, behind) = after.split_once(']').unwrap_or((after, ""));
            let mut part = String::new();
            if fill_names(optional, values, &mut part) {
                filled.push_str(&part);
            }
            rest = behind;
        }
        fill_names(rest, values, &mut filled);
        filled
    }

    /// What the meeting is called that a plain text speaks of.
    pub(in crate::reading) fn meeting_noun(&self, plain: &str) -> &'static str {
        let named =
            |(_, signs): &&(&'static str, Vec<&str>)| signs.is_empty() || signs.iter().any(|sign| plain.contains(sign));
        self.nouns.iter().find(named).map_or("", |(noun, _)| noun)
    }

    /// The name of a language.
    pub(in crate::reading) fn language_name(&self, language: Language) -> &'static str {
        self.language_names.get(language.as_str()).copied().unwrap_or_else(|| language.as_str())
    }
}

/// Whether every name had a value.
fn fill_names(part: &str, values: &[(&str, &str)], filled: &mut String) -> bool {
    let mut complete = true;
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, behind) = after.split_once('}').unwrap_or((after, ""));
        let value = values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
        complete &= !value.is_empty();
        filled.push_str(before);
        filled.push_str(value);
        rest = behind;
    }
    filled.push_str(rest);
    complete
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_every_template_and_names_every_language() {
        for language in Language::READ {
            let wording = Wording::of(language);
            for template in Template::ALL {
                assert!(!wording.template(*template).is_empty(), "{language} {template}");
            }
            for other in Language::ALL.iter().filter(|other| !other.is_read()) {
                assert_ne!(wording.language_name(*other), other.as_str(), "{language}");
            }
            assert!(!wording.meeting_noun("").is_empty(), "{language}");
        }
    }

    #[test]
    fn templates_are_filled() {
        for (language, values, expected) in [
            (Language::English, [("number", "7"), ("sum", "EUR 5.00")], "Pay invoice 7 to Jo (EUR 5.00)"),
            (Language::English, [("number", ""), ("sum", "")], "Pay invoice to Jo"),
            (Language::German, [("number", "7"), ("sum", "")], "Rechnung 7 an Jo zahlen"),
            (Language::Hebrew, [("number", ""), ("sum", "ILS 5.00")], "לשלם חשבונית לJo (ILS 5.00)"),
        ] {
            let [number, sum] = values;
            assert_eq!(Wording::of(language).fill(Template::Invoice, &[("person", "Jo"), number, sum]), expected);
        }
    }
}
