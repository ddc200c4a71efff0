//! A condition as it is evaluated. Everything is compiled, lower-cased and type-checked when the file is loaded, so
//! that evaluation cannot fail.

use std::sync::Arc;

use crate::rules::grammar::{
    field::{FactsView, Field, Operator, format_number},
    pattern::Pattern,
};

/// The `when` of a rule.
#[derive(Debug, Clone)]
pub(in crate::rules) enum Condition {
    Test(FieldTest),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
}

/// One operator on one field.
#[derive(Debug, Clone)]
pub(in crate::rules) struct FieldTest {
    pub(in crate::rules) field: Field,
    pub(in crate::rules) predicate: Predicate,
}

/// An operator with its value. Texts are in lower case.
#[derive(Debug, Clone)]
pub(in crate::rules) enum Predicate {
    Is(String),
    Flag(bool),
    In(MemberList),
    Contains(String),
    Matches(Pattern),
    Gte(f64),
    Lte(f64),
    Exists(bool),
}

/// The members of a list in lower case, sorted, shared between the rules that name the list.
#[derive(Debug, Clone)]
pub(in crate::rules) struct MemberList {
    /// The name under `lists`; none for a list that is written inline.
    pub(in crate::rules) name: Option<String>,
    pub(in crate::rules) entries: Arc<[String]>,
}

impl MemberList {
    /// Sorts the entries, so that membership is a binary search.
    pub(in crate::rules) fn new(name: Option<&str>, mut entries: Vec<String>) -> Self {
        entries.sort_unstable();
        entries.dedup();
        Self { name: name.map(str::to_owned), entries: entries.into() }
    }

    /// Returns whether `text`, which must be in lower case, is a member.
    pub(in crate::rules) fn contains(&self, text: &str) -> bool {
        self.entries.binary_search_by(|entry| entry.as_str().cmp(text)).is_ok()
    }

    fn describe(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("[{}]", self.entries.join(", ")))
    }
}

impl Condition {
    /// Returns whether the condition holds for these facts. Whether a sender rule counts is decided by the caller.
    pub(in crate::rules) fn holds(&self, view: &FactsView<'_>) -> bool {
        match self {
            Condition::Test(test) => test.holds(view),
            Condition::All(parts) => parts.iter().all(|part| part.holds(view)),
            Condition::Any(parts) => parts.iter().any(|part| part.holds(view)),
            Condition::Not(part) => !part.holds(view),
        }
    }

    /// Returns every test in the order of the file, and whether it stands under an odd number of `not`.
    pub(in crate::rules) fn tests(&self) -> Vec<(&FieldTest, bool)> {
        let mut tests = Vec::new();
        self.collect_tests(false, &mut tests);
        tests
    }

    fn collect_tests<'c>(&'c self, negated: bool, tests: &mut Vec<(&'c FieldTest, bool)>) {
        match self {
            Condition::Test(test) => tests.push((test, negated)),
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().for_each(|part| part.collect_tests(negated, tests));
            }
            Condition::Not(part) => part.collect_tests(!negated, tests),
        }
    }

    /// Returns whether any test is on such a field.
    pub(super) fn uses_field(&self, field: impl Fn(Field) -> bool) -> bool {
        self.tests().iter().any(|(test, _)| field(test.field))
    }
}

impl FieldTest {
    /// Returns whether the test holds. A missing fact meets no test but `exists: false`.
    pub(in crate::rules) fn holds(&self, view: &FactsView<'_>) -> bool {
        let (field, text, number) = (self.field, |field| view.lower_text(field), |field| view.number(field));
        match &self.predicate {
            Predicate::Is(wanted) => text(field) == Some(wanted),
            Predicate::Flag(wanted) => view.flag(field) == Some(*wanted),
            Predicate::In(list) => text(field).is_some_and(|text| list.contains(text)),
            Predicate::Contains(part) => text(field).is_some_and(|text| text.contains(part.as_str())),
            Predicate::Matches(pattern) => view.text(field).is_some_and(|text| pattern.is_match(text)),
            Predicate::Gte(bound) => number(field).is_some_and(|number| number >= *bound),
            Predicate::Lte(bound) => number(field).is_some_and(|number| number <= *bound),
            Predicate::Exists(wanted) => (text(field).is_some() || number(field).is_some()) == *wanted,
        }
    }

    pub(in crate::rules) const fn operator(&self) -> Operator {
        match self.predicate {
            Predicate::Is(_) | Predicate::Flag(_) => Operator::Is,
            Predicate::In(_) => Operator::In,
            Predicate::Contains(_) => Operator::Contains,
            Predicate::Matches(_) => Operator::Matches,
            Predicate::Gte(_) => Operator::Gte,
            Predicate::Lte(_) => Operator::Lte,
            Predicate::Exists(_) => Operator::Exists,
        }
    }

    /// Returns the value of the operator, as a person reads it.
    pub(in crate::rules) fn expected(&self) -> String {
        match &self.predicate {
            Predicate::Is(text) | Predicate::Contains(text) => text.clone(),
            Predicate::Flag(flag) | Predicate::Exists(flag) => flag.to_string(),
            Predicate::In(list) => list.describe(),
            Predicate::Matches(pattern) => pattern.source.clone(),
            Predicate::Gte(bound) | Predicate::Lte(bound) => format_number(self.field, *bound),
        }
    }

    /// Returns the words of the mail that met the test; none when it is not met.
    pub(in crate::rules) fn matched_words(&self, view: &FactsView<'_>) -> Vec<String> {
        if !self.holds(view) {
            return Vec::new();
        }
        match &self.predicate {
            Predicate::Matches(pattern) => pattern.matched_words(view.text(self.field).unwrap_or_default()),
            Predicate::Contains(part) => vec![self.original_spelling(view, part)],
            _ => view.format_value(self.field).into_iter().collect(),
        }
    }

    /// Returns the part as the mail spells it, or in lower case where lower case has another length and positions do
    /// not fit.
    fn original_spelling(&self, view: &FactsView<'_>, part: &str) -> String {
        let (text, lower) = (view.text(self.field), view.lower_text(self.field));
        let written = || {
            let start = lower?.find(part)?;
            text.filter(|text| Some(text.len()) == lower.map(str::len))?.get(start..start + part.len())
        };
        written().unwrap_or(part).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{
        RuleSet,
        fixture::{facts, now},
    };

    /// `when` against the fixture's facts: an invoice from Ann, 250, due in 30 hours, urgency 0.5.
    fn check(when: &str, expected: bool) {
        let text = format!("rules:\n  - {{ name: r, when: {when}, set: high }}\ndefault: low\n");
        let rules = RuleSet::parse("f.yml", &text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(rules.rank(&facts(), now()).rule == "r", expected, "{when}");
    }

    #[test]
    fn operators() {
        for (when, expected) in [
            ("{ sender: { is: ANN@shop.example } }", true),
            ("{ sender_domain: { is: example } }", false),
            ("{ sender_domain: { in: [a.example, Shop.Example] } }", true),
            ("{ sender_domain: { in: [a.example] } }", false),
            ("{ subject: { contains: your INVOICE } }", true),
            ("{ subject: { matches: /^your/ } }", false),
            ("{ subject: { matches: /^your/i } }", true),
            ("{ amount: { gte: 250 } }", true),
            ("{ amount: { gte: 250.01 } }", false),
            ("{ amount: { gte: 100, lte: 200 } }", false),
            ("{ due_in: { lte: 30 } }", true),
            ("{ due_in: { lte: 29h } }", false),
            ("{ due_in: { gte: 1d, lte: 2d } }", true),
            ("{ urgency: { gte: 0.5 } }", true),
            ("{ known_contact: { is: true } }", true),
            ("{ attachment: { is: true } }", false),
            ("{ addressed: { is: to } }", true),
            ("{ addressed: { in: [cc, list] } }", false),
            ("{ list_id: { exists: true } }", false),
            ("{ list_id: { exists: false } }", true),
            ("{ list_id: { contains: a } }", false),
            ("{ amount: { exists: true } }", true),
            ("{ language: { is: en }, account: { is: samples }, kind: { is: invoice } }", true),
            ("{ language: { is: en }, account: { is: other } }", false),
        ] {
            check(when, expected);
        }
    }

    #[test]
    fn combinations() {
        let (yes, no) = ("{ kind: { is: invoice } }", "{ kind: { is: meeting } }");
        check(&format!("{{ all: [{yes}, {no}] }}"), false);
        check(&format!("{{ any: [{no}, {yes}] }}"), true);
        check(&format!("{{ not: {no} }}"), true);
        check(&format!("{{ not: {{ any: [{no}, {{ not: {yes} }}] }} }}"), true);
        check("{ not: { list_id: { contains: a } } }", true);
        check("{ kind: { is: invoice }, not: { language: { is: en } } }", false);
    }

    #[test]
    fn words_are_the_mails_own() {
        let test = FieldTest { field: Field::Subject, predicate: Predicate::Contains("invoice".into()) };
        assert_eq!(test.matched_words(&FactsView::new(&facts(), now())), ["Invoice"]);
        let mut other = facts();
        other.subject = "İİ Invoice".into();
        assert_eq!(test.matched_words(&FactsView::new(&other, now())), ["invoice"], "lower case is longer here");
    }
}
