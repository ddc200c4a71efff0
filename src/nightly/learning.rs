//! One night's work, as a function from what is stored to what would be changed. Nothing is touched in here.

use std::collections::HashMap;

use chrono::Duration;
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::{
    FORGET_AFTER_DAYS, REPLAY_DAYS,
    candidates::{self, Candidate, UnlearnedAt},
    entry_review,
    gate::{self, TrialResult},
    guideline_lines,
    lesson::{Lesson, collect_lessons},
};
use crate::{
    model::{
        DecisionKind, Instant, ItemId, TaskId,
        nightly::{CorrectionKind, LearnedEntryRow, PastMail, PastTask, ProposalRow, ReplyOutcome},
    },
    rules::{LearnedEntry, Reach, RuleSet, RulesEdit, RulesEditError, apply_edits},
    store::{Result as Stored, StoreReader},
};

/// Edits of one night; and questions, which are not edits before they are answered. A person can read five.
const MAX_EDITS: usize = 5;
/// The name errors show; the text is the file's.
const RULES_FILE_NAME: &str = "rules/priority.yml";

/// Everything a night is told.
#[derive(Debug, Clone)]
pub struct LearningInput {
    pub now: Instant,
    pub zone: Tz,
    /// The bytes of both files.
    pub rules: String,
    pub guidelines: String,
    pub lessons: Vec<Lesson>,
    /// When a person last set the level of a task.
    pub level_set_at: HashMap<TaskId, Instant>,
    pub tasks: Vec<PastTask>,
    pub mails: Vec<PastMail>,
    pub tracked_entries: Vec<TrackedEntry>,
    pub unlearned: UnlearnedAt,
    pub proposals: Vec<ProposalRow>,
    pub replies: Vec<ReplyOutcome>,
}

/// An entry of ours in the file, with where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackedEntry {
    pub name: String,
    pub entry: LearnedEntry,
    pub made_at: Instant,
    pub last_hit: Option<Instant>,
}

/// An edit with its evidence and its test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestedEdit {
    /// The reach, as it is remembered when a person says no.
    pub key: String,
    /// In words a person reads.
    pub words: String,
    pub edit: RulesEdit,
    pub evidence: Vec<i64>,
    pub trial: TrialResult,
}

/// What the night found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LearningOutcome {
    pub adopted: Vec<TestedEdit>,
    /// To be asked: the person decides.
    pub questions: Vec<TestedEdit>,
    /// Failed their test, or the file has no room for them.
    pub proposals: Vec<TestedEdit>,
    /// Lines of the marked part of the guidelines.
    pub guidelines_lines: Vec<String>,
    /// Entries of ours that a person took out of the file.
    pub taken_out: Vec<String>,
    #[serde(skip)]
    pub rules: String,
    #[serde(skip)]
    pub guidelines: String,
    #[serde(skip)]
    pub hits: Vec<(String, u64, Option<Instant>)>,
}

impl LearningInput {
    pub fn gather(reader: &StoreReader<'_>, now: Instant, zone: Tz, rules: String, guidelines: String) -> Stored<Self> {
        let since = now.plus(-Duration::days(FORGET_AFTER_DAYS));
        let mut rows = reader.nightly().priority_lessons(since)?;
        rows.extend(reader.nightly().task_lessons(since)?);
        let said = rows.iter().filter(|row| row.correction.kind == CorrectionKind::Priority);
        let said_at = said.filter_map(|row| Some((row.correction.task_id?, row.correction.at))).collect();
        let mut unlearned: UnlearnedAt = reader.rules().unlearned_reaches()?.into_iter().collect();
        let kept: Vec<TrackedEntry> =
            reader.rules().learned_entries()?.into_iter().filter_map(tracked_entry_from_row).collect();
        // Taking an entry out of the file is a word like a rollback, and counts from now on.
        let gone = find_removed_entries(&kept, &rules);
        unlearned.extend(gone.iter().map(|kept| (kept.entry.reach.key(), now)));
        let mut replies = reader.nightly().reply_outcomes(since)?;
        replies
            .retain(|reply| unlearned.get(&guideline_lines::key(&reply.domain)).is_none_or(|since| reply.at > *since));
        Ok(Self {
            now,
            zone,
            rules,
            guidelines,
            lessons: collect_lessons(rows, zone),
            level_set_at: said_at,
            tasks: reader.nightly().past_tasks(Some(since))?,
            mails: reader.nightly().past_mails(since)?,
            tracked_entries: kept,
            unlearned,
            proposals: reader.rules().proposals()?,
            replies,
        })
    }

    pub(super) fn replay_start(&self) -> Instant {
        self.now.plus(-Duration::days(REPLAY_DAYS))
    }

    /// The tasks an edit is tested on.
    pub(super) fn replayed_tasks(&self) -> impl Iterator<Item = &PastTask> {
        self.tasks.iter().filter(|task| task.created_at >= self.replay_start())
    }

    pub(super) fn recent_lessons(&self) -> impl Iterator<Item = &Lesson> {
        self.lessons.iter().filter(|lesson| lesson.at >= self.replay_start())
    }

    /// Waits for an answer, or was not answered and nothing new was said since.
    fn is_already_proposed(&self, candidate: &Candidate) -> bool {
        let newest =
            self.lessons.iter().filter(|lesson| candidate.evidence.contains(&lesson.id)).map(|lesson| lesson.at);
        let newest = newest.max();
        self.proposals.iter().any(|asked| {
            let same = asked.edit.get("key").and_then(|key| key.as_str()) == Some(&candidate.reach.key());
            same && (asked.is_open
                || (asked.decision.is_none() && newest.is_some_and(|at| at <= asked.asked_at))
                || (asked.decision == Some(DecisionKind::Approve) && !asked.is_closed))
        })
    }
}

/// Entries of ours that are not in the file any more. From a file that does not parse nothing was taken out.
fn find_removed_entries<'k>(kept: &'k [TrackedEntry], rules: &str) -> Vec<&'k TrackedEntry> {
    let Ok(rules) = parse_rules(rules) else { return Vec::new() };
    kept.iter().filter(|kept| !rules.learned_names().contains(&kept.name.as_str())).collect()
}

fn tracked_entry_from_row(row: LearnedEntryRow) -> Option<TrackedEntry> {
    let entry = serde_json::from_value(row.entry).ok()?;
    Some(TrackedEntry { name: row.name, entry, made_at: row.made_at, last_hit: row.last_hit })
}

/// Tonight's proposal. Errs when the file is broken: then nothing is learned until it is mended.
pub fn derive_edits(material: &LearningInput) -> Result<LearningOutcome, RulesEditError> {
    let first = parse_rules(&material.rules)?;
    let mut state = LearningState {
        material,
        rules_at_start: first.clone(),
        rules_so_far: first,
        text: material.rules.clone(),
        outcome: LearningOutcome::default(),
    };
    let gone = find_removed_entries(&material.tracked_entries, &material.rules);
    state.outcome.taken_out = gone.iter().map(|kept| kept.name.clone()).collect();
    let overruled = entry_review::review_entries(material, &state.rules_at_start);
    let touched: Vec<Reach> = overruled.iter().map(|candidate| candidate.reach.clone()).collect();
    let learned = candidates::find_candidates(material, &state.rules_at_start)
        .into_iter()
        .filter(|new| !touched.contains(&new.reach));
    for candidate in overruled.into_iter().chain(learned) {
        state.try_candidate(candidate);
    }
    let LearningState { text, outcome: mut found, .. } = state;
    found.guidelines_lines = guideline_lines::derive_lines(&material.replies);
    found.guidelines = guideline_lines::replace_lines(&material.guidelines, &found.guidelines_lines);
    found.hits = material.tracked_entries.iter().map(|kept| material.count_hits(kept)).collect();
    found.rules = text;
    Ok(found)
}

fn parse_rules(text: &str) -> Result<RuleSet, RulesEditError> {
    // It would pass for a set without rules.
    if text.trim().is_empty() {
        return Err(RulesEditError::FileMissing);
    }
    RuleSet::parse(RULES_FILE_NAME, text).map_err(|error| RulesEditError::FileBroken(Box::new(error)))
}

struct LearningState<'a> {
    material: &'a LearningInput,
    /// What counted when the night began.
    rules_at_start: RuleSet,
    /// With the edits adopted so far.
    rules_so_far: RuleSet,
    text: String,
    outcome: LearningOutcome,
}

impl LearningState<'_> {
    fn try_candidate(&mut self, candidate: Candidate) {
        let full = if candidate.needs_approval { self.outcome.questions.len() } else { self.outcome.adopted.len() }
            >= MAX_EDITS;
        if full || (candidate.needs_approval && self.material.is_already_proposed(&candidate)) {
            return;
        }
        let (text, after) = match apply_edits(RULES_FILE_NAME, &self.text, std::slice::from_ref(&candidate.edit))
            .and_then(|text| parse_rules(&text).map(|rules| (text, rules)))
        {
            Ok(edited) => edited,
            Err(error) => {
                let trial = TrialResult { reason: error.to_string(), ..TrialResult::default() };
                return self.outcome.proposals.push(to_tested_edit(candidate, trial));
            }
        };
        let trial = gate::test_candidate(self.material, &candidate, &self.rules_at_start, &self.rules_so_far, &after);
        match (trial.passed, candidate.needs_approval) {
            (false, _) => self.outcome.proposals.push(to_tested_edit(candidate, trial)),
            (true, true) => self.outcome.questions.push(to_tested_edit(candidate, trial)),
            (true, false) => {
                self.outcome.adopted.push(to_tested_edit(candidate, trial));
                (self.text, self.rules_so_far) = (text, after);
            }
        }
    }
}

fn to_tested_edit(candidate: Candidate, trial: TrialResult) -> TestedEdit {
    let Candidate { edit, reach, evidence, .. } = candidate;
    TestedEdit { key: reach.key(), words: edit.describe(), edit, evidence, trial }
}

impl LearningInput {
    fn count_hits(&self, kept: &TrackedEntry) -> (String, u64, Option<Instant>) {
        let since = |mail: &&PastMail| mail.arrived_at >= kept.made_at;
        let mails = self.mails.iter().filter(since).filter(|mail| kept.entry.reach.covers(&mail.facts));
        (kept.name.clone(), mails.count() as u64, self.last_hit(kept))
    }
}

/// A question that was said yes to: the edit it asks for, and the night that asked.
pub(crate) struct ApprovedProposal {
    pub(crate) item_id: ItemId,
    pub(crate) tested: TestedEdit,
    pub(crate) run_id: String,
}

pub(crate) fn approved_proposals(rows: &[ProposalRow]) -> Vec<ApprovedProposal> {
    let yes = rows.iter().filter(|row| row.decision == Some(DecisionKind::Approve) && !row.is_closed);
    let read = |row: &ProposalRow| {
        let tested = serde_json::from_value(row.edit.clone()).ok()?;
        Some(ApprovedProposal { item_id: row.item_id, tested, run_id: row.run_id.clone() })
    };
    yes.filter_map(read).collect()
}
