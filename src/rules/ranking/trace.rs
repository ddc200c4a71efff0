//! Why a level is what it is: every rule with what it looked at, and the smallest change that would give another level.

use serde::Serialize;

use crate::model::{Facts, Instant, Priority, UrgencyOrigin};
use crate::rules::{
    Rule, RuleSet, SmallestChange,
    grammar::field::{FactsView, Field, Operator},
    ranking::precedence::SetOrCap,
};

/// What `why` shows. It holds words of the mail, so it is shown to the person and never logged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trace {
    /// The version of the rules.
    pub version: String,
    pub level: Priority,
    /// The name of the rule that decided; `default` when none did.
    pub rule: String,
    pub why: String,
    pub locked: bool,
    pub urgency: f64,
    pub urgency_origin: UrgencyOrigin,
    /// Every rule of the file in its order, whether it matched or not.
    pub rules: Vec<RuleTrace>,
    pub smallest_change: SmallestChange,
}

/// One rule, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleTrace {
    pub name: String,
    pub why: String,
    pub learned: bool,
    /// The line of the rule in the file.
    pub line: usize,
    /// Whether the condition holds for these facts.
    pub matched: bool,
    /// Why the rule does not count although it may match: an unverified sender, or an earlier `stop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_counted: Option<String>,
    pub effect: OutcomeTrace,
    /// Whether this rule gave the level.
    pub decided: bool,
    pub conditions: Vec<ConditionTrace>,
}

/// What the rule does: it has either `set` or `cap`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutcomeTrace {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<Priority>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<Priority>,
    pub lock: bool,
    pub stop: bool,
}

/// One test of a condition, with the value it met.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConditionTrace {
    pub field: Field,
    pub operator: Operator,
    pub expected: String,
    /// The value of the fact; none when the mail does not name one.
    pub actual: Option<String>,
    /// The words of the mail that met the test.
    pub words: Vec<String>,
    /// Whether the operator holds, regardless of `not`.
    pub met: bool,
    /// Whether the test stands under an odd number of `not`.
    pub negated: bool,
}

impl RuleSet {
    /// Returns the level of these facts with its explanation. The level is the one that [`RuleSet::rank`] gives.
    pub fn trace(&self, facts: &Facts, now: Instant) -> Trace {
        let decision = self.decide_level(facts, now, None);
        let verdict = self.build_verdict(decision);
        let view = FactsView::new(facts, now);
        let mut stopped: Option<&str> = None;
        let mut rules = Vec::with_capacity(self.rules.len());
        for (index, rule) in self.rules.iter().enumerate() {
            let traced = rule.trace(&view, stopped, decision.rule == Some(index));
            if rule.outcome.stop && traced.matched && traced.not_counted.is_none() {
                stopped = Some(&rule.name);
            }
            rules.push(traced);
        }
        Trace {
            version: self.version.clone(),
            level: verdict.level,
            rule: verdict.rule,
            why: verdict.why,
            locked: verdict.locked,
            urgency: facts.urgency,
            urgency_origin: facts.urgency_origin,
            rules,
            smallest_change: self.find_smallest_change(facts, now),
        }
    }
}

impl Rule {
    /// Explains one rule. `stopped` is the earlier rule that ended the decision.
    fn trace(&self, view: &FactsView<'_>, stopped: Option<&str>, decided: bool) -> RuleTrace {
        let not_counted = match stopped {
            _ if !self.passes_sender_check(view.facts) => Some("sender unverified".to_owned()),
            Some(rule) => Some(format!("stopped by {rule}")),
            None => None,
        };
        let (level, act) = (self.outcome.level, self.outcome.kind);
        RuleTrace {
            name: self.name.clone(),
            why: self.why.clone(),
            learned: self.learned,
            line: self.at.line,
            matched: self.condition.holds(view),
            not_counted,
            effect: OutcomeTrace {
                set: (act == SetOrCap::Set).then_some(level),
                cap: (act == SetOrCap::Cap).then_some(level),
                lock: self.outcome.lock,
                stop: self.outcome.stop,
            },
            decided,
            conditions: self.trace_conditions(view),
        }
    }

    fn trace_conditions(&self, view: &FactsView<'_>) -> Vec<ConditionTrace> {
        let traced = self.condition.tests().into_iter().map(|(test, negated)| ConditionTrace {
            field: test.field,
            operator: test.operator(),
            expected: test.expected(),
            actual: view.format_value(test.field),
            words: test.matched_words(view),
            met: test.holds(view),
            negated,
        });
        traced.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::fixture::{facts, now};

    const RULES: &str = r#"
lists: { bank_whitelist: [mybank.example] }
rules:
  - { name: finance, when: { sender_domain: { in: bank_whitelist } }, set: high, why: finance alerts }
  - { name: books, when: { objective: { matches: "/invoice/i" } }, set: med, why: bookkeeping }
  - { name: stranger, when: { not: { sender_domain: { is: friend.example } } }, cap: low }
  - { name: calm, when: { kind: { is: invoice }, urgency: { lte: 0.1 } }, set: low, stop: true }
  - { name: late, when: { due_in: { lte: 24h } }, set: high }
"#;

    fn trace(change: impl Fn(&mut Facts)) -> Trace {
        let mut facts = facts();
        change(&mut facts);
        RuleSet::parse("f.yml", RULES).unwrap().trace(&facts, now())
    }

    /// (matched, not counted, decided) of one rule.
    fn check(trace: &Trace, rule: &str, matched: bool, not_counted: Option<&str>, decided: bool) {
        let found = trace.rules.iter().find(|found| found.name == rule).unwrap();
        assert_eq!(
            (found.matched, found.not_counted.as_deref(), found.decided),
            (matched, not_counted, decided),
            "{rule}"
        );
    }

    #[test]
    fn an_unverified_sender_counts_neither_for_nor_against() {
        let spoofed = trace(|facts| {
            facts.sender_verified = false;
            facts.sender_domain = "mybank.example".into();
        });
        let unverified = Some("sender unverified");
        check(&spoofed, "finance", true, unverified, false);
        check(&spoofed, "stranger", true, unverified, false);
        check(&spoofed, "books", true, None, true);
        assert_eq!((spoofed.level, spoofed.rule.as_str()), (Priority::Med, "books"));
        assert_eq!(spoofed.smallest_change.text, "if the sender were verified: low (stranger)");
    }

    #[test]
    fn what_stands_after_a_stop_has_no_say() {
        let stopped = trace(|facts| {
            facts.urgency = 0.0;
            facts.due_at = Some(now());
        });
        check(&stopped, "calm", true, None, true);
        check(&stopped, "late", true, Some("stopped by calm"), false);
        assert_eq!(stopped.level, Priority::Low);
    }

    #[test]
    fn conditions_carry_the_words_that_matched() {
        let trace = trace(|_| {});
        let books = &trace.rules[1].conditions[0];
        assert_eq!((books.words.as_slice(), books.met, books.negated), (&["invoice".to_owned()][..], true, false));
        let calm = &trace.rules[3].conditions[1];
        assert_eq!((calm.expected.as_str(), calm.actual.as_deref(), calm.met), ("0.1", Some("0.5"), false));
        assert!(trace.rules[2].conditions[0].negated);
    }

    #[test]
    fn the_machine_reads_the_same_words() {
        let value = serde_json::to_value(trace(|_| {})).unwrap();
        assert_eq!(value["level"], "low");
        assert_eq!(value["rules"][1]["effect"]["set"], "med");
        assert_eq!(value["rules"][1]["conditions"][0]["operator"], "matches");
        assert_eq!(value["smallest_change"]["level"], "med");
        assert!(value["rules"][1].get("not_counted").is_none());
    }
}
