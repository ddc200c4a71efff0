//! The nightly job as a function from what is stored to what would be changed. Nothing is changed in here.

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
    run_review::{self, RunReview},
};
use crate::{
    model::{
        DecisionKind, Instant, ItemId, Reflection, TaskId,
        nightly::{CorrectionKind, LearnedEntryRow, PastMail, PastTask, ProposalRow, ReplyOutcome},
    },
    rules::{LearnedEntry, Reach, RuleSet, RulesEdit, RulesEditError, apply_edits},
    store::{Result as Stored, StoreReader},
};

/// The most edits of one nightly job, and the most questions, which become edits only when they are answered. A person
/// can read five.
const MAX_EDITS: usize = 5;
/// The name of the file in errors; its text is given.
const RULES_FILE_NAME: &str = "rules/priority.yml";

/// Everything that the nightly job knows. The same input always leads to the same edits.
#[derive(Debug, Clone)]
pub struct LearningInput {
    pub now: Instant,
    pub zone: Tz,
    /// The text of the rules file.
    pub rules: String,
    /// The text of the guidelines.
    pub guidelines: String,
    /// The person's last correction of each task and mail.
    pub lessons: Vec<Lesson>,
    /// When a person last set the level of a task.
    pub level_set_at: HashMap<TaskId, Instant>,
    /// The tasks of the last [`FORGET_AFTER_DAYS`] days.
    pub tasks: Vec<PastTask>,
    pub mails: Vec<PastMail>,
    /// The entries that the nightly job made and has not retired. A person may have removed some of them from the file.
    pub tracked_entries: Vec<TrackedEntry>,
    /// When a person took back or turned down what was learned about a reach.
    pub unlearned: UnlearnedAt,
    pub proposals: Vec<ProposalRow>,
    pub replies: Vec<ReplyOutcome>,
    /// The reflections of the last [`FORGET_AFTER_DAYS`] days, oldest first.
    pub reflections: Vec<Reflection>,
}

/// An entry that the nightly job made, with its age.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackedEntry {
    pub name: String,
    pub entry: LearnedEntry,
    pub made_at: Instant,
    pub last_hit: Option<Instant>,
}

/// An edit with its evidence and the result of its test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestedEdit {
    /// The key of the reach, under which a refusal is remembered.
    pub key: String,
    /// The edit in words, for a person.
    pub words: String,
    pub edit: RulesEdit,
    pub evidence: Vec<i64>,
    pub trial: TrialResult,
}

/// What the nightly job found. The caller writes it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LearningOutcome {
    /// Edits that passed and need nobody's approval.
    pub adopted: Vec<TestedEdit>,
    /// Edits that passed and that a person must allow.
    pub questions: Vec<TestedEdit>,
    /// Edits that failed their test, or for which the file has no room. They are only reported.
    pub proposals: Vec<TestedEdit>,
    /// What the reflections of finished runs say about rules, urgency and tools.
    pub runs: RunReview,
    /// The learned lines of the guidelines.
    pub guidelines_lines: Vec<String>,
    /// The names of learned entries that a person removed from the file.
    pub taken_out: Vec<String>,
    /// The rules file with the adopted edits.
    #[serde(skip)]
    pub rules: String,
    /// The guidelines with their new lines.
    #[serde(skip)]
    pub guidelines: String,
    /// How often each entry has matched, and when last.
    #[serde(skip)]
    pub hits: Vec<(String, u64, Option<Instant>)>,
}

impl LearningInput {
    /// Reads everything from the store. The only I/O of this module.
    pub fn gather(reader: &StoreReader<'_>, now: Instant, zone: Tz, rules: String, guidelines: String) -> Stored<Self> {
        let since = now.plus(-Duration::days(FORGET_AFTER_DAYS));
        let mut rows = reader.nightly().priority_lessons(since)?;
        rows.extend(reader.nightly().task_lessons(since)?);
        let said = rows.iter().filter(|row| row.correction.kind == CorrectionKind::Priority);
        let said_at = said.filter_map(|row| Some((row.correction.task_id?, row.correction.at))).collect();
        let mut unlearned: UnlearnedAt = reader.rules().unlearned_reaches()?.into_iter().collect();
        let kept: Vec<TrackedEntry> =
            reader.rules().learned_entries()?.into_iter().filter_map(tracked_entry_from_row).collect();
        // Removing an entry from the file counts like a rollback, from now on.
        let gone = find_removed_entries(&kept, &rules);
        unlearned.extend(gone.iter().map(|kept| (kept.entry.reach.key(), now)));
        let mut replies = reader.nightly().reply_outcomes(since)?;
        replies
            .retain(|reply| unlearned.get(&guideline_lines::key(&reply.domain)).is_none_or(|since| reply.at > *since));
        let reflections = reader.nightly().reflections(since)?;
        let mut lessons = collect_lessons(rows, zone);
        run_review::add_basis(&mut lessons, &reflections);
        Ok(Self {
            now,
            zone,
            rules,
            guidelines,
            lessons,
            level_set_at: said_at,
            tasks: reader.nightly().past_tasks(Some(since))?,
            mails: reader.nightly().past_mails(since)?,
            tracked_entries: kept,
            unlearned,
            proposals: reader.rules().proposals()?,
            replies,
            reflections,
        })
    }

    /// Returns the start of the period that edits are tested on.
    pub(super) fn replay_start(&self) -> Instant {
        self.now.plus(-Duration::days(REPLAY_DAYS))
    }

    /// Returns the tasks that an edit is tested on.
    pub(super) fn replayed_tasks(&self) -> impl Iterator<Item = &PastTask> {
        self.tasks.iter().filter(|task| task.created_at >= self.replay_start())
    }

    /// Returns the lessons that an edit is tested on.
    pub(super) fn recent_lessons(&self) -> impl Iterator<Item = &Lesson> {
        self.lessons.iter().filter(|lesson| lesson.at >= self.replay_start())
    }

    /// Returns whether the edit waits for an answer, or was asked and not answered and no newer correction supports it.
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

/// Returns the learned entries that are not in the file any more; none for a file that does not parse.
fn find_removed_entries<'k>(kept: &'k [TrackedEntry], rules: &str) -> Vec<&'k TrackedEntry> {
    let Ok(rules) = parse_rules(rules) else { return Vec::new() };
    kept.iter().filter(|kept| !rules.learned_names().contains(&kept.name.as_str())).collect()
}

/// Returns the entry of a row; none for one that this version cannot read, which is then left alone.
fn tracked_entry_from_row(row: LearnedEntryRow) -> Option<TrackedEntry> {
    let entry = serde_json::from_value(row.entry).ok()?;
    Some(TrackedEntry { name: row.name, entry, made_at: row.made_at, last_hit: row.last_hit })
}

/// Returns the edits of the nightly job: first the review of older entries, then candidates, each tested on top of
/// those adopted before. Errs when the rules file is broken; then nothing is learned until it is repaired.
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
    let LearningState { text, rules_so_far, outcome: mut found, .. } = state;
    found.runs = RunReview::of(material, &rules_so_far);
    found.guidelines_lines = guideline_lines::derive_lines(&material.replies, &found.runs);
    found.guidelines = guideline_lines::replace_lines(&material.guidelines, &found.guidelines_lines);
    found.hits = material.tracked_entries.iter().map(|kept| material.count_hits(kept)).collect();
    found.rules = text;
    Ok(found)
}

/// Parses the rules file.
fn parse_rules(text: &str) -> Result<RuleSet, RulesEditError> {
    // An empty text is no file, and nothing may be learned into it.
    if text.trim().is_empty() {
        return Err(RulesEditError::FileMissing);
    }
    RuleSet::parse(RULES_FILE_NAME, text).map_err(|error| RulesEditError::FileBroken(Box::new(error)))
}

/// The edits adopted so far, while candidates are tested one by one.
struct LearningState<'a> {
    material: &'a LearningInput,
    /// The rules when the nightly job began.
    rules_at_start: RuleSet,
    /// The rules with the edits adopted so far.
    rules_so_far: RuleSet,
    text: String,
    outcome: LearningOutcome,
}

impl LearningState<'_> {
    /// Tests a candidate and adopts it, asks about it, or reports why it failed.
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
    /// Returns the name of the entry, how many mails it has matched since it was made, and when last.
    fn count_hits(&self, kept: &TrackedEntry) -> (String, u64, Option<Instant>) {
        let since = |mail: &&PastMail| mail.arrived_at >= kept.made_at;
        let mails = self.mails.iter().filter(since).filter(|mail| kept.entry.reach.covers(&mail.facts));
        (kept.name.clone(), mails.count() as u64, self.last_hit(kept))
    }
}

/// A proposal that a person approved: the edit, and the run of the nightly job that proposed it.
pub(crate) struct ApprovedProposal {
    pub(crate) item_id: ItemId,
    pub(crate) tested: TestedEdit,
    pub(crate) run_id: String,
}

/// Returns the proposals that were approved and not carried out yet. One that cannot be read is left out.
pub(crate) fn approved_proposals(rows: &[ProposalRow]) -> Vec<ApprovedProposal> {
    let yes = rows.iter().filter(|row| row.decision == Some(DecisionKind::Approve) && !row.is_closed);
    let read = |row: &ProposalRow| {
        let tested = serde_json::from_value(row.edit.clone()).ok()?;
        Some(ApprovedProposal { item_id: row.item_id, tested, run_id: row.run_id.clone() })
    };
    yes.filter_map(read).collect()
}
