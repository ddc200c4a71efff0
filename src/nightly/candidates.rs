//! From corrections to candidates: the same correction, three times, on two days, within one reach.
//!
//! The narrowest reach that explains the corrections is taken. A wider one needs several senders who were all corrected
//! alike, and nobody within it whom the person left alone: otherwise a crowd of strangers could have honest mail
//! lowered.

use std::collections::{BTreeSet, HashMap};

use super::{
    learning::LearningInput,
    lesson::{Lesson, LessonTarget},
};
use crate::{
    model::{Facts, Instant, Priority},
    rules::{EntryAct, LearnedEntry, Reach, RuleSet, RulesEdit, subject_words},
};

/// How often a person must have corrected the same before it becomes a rule.
pub const MIN_CORRECTIONS: usize = 3;
/// On how many days, so that one bad morning makes no rule.
pub const MIN_DAYS: usize = 2;
/// One correction in so many may contradict the others, because people slip.
const CONTRADICTING_ONE_IN: usize = 4;
/// When a shared reach raises levels, one in so many of the affected tasks may be of a sender whom the person never
/// corrected; one task may be in any case.
const UNCORRECTED_ONE_IN: usize = 8;

/// An edit of the rules that is to be tested, with the corrections it was derived from.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub edit: RulesEdit,
    pub reach: Reach,
    /// The numbers of the corrections.
    pub evidence: Vec<i64>,
    /// The time of the oldest correction.
    pub since: Instant,
    /// Since when there has been enough evidence. The candidate that is due longest is tried first.
    pub due_since: Instant,
    /// Whether a person must allow the edit.
    pub needs_approval: bool,
}

/// Returns the reaches that a lesson could be about, the narrowest first; none for an unverified sender, whose name
/// anyone can write.
pub(super) fn possible_reaches(lesson: &Lesson) -> Vec<Reach> {
    let facts = &lesson.facts;
    if !facts.sender_verified {
        return Vec::new();
    }
    let mut all = vec![Reach::Sender(facts.sender.clone())];
    all.extend(facts.list_id.iter().map(|list| Reach::ListId(list.to_lowercase())));
    match lesson.target {
        LessonTarget::Level(_) => {
            all.push(Reach::Domain(facts.sender_domain.clone()));
            all.extend(subject_words(&facts.subject).collect::<BTreeSet<_>>().into_iter().map(Reach::Word));
        }
        LessonTarget::Task(_) => {
            let first = subject_words(&facts.subject).next();
            all.extend(first.map(|word| Reach::Template(facts.sender_domain.clone(), word)));
        }
    }
    all.retain(Reach::is_safe_to_write);
    all
}

/// Returns what an entry for this target would do: a raise sets a least level, a lowering sets a cap.
pub(super) fn act_for_target(wish: LessonTarget, up: bool) -> EntryAct {
    match (wish, up) {
        (LessonTarget::Level(level), true) => EntryAct::Set(level),
        (LessonTarget::Level(level), false) => EntryAct::Cap(level),
        (LessonTarget::Task(opens), _) => EntryAct::Task(opens),
    }
}

/// Returns how many senders must have been corrected alike before others within the reach are ranked by it.
pub(super) const fn min_senders(reach: &Reach) -> usize {
    match reach {
        Reach::Domain(_) | Reach::Template(..) => 2,
        Reach::Word(_) => 3,
        Reach::Sender(_) | Reach::ListId(_) => 1,
    }
}

/// Lowers `critical` to `high` for a shared reach: anyone can write a word into a subject or the name of a list, and
/// many people share a domain.
pub(super) fn limit_shared_act(reach: &Reach, act: EntryAct) -> EntryAct {
    match act {
        EntryAct::Set(Priority::Critical) if is_shared(reach) => EntryAct::Set(Priority::High),
        act => act,
    }
}

/// Returns whether several senders may be within reach: anyone at a domain, with a word, or who writes the name of a
/// list.
pub(super) const fn is_shared(reach: &Reach) -> bool {
    !matches!(reach, Reach::Sender(_))
}

/// Returns everything that could be learned now, the longest due first. Lessons that the rules follow already are left
/// out.
pub(super) fn find_candidates(material: &LearningInput, rules: &RuleSet) -> Vec<Candidate> {
    let open: Vec<&Lesson> = material.lessons.iter().filter(|lesson| !lesson.is_known_to(rules)).collect();
    let mut found: Vec<Candidate> = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for lesson in open.iter().rev() {
        let covered = |found: &[Candidate]| {
            found.iter().any(|known| {
                known.reach.covers(&lesson.facts)
                    && known
                        .edit
                        .entry()
                        .is_some_and(|entry| entry.act == act_for_target(lesson.target, lesson.is_raise))
            })
        };
        if covered(&found) {
            continue;
        }
        let groups = possible_reaches(lesson).into_iter().map(|reach| LessonGroup::gather(material, reach, lesson));
        let fit: Vec<LessonGroup<'_>> = groups
            .filter(|group| group.has_enough_support() && group.spares_uncorrected_senders(material, rules))
            .collect();
        // A domain of which every sender was corrected explains more than a single one of them.
        let best =
            fit.iter().find(|group| matches!(group.reach, Reach::Domain(_)) && group.is_unanimous(material, rules));
        if let Some(group) = best.or_else(|| fit.first())
            && seen.insert(group.entry().name())
        {
            found.push(group.to_candidate(material));
        }
    }
    found.sort_by_key(|candidate| candidate.due_since);
    found
}

/// The lessons with the same target within one reach.
pub(super) struct LessonGroup<'a> {
    reach: Reach,
    target: LessonTarget,
    is_raise: bool,
    pub(super) support: Vec<&'a Lesson>,
    /// How many lessons within the reach contradict the target.
    against: usize,
    /// Whether no contradicting lesson is newer than the newest supporting one.
    newest_supports: bool,
}

impl<'a> LessonGroup<'a> {
    /// Collects the lessons within a reach that want the same as `like`. Lessons from before the reach was unlearned do
    /// not count.
    pub(super) fn gather(material: &'a LearningInput, reach: Reach, like: &Lesson) -> Self {
        let since = material.unlearned.get(&reach.key()).copied();
        let within = material.lessons.iter().filter(|lesson| {
            reach.covers(&lesson.facts)
                && since.is_none_or(|since| lesson.at > since)
                && matches!(lesson.target, LessonTarget::Level(_)) == matches!(like.target, LessonTarget::Level(_))
        });
        let (mut support, mut against, mut newest_supports) = (Vec::new(), 0, false);
        for lesson in within {
            let same = lesson.target == like.target && lesson.is_raise == like.is_raise;
            newest_supports = same || (newest_supports && !contradicts(lesson.target, like));
            if same {
                support.push(lesson);
            } else if contradicts(lesson.target, like) {
                against += 1;
            }
        }
        Self { reach, target: like.target, is_raise: like.is_raise, support, against, newest_supports }
    }

    /// Returns on how many days the supporting corrections were made.
    pub(super) fn count_days(&self) -> usize {
        self.support.iter().map(|lesson| lesson.day.as_str()).collect::<BTreeSet<_>>().len()
    }

    fn senders(&self) -> BTreeSet<&str> {
        self.support.iter().map(|lesson| lesson.facts.sender.as_str()).collect()
    }

    /// Returns whether enough corrections, days and senders support the target, and few enough contradict it.
    pub(super) fn has_enough_support(&self) -> bool {
        self.senders().len() >= min_senders(&self.reach)
            && self.newest_supports
            && self.support.len() >= MIN_CORRECTIONS
            && self.count_days() >= MIN_DAYS
            && self.against * CONTRADICTING_ONE_IN <= self.support.len()
    }

    /// Returns whether the entry affects nobody, or hardly anybody, whom the person left alone. A lowering may affect
    /// no other sender at all: nobody is lowered for what others did.
    fn spares_uncorrected_senders(&self, material: &LearningInput, rules: &RuleSet) -> bool {
        if !is_shared(&self.reach) {
            return true;
        }
        if self.is_raise {
            return self.count_affected_uncorrected(material, rules)
                <= (self.support.len() / UNCORRECTED_ONE_IN).max(1);
        }
        let senders = self.senders();
        let stranger = |facts: &Facts| self.reach.covers(facts) && !senders.contains(facts.sender.as_str());
        !material.mails.iter().any(|mail| stranger(&mail.facts))
    }

    /// Returns whether the entry changes nothing for senders that were never corrected.
    fn is_unanimous(&self, material: &LearningInput, rules: &RuleSet) -> bool {
        self.count_affected_uncorrected(material, rules) == 0
    }

    /// Returns how many tasks and mails within reach would change although their sender was never corrected like this.
    fn count_affected_uncorrected(&self, material: &LearningInput, rules: &RuleSet) -> usize {
        let senders = self.senders();
        let entry = self.entry();
        let touched = |facts: &Facts, at: Instant| {
            let level = rules.rank(facts, at).level;
            match entry.act {
                EntryAct::Set(to) => level < to,
                EntryAct::Cap(to) => level > to,
                EntryAct::Task(_) => false,
            }
        };
        let other = |facts: &Facts| self.reach.covers(facts) && !senders.contains(facts.sender.as_str());
        // A cancelled task is left out: otherwise a few strangers with a word could keep it from being learned.
        let tasks = material.tasks.iter().filter(|task| task.is_uncorrected() && other(&task.facts));
        let mails = material.mails.iter().filter(|mail| other(&mail.facts) && !mail.corrected);
        let opened = mails.filter(|mail| matches!(entry.act, EntryAct::Task(opens) if opens != mail.opened_task));
        tasks.filter(|task| touched(&task.facts, task.created_at)).count() + opened.count()
    }

    /// Returns the entry that the group asks for.
    pub(super) fn entry(&self) -> LearnedEntry {
        LearnedEntry {
            reach: self.reach.clone(),
            act: limit_shared_act(&self.reach, act_for_target(self.target, self.is_raise)),
        }
    }

    /// Returns whether a person must allow the entry: always when it lowers anyone but a bulk sender. A sender who also
    /// writes single mails, or whom the person knows, is no bulk sender.
    pub(super) fn needs_approval(&self, material: &LearningInput) -> bool {
        let within = || material.mails.iter().filter(|mail| self.reach.covers(&mail.facts));
        let bulk = !is_shared(&self.reach)
            && self.support.iter().all(|lesson| lesson.bulk)
            && within().all(|mail| mail.bulk && !mail.facts.known_contact);
        matches!(self.entry().act, EntryAct::Cap(_) | EntryAct::Task(false)) && !bulk
    }

    /// Returns the candidate that adds the entry.
    fn to_candidate(&self, material: &LearningInput) -> Candidate {
        let evidence: Vec<i64> = self.support.iter().map(|lesson| lesson.id).collect();
        let at = |pick: fn(Option<Instant>, Instant) -> Option<Instant>| {
            self.support.iter().fold(None, |best, lesson| pick(best, lesson.at))
        };
        let since = at(|best, at| Some(best.map_or(at, |best| best.min(at))));
        // The time of the correction that first made it enough.
        let until = self.support.get(MIN_CORRECTIONS - 1).map(|lesson| lesson.at);
        Candidate {
            edit: RulesEdit::Add { entry: self.entry(), why: describe_evidence(&self.support) },
            reach: self.reach.clone(),
            evidence,
            since: since.unwrap_or(Instant::EARLIEST),
            due_since: until.unwrap_or(Instant::EARLIEST),
            needs_approval: self.needs_approval(material),
        }
    }
}

/// Returns whether a target within the same reach speaks against an entry for `like`.
fn contradicts(wish: LessonTarget, like: &Lesson) -> bool {
    match (wish, like.target) {
        (LessonTarget::Level(other), LessonTarget::Level(level)) => {
            if like.is_raise {
                other < level
            } else {
                other > level
            }
        }
        (LessonTarget::Task(other), LessonTarget::Task(opens)) => other != opens,
        _ => false,
    }
}

/// Returns the evidence in words, with what had decided where the reflections say it: "you said so 3 times on 2 days:
/// corrections 12, 15, 19; decided by default, urgency 0.10 to 0.20".
pub(super) fn describe_evidence(support: &[&Lesson]) -> String {
    const SHOWN: usize = 12;
    let days: BTreeSet<&str> = support.iter().map(|lesson| lesson.day.as_str()).collect();
    let newest = support.iter().rev().take(SHOWN).rev();
    let ids: Vec<String> = newest.map(|lesson| lesson.id.to_string()).collect();
    let more = if support.len() > SHOWN { "…, " } else { "" };
    let basis = describe_basis(support).map_or_else(String::new, |basis| format!("; {basis}"));
    format!("you said so {} times on {} days: corrections {more}{}{basis}", support.len(), days.len(), ids.join(", "))
}

/// Returns which rules and which urgency had decided the corrected levels; none where no reflection says it.
fn describe_basis(support: &[&Lesson]) -> Option<String> {
    const SHOWN: usize = 2;
    let bases: Vec<_> = support.iter().filter_map(|lesson| lesson.basis.as_ref()).collect();
    let rules: BTreeSet<&str> = bases.iter().map(|basis| basis.rule.as_str()).collect();
    let least = bases.iter().map(|basis| basis.urgency).reduce(f64::min)?;
    let most = bases.iter().map(|basis| basis.urgency).reduce(f64::max)?;
    let range = if least == most { format!("{least:.2}") } else { format!("{least:.2} to {most:.2}") };
    let others = rules.len().saturating_sub(SHOWN);
    let others = if others > 0 { format!(" and {others} others") } else { String::new() };
    let names = rules.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
    Some(format!("decided by {names}{others}, urgency {range}"))
}

/// When each reach was last unlearned, by its key.
pub(super) type UnlearnedAt = HashMap<String, Instant>;
