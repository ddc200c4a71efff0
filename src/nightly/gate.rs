//! The test that every edit must pass: it parses, it changes something, and a replay of the past agrees with the person
//! more often than before without changing what they set.

use serde::{Deserialize, Serialize};

use super::{
    candidates::Candidate,
    learning::LearningInput,
    lesson::{Lesson, LessonTarget},
};
use crate::{
    model::{Facts, Instant, Priority, TaskId, nightly::PastTask},
    rules::{RuleSet, RulesEdit},
};

/// One in so many tasks of the past may change by the edits of one nightly job, or [`MIN_CHANGE_LIMIT`] tasks.
const CHANGED_ONE_IN: usize = 10;
/// So many tasks may change in any case, because a tenth of a short past is almost nothing.
const MIN_CHANGE_LIMIT: usize = 10;
/// The most cases that are listed: enough for a person to see what is wrong.
const MAX_CASES: usize = 10;

/// The result of testing an edit on the past.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialResult {
    pub passed: bool,
    /// Why the edit failed; empty when it passed.
    pub reason: String,
    /// How many of the corrected cases came out as the person wanted, before the edit.
    pub agreed_before: usize,
    /// How many of the corrected cases come out as the person wanted, after the edit.
    pub agreed_after: usize,
    /// The number of corrected cases.
    pub corrected: usize,
    /// How many tasks and mails of the past come out otherwise.
    pub changed: usize,
    /// The number of tasks that were replayed.
    pub past: usize,
    /// The cases that speak against the edit.
    pub cases: Vec<TrialCase>,
    /// Warnings about the rule that the edit makes.
    pub warnings: Vec<String>,
}

impl std::fmt::Display for TrialResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { agreed_before, agreed_after, corrected, changed, past, .. } = self;
        write!(
            f,
            "{agreed_before} → {agreed_after} of {corrected} corrected cases agree, {changed} of {past} tasks change"
        )
    }
}

/// A task of the past that would change although it must not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialCase {
    pub task_id: TaskId,
    pub number: Option<i64>,
    pub from: Priority,
    pub to: Priority,
    pub why: String,
}

/// Tests a candidate. `first` are the rules when the job began, `before` those with the edits adopted so far, `after`
/// those with this one too. What changes is counted from `first`, so that many small edits cannot add up to a large
/// one.
pub(super) fn test_candidate(
    material: &LearningInput,
    candidate: &Candidate,
    first: &RuleSet,
    before: &RuleSet,
    after: &RuleSet,
) -> TrialResult {
    let mut trial = TrialResult { past: material.replayed_tasks().count(), ..TrialResult::default() };
    trial.warnings = find_new_warnings(before, after, &candidate.edit);
    if let Some(warning) = trial.warnings.first() {
        trial.reason = format!("the rule would be of no use: {warning}");
        return trial;
    }
    count_agreement(material, before, after, &mut trial);
    let flips = find_broken_cases(material, candidate, before, after);
    trial.changed = count_changed(material, first, after);
    let limit = (trial.past / CHANGED_ONE_IN).max(MIN_CHANGE_LIMIT);
    let retires = matches!(candidate.edit, RulesEdit::Retire { .. });
    trial.reason = if !flips.is_empty() {
        format!("{} tasks whose level you set would come out otherwise", flips.len())
    } else if trial.changed > limit {
        format!("{} of {} tasks would change; at most {limit} may", trial.changed, trial.past)
    } else if trial.agreed_after < trial.agreed_before || (trial.agreed_after == trial.agreed_before && !retires) {
        format!(
            "it would not agree with you more often than now ({} of {} corrected cases)",
            trial.agreed_after, trial.corrected
        )
    } else {
        String::new()
    };
    trial.passed = trial.reason.is_empty();
    trial.cases = flips;
    trial
}

/// Returns the warnings about the edited entry that were not there before.
fn find_new_warnings(before: &RuleSet, after: &RuleSet, edit: &RulesEdit) -> Vec<String> {
    let name = edit.name();
    let known: Vec<String> = before.lint().into_iter().map(|warning| warning.text).collect();
    let new = after.lint().into_iter().filter(|warning| warning.rule == name && !known.contains(&warning.text));
    new.map(|warning| warning.text).collect()
}

/// Counts the corrected cases that the rules agree with, before and after.
fn count_agreement(material: &LearningInput, before: &RuleSet, after: &RuleSet, trial: &mut TrialResult) {
    let recent: Vec<&Lesson> = material.recent_lessons().collect();
    let agreed = |rules: &RuleSet| recent.iter().filter(|lesson| lesson.is_known_to(rules)).count();
    (trial.corrected, trial.agreed_before, trial.agreed_after) = (recent.len(), agreed(before), agreed(after));
}

/// Counts the tasks and mails that come out otherwise than at the start of the job.
fn count_changed(material: &LearningInput, first: &RuleSet, after: &RuleSet) -> usize {
    let level = |rules: &RuleSet, facts: &Facts, at: Instant| rules.rank(facts, at).level;
    // A level that a person set stays, whatever the rules say.
    let tasks = material.replayed_tasks().filter(|task| !task.hand_ranked);
    let tasks =
        tasks.filter(|task| level(first, &task.facts, task.created_at) != level(after, &task.facts, task.created_at));
    let opens = |rules: &RuleSet, facts: &Facts, at: Instant, otherwise: bool| {
        rules.find_task_rule(facts, at).map_or(otherwise, |taught| taught.opens)
    };
    let mails = material.mails.iter().filter(|mail| !mail.corrected && mail.arrived_at >= material.replay_start());
    let mails = mails.filter(|mail| {
        let before = opens(first, &mail.facts, mail.arrived_at, mail.opened_task);
        before != opens(after, &mail.facts, mail.arrived_at, mail.opened_task)
    });
    tasks.count() + mails.count()
}

/// Returns the protected cases that come out otherwise: a level that a person set and the rules gave, or one that a
/// locked rule decided.
fn find_broken_cases(
    material: &LearningInput,
    candidate: &Candidate,
    before: &RuleSet,
    after: &RuleSet,
) -> Vec<TrialCase> {
    let mut cases = Vec::new();
    for task in material.replayed_tasks() {
        let (old, new) = (before.rank(&task.facts, task.created_at), after.rank(&task.facts, task.created_at));
        let (from, to) = (old.level, new.level);
        if task.hand_ranked && would_lose_task(material, candidate, task, before, after) {
            let why = "you set its level, and it would be no task any more".into();
            cases.push(TrialCase { task_id: task.task_id, number: task.number, from, to, why });
        }
        if old.level == new.level {
            continue;
        }
        let said = task.hand_ranked
            && old.level == task.priority
            && !is_superseded(material, candidate, &task.facts, task.task_id);
        if said || old.locked {
            let why = if said { "you set this level" } else { "a locked rule gave it" };
            cases.push(TrialCase { task_id: task.task_id, number: task.number, from, to, why: why.into() });
        }
    }
    cases.truncate(MAX_CASES);
    cases
}

/// Returns whether the mail of the task would open no task any more, unless the person set its level before all of the
/// corrections that the edit rests on.
fn would_lose_task(
    material: &LearningInput,
    candidate: &Candidate,
    task: &PastTask,
    before: &RuleSet,
    after: &RuleSet,
) -> bool {
    let silent =
        |rules: &RuleSet| rules.find_task_rule(&task.facts, task.created_at).is_some_and(|taught| !taught.opens);
    let older = material.level_set_at.get(&task.task_id).is_some_and(|at| *at < candidate.since);
    !silent(before) && silent(after) && !older
}

/// Returns whether the person has changed their mind about the task since: every correction that the edit rests on is
/// newer than theirs on this task, and some of them are about the same sender.
fn is_superseded(material: &LearningInput, candidate: &Candidate, facts: &Facts, task_id: TaskId) -> bool {
    candidate.reach.covers(facts)
        && material.level_set_at.get(&task_id).is_some_and(|at| *at < candidate.since)
        && material.lessons.iter().any(|lesson| {
            candidate.evidence.contains(&lesson.id)
                && matches!(lesson.target, LessonTarget::Level(_))
                && lesson.facts.sender == facts.sender
        })
}
