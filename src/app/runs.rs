//! The use cases of runs: listing, showing, replaying without a call, forking without an effect. Nothing here drives a
//! run; a fork is only stored, and the worker picks it up.

use std::sync::Arc;

use anyhow::Context as _;
use serde::Serialize;

use crate::{
    app::{App, NotFound},
    graph::{Replay, fork_run, node::Nodes, replay_run},
    model::{CheckpointRow, Instant, MailId, ModelCallRow, NodeName, RunId, RunRecord, RunRow, RunStatus, TaskId},
    store::Write,
};

/// A run with its checkpoints and model calls.
#[derive(Debug, Serialize)]
pub struct RunDetail {
    #[serde(flatten)]
    pub row: RunRow,
    pub checkpoints: Vec<CheckpointRow>,
    /// The number of recorded replies.
    pub replies: usize,
    /// The model calls of the run, each with its prompt and cost.
    pub model_calls: Vec<ModelCallRow>,
}

/// A run with each visit of a node: what the node was told, and what it wrote.
#[derive(Debug)]
pub struct RunTrace {
    pub row: RunRow,
    pub visits: Vec<NodeVisit>,
    /// The model calls of the run, each with its prompt and cost.
    pub model_calls: Vec<ModelCallRow>,
}

/// One visit of a node.
#[derive(Debug)]
pub struct NodeVisit {
    pub checkpoint: CheckpointRow,
    /// When the next node was entered, or the run ended.
    pub left_at: Instant,
    /// The answers that the node was given, as JSON.
    pub replies: Vec<String>,
}

impl NodeVisit {
    /// Returns how long the visit took, in whole seconds.
    pub fn seconds(&self) -> i64 {
        (self.left_at.utc() - self.checkpoint.entered_at.utc()).num_seconds().max(0)
    }
}

/// The use cases of runs.
#[derive(Clone, Copy)]
pub struct RunUseCases<'a> {
    pub(super) app: &'a App,
}

impl RunUseCases<'_> {
    /// Returns the newest runs, if wanted only those with one status.
    pub async fn list(self, status: Option<RunStatus>, limit: usize) -> anyhow::Result<Vec<RunRow>> {
        Ok(self.app.store.read(move |reader| reader.runs().list(status, limit)).await?)
    }

    /// Returns the newest runs before one, if wanted only those with one status.
    pub async fn before(
        self,
        status: Option<RunStatus>,
        before: Option<RunId>,
        limit: usize,
    ) -> anyhow::Result<Vec<RunRow>> {
        Ok(self.app.store.read(move |reader| reader.runs().before(status, before, limit)).await?)
    }

    /// Returns the runs of a task, the newest first.
    pub async fn of_task(self, task_id: TaskId, limit: usize) -> anyhow::Result<Vec<RunRow>> {
        Ok(self.app.store.read(move |reader| reader.runs().of_task(task_id, limit)).await?)
    }

    /// Returns the runs that read a mail, the newest first.
    pub async fn of_mail(self, mail_id: MailId, limit: usize) -> anyhow::Result<Vec<RunRow>> {
        Ok(self.app.store.read(move |reader| reader.runs().of_mail(mail_id, limit)).await?)
    }

    /// Returns how many runs there are, if wanted only those with one status.
    pub async fn count(self, status: Option<RunStatus>) -> anyhow::Result<u64> {
        Ok(self.app.store.read(move |reader| reader.runs().count(status)).await?)
    }

    /// Returns the complete record of the run that the reference names.
    async fn load_record(self, reference: &str) -> anyhow::Result<RunRecord> {
        let run_id = self.find_id(reference).await?;
        let record = self.app.store.read(move |reader| reader.runs().get(run_id)).await?;
        record.ok_or_else(|| NotFound(format!("there is no run '{reference}'; `adjutant runs list` shows them")).into())
    }

    pub async fn detail(self, reference: &str) -> anyhow::Result<RunDetail> {
        let record = self.load_record(reference).await?;
        let run_id = record.row.run_id;
        let model_calls = self.app.store.read(move |reader| reader.model_calls().of_run(run_id)).await?;
        Ok(RunDetail { row: record.row, checkpoints: record.checkpoints, replies: record.replies.len(), model_calls })
    }

    /// Returns the visits of a run, each with what the node was told and what it wrote.
    pub async fn trace(self, reference: &str) -> anyhow::Result<RunTrace> {
        let RunRecord { row, checkpoints, replies, .. } = self.load_record(reference).await?;
        let run_id = row.run_id;
        let model_calls = self.app.store.read(move |reader| reader.model_calls().of_run(run_id)).await?;
        let entered: Vec<Instant> = checkpoints.iter().map(|checkpoint| checkpoint.entered_at).collect();
        let visit = |(nth, checkpoint): (usize, CheckpointRow)| {
            let given = replies.iter().filter(|(seq, _)| *seq == checkpoint.seq);
            NodeVisit {
                left_at: entered.get(nth + 1).copied().unwrap_or(row.updated_at),
                replies: given.map(|(_, recorded)| recorded.reply.as_str().to_owned()).collect(),
                checkpoint,
            }
        };
        let visits = checkpoints.into_iter().enumerate().map(visit).collect();
        Ok(RunTrace { row, visits, model_calls })
    }

    /// Replays a run from its record with the nodes of this program. No call is made and nothing is written.
    pub async fn replay(self, reference: &str) -> anyhow::Result<Replay> {
        let record = self.load_record(reference).await?;
        let mail = match record.row.mail_id {
            Some(mail_id) => self.app.store.read(move |reader| reader.mails().get(mail_id)).await?,
            None => None,
        };
        let nodes = Nodes::shipped(&Arc::new(self.app.config.me.clone()), &self.app.tools);
        replay_run(&nodes, &record, mail.as_ref())
    }

    /// Stores a fork of a run from a node on. The daemon or the next `once` works on it. Returns its id.
    pub async fn fork(self, reference: &str, from: NodeName) -> anyhow::Result<RunId> {
        let record = self.load_record(reference).await?;
        let now = self.app.clock.now();
        let new = fork_run(&record, from, now).context("nothing was forked")?;
        let run_id = new.run_id;
        self.app.store.write(Write::OpenRun(Box::new(new), now)).await?;
        Ok(run_id)
    }

    /// Returns the runs that wait for a rate limit, a grace, room in the queue or the end of a pause.
    pub async fn list_deferred(self) -> anyhow::Result<Vec<RunRow>> {
        let now = self.app.clock.now();
        Ok(self.app.store.read(move |reader| reader.runs().deferred(now)).await?)
    }

    /// Returns how many runs are due, possibly with approved effects, while no process is the worker.
    pub async fn count_left_behind(self) -> anyhow::Result<u64> {
        if self.app.worker().find_pid().is_some() {
            return Ok(0);
        }
        let now = self.app.clock.now();
        Ok(self.app.store.read(move |reader| reader.runs().count_left_behind(now)).await?)
    }
}
