//! Changes of one fact that could matter: for every test of every rule one that would meet it or break it, the most
//! likely first. Whether a change leads to another level is found out by `smallest_change`.

use crate::model::{Addressed, Facts, Instant};
use crate::rules::{
    Rule,
    grammar::{
        condition::{FieldTest, Predicate},
        field::{FactsView, Field, FieldValueKind},
    },
    ranking::smallest_change::{FactChange, NewFactValue},
};

/// How far a change is from the facts: low for what a server, a calendar or a click changes, high for other words.
type ChangeCost = f64;

/// Returns the changes of one fact that meet or break a test, the cheapest first, each once.
pub(super) fn enumerate_fact_changes(rules: &[Rule], facts: &Facts, now: Instant) -> Vec<FactChange> {
    let view = FactsView::new(facts, now);
    let mut found: Vec<(ChangeCost, FactChange)> = Vec::new();
    if rules.iter().any(|rule| rule.uses_sender) {
        let verified = !facts.sender_verified;
        let words = if verified { "the sender were verified" } else { "the sender were not verified" };
        let to = NewFactValue::Flag(verified);
        found.push((1.0, FactChange { field: None, to, words: words.to_owned() }));
    }
    for (test, _) in rules.iter().flat_map(|rule| rule.condition.tests()) {
        if let Some((cost, to, words)) = flip_test(test, &view) {
            let change = FactChange { field: Some(test.field), to, words };
            if !found.iter().any(|(_, known)| *known == change) {
                found.push((cost, change));
            }
        }
    }
    found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    found.into_iter().map(|(_, change)| change).collect()
}

/// The cost of a change, the new value and the change in words; none when no change is likely.
type PossibleChange = Option<(ChangeCost, NewFactValue, String)>;

/// Returns the change that would meet an unmet test, or break a met one.
fn flip_test(test: &FieldTest, view: &FactsView<'_>) -> PossibleChange {
    let (field, holds) = (test.field, test.holds(view));
    match &test.predicate {
        Predicate::Flag(wanted) => {
            let to = wanted ^ holds;
            Some((2.0, NewFactValue::Flag(to), format!("{field} were {to}")))
        }
        Predicate::Gte(bound) if holds => {
            change_number(field, bound - smallest_step(field), format!("below {}", test.expected()), view)
        }
        Predicate::Gte(bound) => change_number(field, *bound, format!("at least {}", test.expected()), view),
        Predicate::Lte(bound) if holds => {
            change_number(field, bound + smallest_step(field), format!("above {}", test.expected()), view)
        }
        Predicate::Lte(bound) => change_number(field, *bound, format!("at most {}", test.expected()), view),
        Predicate::Exists(wanted) => change_existence(field, wanted ^ holds),
        Predicate::Is(_) | Predicate::In(_) if holds => change_to_other_value(test, view),
        Predicate::Is(wanted) => Some((5.0, NewFactValue::Text(wanted.clone()), format!("{field} were {wanted}"))),
        Predicate::In(list) => {
            let member = list.entries.first()?;
            let source = list.name.as_ref().map(|name| format!(" (in {name})")).unwrap_or_default();
            Some((5.0, NewFactValue::Text(member.clone()), format!("{field} were {member}{source}")))
        }
        Predicate::Contains(_) | Predicate::Matches(_) if holds => remove_matched_words(test, view),
        Predicate::Contains(part) => {
            let made = add_word(field, view.text(field).unwrap_or_default(), part);
            Some((4.0, NewFactValue::Text(made), format!("{field} said '{part}'")))
        }
        Predicate::Matches(pattern) => {
            let text = view.text(field).unwrap_or_default();
            let (made, word) = pattern
                .build_match(|word| [add_word(field, text, word), add_word(field, word, text), word.to_owned()])?;
            Some((4.0, NewFactValue::Text(made), format!("{field} said '{word}'")))
        }
    }
}

/// Returns the smallest step that a person would notice.
fn smallest_step(field: Field) -> f64 {
    if field.value_kind() == FieldValueKind::Hours { 1.0 } else { 0.01 }
}

/// Moves a number to a bound. A near number is cheap; one that the mail does not name at all is dearer.
fn change_number(field: Field, to: f64, bound: String, view: &FactsView<'_>) -> PossibleChange {
    if field == Field::Urgency && !(0.0..=1.0).contains(&to) {
        return None;
    }
    let distance = view.number(field).map_or(1.0, |from| {
        let (gap, scale) = ((from - to).abs(), from.abs().max(to.abs()));
        if scale > 0.0 { (gap / scale / 2.0).min(1.0) } else { 0.0 }
    });
    Some((2.0 + distance, NewFactValue::Number(to), format!("{field} were {bound}")))
}

/// Makes a fact appear or disappear.
fn change_existence(field: Field, exists: bool) -> PossibleChange {
    // A mail without a sender is not a likely change.
    if field.is_sender_field() {
        return None;
    }
    if !exists {
        return Some((4.0, NewFactValue::Nothing, format!("there were no {field}")));
    }
    let to = match field.value_kind() {
        // Far enough away not to meet a bound by accident.
        FieldValueKind::Hours => NewFactValue::Number(24.0 * 60.0),
        FieldValueKind::Amount => NewFactValue::Number(1.0),
        _ => NewFactValue::Text("something".to_owned()),
    };
    Some((4.0, to, format!("there were {} {field}", if field.as_str().starts_with('a') { "an" } else { "a" })))
}

/// Changes a value to any other than those that the test asks for.
fn change_to_other_value(test: &FieldTest, view: &FactsView<'_>) -> PossibleChange {
    let field = test.field;
    let now = view.format_value(field)?;
    let to = match field {
        Field::Sender => "someone@elsewhere.example",
        Field::SenderDomain => "elsewhere.example",
        Field::Addressed => Addressed::ALL.iter().map(|word| word.as_str()).find(|word| match &test.predicate {
            Predicate::In(list) => !list.contains(word),
            _ => *word != now,
        })?,
        _ => "other",
    };
    let words = match &test.predicate {
        Predicate::In(list) if field != Field::Addressed => {
            format!("{field} were not {}", list.name.as_ref().map_or(now, |name| format!("in {name}")))
        }
        _ if field == Field::Addressed => format!("{field} were {to}"),
        _ => format!("{field} were not {now}"),
    };
    Some((5.0, NewFactValue::Text(to.to_owned()), words))
}

/// Removes the words that met the test from the text.
fn remove_matched_words(test: &FieldTest, view: &FactsView<'_>) -> PossibleChange {
    let field = test.field;
    let rest = match &test.predicate {
        Predicate::Matches(pattern) => pattern.remove_matches(view.text(field)?)?,
        Predicate::Contains(part) => view.lower_text(field)?.replace(part.as_str(), "").trim().to_owned(),
        _ => return None,
    };
    let words = test.matched_words(view).join("' or '");
    Some((4.0, NewFactValue::Text(rest), format!("{field} did not say '{words}'")))
}

/// Adds a word: at the end of prose, in front of an address, a kind or a language.
fn add_word(field: Field, text: &str, word: &str) -> String {
    match field {
        Field::Subject | Field::Objective => format!("{text} {word}").trim().to_owned(),
        _ => format!("{word}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{
        RuleSet,
        fixture::{facts, now},
    };

    fn check(when: &str, expected: &[&str]) {
        let text = format!("rules:\n  - {{ name: r, when: {when}, set: high }}\n");
        let rules = RuleSet::parse("f", &text).unwrap_or_else(|error| panic!("{error}"));
        let words: Vec<String> =
            enumerate_fact_changes(&rules.rules, &facts(), now()).into_iter().map(|change| change.words).collect();
        assert_eq!(words, expected, "{when}");
    }

    #[test]
    fn every_test_can_be_turned_and_the_likeliest_comes_first() {
        check(
            "{ sender: { is: ann@shop.example } }",
            &["the sender were not verified", "sender were not ann@shop.example"],
        );
        check("{ attachment: { is: false } }", &["attachment were true"]);
        check("{ urgency: { gte: 0 } }", &[]);
        check("{ kind: { is: meeting }, urgency: { gte: 0.6 } }", &["urgency were at least 0.6", "kind were meeting"]);
        check("{ due_in: { lte: 30 } }", &["due_in were above 30h"]);
        check("{ due_in: { exists: true } }", &["there were no due_in"]);
        check("{ list_id: { exists: true } }", &["there were a list_id"]);
        check("{ amount: { exists: true } }", &["there were no amount"]);
        check("{ addressed: { in: [to, cc] } }", &["addressed were list"]);
        check("{ kind: { in: [invoice] } }", &["kind were not invoice"]);
        check("{ subject: { contains: invoice } }", &["subject did not say 'Invoice'"]);
        check("{ subject: { contains: now } }", &["subject said 'now'"]);
        check("{ subject: { matches: '/[0-9]{9}/' } }", &[]);
        check("{ any: [{ kind: { is: meeting } }, { kind: { is: meeting } }] }", &["kind were meeting"]);
    }
}
