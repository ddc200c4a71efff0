//! What the reflections of finished runs say: which rule and which urgency had decided a level that the person then
//! corrected, and what became of the messages that each tool wrote.
//!
//! Pure. A habit needs several days and several verified senders, so that nobody is ranked for what one other did.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::{
    candidates::{MIN_CORRECTIONS, MIN_DAYS},
    guideline_lines,
    learning::LearningInput,
    lesson::{Lesson, LessonTarget, RankBasis},
};
use crate::{
    model::{Facts, Instant, MessageFate, Reflection, TaskId, UrgencyOrigin},
    rules::RuleSet,
};

/// From here on an urgency counts as high.
pub(super) const HIGH_URGENCY: f64 = 0.5;
/// How many verified senders must have been corrected alike before it says something about a rule or an urgency.
const MIN_SENDERS: usize = 3;
/// How many domains must have got messages that were changed before it says something about a tool; what is peculiar to
/// one of them has a line of its own.
const MIN_DOMAINS: usize = 2;
/// So many in five cases must have been corrected alike.
const MIN_ALIKE_OF_FIVE: usize = 3;

/// What the finished runs of the last days say, as the nightly job reports and uses it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RunReview {
    /// How many reflections were read.
    pub runs: usize,
    pub rules: Vec<RuleRecord>,
    pub urgency: Vec<UrgencyRecord>,
    pub tools: Vec<ToolRecord>,
}

/// How often the person overruled what a rule had given.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RuleRecord {
    pub rule: String,
    /// Whether the nightly job made the rule, which is then changed or retired instead of written about.
    pub is_learned: bool,
    /// How many tasks the rule had ranked.
    pub tasks: usize,
    pub lowered: CorrectedCases,
    pub raised: CorrectedCases,
}

/// How often the person overruled a high or a low urgency.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UrgencyRecord {
    pub origin: UrgencyOrigin,
    pub is_high: bool,
    /// How many tasks had such an urgency.
    pub tasks: usize,
    pub lowered: CorrectedCases,
    pub raised: CorrectedCases,
}

/// What became of the messages that a tool wrote.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ToolRecord {
    pub tool: String,
    pub messages: usize,
    pub edited: usize,
    pub rejected: usize,
    /// Edited and rejected ones to verified senders.
    #[serde(skip)]
    pub(super) changed: CorrectedCases,
    /// The median of the time from the start of the run to its end, with the time that it waited for the person.
    pub median_seconds: u64,
}

/// Cases that were corrected alike, each counted once.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CorrectedCases {
    pub count: usize,
    #[serde(skip)]
    days: BTreeSet<String>,
    /// Who had written: addresses, or domains for a tool.
    #[serde(skip)]
    authors: BTreeSet<String>,
}

impl CorrectedCases {
    fn add(&mut self, day: &str, author: &str) {
        self.count += 1;
        self.days.insert(day.to_owned());
        self.authors.insert(author.to_owned());
    }

    /// Returns whether the cases are enough, on several days, about several authors, and most of all cases.
    fn is_habit(&self, all: usize, min_authors: usize) -> bool {
        self.count >= MIN_CORRECTIONS
            && self.days.len() >= MIN_DAYS
            && self.authors.len() >= min_authors
            && self.count * 5 >= all * MIN_ALIKE_OF_FIVE
    }
}

impl RuleRecord {
    /// Returns the direction in which the person keeps correcting the rule; none without a habit.
    pub(super) fn habit(&self) -> Option<(&'static str, usize)> {
        direction(self.tasks, &self.lowered, &self.raised)
    }
}

impl UrgencyRecord {
    /// Returns the direction in which the person keeps correcting such an urgency; none without a habit.
    pub(super) fn habit(&self) -> Option<(&'static str, usize)> {
        direction(self.tasks, &self.lowered, &self.raised)
    }
}

impl ToolRecord {
    /// Returns how many messages were changed or rejected when that is a habit.
    pub(super) fn habit(&self) -> Option<usize> {
        self.changed.is_habit(self.messages, MIN_DOMAINS).then_some(self.changed.count)
    }
}

fn direction(tasks: usize, lowered: &CorrectedCases, raised: &CorrectedCases) -> Option<(&'static str, usize)> {
    let lowers = lowered.is_habit(tasks, MIN_SENDERS).then_some(("lowered", lowered.count));
    lowers.or_else(|| raised.is_habit(tasks, MIN_SENDERS).then_some(("raised", raised.count)))
}

/// Adds to each lesson what had decided when the person corrected it: the newest reflection of its task from before the
/// correction that has the level which was overruled. A level that was given later, by other rules or a new day, has no
/// such line.
pub(super) fn add_basis(lessons: &mut [Lesson], reflections: &[Reflection]) {
    let mut by_task: HashMap<TaskId, Vec<&Reflection>> = HashMap::new();
    for line in reflections.iter().filter(|line| !line.rule.is_empty()) {
        by_task.entry(line.task_id).or_default().push(line);
    }
    for lesson in lessons {
        let lines = lesson.task_id.and_then(|task_id| by_task.get(&task_id)).into_iter().flatten();
        let fits =
            |line: &&&Reflection| line.at <= lesson.at && lesson.given.is_none_or(|given| line.priority == given);
        lesson.basis = lines.rev().find(fits).map(|line| RankBasis {
            rule: line.rule.clone(),
            urgency: line.urgency,
            urgency_origin: line.urgency_origin,
        });
    }
}

impl RunReview {
    /// Returns what the reflections say. Corrections that `rules` follow already do not count, and nothing from before a
    /// person took the line about it back.
    pub(super) fn of(material: &LearningInput, rules: &RuleSet) -> Self {
        let newest = newest_ranked(&material.reflections);
        let open: Vec<&Lesson> = material
            .lessons
            .iter()
            .filter(|lesson| matches!(lesson.target, LessonTarget::Level(_)) && lesson.facts.sender_verified)
            .filter(|lesson| !lesson.is_known_to(rules))
            .collect();
        Self {
            runs: material.reflections.len(),
            rules: review_rules(material, rules, &newest, &open),
            urgency: review_urgency(material, &newest, &open),
            tools: review_tools(material),
        }
    }
}

/// Returns the newest line of each task that names a rule.
fn newest_ranked(reflections: &[Reflection]) -> Vec<&Reflection> {
    let mut newest: BTreeMap<TaskId, &Reflection> = BTreeMap::new();
    for line in reflections.iter().filter(|line| !line.rule.is_empty()) {
        newest.insert(line.task_id, line);
    }
    newest.into_values().collect()
}

impl LearningInput {
    /// Returns whether something of this time still counts for the guideline line about a subject.
    fn counts_for_line(&self, subject: &str, at: Instant) -> bool {
        self.unlearned.get(&guideline_lines::key(subject)).is_none_or(|since| at > *since)
    }
}

fn review_rules(
    material: &LearningInput,
    rules: &RuleSet,
    newest: &[&Reflection],
    open: &[&Lesson],
) -> Vec<RuleRecord> {
    let learned = rules.learned_names();
    let mut records: BTreeMap<&str, RuleRecord> = BTreeMap::new();
    for line in
        newest.iter().filter(|line| material.counts_for_line(&guideline_lines::rule_subject(&line.rule), line.at))
    {
        let record = records.entry(&line.rule).or_insert_with(|| RuleRecord {
            rule: line.rule.clone(),
            is_learned: learned.contains(&line.rule.as_str()),
            ..RuleRecord::default()
        });
        record.tasks += 1;
    }
    for lesson in open {
        let Some(record) = lesson.basis.as_ref().and_then(|basis| records.get_mut(basis.rule.as_str())) else {
            continue;
        };
        if material.counts_for_line(&guideline_lines::rule_subject(&record.rule), lesson.at) {
            let cases = if lesson.is_raise { &mut record.raised } else { &mut record.lowered };
            cases.add(&lesson.day, &lesson.facts.sender);
        }
    }
    records.into_values().collect()
}

fn review_urgency(material: &LearningInput, newest: &[&Reflection], open: &[&Lesson]) -> Vec<UrgencyRecord> {
    let mut records: BTreeMap<(UrgencyOrigin, bool), UrgencyRecord> = BTreeMap::new();
    let counts = |origin: UrgencyOrigin, at| material.counts_for_line(&guideline_lines::urgency_subject(origin), at);
    for line in newest {
        let Some(origin) = line.urgency_origin.filter(|origin| counts(*origin, line.at)) else { continue };
        let is_high = line.urgency >= HIGH_URGENCY;
        let none = CorrectedCases::default;
        let empty = || UrgencyRecord { origin, is_high, tasks: 0, lowered: none(), raised: none() };
        records.entry((origin, is_high)).or_insert_with(empty).tasks += 1;
    }
    for lesson in open {
        let Some(basis) = &lesson.basis else { continue };
        let Some(origin) = basis.urgency_origin.filter(|origin| counts(*origin, lesson.at)) else { continue };
        if let Some(record) = records.get_mut(&(origin, basis.urgency >= HIGH_URGENCY)) {
            let cases = if lesson.is_raise { &mut record.raised } else { &mut record.lowered };
            cases.add(&lesson.day, &lesson.facts.sender);
        }
    }
    records.into_values().collect()
}

/// Returns what became of the messages of each tool. Of each task the newest line counts, because it knows most.
fn review_tools(material: &LearningInput) -> Vec<ToolRecord> {
    let facts: HashMap<TaskId, &Facts> = material.tasks.iter().map(|task| (task.task_id, &task.facts)).collect();
    let mut newest: BTreeMap<(&str, TaskId), (MessageFate, &Reflection)> = BTreeMap::new();
    for line in &material.reflections {
        for message in &line.feedback.messages {
            newest.insert((&message.tool, line.task_id), (message.fate, line));
        }
    }
    let mut records: BTreeMap<&str, (ToolRecord, Vec<u64>)> = BTreeMap::new();
    for ((tool, task_id), (fate, line)) in newest {
        if !material.counts_for_line(&guideline_lines::tool_subject(tool), line.at) {
            continue;
        }
        let (record, seconds) = records.entry(tool).or_default();
        tool.clone_into(&mut record.tool);
        record.messages += 1;
        record.edited += usize::from(fate == MessageFate::Edited);
        record.rejected += usize::from(fate == MessageFate::Rejected);
        seconds.push(line.feedback.seconds);
        let verified = facts.get(&task_id).filter(|facts| facts.sender_verified && fate != MessageFate::Sent);
        if let Some(facts) = verified {
            record.changed.add(&line.at.day_in(material.zone), &facts.sender_domain);
        }
    }
    let finish = |(mut record, mut seconds): (ToolRecord, Vec<u64>)| {
        seconds.sort_unstable();
        record.median_seconds = seconds.get(seconds.len() / 2).copied().unwrap_or_default();
        record
    };
    records.into_values().map(finish).collect()
}
