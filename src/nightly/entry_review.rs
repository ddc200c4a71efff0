//! Reviewing learned entries: those that keep being overruled are changed or retired, and those that nothing has
//! matched for long are retired.

use std::collections::BTreeSet;

use super::{
    FORGET_AFTER_DAYS,
    candidates::{Candidate, MIN_CORRECTIONS, MIN_DAYS, describe_evidence, is_shared, limit_shared_act, min_senders},
    learning::{LearningInput, TrackedEntry},
    lesson::{Lesson, LessonTarget},
};
use crate::{
    model::{Instant, Priority, nightly::PastTask},
    rules::{EntryAct, LearnedEntry, RuleSet, RulesEdit, apply_edits},
};

/// So many in five of the corrections against an entry must agree on another level for it to be changed instead of
/// retired.
const MIN_AGREEING_OF_FIVE: usize = 4;

/// Returns an edit for every entry that should be changed or retired. Only entries that the nightly job itself made are
/// reviewed.
pub(super) fn review_entries(material: &LearningInput, rules: &RuleSet) -> Vec<Candidate> {
    let known = rules.learned_names();
    let kept = material.tracked_entries.iter().filter(|kept| known.contains(&kept.name.as_str()));
    kept.filter_map(|kept| revise_overruled(material, rules, kept).or_else(|| retire_unmatched(material, kept)))
        .collect()
}

/// Returns the edit of an entry that enough corrections overrule; none while it stands.
fn revise_overruled(material: &LearningInput, rules: &RuleSet, kept: &TrackedEntry) -> Option<Candidate> {
    let against: Vec<&Lesson> = material
        .lessons
        .iter()
        .filter(|lesson| lesson.at > kept.made_at && lesson_overrules(lesson, rules, kept))
        .collect();
    let days = against.iter().map(|lesson| lesson.day.as_str()).collect::<BTreeSet<_>>().len();
    // An entry that several senders taught is not unlearned by one sender alone.
    let senders = against.iter().map(|lesson| lesson.facts.sender.as_str()).collect::<BTreeSet<_>>().len();
    if against.len() < MIN_CORRECTIONS || days < MIN_DAYS || senders < min_senders(&kept.entry.reach) {
        return None;
    }
    let since = against.iter().map(|lesson| lesson.at).min()?;
    if is_shared(&kept.entry.reach) && material.count_accepted_tasks(kept, rules, since) >= against.len() {
        return None;
    }
    let why = format!("overruled: {}", describe_evidence(&against));
    let retire = RulesEdit::Retire { name: kept.name.clone(), why: why.clone() };
    let edit = match agreed_level(&against)
        .filter(|level| !material.rules_without(&retire).is_some_and(|rest| ranks_most_at(&rest, &against, *level)))
    {
        Some(level) => edit_to_level(kept, level, why).unwrap_or(retire),
        None => retire,
    };
    let lowers_a_cap = matches!((&edit, kept.entry.act), (RulesEdit::Change { entry, .. }, EntryAct::Cap(from)) if matches!(entry.act, EntryAct::Cap(to) if to < from));
    let times = || against.iter().map(|lesson| lesson.at);
    Some(Candidate {
        edit,
        reach: kept.entry.reach.clone(),
        evidence: against.iter().map(|lesson| lesson.id).collect(),
        since,
        due_since: times().max()?,
        needs_approval: lowers_a_cap && (is_shared(&kept.entry.reach) || !against.iter().all(|lesson| lesson.bulk)),
    })
}

/// Returns whether the entry decided and the person decided otherwise.
fn lesson_overrules(lesson: &Lesson, rules: &RuleSet, kept: &TrackedEntry) -> bool {
    if !kept.entry.reach.covers(&lesson.facts) {
        return false;
    }
    match (lesson.target, kept.entry.act) {
        (LessonTarget::Level(level), EntryAct::Set(_) | EntryAct::Cap(_)) => {
            let verdict = rules.rank(&lesson.facts, lesson.created_at);
            // What another rule had given when the person corrected it is not held against this entry.
            let decided_then = lesson.basis.as_ref().is_none_or(|basis| basis.rule == kept.name);
            decided_then && verdict.rule == kept.name && verdict.level != level
        }
        (LessonTarget::Task(opens), EntryAct::Task(taught)) => opens != taught,
        _ => false,
    }
}

/// Returns the level that nearly all of the corrections want.
fn agreed_level(against: &[&Lesson]) -> Option<Priority> {
    let levels = || {
        against
            .iter()
            .filter_map(|lesson| if let LessonTarget::Level(level) = lesson.target { Some(level) } else { None })
    };
    Priority::ALL
        .iter()
        .copied()
        .find(|level| levels().filter(|wanted| wanted == level).count() * 5 >= against.len() * MIN_AGREEING_OF_FIVE)
}

/// Returns whether these rules give nearly all of the corrected cases this level.
fn ranks_most_at(rules: &RuleSet, against: &[&Lesson], level: Priority) -> bool {
    let given = against.iter().filter(|lesson| rules.rank(&lesson.facts, lesson.created_at).level == level);
    given.count() * 5 >= against.len() * MIN_AGREEING_OF_FIVE
}

/// Returns the edit that keeps the act and changes its level; none for an entry on whether a mail is a task.
fn edit_to_level(kept: &TrackedEntry, level: Priority, why: String) -> Option<RulesEdit> {
    let act = match kept.entry.act {
        EntryAct::Set(_) => EntryAct::Set(level),
        EntryAct::Cap(_) => EntryAct::Cap(level),
        EntryAct::Task(_) => return None,
    };
    let entry = LearnedEntry { reach: kept.entry.reach.clone(), act: limit_shared_act(&kept.entry.reach, act) };
    Some(RulesEdit::Change { name: kept.name.clone(), entry, why })
}

/// Returns the edit that retires an entry which nothing has matched for long.
fn retire_unmatched(material: &LearningInput, kept: &TrackedEntry) -> Option<Candidate> {
    let newest = material.last_hit(kept).unwrap_or(kept.made_at).max(kept.made_at);
    (newest < material.now.plus(-chrono::Duration::days(FORGET_AFTER_DAYS))).then(|| Candidate {
        edit: RulesEdit::Retire {
            name: kept.name.clone(),
            why: format!("nothing has matched it for {FORGET_AFTER_DAYS} days"),
        },
        reach: kept.entry.reach.clone(),
        evidence: Vec::new(),
        since: newest,
        due_since: newest,
        needs_approval: false,
    })
}

impl LearningInput {
    /// Returns how many tasks the entry decided since then and the person left alone. Someone who leaves most of them
    /// wants the entry.
    fn count_accepted_tasks(&self, kept: &TrackedEntry, rules: &RuleSet, since: Instant) -> usize {
        let since = |task: &&PastTask| task.created_at >= since && task.is_uncorrected();
        let tasks = self.tasks.iter().filter(since).filter(|task| kept.entry.reach.covers(&task.facts));
        tasks.filter(|task| rules.rank(&task.facts, task.created_at).rule == kept.name).count()
    }

    /// Returns the rules without an entry.
    fn rules_without(&self, retire: &RulesEdit) -> Option<RuleSet> {
        let text = apply_edits("priority.yml", &self.rules, std::slice::from_ref(retire)).ok()?;
        RuleSet::parse("priority.yml", &text).ok()
    }

    /// Returns when a mail or task last matched the entry.
    pub(super) fn last_hit(&self, kept: &TrackedEntry) -> Option<Instant> {
        let tasks = self.tasks.iter().filter(|task| kept.entry.reach.covers(&task.facts)).map(|task| task.created_at);
        let mails = self.mails.iter().filter(|mail| kept.entry.reach.covers(&mail.facts)).map(|mail| mail.arrived_at);
        tasks.chain(mails).max().max(kept.last_hit)
    }
}
