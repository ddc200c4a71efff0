//! Ranks open tasks again: on each new version of the rules, and once a day because deadlines come nearer.

use crate::{
    app::TaskUseCases,
    model::{Instant, Rerank},
    nightly::NightlyDue,
    rules::RuleSet,
    store::{StoreError, Write},
};

/// The setting with the version of the rules by which all tasks were last ranked.
const RANKED_RULES_VERSION: &str = "rules_version";
/// The setting with the time of the last daily ranking.
const RANKED_AT: &str = "ranked_at";

impl TaskUseCases<'_> {
    /// Ranks all open tasks again, except those that a person ranked. Returns how many changed their priority.
    pub async fn rerank(self, rules: &RuleSet, why: &str) -> anyhow::Result<usize> {
        let tasks = self.app.store.read(|reader| reader.tasks().rankable()).await?;
        let now = self.app.clock.now();
        let mut changed = 0;
        for task in tasks {
            let verdict = rules.rank(&task.facts, now);
            if verdict.level == task.priority && verdict.rule == task.rule {
                continue;
            }
            let rerank = Rerank {
                task_id: task.task_id,
                revision: task.revision,
                priority: verdict.level,
                rule: verdict.rule,
                why: why.to_owned(),
                at: now,
            };
            match self.app.store.write(Write::Rerank(Box::new(rerank))).await {
                Ok(_) => changed += usize::from(verdict.level != task.priority),
                // The task was changed meanwhile; whoever changed it also ranked it.
                Err(StoreError::Conflict(_)) => {}
                // The task keeps its priority, and `doctor` names the row.
                Err(error) if error.is_unreadable() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(changed)
    }

    /// Ranks the open tasks again if the rules are not those of the last ranking. Returns how many changed their
    /// priority.
    pub async fn rerank_if_rules_changed(self, rules: &RuleSet) -> anyhow::Result<usize> {
        let last = self.app.store.read(|reader| reader.settings().get(RANKED_RULES_VERSION)).await?;
        if last.as_deref() == Some(rules.version()) {
            return Ok(0);
        }
        let changed = self.rerank(rules, "the rules have changed").await?;
        let value = rules.version().to_owned();
        self.app.store.write(Write::StoreSetting { name: RANKED_RULES_VERSION.into(), value }).await?;
        Ok(changed)
    }

    /// Ranks the open tasks again if a time of the nightly schedule has passed since the last daily ranking, because
    /// deadlines have come nearer. A day on which nothing ran is so made up for. Returns how many changed their priority.
    pub async fn rerank_if_day_passed(self, rules: &RuleSet) -> anyhow::Result<usize> {
        let now = self.app.clock.now();
        let last = self.app.store.read(|reader| reader.settings().get(RANKED_AT)).await?;
        let changed = match last.and_then(|text| text.parse::<Instant>().ok()) {
            // At the first start, every task was ranked when it was opened.
            None => 0,
            Some(last) => match self.app.nightly().schedule()?.due(last, now) {
                Some(NightlyDue::Now { .. }) => self.rerank(rules, "a new day").await?,
                _ => return Ok(0),
            },
        };
        self.app.store.write(Write::StoreSetting { name: RANKED_AT.into(), value: now.to_string() }).await?;
        Ok(changed)
    }

    /// Ranks the open tasks again by the rules in force. While the file is broken, these are the last good rules, which
    /// have ranked everything already.
    pub(in crate::app) async fn rerank_by_current_rules(self) -> anyhow::Result<usize> {
        self.rerank_if_rules_changed(&self.app.rules().load().rules).await
    }
}
