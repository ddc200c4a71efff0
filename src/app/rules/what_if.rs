//! Compares another rules file with the rules in force on past tasks.

use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

use crate::{
    app::RulesUseCases,
    model::{Instant, Priority, TaskId, nightly::PastTask},
    rules::RuleSet,
};

/// Every past task whose priority another rules file would change.
#[derive(Debug, Clone, Default, Serialize)]
pub struct WhatIfReport {
    /// The number of tasks that were compared.
    pub past: usize,
    pub raised: usize,
    pub lowered: usize,
    /// Tasks whose priority a person set and the rules in force agree with, but the file would not. Their priority
    /// stays.
    pub against_your_word: usize,
    pub changes: Vec<WhatIfChange>,
    /// The warnings of `rules check` about the file.
    pub warnings: Vec<String>,
}

/// A task whose priority the file would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WhatIfChange {
    pub task_id: TaskId,
    pub number: Option<i64>,
    pub objective: String,
    pub from: Priority,
    pub to: Priority,
    /// The rule that would decide.
    pub rule: String,
    pub set_by_hand: bool,
}

impl RulesUseCases<'_> {
    /// Ranks all past tasks by the file and by the rules in force, and reports the differences. Nothing is stored.
    pub async fn what_if(self, file: &Path) -> anyhow::Result<WhatIfReport> {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file).with_context(|| format!("{name} cannot be read"))?;
        self.compare(RuleSet::parse(&name, &text)?).await
    }

    /// Ranks all past tasks by these rules and by those in force.
    pub(super) async fn compare(self, new: RuleSet) -> anyhow::Result<WhatIfReport> {
        let old = self.load().rules;
        let now = self.app.clock.now();
        let past = self.app.store.read(|reader| reader.nightly().past_tasks(None)).await?;
        Ok(tokio::task::spawn_blocking(move || replay_past_tasks(&past, &old, &new, now)).await?)
    }
}

/// Compares all tasks, on as many threads as there are cores, because a person waits for the result.
fn replay_past_tasks(past: &[PastTask], old: &RuleSet, new: &RuleSet, now: Instant) -> WhatIfReport {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = past.len().div_ceil(threads).max(1);
    let changes: Vec<WhatIfChange> = std::thread::scope(|scope| {
        let parts: Vec<_> = past
            .chunks(share)
            .map(|part| {
                scope.spawn(move || {
                    part.iter().filter_map(|task| compare_rankings(task, old, new, now)).collect::<Vec<_>>()
                })
            })
            .collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let (by_hand, free): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.set_by_hand);
    WhatIfReport {
        past: past.len(),
        raised: free.iter().filter(|change| change.to > change.from).count(),
        lowered: free.iter().filter(|change| change.to < change.from).count(),
        against_your_word: by_hand.len(),
        warnings: new.lint().iter().map(ToString::to_string).collect(),
        changes: free.into_iter().chain(by_hand).collect(),
    }
}

/// Compares the two rankings of a task. An open task is ranked as of now, an ended one as of its creation.
fn compare_rankings(task: &PastTask, old: &RuleSet, new: &RuleSet, now: Instant) -> Option<WhatIfChange> {
    let at = if task.status.is_terminal() { task.created_at } else { now };
    let (before, after) = (old.rank(&task.facts, at), new.rank(&task.facts, at));
    let kept_word = task.hand_ranked && before.level != task.priority;
    if before.level == after.level || kept_word {
        return None;
    }
    Some(WhatIfChange {
        task_id: task.task_id,
        number: task.number,
        objective: task.facts.objective.clone(),
        from: before.level,
        to: after.level,
        rule: after.rule,
        set_by_hand: task.hand_ranked,
    })
}
