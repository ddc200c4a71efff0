//! Runs: listed, shown, replayed without a call, forked without an effect.

use std::sync::Arc;

use anyhow::Context as _;
use serde::Serialize;

use crate::{
    app::{App, NotFound},
    graph::{Replay, fork_run, node::Nodes, replay_run},
    model::{CheckpointRow, ModelCallRow, NodeName, RunId, RunRecord, RunRow, RunStatus},
    store::Write,
};

#[derive(Debug, Serialize)]
pub struct RunDetail {
    #[serde(flatten)]
    pub row: RunRow,
    pub checkpoints: Vec<CheckpointRow>,
    pub replies: usize,
    /// What was asked of a model, with which prompt, at what cost.
    pub model_calls: Vec<ModelCallRow>,
}

/// The use cases of runs.
#[derive(Clone, Copy)]
pub struct RunUseCases<'a> {
    pub(super) app: &'a App,
}

impl RunUseCases<'_> {
    pub async fn list(self, status: Option<RunStatus>, limit: usize) -> anyhow::Result<Vec<RunRow>> {
        Ok(self.app.store.read(move |reader| reader.runs().list(status, limit)).await?)
    }

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

    pub async fn replay(self, reference: &str) -> anyhow::Result<Replay> {
        let record = self.load_record(reference).await?;
        let mail = match record.row.mail_id {
            Some(mail_id) => self.app.store.read(move |reader| reader.mails().get(mail_id)).await?,
            None => None,
        };
        let nodes = Nodes::shipped(&Arc::new(self.app.config.me.clone()), &self.app.tools);
        replay_run(&nodes, &record, mail.as_ref())
    }

    /// Stores the fork; the daemon, or the next `once`, works it.
    pub async fn fork(self, reference: &str, from: NodeName) -> anyhow::Result<RunId> {
        let record = self.load_record(reference).await?;
        let now = self.app.clock.now();
        let new = fork_run(&record, from, now).context("nothing was forked")?;
        let run_id = new.run_id;
        self.app.store.write(Write::OpenRun(Box::new(new), now)).await?;
        Ok(run_id)
    }

    /// Steps that wait for a cap, the grace, room in the queue or the end of a pause.
    pub async fn list_deferred(self) -> anyhow::Result<Vec<RunRow>> {
        let now = self.app.clock.now();
        Ok(self.app.store.read(move |reader| reader.runs().deferred(now)).await?)
    }

    /// How many steps are due, approved ones among them, while no process works them.
    pub async fn count_left_behind(self) -> anyhow::Result<u64> {
        if self.app.worker().find_pid().is_some() {
            return Ok(0);
        }
        let now = self.app.clock.now();
        Ok(self.app.store.read(move |reader| reader.runs().count_left_behind(now)).await?)
    }
}
