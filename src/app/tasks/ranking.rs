//! Ranking open tasks again: on each new version of the rules, and once a day because deadlines come nearer.

use crate::{
    app::TaskUseCases,
    model::Rerank,
    rules::RuleSet,
    store::{StoreError, Write},
};

const RANKED_RULES_VERSION: &str = "rules_version";

impl TaskUseCases<'_> {
    /// How many tasks changed their level.
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
                // Changed meanwhile: whoever changed it ranked it, or a person did.
                Err(StoreError::Conflict(_)) => {}
                // It keeps its level; `doctor` names it.
                Err(error) if error.is_unreadable() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(changed)
    }

    /// Ranks again when the rules are not those of the last time.
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

    /// Of a broken file the last good set counts, and that has ranked everything already.
    pub(in crate::app) async fn rerank_by_current_rules(self) -> anyhow::Result<usize> {
        self.rerank_if_rules_changed(&self.app.rules().load().rules).await
    }
}
