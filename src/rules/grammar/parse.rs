//! The file as a whole: lists, rules, the default and the learned section. Text that passes can be used to rank.

use std::collections::HashSet;

use crate::rules::{
    ActRule, Rule, RuleSet, TaskRule, compute_version,
    editing::learned_section::{self, LearnedSection},
    grammar::{
        condition_parser::{NamedLists, parse_condition, parse_list_entries},
        error::Fault,
        field::Field,
        limits::{MAX_LEARNED, MAX_NAME_CHARS, MAX_RULES, MAX_WHY_CHARS},
        yaml::{PositionedKey, PositionedNode, YamlValue, parse_tree, quote_truncated},
    },
    ranking::precedence::{RuleOutcome, SetOrCap},
};
use crate::{
    model::{Priority, RuleAct},
    rules::grammar::condition::MemberList,
};

const FILE_KEYS: &[&str] = &["lists", "rules", "default", "learned"];
const RULE_KEYS: &[&str] = &["name", "when", "set", "cap", "lock", "stop", "do", "why"];
const LEARNED_KEYS: &[&str] = &["name", "when", "set", "cap", "task", "why"];

type MapEntries<'n> = &'n [(PositionedKey, PositionedNode)];

/// Parses a rules file. The learned section is checked first, so that no key outside of it can be lost when it is
/// replaced.
pub(in crate::rules) fn parse_rule_set(text: &str) -> Result<RuleSet, Fault> {
    let section = learned_section::find_section(text)?;
    let root = parse_tree(text)?;
    let file =
        if root.value == YamlValue::Null { &[][..] } else { root.expect_map("a mapping with rules and default")? };
    check_keys(file, FILE_KEYS, "key")?;
    file.iter().try_for_each(|(key, _)| learned_section::check_key_placement(section.as_ref(), key))?;
    let lists = find_value(file, "lists").map_or_else(|| Ok(NamedLists::new()), parse_lists)?;
    let mut names = HashSet::new();
    let mut rules = Vec::new();
    let mut teachings = Vec::new();
    let mut act_rules = Vec::new();
    for (key, learned, limit) in [("rules", false, MAX_RULES), ("learned", true, MAX_LEARNED)] {
        if let Some(node) = find_value(file, key).filter(|node| node.value != YamlValue::Null) {
            for read in parse_rules(node, learned, limit, &lists, &mut names)? {
                match read {
                    ParsedRule::Rule(rule, acts) => {
                        act_rules.extend(acts);
                        rules.push(rule);
                    }
                    ParsedRule::ActRule(acts) => act_rules.push(acts),
                    ParsedRule::TaskRule(teaching) => teachings.push(teaching),
                }
            }
        }
    }
    let default = find_value(file, "default").map_or(Ok(Priority::Low), parse_level)?;
    // A file that was cut off inside its first comment must not count as a set without rules; a person who wants none
    // writes so.
    if find_value(file, "rules").is_none_or(|node| node.value == YamlValue::Null) {
        let at = find_value(file, "rules").unwrap_or(&root).at;
        return Err(Fault::new(at, "no list under 'rules'", "a sequence of rules, or 'rules: []' for none"));
    }
    let learned_bytes = section.map(|LearnedSection { bytes, .. }| bytes);
    Ok(RuleSet { rules, act_rules, task_rules: teachings, default, version: compute_version(text), learned_bytes })
}

fn parse_lists(node: &PositionedNode) -> Result<NamedLists, Fault> {
    let mut lists = NamedLists::new();
    for (key, value) in node.expect_map("a mapping from a name to a sequence of texts")? {
        let entry = |node: &PositionedNode| node.expect_text("a text").map(str::to_lowercase);
        lists.insert(key.text.clone(), MemberList::new(Some(&key.text), parse_list_entries(value, entry)?));
    }
    Ok(lists)
}

/// Parses `rules` or `learned`. A learned rule has fewer keys: it can neither lock nor stop.
fn parse_rules(
    node: &PositionedNode,
    learned: bool,
    limit: usize,
    lists: &NamedLists,
    names: &mut HashSet<String>,
) -> Result<Vec<ParsedRule>, Fault> {
    let nodes = node.expect_seq("a sequence of rules")?;
    if let Some(extra) = nodes.get(limit) {
        return Err(Fault::new(extra.at, format!("rule number {}", limit + 1), format!("at most {limit}")));
    }
    nodes.iter().map(|node| parse_rule(node, learned, lists, names)).collect()
}

/// One entry of the file.
enum ParsedRule {
    /// Gives or limits a level, and may act on mail as well.
    Rule(Rule, Option<ActRule>),
    /// Only acts on mail.
    ActRule(ActRule),
    /// Says whether such a mail is a task at all. Only a learned entry can.
    TaskRule(TaskRule),
}

/// Parses one rule. A rule on `urgency`, which anyone can write into a mail, may not set `critical`.
fn parse_rule(
    node: &PositionedNode,
    learned: bool,
    lists: &NamedLists,
    names: &mut HashSet<String>,
) -> Result<ParsedRule, Fault> {
    let entries = node.expect_map("a rule: a mapping with name, when and set or cap")?;
    check_keys(
        entries,
        if learned { LEARNED_KEYS } else { RULE_KEYS },
        if learned { "key in a learned rule" } else { "key" },
    )?;
    let name = parse_name(require_value(node, entries, "name")?, names)?;
    let when = require_value(node, entries, "when")?;
    let condition = parse_condition(when, lists)?;
    let why = find_value(entries, "why").map_or(Ok(name.clone()), parse_why)?;
    let uses_sender = condition.uses_field(Field::is_sender_field);
    if let Some(task) = find_value(entries, "task") {
        if let Some((key, _)) = entries.iter().find(|(key, _)| ["set", "cap"].contains(&key.text.as_str())) {
            return Err(Fault::new(key.at, format!("{} beside task", key.text), "one of them").with_width(3));
        }
        return Ok(ParsedRule::TaskRule(TaskRule { name, why, condition, opens: task.expect_bool()?, uses_sender }));
    }
    let acts = find_value(entries, "do").map(parse_acts).transpose()?;
    let acts = acts.map(|acts| ActRule { name: name.clone(), condition: condition.clone(), acts, uses_sender });
    let gives_level = ["set", "cap"].iter().any(|key| find_value(entries, key).is_some());
    if let (Some(acts), false) = (&acts, gives_level) {
        if let Some((key, _)) = entries.iter().find(|(key, _)| ["lock", "stop"].contains(&key.text.as_str())) {
            return Err(Fault::new(key.at, format!("{} without set", key.text), "set with a level"));
        }
        return Ok(ParsedRule::ActRule(acts.clone()));
    }
    let outcome = parse_outcome(node, entries)?;
    if outcome.level == Priority::Critical
        && outcome.kind == SetOrCap::Set
        && condition.uses_field(|field| field == Field::Urgency)
    {
        let at = find_value(entries, "set").unwrap_or(node);
        return Err(at.to_fault("at most high: a rule that asks for urgency may not set critical"));
    }
    Ok(ParsedRule::Rule(Rule { name, why, learned, at: node.at, condition, outcome, uses_sender }, acts))
}

/// Returns a name that no other rule of the file has.
fn parse_name(node: &PositionedNode, names: &mut HashSet<String>) -> Result<String, Fault> {
    const NAME: &str = "a name of letters, digits, '-', '_' and '.'";
    let name = node.expect_text(NAME)?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.chars().count() > MAX_NAME_CHARS {
        return Err(node.to_fault(format!("a name of at most {MAX_NAME_CHARS} characters")));
    }
    if !name.chars().all(plain) {
        return Err(node.to_fault(NAME));
    }
    if name == RuleSet::DEFAULT_RULE_NAME {
        return Err(node.to_fault("another name: this one means that no rule decided"));
    }
    if !names.insert(name.to_owned()) {
        let found = format!("a second rule {}", quote_truncated(name));
        return Err(Fault::new(node.at, found, "a name of its own").with_width(name.chars().count()));
    }
    Ok(name.to_owned())
}

fn parse_why(node: &PositionedNode) -> Result<String, Fault> {
    let why = node.expect_text("a sentence")?;
    let fits = why.chars().count() <= MAX_WHY_CHARS && !why.chars().any(char::is_control);
    if fits {
        Ok(why.to_owned())
    } else {
        Err(node.to_fault(format!("one line of at most {MAX_WHY_CHARS} characters")))
    }
}

/// Parses `set` or `cap` with its flags. `lock` and `stop` make sense only beside `set`.
fn parse_outcome(rule: &PositionedNode, entries: MapEntries<'_>) -> Result<RuleOutcome, Fault> {
    let (act, level_node) = match (find_value(entries, "set"), find_value(entries, "cap")) {
        (Some(set), None) => (SetOrCap::Set, set),
        (None, Some(cap)) => (SetOrCap::Cap, cap),
        (Some(_), Some(cap)) => return Err(Fault::new(cap.at, "both set and cap", "one of them").with_width(3)),
        (None, None) => return Err(Fault::new(rule.at, "a rule that does nothing", "set or cap with a level, or do")),
    };
    let flag = |key| match (find_value(entries, key), act) {
        (None, _) => Ok(false),
        (Some(node), SetOrCap::Set) => node.expect_bool(),
        (Some(node), SetOrCap::Cap) => {
            Err(Fault::new(node.at, format!("{key} beside cap"), format!("{key} beside set")))
        }
    };
    Ok(RuleOutcome { kind: act, level: parse_level(level_node)?, lock: flag("lock")?, stop: flag("stop")? })
}

/// Parses what a rule does to a mail: `[archive, label: NAME]`.
fn parse_acts(node: &PositionedNode) -> Result<Vec<RuleAct>, Fault> {
    const ACT: &str = "archive, or label: NAME";
    let entries = node.expect_seq("a sequence such as [archive, label: NAME]")?;
    let mut acts = Vec::new();
    for entry in entries {
        let act = match &entry.value {
            YamlValue::Map(pairs) => match pairs.as_slice() {
                [(key, value)] if key.text == "label" => {
                    let label = value.expect_text("the name of a label")?.trim();
                    let is_name = !label.is_empty()
                        && label.chars().count() <= MAX_NAME_CHARS
                        && !label.chars().any(char::is_control);
                    if !is_name {
                        return Err(value.to_fault(format!("a name of at most {MAX_NAME_CHARS} characters")));
                    }
                    RuleAct::Label { label: label.to_owned() }
                }
                _ => return Err(entry.to_fault(ACT)),
            },
            _ if entry.expect_text(ACT)? == "archive" => RuleAct::Archive,
            _ => return Err(entry.to_fault(ACT)),
        };
        acts.push(act);
    }
    if acts.is_empty() {
        return Err(node.to_fault(ACT));
    }
    Ok(acts)
}

fn parse_level(node: &PositionedNode) -> Result<Priority, Fault> {
    const LEVEL: &str = "low, med, high or critical";
    node.expect_text(LEVEL)?.parse().map_err(|_| node.to_fault(LEVEL))
}

/// Refuses any key that is not known, so that a typing error does not pass for a rule without it.
fn check_keys(entries: MapEntries<'_>, known: &[&str], what: &str) -> Result<(), Fault> {
    match entries.iter().find(|(key, _)| !known.contains(&key.text.as_str())) {
        None => Ok(()),
        Some((key, _)) => Err(key.to_fault(&format!("unknown {what}"), format!("one of: {}", known.join(", ")))),
    }
}

fn find_value<'n>(entries: MapEntries<'n>, key: &str) -> Option<&'n PositionedNode> {
    entries.iter().find(|(found, _)| found.text == key).map(|(_, node)| node)
}

fn require_value<'n>(rule: &PositionedNode, entries: MapEntries<'n>, key: &str) -> Result<&'n PositionedNode, Fault> {
    find_value(entries, key)
        .ok_or_else(|| Fault::new(rule.at, format!("a rule without {key}"), format!("{key} in every rule")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::grammar::limits::MAX_FILE_BYTES;

    const WHEN: &str = "when: { kind: { is: x } }";

    /// Refused at `line` with `message`.
    fn check(text: &str, line: usize, message: &str) {
        let error = RuleSet::parse("f.yml", text).unwrap_err();
        assert_eq!(error.at.line, line, "{text}: {error}");
        assert!(format!("{}; {}", error.found, error.expected).contains(message), "{text}: {error}");
    }

    fn check_rule(keys: &str, message: &str) {
        check(&format!("rules:\n  - {{ {keys} }}\n"), 2, message);
    }

    #[test]
    fn every_fault_of_a_rule_has_its_words() {
        check_rule(&format!("name: r, {WHEN}, set: high, cap: low"), "both set and cap");
        check_rule(&format!("name: r, {WHEN}"), "a rule that does nothing");
        check_rule(&format!("name: r, {WHEN}, do: [forward]"), "archive, or label: NAME");
        check_rule(&format!("name: r, {WHEN}, set: medium"), "'medium'; low, med, high or critical");
        check_rule(&format!("name: r, {WHEN}, set: 3"), "low, med, high or critical");
        check_rule(&format!("name: r, {WHEN}, sett: high"), "unknown key 'sett'; one of: name, when");
        check_rule(&format!("{WHEN}, set: high"), "a rule without name");
        check_rule("name: r, set: high", "a rule without when");
        check_rule(&format!("name: 'a b', {WHEN}, set: high"), "letters, digits");
        check_rule(&format!("name: default, {WHEN}, set: high"), "another name");
        check_rule(&format!("name: {}, {WHEN}, set: high", "x".repeat(65)), "at most 64");
        check_rule(&format!("name: r, {WHEN}, cap: low, lock: true"), "lock beside cap");
        check_rule(&format!("name: r, {WHEN}, cap: low, stop: true"), "stop beside cap");
        check_rule(&format!("name: r, {WHEN}, set: low, lock: 1"), "true or false");
        check_rule(&format!("name: r, {WHEN}, set: low, why: \"a\\nb\""), "one line");
        check_rule(
            "name: r, when: { not: { any: [{ urgency: { lte: 0.1 } }] } }, set: critical",
            "'critical'; at most high",
        );
    }

    #[test]
    fn every_fault_of_a_file_has_its_place() {
        check("- a\n", 1, "a mapping with rules and default");
        check("rulez: []\n", 1, "unknown key 'rulez'; one of: lists, rules, default, learned");
        check("default: urgent\n", 1, "low, med, high or critical");
        check("rules: 3\n", 1, "a sequence of rules");
        check("lists: { a: x }\n", 1, "a sequence of texts");
        check(
            &format!("rules:\n- {{name: r, {WHEN}, set: low}}\n- {{name: r, {WHEN}, set: low}}\n"),
            3,
            "a second rule 'r'",
        );
        check("learned: []\n", 1, "it between the lines");
        check("# >>> learned >>>\ndefault: low\n# <<< learned <<<\n", 2, "only 'learned' between");
        let learned = |key| {
            format!("# >>> learned >>>\nlearned:\n- {{name: r, {WHEN}, set: low, {key}: true}}\n# <<< learned <<<\n")
        };
        check(&learned("lock"), 3, "unknown key in a learned rule 'lock'");
        check(&learned("stop"), 3, "unknown key in a learned rule 'stop'");
    }

    #[test]
    fn limits_are_refused_with_their_number() {
        let rule = |n: usize| format!("- {{name: r{n}, {WHEN}, set: low}}\n");
        let many = |n: usize| (0..n).map(rule).collect::<String>();
        assert_eq!(RuleSet::parse("f", &format!("rules:\n{}", many(MAX_RULES))).unwrap().len(), MAX_RULES);
        check(&format!("rules:\n{}", many(MAX_RULES + 1)), MAX_RULES + 2, "rule number 501; at most 500");
        let learned = format!("# >>> learned\nlearned:\n{}# <<< learned\n", many(MAX_LEARNED + 1));
        check(&learned, MAX_LEARNED + 3, "rule number 201; at most 200");
        check(&format!("lists: {{ a: [{}] }}\n", "x,".repeat(10_001)), 1, "10001 entries; at most 10000");
        check(&"#".repeat(MAX_FILE_BYTES + 1), 0, "262145 bytes; at most 262144");
    }

    #[test]
    fn a_file_that_says_there_are_no_rules_has_none_and_one_that_says_nothing_is_broken() {
        for text in ["rules: []\n", "# nothing yet\nrules: []", "{ rules: [] }"] {
            let rules = RuleSet::parse("f", text).unwrap();
            assert_eq!((rules.len(), rules.default), (0, Priority::Low), "{text:?}");
        }
        for text in ["# cut o", "null", "~\n", "{}", "---\n", "rules:\n", "rules: ~\n", "lists: {}\n", "default: med\n"]
        {
            let error = RuleSet::parse("f", text).unwrap_err().to_string();
            assert!(error.contains("'rules: []' for none"), "{text:?}: {error}");
        }
        let learned = "# >>> learned\nlearned: []\n# <<< learned\n";
        assert!(RuleSet::parse("f", learned).is_err());
        assert!(RuleSet::parse("f", &format!("rules: []\n{learned}")).is_ok());
        for text in ["", "\n", " \n\t\n"] {
            assert!(RuleSet::parse("f", text).unwrap_err().to_string().contains("an empty file"), "{text:?}");
        }
    }
}
