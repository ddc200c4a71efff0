//! Warnings about what is allowed but surely not meant: rules that can never match, or that never change a level, where
//! that is cheap to see. A warning never keeps a file from taking effect.

use crate::model::{
    Priority,
    reading::{NoTask, TaskKind},
};
use crate::rules::{
    Position, Rule, RuleSet,
    grammar::{
        condition::{Condition, FieldTest, Predicate},
        field::Field,
    },
    ranking::precedence::SetOrCap,
};

/// One warning about one rule.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LintWarning {
    pub at: Position,
    pub rule: String,
    pub text: String,
}

impl std::fmt::Display for LintWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}: {}", self.at.line, self.rule, self.text)
    }
}

impl RuleSet {
    /// Returns the warnings in the order of the rules.
    pub fn lint(&self) -> Vec<LintWarning> {
        let mut warnings = Vec::new();
        let shapes: Vec<String> = self.rules.iter().map(|rule| canonical_form(&rule.condition)).collect();
        for (index, rule) in self.rules.iter().enumerate() {
            let mut texts: Vec<String> = explain_impossible(&rule.condition).into_iter().collect();
            texts.extend(self.explain_no_effect(rule));
            let earlier = self.rules.iter().zip(&shapes).take(index);
            let mut told = earlier.filter_map(|(other, shape)| {
                let same = Some(shape) == shapes.get(index);
                explain_shadowed(rule, other, same).or_else(|| explain_contradiction(rule, other).filter(|_| same))
            });
            texts.extend(told.next());
            warnings.extend(texts.into_iter().map(|text| LintWarning { at: rule.at, rule: rule.name.clone(), text }));
        }
        warnings
    }

    /// Returns why the outcome of a rule can change no level.
    fn explain_no_effect(&self, rule: &Rule) -> Option<String> {
        let outcome = rule.outcome;
        match outcome.kind {
            SetOrCap::Cap if outcome.level == Priority::Critical => Some("a cap at critical lowers nothing".to_owned()),
            SetOrCap::Set if outcome.level <= self.default && !outcome.lock && !outcome.stop => {
                let others = self.rules.iter().any(|other| other.outcome.level < self.default);
                (!others).then(|| format!("the default is {} already", self.default))
            }
            _ => None,
        }
    }
}

/// Returns why the condition can never hold; none when it may.
fn explain_impossible(condition: &Condition) -> Option<String> {
    match condition {
        Condition::Test(test) => explain_never_matching(test),
        Condition::All(parts) => parts.iter().find_map(explain_impossible).or_else(|| explain_empty_range(parts)),
        Condition::Any(parts) => {
            let reasons: Vec<String> = parts.iter().filter_map(explain_impossible).collect();
            (reasons.len() == parts.len()).then(|| reasons.join("; "))
        }
        Condition::Not(_) => None,
    }
}

/// Returns why no mail can meet a test, because its values do not have the form of the field.
fn explain_never_matching(test: &FieldTest) -> Option<String> {
    let texts: Vec<&str> = match &test.predicate {
        Predicate::Is(text) => vec![text],
        Predicate::In(list) => list.entries.iter().map(String::as_str).collect(),
        _ => return None,
    };
    let fits = |text: &&str| match test.field {
        Field::Sender => text.contains('@'),
        Field::SenderDomain => !text.contains('@'),
        Field::Kind => text.parse::<TaskKind>().is_ok() || text.parse::<NoTask>().is_ok(),
        Field::Language => text.chars().count() == 2,
        _ => true,
    };
    if texts.iter().any(fits) {
        return None;
    }
    let hint = match test.field {
        Field::Sender => "a sender is an address with '@'",
        Field::SenderDomain => "a domain has no '@'",
        Field::Kind => "there is no such kind",
        Field::Language => "a language is two letters, such as en",
        _ => "the list is empty",
    };
    Some(format!("never matches: {} {} {}: {hint}", test.field, test.operator(), test.expected()))
}

/// Returns the bounds on one field that leave no value between them.
fn explain_empty_range(parts: &[Condition]) -> Option<String> {
    let tests = || parts.iter().filter_map(|part| if let Condition::Test(test) = part { Some(test) } else { None });
    tests().find_map(|low| {
        let Predicate::Gte(least) = low.predicate else { return None };
        let below = |high: &&FieldTest| {
            high.field == low.field && matches!(high.predicate, Predicate::Lte(most) if most < least)
        };
        let high = tests().find(below)?;
        Some(format!("never matches: {} gte {} and lte {}", low.field, low.expected(), high.expected()))
    })
}

/// Returns why a rule never matters beside an earlier one that holds whenever it does.
fn explain_shadowed(rule: &Rule, earlier: &Rule, same: bool) -> Option<String> {
    let (late, early) = (rule.outcome, earlier.outcome);
    let weaker = match (late.kind, early.kind) {
        (SetOrCap::Set, SetOrCap::Set) => late.level <= early.level && !late.stop && (early.lock || !late.lock),
        (SetOrCap::Cap, SetOrCap::Cap) => late.level >= early.level,
        _ => false,
    };
    if !(early.stop || weaker) {
        return None;
    }
    if same {
        return Some(format!("never matters: {} has the same condition", earlier.name));
    }
    let covered = implies(&rule.condition, &earlier.condition) && (rule.uses_sender || !earlier.uses_sender);
    covered.then(|| format!("never matters: {} matches whatever it matches", earlier.name))
}

/// Returns whether `wide` surely holds whenever `narrow` does. False means only that it was not cheap to see.
fn implies(narrow: &Condition, wide: &Condition) -> bool {
    match (narrow, wide) {
        (_, Condition::All(parts)) => parts.iter().all(|part| implies(narrow, part)),
        (Condition::Any(parts), _) => parts.iter().all(|part| implies(part, wide)),
        (_, Condition::Any(parts)) => parts.iter().any(|part| implies(narrow, part)),
        (Condition::All(parts), _) => parts.iter().any(|part| implies(part, wide)),
        (Condition::Test(narrow), Condition::Test(wide)) => test_implies(narrow, wide),
        _ => false,
    }
}

fn test_implies(narrow: &FieldTest, wide: &FieldTest) -> bool {
    let domain = |address: &'_ str| address.rsplit_once('@').map(|(_, domain)| domain.to_owned());
    let named = match (&narrow.predicate, narrow.field, wide.field) {
        (Predicate::Is(text), Field::Sender, Field::SenderDomain) => domain(text),
        (Predicate::Is(text), field, other) if field == other => Some(text.clone()),
        _ => None,
    };
    match (named, &wide.predicate) {
        (Some(named), Predicate::Is(text)) => named == *text,
        (Some(named), Predicate::In(list)) => list.entries.contains(&named),
        _ => narrow.field == wide.field && narrow.operator() == wide.operator() && narrow.expected() == wide.expected(),
    }
}

/// Returns why a rule and an earlier one with the same condition contradict each other.
fn explain_contradiction(rule: &Rule, earlier: &Rule) -> Option<String> {
    let (set, cap) = match (rule.outcome.kind, earlier.outcome.kind) {
        (SetOrCap::Set, SetOrCap::Cap) => (rule, earlier),
        (SetOrCap::Cap, SetOrCap::Set) => (earlier, rule),
        _ => return None,
    };
    let lowered = cap.outcome.level < set.outcome.level && !set.outcome.lock && !set.outcome.stop;
    let words = || {
        format!(
            "contradicts {}, which has the same condition: {} and at most {}",
            earlier.name, set.outcome.level, cap.outcome.level
        )
    };
    lowered.then(words)
}

/// Returns a text that two conditions share when they ask the same, whatever the order of their parts.
pub(in crate::rules) fn canonical_form(condition: &Condition) -> String {
    let all = |parts: &[Condition]| {
        let mut parts: Vec<String> = parts.iter().map(canonical_form).collect();
        parts.sort_unstable();
        parts.join("\u{1}")
    };
    match condition {
        Condition::Test(test) => format!("{} {} {:?}", test.field, test.operator(), test.expected()),
        Condition::All(parts) => format!("all({})", all(parts)),
        Condition::Any(parts) => format!("any({})", all(parts)),
        Condition::Not(part) => format!("not({})", canonical_form(part)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the warnings of a file of rules, one per expected text.
    fn check(rules: &[&str], expected: &[&str]) {
        let rules: String =
            rules.iter().enumerate().map(|(n, rule)| format!("  - {{ name: r{n}, {rule} }}\n")).collect();
        let text = format!("lists: {{ empty: [], some: [a] }}\nrules:\n{rules}");
        let warnings = RuleSet::parse("f.yml", &text).unwrap_or_else(|error| panic!("{error}")).lint();
        let found: Vec<String> = warnings.iter().map(|warning| format!("{}: {}", warning.rule, warning.text)).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(found.iter().zip(expected).all(|(found, expected)| found.contains(expected)), "{found:?}");
    }

    #[test]
    fn rules_that_never_match() {
        check(
            &["when: { account: { in: empty } }, set: med"],
            &["r0: never matches: account in empty: the list is empty"],
        );
        check(&["when: { sender: { is: shop.example } }, set: med"], &["an address with '@'"]);
        check(&["when: { sender_domain: { in: [a@b.example] } }, set: med"], &["no '@'"]);
        check(&["when: { kind: { is: invoce } }, set: med"], &["no such kind"]);
        check(&["when: { language: { is: english } }, set: med"], &["two letters"]);
        check(&["when: { amount: { gte: 5, lte: 4 } }, set: med"], &["amount gte 5 and lte 4"]);
        check(&["when: { any: [{ kind: { is: a } }, { kind: { is: bulk } }] }, set: med"], &[]);
        check(&["when: { not: { account: { in: empty } } }, set: med"], &[]);
        check(&["when: { account: { in: some } }, set: med"], &[]);
    }

    #[test]
    fn rules_that_never_matter() {
        let (one, other) = ("when: { kind: { is: bulk }, attachment: { is: true } }", "when: { kind: { is: fyi } }");
        let same = "when: { attachment: { is: true }, kind: { is: bulk } }";
        let (med, high, cap) = (format!("{one}, set: med"), format!("{same}, set: high"), format!("{one}, cap: med"));
        check(&[&high, &med], &["r1: never matters: r0 has the same condition"]);
        check(&[&med, &high], &[]);
        check(&[&med, &cap], &[]);
        check(&[&high, &cap], &["r1: contradicts r0, which has the same condition: high and at most med"]);
        check(&[&cap, &high], &["r1: contradicts r0"]);
        check(&[&cap, &cap], &["r1: never matters"]);
        check(&[&high, &format!("{one}, set: high, lock: true")], &[]);
        check(&[&format!("{one}, set: low, stop: true"), &high], &["r1: never matters"]);
        check(&[&format!("{other}, cap: critical")], &["lowers nothing"]);
        check(&[&format!("{other}, set: low")], &["the default is low already"]);
    }

    #[test]
    fn rules_that_a_wider_one_covers() {
        let (domain, sender) =
            ("when: { sender_domain: { is: shop.example } }", "when: { sender: { is: ann@shop.example } }");
        let (high, med) = (format!("{domain}, set: high"), format!("{sender}, set: med"));
        check(&[&high, &med], &["r1: never matters: r0 matches whatever it matches"]);
        check(&[&med, &high], &[]);
        check(&[&high, &format!("{sender}, cap: med")], &[]);
        check(&[&high, "when: { sender: { is: ann@other.example } }, set: med"], &[]);
        let stop = "when: { kind: { in: [bulk, fyi] } }, set: low, stop: true";
        check(&[stop, "when: { kind: { is: bulk }, attachment: { is: true } }, set: high"], &["r1: never matters"]);
        check(&[stop, "when: { any: [{ kind: { is: bulk } }, { kind: { is: spam } }] }, set: high"], &[]);
        check(&["when: { not: { kind: { is: fyi } } }, set: high", "when: { kind: { is: bulk } }, set: med"], &[]);
    }

    #[test]
    fn the_shipped_file_is_clean() {
        let rules = RuleSet::parse("priority.yml", crate::rules::BUILT_IN).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(rules.lint(), []);
    }
}
