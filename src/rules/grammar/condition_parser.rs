//! The `when` of a rule: from YAML to a compiled condition.
//!
//! Every operator is checked against its field here, and every error has a position. A condition that passes can be
//! evaluated for any facts.

use std::collections::BTreeMap;

use crate::model::Addressed;
use crate::rules::grammar::{
    condition::{Condition, FieldTest, MemberList, Predicate},
    error::Fault,
    field::{Field, FieldValueKind, Operator},
    limits::{MAX_DEPTH, MAX_LIST_ENTRIES},
    pattern::Pattern,
    yaml::{PositionedKey, PositionedNode, YamlValue, quote_truncated},
};

/// The lists of the file, by name.
pub(super) type NamedLists = BTreeMap<String, MemberList>;

/// What an error says was expected in place of a condition.
const CONDITION: &str = "a mapping of fields, all, any or not";

/// Returns the compiled condition. `lists` are those that it may name.
pub(super) fn parse_condition(node: &PositionedNode, lists: &NamedLists) -> Result<Condition, Fault> {
    parse_group(node, lists, 0)
}

/// Parses one mapping. All of its entries must hold.
fn parse_group(node: &PositionedNode, lists: &NamedLists, depth: usize) -> Result<Condition, Fault> {
    let entries = node.expect_map(CONDITION)?;
    if entries.is_empty() {
        return Err(Fault::new(node.at, "an empty condition", "at least one field"));
    }
    let mut parts = Vec::new();
    for (key, value) in entries {
        match key.text.as_str() {
            "all" => parts.push(Condition::All(parse_members(key, value, lists, depth + 1)?)),
            "any" => parts.push(Condition::Any(parse_members(key, value, lists, depth + 1)?)),
            "not" => {
                check_depth(key, depth + 1)?;
                parts.push(Condition::Not(Box::new(parse_group(value, lists, depth + 1)?)));
            }
            _ => parts.extend(parse_field_tests(key, value, lists)?),
        }
    }
    Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) })
}

/// Parses the members of `all` or `any`.
fn parse_members(
    key: &PositionedKey,
    node: &PositionedNode,
    lists: &NamedLists,
    depth: usize,
) -> Result<Vec<Condition>, Fault> {
    check_depth(key, depth)?;
    let members = node.expect_seq("a sequence of conditions, such as [{ kind: { is: invoice } }]")?;
    if members.is_empty() {
        return Err(Fault::new(node.at, "no condition", "at least one"));
    }
    members.iter().map(|member| parse_group(member, lists, depth)).collect()
}

fn check_depth(key: &PositionedKey, depth: usize) -> Result<(), Fault> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    Err(key.to_fault("nesting too deep at", format!("at most {MAX_DEPTH} levels of all, any and not")))
}

/// Parses the operators on one field. All of them must hold.
fn parse_field_tests(key: &PositionedKey, node: &PositionedNode, lists: &NamedLists) -> Result<Vec<Condition>, Fault> {
    let Ok(field) = key.text.parse::<Field>() else {
        return Err(key.to_fault("unknown field", format!("one of: {}, all, any, not", join_words(Field::ALL))));
    };
    let fits = field.value_kind().operators();
    let form = format!("a mapping of operators, such as {{ {} }}", example_operator(field));
    let entries = node.expect_map(&form)?;
    if entries.is_empty() {
        return Err(Fault::new(node.at, "no operator", form));
    }
    let test = |(key, value): &(PositionedKey, PositionedNode)| {
        let operator = key.text.parse::<Operator>().ok();
        let known =
            operator.ok_or_else(|| key.to_fault("unknown operator", format!("one of: {}", join_words(fits))))?;
        if !fits.contains(&known) {
            let expected = format!("one of: {}, which fit {field}", join_words(fits));
            return Err(key.to_fault("the operator", expected));
        }
        parse_predicate(field, known, value, lists).map(|check| Condition::Test(FieldTest { field, predicate: check }))
    };
    entries.iter().map(test).collect()
}

fn parse_predicate(
    field: Field,
    operator: Operator,
    node: &PositionedNode,
    lists: &NamedLists,
) -> Result<Predicate, Fault> {
    Ok(match operator {
        Operator::Is if field.value_kind() == FieldValueKind::Flag => Predicate::Flag(node.expect_bool()?),
        Operator::Is => Predicate::Is(parse_text_value(field, node)?),
        Operator::In => Predicate::In(parse_list(field, node, lists)?),
        Operator::Contains => Predicate::Contains(node.expect_text("a text")?.to_lowercase()),
        Operator::Matches => Predicate::Matches(parse_pattern(node)?),
        Operator::Gte => Predicate::Gte(parse_number(field, node)?),
        Operator::Lte => Predicate::Lte(parse_number(field, node)?),
        Operator::Exists => Predicate::Exists(node.expect_bool()?),
    })
}

/// Returns a text in lower case. The values of `addressed` are a closed set.
fn parse_text_value(field: Field, node: &PositionedNode) -> Result<String, Fault> {
    let text = node.expect_text("a text")?.to_lowercase();
    if field.value_kind() == FieldValueKind::Addressing && text.parse::<Addressed>().is_err() {
        return Err(node.to_fault(format!("one of: {}", join_words(Addressed::ALL))));
    }
    Ok(text)
}

/// Returns the list of that name, or the one that is written inline.
fn parse_list(field: Field, node: &PositionedNode, lists: &NamedLists) -> Result<MemberList, Fault> {
    if let YamlValue::Text(name) = &node.value {
        let known = || match lists.is_empty() {
            true => "a list under `lists`, or a sequence; there are no lists".to_owned(),
            false => format!("a sequence or one of the lists: {}", join_words(lists.keys())),
        };
        let unknown = || {
            Fault::new(node.at, format!("unknown list {}", quote_truncated(name)), known())
                .with_width(name.chars().count())
        };
        return lists.get(name).cloned().ok_or_else(unknown);
    }
    let nodes = node.expect_seq("the name of a list, or a sequence of texts")?;
    if nodes.is_empty() {
        return Err(Fault::new(node.at, "an empty sequence", "at least one text"));
    }
    Ok(MemberList::new(None, parse_list_entries(node, |node| parse_text_value(field, node))?))
}

/// Returns the texts of a sequence, under `lists` or inline, within the limit on their number.
pub(super) fn parse_list_entries(
    node: &PositionedNode,
    read: impl Fn(&PositionedNode) -> Result<String, Fault>,
) -> Result<Vec<String>, Fault> {
    let nodes = node.expect_seq("a sequence of texts")?;
    if nodes.len() > MAX_LIST_ENTRIES {
        return Err(Fault::new(node.at, format!("{} entries", nodes.len()), format!("at most {MAX_LIST_ENTRIES}")));
    }
    nodes.iter().map(read).collect()
}

fn parse_pattern(node: &PositionedNode) -> Result<Pattern, Fault> {
    let source = node.expect_text("an expression such as \"/invoice/i\"")?;
    Pattern::parse(source)
        .map_err(|(found, expected)| Fault::new(node.at, found, expected).with_width(source.chars().count()))
}

/// Returns a finite number in the form that the field demands: hours with or without a unit, or a fraction from 0 to 1.
fn parse_number(field: Field, node: &PositionedNode) -> Result<f64, Fault> {
    let shape = field.value_kind();
    let (number, expected) = match (shape, &node.value) {
        (FieldValueKind::Hours, YamlValue::Text(text)) => (parse_hours(text), "hours, such as 24, '24h' or '3d'"),
        (FieldValueKind::Hours, YamlValue::Number(number)) => (Some(*number), "hours, such as 24, '24h' or '3d'"),
        (FieldValueKind::Fraction, YamlValue::Number(number)) => {
            (Some(*number).filter(|number| (0.0..=1.0).contains(number)), "a number from 0 to 1")
        }
        (FieldValueKind::Fraction, _) => (None, "a number from 0 to 1"),
        (_, YamlValue::Number(number)) => (Some(*number), "a number"),
        _ => (None, "a number"),
    };
    number.filter(|number| number.is_finite()).ok_or_else(|| node.to_fault(expected))
}

/// Returns the hours in `24h` or `3d`. A negative number stands for a time that has passed.
fn parse_hours(text: &str) -> Option<f64> {
    let (digits, factor) =
        text.strip_suffix('h').map(|digits| (digits, 1.0)).or_else(|| Some((text.strip_suffix('d')?, 24.0)))?;
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-');
    Some(digits.trim()).filter(|digits| digits.chars().all(plain))?.parse::<f64>().ok().map(|number| number * factor)
}

fn example_operator(field: Field) -> &'static str {
    match field.value_kind() {
        FieldValueKind::Text => "is: text",
        FieldValueKind::Addressing => "is: to",
        FieldValueKind::Flag => "is: true",
        FieldValueKind::Amount => "gte: 100",
        FieldValueKind::Hours => "lte: 24h",
        FieldValueKind::Fraction => "gte: 0.8",
    }
}

fn join_words<T: ToString>(all: impl IntoIterator<Item = T>) -> String {
    all.into_iter().map(|word| word.to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::RuleSet;

    /// `when` is refused under its text `place`, with `message`.
    fn check(when: &str, place: &str, message: &str) {
        let text = format!("lists: {{ bank: [a.example] }}\nrules:\n  - name: r\n    when: {when}\n    set: high\n");
        let error = RuleSet::parse("f.yml", &text).unwrap_err();
        let column = 11 + when.find(place).unwrap();
        assert_eq!((error.at.line, error.at.column), (4, column), "{when}: {error}");
        assert!(format!("{} {}", error.found, error.expected).contains(message), "{when}: {error}");
    }

    #[test]
    fn fields_operators_and_values_are_checked_where_they_stand() {
        check("x", "x", "a mapping of fields");
        check("{}", "{}", "at least one field");
        check("{ sendr: { is: x } }", "sendr", "unknown field 'sendr' one of: sender, sender_domain");
        check("{ kind: invoice }", "invoice", "a mapping of operators, such as { is: text }");
        check("{ kind: {} }", "{} }", "no operator");
        check("{ kind: { equals: x } }", "equals", "unknown operator 'equals' one of: is, in");
        check("{ subject: { gte: 3 } }", "gte", "one of: is, in, contains, matches, exists, which fit subject");
        check("{ known_contact: { exists: true } }", "exists", "one of: is, which fit known_contact");
        check("{ urgency: { is: 1 } }", "is", "one of: gte, lte, which fit urgency");
        check("{ subject: { contains: 2025 } }", "2025", "a text, in quotes");
        check("{ subject: { contains: '' } }", "''", "a text");
        check("{ known_contact: { is: yes } }", "yes", "true or false");
        check("{ addressed: { is: bcc } }", "bcc", "one of: to, cc, list");
        check("{ addressed: { in: [to, bcc] } }", "bcc", "one of: to, cc, list");
        check("{ sender_domain: { in: banks } }", "banks", "unknown list 'banks' a sequence or one of the lists: bank");
        check("{ sender_domain: { in: [] } }", "[]", "an empty sequence");
        check("{ sender_domain: { in: 3 } }", "3", "the name of a list");
        check("{ amount: { gte: many } }", "many", "a number");
        check("{ amount: { gte: .nan } }", ".nan", "a number");
        check("{ due_in: { lte: 3w } }", "3w", "hours, such as");
        check("{ due_in: { lte: infd } }", "infd", "hours, such as");
        check("{ urgency: { gte: 80 } }", "80", "from 0 to 1");
        check("{ subject: { matches: urgent } }", "urgent", "between slashes");
        check("{ subject: { matches: '/(((a{100}){100}){100})/' } }", "'/", "grows too large");
        check("{ any: { kind: { is: x } } }", "{ kind", "a sequence of conditions");
        check("{ any: [] }", "[]", "no condition");
        check("{ not: [] }", "[]", "a mapping of fields");
        check("{ kind: { is: x, is: y } }", "is: y", "is");
    }

    #[test]
    fn nesting_ends_at_its_limit() {
        let nest = |depth: usize| format!("{}{{ kind: {{ is: x }} }}{}", "{ not: ".repeat(depth), " }".repeat(depth));
        let text = |when: &str| format!("rules:\n  - {{ name: r, when: {when}, set: high }}\n");
        assert!(RuleSet::parse("f", &text(&nest(MAX_DEPTH))).is_ok());
        let error = RuleSet::parse("f", &text(&nest(MAX_DEPTH + 1))).unwrap_err();
        assert!(error.found.contains("nesting too deep"), "{error}");
    }

    #[test]
    fn hours_are_written_in_three_ways() {
        for (text, expected) in
            [("24h", Some(24.0)), ("3d", Some(72.0)), ("-1.5h", Some(-1.5)), ("24", None), ("h", None), ("1e9d", None)]
        {
            assert_eq!(parse_hours(text), expected, "{text}");
        }
    }
}
