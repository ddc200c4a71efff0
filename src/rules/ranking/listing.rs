//! The rules of a file as a list, and which of them match.

use serde::Serialize;

use crate::{
    model::{Facts, Instant, Priority, RuleAct},
    rules::{RuleSet, grammar::field::FactsView, ranking::precedence::SetOrCap},
};

/// One rule of the file, as a list shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedRule {
    pub name: String,
    pub why: String,
    pub learned: bool,
    /// The line of the rule in the file; none for a rule that gives no level.
    pub line: Option<usize>,
    pub effect: ListedEffect,
}

/// What a rule does.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ListedEffect {
    /// It gives at least this level.
    Set { level: Priority, lock: bool, stop: bool },
    /// It gives at most this level.
    Cap { level: Priority, stop: bool },
    /// It labels or archives the mail.
    Act(Vec<RuleAct>),
    /// It says whether such a mail opens a task.
    OpensTask(bool),
}

/// A rule set as a list, and what matches in it.
#[derive(Debug, Clone, Copy)]
pub struct RulesListing<'a>(&'a RuleSet);

impl<'a> RulesListing<'a> {
    pub const fn of(rules: &'a RuleSet) -> Self {
        Self(rules)
    }

    /// Returns all rules: those on levels in the order of the file, then those that only act on mail, then the learned
    /// ones on what is a task.
    pub fn rules(self) -> Vec<ListedRule> {
        let levels = self.0.rules.iter().map(|rule| {
            let (level, stop) = (rule.outcome.level, rule.outcome.stop);
            let effect = match rule.outcome.kind {
                SetOrCap::Set => ListedEffect::Set { level, lock: rule.outcome.lock, stop },
                SetOrCap::Cap => ListedEffect::Cap { level, stop },
            };
            let (name, why) = (rule.name.clone(), rule.why.clone());
            ListedRule { name, why, learned: rule.learned, line: Some(rule.at.line), effect }
        });
        let acts = self.0.only_acting().map(|rule| ListedRule {
            name: rule.name.clone(),
            why: String::new(),
            learned: false,
            line: None,
            effect: ListedEffect::Act(rule.acts.clone()),
        });
        let tasks = self.0.task_rules.iter().map(|rule| ListedRule {
            name: rule.name.clone(),
            why: rule.why.clone(),
            learned: true,
            line: None,
            effect: ListedEffect::OpensTask(rule.opens),
        });
        levels.chain(acts).chain(tasks).collect()
    }

    /// Returns the names of the rules on levels that match these facts and count for them.
    pub fn match_levels(self, facts: &Facts, now: Instant) -> Vec<&'a str> {
        let view = FactsView::new(facts, now);
        let matching =
            self.0.rules.iter().filter(|rule| rule.passes_sender_check(facts) && rule.condition.holds(&view));
        matching.map(|rule| rule.name.as_str()).collect()
    }

    /// Returns the names of the rules on mail that match these facts: those that act, and those on what is a task.
    pub fn match_mail(self, facts: &Facts, now: Instant) -> Vec<&'a str> {
        let view = FactsView::new(facts, now);
        let counts = |uses_sender: bool| facts.sender_verified || !uses_sender;
        let acting = self.0.act_rules.iter().filter(|rule| counts(rule.uses_sender) && rule.condition.holds(&view));
        let tasks = self.0.task_rules.iter().filter(|rule| rule.matches(facts, &view));
        acting.map(|rule| rule.name.as_str()).chain(tasks.map(|rule| rule.name.as_str())).collect()
    }

    /// Returns the level of facts that no rule matches.
    pub fn default_level(self) -> Priority {
        self.0.default
    }
}
