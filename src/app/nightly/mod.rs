//! The use cases of the nightly job: when it is due, what it would do, running it once per date, and its report. The
//! learning itself is in [`crate::nightly`]. This module claims the date, locks and replaces the rules files, and
//! records the outcome.

mod digest;
mod review;

use serde::Serialize;
use serde_json::json;

pub use digest::DigestReport;
pub use review::AgreementDay;

use crate::{
    app::{
        App,
        rules::{
            rewrite::{RewriteOutcome, RulesVersionDraft},
            rules_files::RulesFiles,
        },
    },
    model::{
        AccountId, Actor, Instant, RunId,
        nightly::{BeginNightly, DuplicateTasks, EndNightly, NightlyRow, NightlyState},
    },
    nightly::{LearningInput, LearningOutcome, NightlyDue, NightlySchedule, derive_edits},
    store::{StoreError, Write},
};

/// The setting with the last scheduled instant that was handled.
const LAST_NIGHTLY_SETTING: &str = "nightly_seen";
/// How often learning starts over when a person edits the files meanwhile. After that, nothing is learned on this date.
const MAX_TRIES: usize = 3;

/// What one run of the nightly job did.
#[derive(Debug, Clone, Serialize)]
pub struct NightlyReport {
    pub date: String,
    pub run_id: RunId,
    #[serde(flatten)]
    pub learning: LearningOutcome,
    /// The tasks that were cancelled because an older task is the same.
    pub duplicates: Vec<DuplicateTasks>,
    /// The rules version that was made; none when nothing changed.
    pub version: Option<i64>,
    /// How many tasks changed their priority.
    pub reranked: usize,
}

/// The result of a requested nightly job: run now, or already done on this date.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum ReflectOutcome {
    Done(Box<NightlyReport>),
    DoneBefore(Box<NightlyRow>),
}

/// One nightly job to be run.
struct NightlyJob {
    date: String,
    /// The instant at which it was due.
    scheduled_at: Instant,
    run_id: RunId,
    /// The earlier dates that were missed; this job covers them.
    missed: Vec<(String, Instant)>,
}

impl NightlyJob {
    /// Returns the job of a date. Its run id is derived, so that a repeated start of the same job has the same id.
    fn new(date: String, scheduled_at: Instant, missed: Vec<(String, Instant)>) -> Self {
        let run_id = RunId::derive(scheduled_at, &["night", &date]);
        Self { date, scheduled_at, run_id, missed }
    }

    /// Returns a job that was begun and interrupted, with the run id it had.
    fn from_row(row: NightlyRow) -> Self {
        let NightlyRow { date, scheduled_at, run_id, .. } = row;
        Self { date, scheduled_at, run_id, missed: Vec::new() }
    }
}

/// The use cases of the nightly job and of the morning summary.
#[derive(Clone, Copy)]
pub struct NightlyUseCases<'a> {
    pub(super) app: &'a App,
}

impl NightlyUseCases<'_> {
    /// Returns what the nightly job would learn now. Nothing is changed.
    pub async fn preview(self) -> anyhow::Result<LearningOutcome> {
        let material = self.gather_learning_input().await?;
        let files = (material.rules.clone(), material.guidelines.clone());
        let studied = tokio::task::spawn_blocking(move || derive_edits(&material)).await?;
        // Nothing is learned while the rules file is broken. Every command reports the broken file anyway.
        Ok(studied.unwrap_or_else(|_| LearningOutcome {
            rules: files.0,
            guidelines: files.1,
            ..LearningOutcome::default()
        }))
    }

    /// Runs the nightly job unless it was done today. Only the worker may call this.
    pub async fn run_unless_done_today(self) -> anyhow::Result<ReflectOutcome> {
        let _one = self.app.nightly_lock.lock().await;
        let now = self.app.clock.now();
        let date = self.schedule()?.local_date(now);
        let known = date.clone();
        let night = match self.app.store.read(move |reader| reader.nightly().run(&known)).await? {
            None => NightlyJob::new(date, now, Vec::new()),
            // The job was interrupted: it is continued, not begun again.
            Some(row) if row.state == NightlyState::Running => NightlyJob::from_row(row),
            Some(row) => return Ok(ReflectOutcome::DoneBefore(Box::new(row))),
        };
        Ok(ReflectOutcome::Done(Box::new(self.run(night).await?)))
    }

    /// Runs the job if it is due, or continues one that was interrupted. Returns none when there is nothing to do yet.
    pub async fn run_if_due(self) -> anyhow::Result<Option<NightlyReport>> {
        let _one = self.app.nightly_lock.lock().await;
        let now = self.app.clock.now();
        let schedule = self.schedule()?;
        let (seen, unfinished) = self
            .app
            .store
            .read(|reader| Ok((reader.settings().get(LAST_NIGHTLY_SETTING)?, reader.nightly().unfinished_run()?)))
            .await?;
        let Some(last) = seen.and_then(|text| text.parse::<Instant>().ok()) else {
            // This is the first start, so there is no missed job to make up for.
            self.record_last(now).await?;
            return Ok(None);
        };
        if let Some(row) = unfinished {
            let scheduled_at = row.scheduled_at;
            let report = self.run(NightlyJob::from_row(row)).await?;
            self.record_last(scheduled_at.max(last)).await?;
            return Ok(Some(report));
        }
        let Some(NightlyDue::Now { date, scheduled_at, missed }) = schedule.due(last, now) else { return Ok(None) };
        let mut held = self.run_unless_done(NightlyJob::new(date, scheduled_at, missed.clone())).await?;
        // Today's job was already done on request, but nobody has covered the missed dates.
        if held.is_none()
            && let Some(((date, at), before)) = missed.split_last()
        {
            held = self.run_unless_done(NightlyJob::new(date.clone(), *at, before.to_vec())).await?;
        }
        self.record_last(scheduled_at).await?;
        Ok(held)
    }

    /// Runs a job. Returns none when its date was claimed before.
    async fn run_unless_done(self, night: NightlyJob) -> anyhow::Result<Option<NightlyReport>> {
        match self.run(night).await {
            Ok(report) => Ok(Some(report)),
            Err(error) if matches!(error.downcast_ref(), Some(StoreError::Refused(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns when the job is due next; none when the schedule names no time that ever comes.
    pub async fn next_due(self) -> anyhow::Result<Option<Instant>> {
        let now = self.app.clock.now();
        let last = self
            .app
            .store
            .read(|reader| reader.settings().get(LAST_NIGHTLY_SETTING))
            .await?
            .and_then(|text| text.parse().ok());
        Ok(match self.schedule()?.due(last.unwrap_or(now), now) {
            Some(NightlyDue::At(at)) => Some(at),
            Some(NightlyDue::Now { .. }) => Some(now),
            None => None,
        })
    }

    /// Stores the scheduled instant up to which everything was handled.
    async fn record_last(self, at: Instant) -> anyhow::Result<()> {
        self.app.store.write(Write::StoreSetting { name: LAST_NIGHTLY_SETTING.into(), value: at.to_string() }).await?;
        Ok(())
    }

    /// Returns the schedule of the configuration, in the person's time zone.
    pub(in crate::app) fn schedule(self) -> anyhow::Result<NightlySchedule> {
        let line = &self.app.config.nightly_schedule;
        NightlySchedule::new(line, self.app.config.me.time_zone)
            .ok_or_else(|| anyhow::anyhow!("'{line}' is not a cron line"))
    }

    /// Returns everything the learning depends on. A rules file that was cut off counts as empty, so that nothing is
    /// learned from or into it.
    pub(in crate::app) async fn gather_learning_input(self) -> anyhow::Result<LearningInput> {
        let mut files = self.app.rules().read_files_or_no_rules()?;
        if self.app.rules().is_cut_off(&files.rules) {
            files.rules.clear();
        }
        let (now, zone) = (self.app.clock.now(), self.app.config.me.time_zone);
        let gather = move |reader: &crate::store::StoreReader<'_>| {
            LearningInput::gather(reader, now, zone, files.rules, files.guidelines)
        };
        Ok(self.app.store.read(gather).await?)
    }

    /// Claims the date, learns, cancels duplicate tasks, stores the outcome and ranks open tasks again. Each step can
    /// be repeated, so that an interrupted job is simply run again.
    async fn run(self, night: NightlyJob) -> anyhow::Result<NightlyReport> {
        let NightlyJob { date, scheduled_at, run_id, missed } = night;
        let begin = BeginNightly { date: date.clone(), scheduled_at, run_id, missed, at: self.app.clock.now() };
        self.app.store.write(Write::BeginNightly(Box::new(begin))).await?;
        // The reflection files must have a line for every row before the job that reads them learns.
        self.app.reflection_files().reconcile(&self.app.store).await?;
        let (findings, version) = self.learn_and_rewrite_rules(run_id).await?;
        let duplicates = self.cancel_duplicate_tasks().await?;
        let account = self.app.store.read(|reader| reader.accounts().first_unretired()).await?;
        let questions = findings
            .questions
            .iter()
            .map(|asked| self.app.rules().build_proposal(asked, run_id))
            .collect::<anyhow::Result<_>>()?;
        let end = EndNightly {
            date: date.clone(),
            run_id,
            report: json!({ "findings": findings, "duplicates": duplicates, "version": version }),
            hits: findings.hits.clone(),
            proposals: questions,
            account: account.unwrap_or_else(|| AccountId::from(crate::app::LOCAL_ACCOUNT)),
            user: self.app.user.clone(),
            at: self.app.clock.now(),
        };
        self.app.store.write(Write::EndNightly(Box::new(end))).await?;
        // The rules may have changed, so the open tasks are ranked by the new version at once.
        let reranked = self.app.tasks().rerank_by_current_rules().await?
            + self.app.tasks().rerank_if_day_passed(&self.app.rules().load().rules).await?;
        Ok(NightlyReport { date, run_id, learning: findings, duplicates, version, reranked })
    }

    /// Returns what this run had already written before it was interrupted, so that it does not learn twice.
    async fn find_learned_by_run(self, run_id: RunId) -> anyhow::Result<Option<(LearningOutcome, i64)>> {
        let rows = self.app.store.read(|reader| reader.rules().versions()).await?;
        let Some(row) = rows.into_iter().find(|row| row.who == Actor::Nightly && row.run_id == run_id.to_string())
        else {
            return Ok(None);
        };
        let adopted = serde_json::from_value(row.edits.get("edits").cloned().unwrap_or_default()).unwrap_or_default();
        let (rules, guidelines) = (row.rules, row.guidelines);
        Ok(Some((LearningOutcome { adopted, rules, guidelines, ..LearningOutcome::default() }, row.version)))
    }

    /// Derives edits and writes those that passed their trial. Starts over when a person edits a file meanwhile.
    async fn learn_and_rewrite_rules(self, run_id: RunId) -> anyhow::Result<(LearningOutcome, Option<i64>)> {
        let _turn = self.app.rules().lock_files().await?;
        self.app.rules().resolve_intended_versions().await?;
        if let Some((findings, version)) = self.find_learned_by_run(run_id).await? {
            return Ok((findings, Some(version)));
        }
        for _ in 0..MAX_TRIES {
            let material = self.gather_learning_input().await?;
            let (rules, guidelines) = (material.rules.clone(), material.guidelines.clone());
            let studied = tokio::task::spawn_blocking(move || {
                let findings = derive_edits(&material);
                (material, findings)
            });
            let (material, findings) = studied.await?;
            let findings = match findings {
                Ok(findings) => findings,
                // Every command reports the broken rules file anyway.
                Err(error) => {
                    tracing::warn!("{error}");
                    return Ok((LearningOutcome { rules, guidelines, ..LearningOutcome::default() }, None));
                }
            };
            let draft = RulesVersionDraft::from_nightly(&findings, &material, run_id, self.app.clock.now())?;
            match self.app.rules().rewrite(&RulesFiles { rules, guidelines }, draft).await? {
                RewriteOutcome::Unchanged => return Ok((findings, None)),
                RewriteOutcome::Version(version) => return Ok((findings, Some(version))),
                RewriteOutcome::ChangedMeanwhile => {}
            }
        }
        tracing::warn!("the rules are being edited; nothing was learned this time");
        let files = self.app.rules().read_files_or_no_rules()?;
        Ok((LearningOutcome { rules: files.rules, guidelines: files.guidelines, ..LearningOutcome::default() }, None))
    }

    /// Cancels tasks that are the same as an older one. Returns those that were cancelled.
    async fn cancel_duplicate_tasks(self) -> anyhow::Result<Vec<DuplicateTasks>> {
        let mut cancelled = Vec::new();
        for duplicates in self.app.store.read(|reader| reader.nightly().duplicate_tasks()).await? {
            match self.app.store.write(Write::CancelDuplicateTask(duplicates.clone(), self.app.clock.now())).await {
                Ok(_) => cancelled.push(duplicates),
                // One of the two was changed or cancelled meanwhile.
                Err(StoreError::Conflict(_)) => {}
                Err(error) if error.is_unreadable() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(cancelled)
    }
}
