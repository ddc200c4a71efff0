//! A condition as it is evaluated: everything compiled, lower-cased and type-checked when the file was loaded.

use std::sync::Arc;

use super::{
    field::{Field, Operator, View, show_number},
    pattern::Pattern,
};

#[derive(Debug, Clone)]
pub(super) enum Condition {
    Test(Test),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
}

/// One operator on one field.
#[derive(Debug, Clone)]
pub(super) struct Test {
    pub(super) field: Field,
    pub(super) check: Check,
}

/// Texts in lower case.
#[derive(Debug, Clone)]
pub(super) enum Check {
    Is(String),
    Flag(bool),
    In(List),
    Contains(String),
    Matches(Pattern),
    Gte(f64),
    Lte(f64),
    Exists(bool),
}

/// Lower-case texts in order, shared between the rules that name the list.
#[derive(Debug, Clone)]
pub(super) struct List {
    /// None for one written inline.
    pub(super) name: Option<String>,
    pub(super) entries: Arc<[String]>,
}

impl List {
    pub(super) fn new(name: Option<&str>, mut entries: Vec<String>) -> Self {
        entries.sort_unstable();
        entries.dedup();
        Self { name: name.map(str::to_owned), entries: entries.into() }
    }

    pub(super) fn holds(&self, text: &str) -> bool {
        self.entries.binary_search_by(|entry| entry.as_str().cmp(text)).is_ok()
    }

    fn show(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("[{}]", self.entries.join(", ")))
    }
}

impl Condition {
    pub(super) fn holds(&self, view: &View<'_>) -> bool {
        match self {
            Condition::Test(test) => test.holds(view),
            Condition::All(parts) => parts.iter().all(|part| part.holds(view)),
            Condition::Any(parts) => parts.iter().any(|part| part.holds(view)),
            Condition::Not(part) => !part.holds(view),
        }
    }

    /// Every test in the order of the file, and whether it stands under an odd number of `not`.
    pub(super) fn tests(&self) -> Vec<(&Test, bool)> {
        let mut tests = Vec::new();
        self.collect(false, &mut tests);
        tests
    }

    fn collect<'c>(&'c self, negated: bool, tests: &mut Vec<(&'c Test, bool)>) {
        match self {
            Condition::Test(test) => tests.push((test, negated)),
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().for_each(|part| part.collect(negated, tests));
            }
            Condition::Not(part) => part.collect(!negated, tests),
        }
    }

    pub(super) fn uses(&self, field: impl Fn(Field) -> bool) -> bool {
        self.tests().iter().any(|(test, _)| field(test.field))
    }
}

impl Test {
    pub(super) fn holds(&self, view: &View<'_>) -> bool {
        let (field, text, number) = (self.field, |field| view.lower(field), |field| view.number(field));
        match &self.check {
            Check::Is(wanted) => text(field) == Some(wanted),
            Check::Flag(wanted) => view.flag(field) == Some(*wanted),
            Check::In(list) => text(field).is_some_and(|text| list.holds(text)),
            Check::Contains(part) => text(field).is_some_and(|text| text.contains(part.as_str())),
            Check::Matches(pattern) => view.text(field).is_some_and(|text| pattern.is_match(text)),
            Check::Gte(bound) => number(field).is_some_and(|number| number >= *bound),
            Check::Lte(bound) => number(field).is_some_and(|number| number <= *bound),
            Check::Exists(wanted) => (text(field).is_some() || number(field).is_some()) == *wanted,
        }
    }

    pub(super) const fn operator(&self) -> Operator {
        match self.check {
            Check::Is(_) | Check::Flag(_) => Operator::Is,
            Check::In(_) => Operator::In,
            Check::Contains(_) => Operator::Contains,
            Check::Matches(_) => Operator::Matches,
            Check::Gte(_) => Operator::Gte,
            Check::Lte(_) => Operator::Lte,
            Check::Exists(_) => Operator::Exists,
        }
    }

    /// The value of the operator, as a person reads it.
    pub(super) fn expected(&self) -> String {
        match &self.check {
            Check::Is(text) | Check::Contains(text) => text.clone(),
            Check::Flag(flag) | Check::Exists(flag) => flag.to_string(),
            Check::In(list) => list.show(),
            Check::Matches(pattern) => pattern.source.clone(),
            Check::Gte(bound) | Check::Lte(bound) => show_number(self.field, *bound),
        }
    }

    /// The words of the mail that met the test.
    pub(super) fn words(&self, view: &View<'_>) -> Vec<String> {
        if !self.holds(view) {
            return Vec::new();
        }
        match &self.check {
            Check::Matches(pattern) => pattern.words(view.text(self.field).unwrap_or_default()),
            Check::Contains(part) => vec![self.as_written(view, part)],
            _ => view.show(self.field).into_iter().collect(),
        }
    }

    /// The part in the mail's own letters. Where lower case has another length the lower-case text must do.
    fn as_written(&self, view: &View<'_>, part: &str) -> String {
        let (text, lower) = (view.text(self.field), view.lower(self.field));
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
        let test = Test { field: Field::Subject, check: Check::Contains("invoice".into()) };
        assert_eq!(test.words(&View::new(&facts(), now())), ["Invoice"]);
        let mut other = facts();
        other.subject = "İİ Invoice".into();
        assert_eq!(test.words(&View::new(&other, now())), ["invoice"], "lower case is longer here");
    }
}
