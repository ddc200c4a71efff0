//! `rules/priority.yml`: how urgent a task is, by rules that a person can read.
//!
//! Owns the grammar of the file, the order of precedence, the explanation of a level, the last good set while the file
//! is being edited, and the edits of its learned section. Only `watch`, `last_good` and `file_replacement` do I/O.
//! Never in here: a guess about a mail, a model, a level that no rule or default gave, a half-read file that takes
//! effect, or a sender rule that counts for an unverified sender.

mod editing;
mod file_replacement;
mod grammar;
mod last_good;
mod parsed_cache;
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
pub use parsed_cache::ParsedRulesCache;
pub use ranking::{
    listing::{ListedEffect, ListedRule, RulesListing},
    smallest_change::{FactChange, HypotheticalChange, NewFactValue, SmallestChange},
    trace::{ConditionTrace, OutcomeTrace, RuleTrace, Trace},
};
pub use watch::{CurrentRules, RulesWatch, is_cut_off, keep_as_last_good, load, parse_whole_file};

use crate::model::{Facts, Instant, MatchedAct, Priority, RuleAct, ids::sha256_hex};
use grammar::{condition::Condition, field::FactsView, parse};
use ranking::precedence::{DecidedLevel, RuleOutcome, apply_precedence};

/// The rules file that the program ships. It takes effect while there has never been a good one.
pub const BUILT_IN: &str = include_str!("../../rules/priority.yml");

/// A rules file that takes effect: checked, compiled, ready to rank.
#[derive(Debug, Clone)]
pub struct RuleSet {
    /// The hand-written rules first, then the learned ones, each in the order of the file.
    rules: Vec<Rule>,
    /// What the hand-written rules do to mail, in the order of the file.
    act_rules: Vec<ActRule>,
    /// Learned entries which say that a mail is a task or is none, whatever reading it says.
    task_rules: Vec<TaskRule>,
    default: Priority,
    version: String,
    /// The bytes of the file between the marker lines.
    learned_bytes: Option<Range<usize>>,
}

/// One rule that gives or limits a level.
#[derive(Debug, Clone)]
struct Rule {
    name: String,
    why: String,
    learned: bool,
    at: Position,
    condition: Condition,
    outcome: RuleOutcome,
    /// Whether the condition asks for the sender anywhere, so that the rule counts only for a verified one.
    uses_sender: bool,
}

/// What a hand-written rule does to every mail that matches it.
#[derive(Debug, Clone)]
struct ActRule {
    name: String,
    condition: Condition,
    acts: Vec<RuleAct>,
    uses_sender: bool,
}

/// A learned entry that says whether a mail is a task.
#[derive(Debug, Clone)]
struct TaskRule {
    name: String,
    why: String,
    condition: Condition,
    /// Whether such a mail opens a task.
    opens: bool,
    uses_sender: bool,
}

/// The learned entry that says whether this mail is a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRuleMatch {
    pub opens: bool,
    pub entry: String,
    pub why: String,
}

/// A level, and what decided it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RulesVerdict {
    pub level: Priority,
    /// The name of the rule that decided; `default` when none did.
    pub rule: String,
    pub why: String,
    /// Whether a rule with `lock: true` decided.
    pub locked: bool,
}

impl RuleSet {
    /// Stands in place of a rule's name when no rule decided.
    pub const DEFAULT_RULE_NAME: &'static str = "default";

    /// Parses a rules file. `file_name` is used only in the text of the error.
    pub fn parse(file_name: &str, text: &str) -> Result<Self, RulesError> {
        if text.len() > limits::MAX_FILE_BYTES {
            let (found, limit) = (format!("{} bytes", text.len()), limits::MAX_FILE_BYTES);
            return Err(RulesError::for_whole_file(file_name, found, format!("at most {limit}")));
        }
        // An editor or a full disk leaves an empty file half-way; a person who wants no rules writes so.
        if text.trim().is_empty() {
            return Err(RulesError::for_whole_file(file_name, "an empty file", "rules, or `rules: []` for none"));
        }
        parse::parse_rule_set(text).map_err(|fault| RulesError::from_fault(file_name, text, fault))
    }

    /// Returns twelve hexadecimal digits that change with any byte of the file.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns why the rule of this name gives its level, for a person.
    pub fn reason_of(&self, name: &str) -> Option<&str> {
        self.rules.iter().find(|rule| rule.name == name).map(|rule| rule.why.as_str())
    }

    /// Returns the number of rules, learned ones included.
    pub fn len(&self) -> usize {
        self.rules.len() + self.task_rules.len() + self.only_acting().count()
    }

    /// Returns the rules that act on mail and give no level.
    fn only_acting(&self) -> impl Iterator<Item = &ActRule> {
        self.act_rules.iter().filter(|acting| self.rules.iter().all(|rule| rule.name != acting.name))
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the names of the learned entries in the order of the file: first those on levels, then those on tasks.
    pub fn learned_names(&self) -> Vec<&str> {
        let rules = self.rules.iter().filter(|rule| rule.learned).map(|rule| rule.name.as_str());
        rules.chain(self.task_rules.iter().map(|teaching| teaching.name.as_str())).collect()
    }

    /// Returns the names of the learned entries that match these facts.
    pub fn matching_learned_names(&self, facts: &Facts, now: Instant) -> Vec<&str> {
        let view = FactsView::new(facts, now);
        let rules = self
            .rules
            .iter()
            .filter(|rule| rule.learned && rule.passes_sender_check(facts) && rule.condition.holds(&view));
        let teachings = self.task_rules.iter().filter(|teaching| teaching.matches(facts, &view));
        rules.map(|rule| rule.name.as_str()).chain(teachings.map(|teaching| teaching.name.as_str())).collect()
    }

    /// Returns what was learned about whether such a mail is a task; none when nothing was. Of several entries the last
    /// counts.
    pub fn find_task_rule(&self, facts: &Facts, now: Instant) -> Option<TaskRuleMatch> {
        if self.task_rules.is_empty() {
            return None;
        }
        let view = FactsView::new(facts, now);
        let found = self.task_rules.iter().rev().find(|teaching| teaching.matches(facts, &view))?;
        Some(TaskRuleMatch { opens: found.opens, entry: found.name.clone(), why: found.why.clone() })
    }

    /// Returns whether any rule acts on mail.
    pub fn has_acts(&self) -> bool {
        !self.act_rules.is_empty()
    }

    /// Returns the labels that rules name, each with its rule.
    pub fn named_labels(&self) -> impl Iterator<Item = (&str, &str)> {
        let acts = self.act_rules.iter().flat_map(|rule| rule.acts.iter().map(|act| (rule.name.as_str(), act)));
        acts.filter_map(|(rule, act)| match act {
            RuleAct::Label { label } => Some((rule, label.as_str())),
            RuleAct::Archive => None,
        })
    }

    /// Returns what the rules do to a mail with these facts, each act once, labels first.
    pub fn matching_acts(&self, facts: &Facts, now: Instant) -> Vec<MatchedAct> {
        let view = FactsView::new(facts, now);
        let matching = self
            .act_rules
            .iter()
            .filter(|rule| (facts.sender_verified || !rule.uses_sender) && rule.condition.holds(&view));
        let acts = matching.flat_map(|rule| rule.acts.iter().map(|act| (act, rule.name.as_str())));
        let mut acts: Vec<MatchedAct> =
            acts.map(|(act, rule)| MatchedAct { act: act.clone(), rule: rule.to_owned() }).collect();
        acts.sort_by(|a, b| a.act.cmp(&b.act));
        acts.dedup_by(|a, b| a.act == b.act);
        acts
    }

    /// Returns the bytes of the text between the marker lines; none for a file without them.
    pub fn learned_range(&self) -> Option<Range<usize>> {
        self.learned_bytes.clone()
    }

    /// Returns the level of these facts. The same facts, time and file always give the same level.
    pub fn rank(&self, facts: &Facts, now: Instant) -> RulesVerdict {
        self.build_verdict(self.decide_level(facts, now, None))
    }

    /// Decides the level. `without` leaves one rule out, to find out what it changes.
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
    /// Returns whether the rule counts for these facts: a rule on the sender counts only for a verified one.
    fn passes_sender_check(&self, facts: &Facts) -> bool {
        facts.sender_verified || !self.uses_sender
    }
}

impl TaskRule {
    fn matches(&self, facts: &Facts, view: &FactsView<'_>) -> bool {
        (facts.sender_verified || !self.uses_sender) && self.condition.holds(view)
    }
}

/// Returns the version of a text: short enough to say, long enough not to occur twice in one history.
fn compute_version(text: &str) -> String {
    sha256_hex(text.as_bytes()).chars().take(12).collect()
}

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
