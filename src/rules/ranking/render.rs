//! A trace as lines for a plain terminal. Words of a mail are shown without any character that a terminal would obey.

use std::fmt;

use crate::rules::{
    ConditionTrace, Operator, RuleTrace, Trace, grammar::error::mask_control_chars, ranking::trace::OutcomeTrace,
};

/// Longer words of a mail are cut on the screen; `--json` has them whole.
const MAX_SHOWN_CHARS: usize = 60;

fn mask_and_truncate(text: &str) -> String {
    let text = mask_control_chars(text);
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        None => text,
        Some(_) => text.chars().take(MAX_SHOWN_CHARS).chain(['…']).collect(),
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let locked = if self.locked { ", locked" } else { "" };
        writeln!(f, "{}  {}: {}{locked}", self.level, self.rule, self.why)?;
        writeln!(f, "rules {}, urgency {:.2} ({})", self.version, self.urgency, self.urgency_origin)?;
        let (matched, others): (Vec<_>, Vec<_>) = self.rules.iter().partition(|rule| rule.matched);
        let width = matched.iter().map(|rule| rule.title().chars().count()).max().unwrap_or_default();
        for rule in &matched {
            let mark = if rule.decided { '>' } else { ' ' };
            writeln!(f, "{mark} {:width$}  {}  {}", rule.title(), rule.effect, rule.reason())?;
        }
        if !others.is_empty() {
            let names: Vec<&str> = others.iter().map(|rule| rule.name.as_str()).collect();
            writeln!(f, "  no match: {}", names.join(", "))?;
        }
        write!(f, "smallest change: {}", mask_control_chars(&self.smallest_change.text))
    }
}

impl RuleTrace {
    /// Returns the name of the rule, marked when it was learned.
    fn title(&self) -> String {
        if self.learned { format!("{} (learned)", self.name) } else { self.name.clone() }
    }

    /// Returns why the rule matched, or why it does not count.
    fn reason(&self) -> String {
        if let Some(reason) = &self.not_counted {
            return format!("not counted: {reason}");
        }
        // Under `any` some tests may have failed; only those that helped are the reason.
        let helped = self.conditions.iter().filter(|condition| condition.met != condition.negated);
        helped.map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }
}

impl fmt::Display for OutcomeTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (act, level) = match (self.set, self.cap) {
            (Some(level), _) => ("set", level.as_str()),
            (None, cap) => ("cap", cap.map_or("", |level| level.as_str())),
        };
        write!(f, "{act} {level:8}")?;
        f.write_str(if self.stop { " stop" } else { "" })?;
        f.write_str(if self.lock { " lock" } else { "" })
    }
}

impl fmt::Display for ConditionTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = match self.operator {
            Operator::Gte => "≥",
            Operator::Lte => "≤",
            other => other.as_str(),
        };
        let negation = if self.negated { "not " } else { "" };
        write!(f, "{negation}{} {operator} {}", self.field, mask_and_truncate(&self.expected))?;
        let quoted: Vec<String> = self.words.iter().map(|word| format!("\"{}\"", mask_and_truncate(word))).collect();
        match (quoted.is_empty(), &self.actual) {
            (false, _) => write!(f, ": {}", quoted.join(", ")),
            (true, Some(actual)) => write!(f, ": \"{}\"", mask_and_truncate(actual)),
            (true, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{
        RuleSet,
        fixture::{facts, now},
    };

    #[test]
    fn a_trace_reads_as_a_few_lines() {
        let text = r#"
rules:
  - { name: books, when: { objective: { matches: "/invoice/i" } }, set: med, why: bookkeeping }
  - { name: bank, when: { sender_domain: { contains: shop } }, set: high }
  - { name: calm, when: { not: { kind: { is: meeting } }, amount: { gte: 100 } }, set: low, lock: true }
  - { name: meeting, when: { kind: { is: meeting } }, set: high }
  - { name: late, when: { due_in: { lte: 24h } }, set: high }
"#;
        let rules = RuleSet::parse("f.yml", text).unwrap();
        let mut facts = facts();
        facts.sender_verified = false;
        facts.objective = "Pay \u{1b}[31m\u{202e}invoice".into();
        let expected = format!(
            "med  books: bookkeeping\n\
             rules {}, urgency 0.50 (built_in)\n\
             > books  set med       objective matches /invoice/i: \"invoice\"\n\
             \x20 bank   set high      not counted: sender unverified\n\
             \x20 calm   set low      lock  not kind is meeting: \"invoice\"; amount ≥ 100: \"250\"\n\
             \x20 no match: meeting, late\n\
             smallest change: if the sender were verified: high (bank)",
            rules.version()
        );
        assert_eq!(rules.trace(&facts, now()).to_string(), expected);
    }

    #[test]
    fn long_words_are_cut_and_say_so() {
        assert_eq!(mask_and_truncate(&"x".repeat(70)).chars().count(), 61);
    }
}
