//! The explanation of a priority as clients are shown it: rules, which are the person's words, and which of them held.

use schemars::JsonSchema;
use serde::Serialize;

use super::{notice, shown, task::ClientTask};
use crate::app::PriorityExplanation;

/// One rule that was tried.
#[derive(Debug, Serialize, JsonSchema)]
struct RuleView {
    name: String,
    why: String,
    /// The level that the rule sets, or to which it lowers.
    level: String,
    /// set or cap.
    effect: &'static str,
    /// Whether the nightly job has learned it.
    learned: bool,
    matched: bool,
    /// Whether this rule gave the level.
    decided: bool,
    /// Why the rule does not count although it may match.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_counted: Option<String>,
}

/// Why a task has its priority.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct PriorityView {
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'static str>,
    task: ClientTask,
    /// Whether the person set the priority, which then stays whatever the rules say.
    set_by_hand: bool,
    /// The level that the rules give.
    level: String,
    /// The rule that decided; default when none did.
    rule: String,
    why: String,
    /// The smallest change that would give another level.
    smallest_change: String,
    /// Whether rules about the sender do not count, because the sender is not verified.
    sender_not_verified: bool,
    /// Whether the rules file is broken, so that the last good rules are in force.
    rules_broken: bool,
    /// Every rule in the order of the file.
    rules: Vec<RuleView>,
}

impl PriorityView {
    pub(in crate::mcp) fn new(why: &PriorityExplanation) -> Self {
        let task = ClientTask::new(&why.task);
        let rules = why.trace.rules.iter().map(|rule| RuleView {
            name: shown(&rule.name),
            why: shown(&rule.why),
            level: rule.effect.set.or(rule.effect.cap).map_or_else(String::new, |level| level.to_string()),
            effect: if rule.effect.set.is_some() { "set" } else { "cap" },
            learned: rule.learned,
            matched: rule.matched,
            decided: rule.decided,
            not_counted: rule.not_counted.as_deref().map(shown),
        });
        Self {
            notice: notice(task.is_from_mail()),
            set_by_hand: why.set_by_hand,
            level: why.trace.level.to_string(),
            rule: shown(&why.trace.rule),
            why: shown(&why.trace.why),
            smallest_change: shown(&why.trace.smallest_change.text),
            sender_not_verified: why.sender.is_some(),
            rules_broken: why.rules_broken.is_some(),
            rules: rules.collect(),
            task,
        }
    }
}
