//! The closed list of fields and operators, which of them fit together, and how a field is read from the facts.

use std::borrow::Cow;

use crate::model::{Facts, Instant, text_enum::text_enum};

text_enum! {
    /// What a rule can ask about: exactly the stored facts.
    Field {
        Sender = "sender",
        SenderDomain = "sender_domain",
        KnownContact = "known_contact",
        Addressed = "addressed",
        ListId = "list_id",
        Subject = "subject",
        Objective = "objective",
        Kind = "kind",
        Language = "language",
        Amount = "amount",
        DueIn = "due_in",
        Urgency = "urgency",
        Attachment = "attachment",
        ThreadMine = "thread_mine",
        Account = "account",
    }
}

text_enum! {
    /// How a rule compares a field. Texts are compared without regard to case, except by `matches`.
    Operator {
        Is = "is",
        In = "in",
        Contains = "contains",
        Matches = "matches",
        Gte = "gte",
        Lte = "lte",
        Exists = "exists",
    }
}

/// What kind of value a field holds. It decides which operators fit and how their values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum FieldValueKind {
    Text,
    /// `to`, `cc` or `list`.
    Addressing,
    Flag,
    Amount,
    Hours,
    /// A number from 0 to 1.
    Fraction,
}

impl Field {
    pub(in crate::rules) const fn value_kind(self) -> FieldValueKind {
        match self {
            Field::Addressed => FieldValueKind::Addressing,
            Field::KnownContact | Field::Attachment | Field::ThreadMine => FieldValueKind::Flag,
            Field::Amount => FieldValueKind::Amount,
            Field::DueIn => FieldValueKind::Hours,
            Field::Urgency => FieldValueKind::Fraction,
            _ => FieldValueKind::Text,
        }
    }

    /// Returns whether the field names the sender, so that a rule on it counts only for a verified one.
    pub(in crate::rules) const fn is_sender_field(self) -> bool {
        matches!(self, Field::Sender | Field::SenderDomain)
    }
}

impl FieldValueKind {
    /// Returns the operators that fit such a value. The parser refuses any other.
    pub(super) const fn operators(self) -> &'static [Operator] {
        use Operator::{Contains, Exists, Gte, In, Is, Lte, Matches};
        match self {
            FieldValueKind::Text => &[Is, In, Contains, Matches, Exists],
            FieldValueKind::Addressing => &[Is, In],
            FieldValueKind::Flag => &[Is],
            FieldValueKind::Amount | FieldValueKind::Hours => &[Gte, Lte, Exists],
            FieldValueKind::Fraction => &[Gte, Lte],
        }
    }
}

/// The facts at one moment, prepared once for all rules: texts also in lower case, the deadline in hours from now.
#[derive(Debug)]
pub(in crate::rules) struct FactsView<'a> {
    pub(in crate::rules) facts: &'a Facts,
    due_in: Option<f64>,
    sender: Cow<'a, str>,
    sender_domain: Cow<'a, str>,
    list_id: Option<Cow<'a, str>>,
    subject: Cow<'a, str>,
    objective: Cow<'a, str>,
    language: Cow<'a, str>,
    account: Cow<'a, str>,
}

impl<'a> FactsView<'a> {
    pub(in crate::rules) fn new(facts: &'a Facts, now: Instant) -> Self {
        Self {
            facts,
            due_in: facts.due_at.map(|due| now.hours_until(due)),
            sender: lowercase_if_needed(&facts.sender),
            sender_domain: lowercase_if_needed(&facts.sender_domain),
            list_id: facts.list_id.as_deref().map(lowercase_if_needed),
            subject: lowercase_if_needed(&facts.subject),
            objective: lowercase_if_needed(&facts.objective),
            language: lowercase_if_needed(&facts.language),
            account: lowercase_if_needed(&facts.account),
        }
    }

    /// Returns a text as it came; none for an empty one.
    pub(in crate::rules) fn text(&self, field: Field) -> Option<&str> {
        fact_text(self.facts, field).filter(|text| !text.is_empty())
    }

    /// Returns a text in lower case; none for an empty one.
    pub(in crate::rules) fn lower_text(&self, field: Field) -> Option<&str> {
        let text = match field {
            Field::Sender => &self.sender,
            Field::SenderDomain => &self.sender_domain,
            Field::ListId => self.list_id.as_ref()?,
            Field::Subject => &self.subject,
            Field::Objective => &self.objective,
            Field::Language => &self.language,
            Field::Account => &self.account,
            Field::Kind => return self.text(field),
            Field::Addressed => return Some(self.facts.addressed.as_str()),
            _ => return None,
        };
        Some(text.as_ref()).filter(|text| !text.is_empty())
    }

    pub(in crate::rules) fn number(&self, field: Field) -> Option<f64> {
        match field {
            Field::Amount => self.facts.amount,
            Field::DueIn => self.due_in,
            Field::Urgency => Some(self.facts.urgency),
            _ => None,
        }
    }

    pub(in crate::rules) fn flag(&self, field: Field) -> Option<bool> {
        match field {
            Field::KnownContact => Some(self.facts.known_contact),
            Field::Attachment => Some(self.facts.attachment),
            Field::ThreadMine => Some(self.facts.thread_mine),
            _ => None,
        }
    }

    /// Returns the value as a person reads it; none when the mail does not name one.
    pub(in crate::rules) fn format_value(&self, field: Field) -> Option<String> {
        match field.value_kind() {
            FieldValueKind::Text | FieldValueKind::Addressing => self.text(field).map(str::to_owned),
            FieldValueKind::Flag => self.flag(field).map(|flag| flag.to_string()),
            FieldValueKind::Amount | FieldValueKind::Hours | FieldValueKind::Fraction => {
                self.number(field).map(|number| format_number(field, number))
            }
        }
    }
}

fn fact_text(facts: &Facts, field: Field) -> Option<&str> {
    match field {
        Field::Sender => Some(&facts.sender),
        Field::SenderDomain => Some(&facts.sender_domain),
        Field::ListId => facts.list_id.as_deref(),
        Field::Subject => Some(&facts.subject),
        Field::Objective => Some(&facts.objective),
        Field::Kind => Some(facts.kind.as_str()),
        Field::Language => Some(&facts.language),
        Field::Account => Some(&facts.account),
        Field::Addressed => Some(facts.addressed.as_str()),
        _ => None,
    }
}

/// Returns the text in lower case. Most facts are in lower case already, and then nothing is copied.
fn lowercase_if_needed(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_uppercase) { Cow::Owned(text.to_lowercase()) } else { Cow::Borrowed(text) }
}

/// Returns a number with at most two decimals; hours carry their unit.
pub(super) fn format_number(field: Field, number: f64) -> String {
    let rounded = (number * 100.0).round() / 100.0;
    if field.value_kind() == FieldValueKind::Hours { format!("{rounded}h") } else { format!("{rounded}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::fixture::{facts, now};

    #[test]
    fn every_field_can_be_read_and_every_operator_fits_somewhere() {
        let mut facts = facts();
        facts.list_id = Some("L.Example".into());
        facts.amount = Some(12.345);
        facts.due_at = Some(now().plus(chrono::Duration::minutes(90)));
        let view = FactsView::new(&facts, now());
        for field in Field::ALL {
            assert!(view.format_value(*field).is_some(), "{field}");
        }
        assert_eq!(view.format_value(Field::DueIn).unwrap(), "1.5h");
        assert_eq!(view.format_value(Field::Amount).unwrap(), "12.35");
        assert_eq!(view.lower_text(Field::ListId), Some("l.example"));
        let fits = |operator| Field::ALL.iter().any(|field| field.value_kind().operators().contains(operator));
        assert!(Operator::ALL.iter().all(fits));
    }

    #[test]
    fn an_empty_text_is_none() {
        let mut facts = facts();
        facts.objective = String::new();
        let view = FactsView::new(&facts, now());
        assert_eq!((view.text(Field::Objective), view.lower_text(Field::Objective)), (None, None));
    }
}
