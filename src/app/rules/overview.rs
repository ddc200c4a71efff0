//! The rules file as a person looks at it: its text, every rule with how often it matched, and what is wrong with it.

use std::collections::HashMap;

use serde::Serialize;

use super::rules_files::RulesFiles;
use crate::{
    app::RulesUseCases,
    model::{Instant, ids::sha256_hex, nightly::PastTask},
    rules::{CurrentRules, ListedRule, RuleSet, RulesListing},
};

/// How many of the newest tasks, and of the newest mails, are looked at for the counts.
const LOOKED_AT: usize = 400;

/// The rules file and the rules in force.
#[derive(Debug, Clone)]
pub struct RulesOverview {
    /// The text of the file, also when it is broken.
    pub text: String,
    /// Stands for exactly this text. An edit names the text that it was made from by it.
    pub fingerprint: String,
    /// The rules in force, and what is wrong with the file.
    pub current: CurrentRules,
    pub rules: Vec<RuleHits>,
    /// How many tasks and mails the counts are of.
    pub tasks: usize,
    pub mails: usize,
    /// How many of the tasks no rule decided.
    pub default_decided: usize,
}

/// A rule in force, and how often it matched and decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleHits {
    #[serde(flatten)]
    pub rule: ListedRule,
    /// How many of the newest tasks it matched; of the newest mails, for a rule that gives no level.
    pub matched: usize,
    /// How many of the newest tasks have their level by it.
    pub decided: usize,
}

/// Returns what stands for a text of the rules.
pub(super) fn fingerprint_of(text: &str) -> String {
    sha256_hex(text.as_bytes())
}

impl RulesUseCases<'_> {
    /// Returns what stands for the text of the file as it is now.
    pub fn fingerprint(self) -> anyhow::Result<String> {
        Ok(fingerprint_of(&self.read_files_or_no_rules()?.rules))
    }

    /// Returns the file and the rules in force, with how often each matched lately.
    pub async fn overview(self) -> anyhow::Result<RulesOverview> {
        let RulesFiles { rules: text, .. } = self.read_files_or_no_rules()?;
        let current = self.load();
        let now = self.app.clock.now();
        let read = self.app.store.read(|reader| {
            Ok((reader.nightly().newest_tasks(LOOKED_AT)?, reader.nightly().newest_mail_facts(LOOKED_AT)?))
        });
        let (tasks, mails) = read.await?;
        let rules = current.rules.clone();
        let counted = tokio::task::spawn_blocking(move || {
            let mut hits = HitCounts::default();
            tasks.iter().for_each(|task| hits.count_task(&rules, task, now));
            for (at, facts) in &mails {
                RulesListing::of(&rules).match_mail(facts, *at).into_iter().for_each(|name| hits.add_match(name));
            }
            let default_decided = hits.decided.get(RuleSet::DEFAULT_RULE_NAME).copied().unwrap_or_default();
            let listed = RulesListing::of(&rules).rules().into_iter().map(|rule| RuleHits {
                matched: hits.matched.get(&rule.name).copied().unwrap_or_default(),
                decided: hits.decided.get(&rule.name).copied().unwrap_or_default(),
                rule,
            });
            (listed.collect(), tasks.len(), mails.len(), default_decided)
        });
        let (rules, tasks, mails, default_decided) = counted.await?;
        Ok(RulesOverview { fingerprint: fingerprint_of(&text), text, current, rules, tasks, mails, default_decided })
    }
}

/// How often each rule matched and decided, by its name.
#[derive(Default)]
struct HitCounts {
    matched: HashMap<String, usize>,
    decided: HashMap<String, usize>,
}

impl HitCounts {
    fn add_match(&mut self, name: &str) {
        *self.matched.entry(name.to_owned()).or_default() += 1;
    }

    /// Counts a task as it would be ranked: an open one now, an ended one as of its creation.
    fn count_task(&mut self, rules: &RuleSet, task: &PastTask, now: Instant) {
        let at = if task.status.is_terminal() { task.created_at } else { now };
        RulesListing::of(rules).match_levels(&task.facts, at).into_iter().for_each(|name| self.add_match(name));
        *self.decided.entry(rules.rank(&task.facts, at).rule).or_default() += 1;
    }
}
