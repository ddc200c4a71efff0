//! `rules/priority.yml`: how urgent a task is, by rules a person can read.
//!
//! Owns the file's grammar, its order of precedence, the explanation of a verdict and the last good set while the
//! file is edited. Pure apart from `watch`. Never in here: a guess about a mail, a model, a level that no rule or
//! default gave, a half-read file that counts, or a sender rule that counts for an unverified sender.

mod editing;
mod file_replacement;
mod grammar;
mod last_good;
mod ranking;
mod watch;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub(crate) use editing::learned_entry::subject_words;
pub use editing::{
    edit::{RulesEditError, apply_edits, replace_learned_section},
    guidelines,
    learned_entry::{EntryAct, LearnedEntry, Reach, RulesEdit},
    learned_section::{BEGIN_MARKER, END_MARKER, learned_range},
};
pub use file_replacement::{FileReplaceOutcome, read_or_empty, replace_if_unchanged};
pub use grammar::{
    error::{Position, RulesError},
    field::{Field, Operator},
    limits,
    lint::LintWarning,
};
pub use last_good::{BrokenRules, FallbackOrigin};
pub use ranking::{
    smallest_change::{FactChange, HypotheticalChange, NewFactValue, SmallestChange},
    trace::{ConditionTrace, OutcomeTrace, RuleTrace, Trace},
};
pub use watch::{CurrentRules, RulesWatch, is_cut_off, keep_as_last_good, load};

use crate::model::{Facts, Instant, Priority, ids::sha256_hex};
use grammar::{condition::Condition, field::FactsView, parse};
use ranking::precedence::{DecidedLevel, RuleOutcome, apply_precedence};

/// The file this program ships, and what counts while there is no readable one.
pub const BUILT_IN: &str = include_str!("../../rules/priority.yml");

/// A rules file that counts: checked, compiled, ready to judge.
#[derive(Debug, Clone)]
pub struct RuleSet {
    /// Hand-written first, then learned, each in the order of the file.
    rules: Vec<Rule>,
    /// Learned: which mails are tasks, whatever they read like.
    task_rules: Vec<TaskRule>,
    default: Priority,
    version: String,
    learned_bytes: Option<Range<usize>>,
}

#[derive(Debug, Clone)]
struct Rule {
    name: String,
    why: String,
    learned: bool,
    at: Position,
    condition: Condition,
    outcome: RuleOutcome,
    /// Counts only for a verified sender, wherever in the condition the sender stands.
    uses_sender: bool,
}

/// A learned answer to whether a mail is a task.
#[derive(Debug, Clone)]
struct TaskRule {
    name: String,
    why: String,
    condition: Condition,
    opens: bool,
    uses_sender: bool,
}

/// What was learned about mails like this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRuleMatch {
    pub opens: bool,
    pub entry: String,
    pub why: String,
}

/// The level and what decided it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RulesVerdict {
    pub level: Priority,
    /// `default` when no rule decided.
    pub rule: String,
    pub why: String,
    /// A `lock: true` rule decided.
    pub locked: bool,
}

impl RuleSet {
    /// What stands in place of a rule's name when no rule decided.
    pub const DEFAULT_RULE_NAME: &'static str = "default";

    /// `file_name` is only for the error's text.
    pub fn parse(file_name: &str, text: &str) -> Result<Self, RulesError> {
        if text.len() > limits::MAX_FILE_BYTES {
            let (found, limit) = (format!("{} bytes", text.len()), limits::MAX_FILE_BYTES);
            return Err(RulesError::for_whole_file(file_name, found, format!("at most {limit}")));
        }
        // What an editor or a full disk leaves half-way. Whoever wants no rules says so.
        if text.trim().is_empty() {
            return Err(RulesError::for_whole_file(file_name, "an empty file", "rules, or `rules: []` for none"));
        }
        parse::parse_rule_set(text).map_err(|fault| RulesError::from_fault(file_name, text, fault))
    }

    /// Twelve hexadecimal digits that change with any byte of the file.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// How many rules, learned ones included.
    pub fn len(&self) -> usize {
        self.rules.len() + self.task_rules.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of the learned entries, in the order of the file: levels first, then what is a task.
    pub fn learned_names(&self) -> Vec<&str> {
        let rules = self.rules.iter().filter(|rule| rule.learned).map(|rule| rule.name.as_str());
        rules.chain(self.task_rules.iter().map(|teaching| teaching.name.as_str())).collect()
    }

    /// The learned entries that speak about these facts.
    pub fn matching_learned_names(&self, facts: &Facts, now: Instant) -> Vec<&str> {
        let view = FactsView::new(facts, now);
        let rules = self
            .rules
            .iter()
            .filter(|rule| rule.learned && rule.passes_sender_check(facts) && rule.condition.holds(&view));
        let teachings = self.task_rules.iter().filter(|teaching| teaching.matches(facts, &view));
        rules.map(|rule| rule.name.as_str()).chain(teachings.map(|teaching| teaching.name.as_str())).collect()
    }

    /// Whether such a mail was learned to be a task, or none. The last entry that speaks counts.
    pub fn find_task_rule(&self, facts: &Facts, now: Instant) -> Option<TaskRuleMatch> {
        if self.task_rules.is_empty() {
            return None;
        }
        let view = FactsView::new(facts, now);
        let found = self.task_rules.iter().rev().find(|teaching| teaching.matches(facts, &view))?;
        Some(TaskRuleMatch { opens: found.opens, entry: found.name.clone(), why: found.why.clone() })
    }

    /// The bytes of the text between the markers.
    pub fn learned_range(&self) -> Option<Range<usize>> {
        self.learned_bytes.clone()
    }

    pub fn rank(&self, facts: &Facts, now: Instant) -> RulesVerdict {
        self.build_verdict(self.decide_level(facts, now, None))
    }

    /// `without` leaves one rule out, for the question what it changes.
    fn decide_level(&self, facts: &Facts, now: Instant, without: Option<usize>) -> DecidedLevel {
        let view = FactsView::new(facts, now);
        let matching = self.rules.iter().enumerate().filter(|(index, _)| Some(*index) != without);
        let matching = matching.filter(|(_, rule)| rule.passes_sender_check(facts) && rule.condition.holds(&view));
        apply_precedence(matching.map(|(index, rule)| (index, rule.outcome)), self.default)
    }

    fn build_verdict(&self, DecidedLevel { level, rule }: DecidedLevel) -> RulesVerdict {
        let rule = rule.and_then(|index| self.rules.get(index));
        RulesVerdict {
            level,
            rule: rule.map_or(Self::DEFAULT_RULE_NAME, |rule| &rule.name).to_owned(),
            why: rule.map_or("no rule decided", |rule| &rule.why).to_owned(),
            locked: rule.is_some_and(|rule| rule.outcome.lock),
        }
    }
}

impl Rule {
    fn passes_sender_check(&self, facts: &Facts) -> bool {
        facts.sender_verified || !self.uses_sender
    }
}

impl TaskRule {
    fn matches(&self, facts: &Facts, view: &FactsView<'_>) -> bool {
        (facts.sender_verified || !self.uses_sender) && self.condition.holds(view)
    }
}

/// Short enough to say, long enough not to meet twice in one history.
fn compute_version(text: &str) -> String {
    sha256_hex(text.as_bytes()).chars().take(12).collect()
}

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
