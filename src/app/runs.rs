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

impl App {
    pub async fn list_runs(&self, status: Option<RunStatus>, limit: usize) -> anyhow::Result<Vec<RunRow>> {
        Ok(self.store.read(move |reader| reader.runs(status, limit)).await?)
    }

    async fn load_run_record(&self, reference: &str) -> anyhow::Result<RunRecord> {
        let run_id = self.find_run_id(reference).await?;
        let record = self.store.read(move |reader| reader.run(run_id)).await?;
        record.ok_or_else(|| NotFound(format!("there is no run '{reference}'; `adjutant runs list` shows them")).into())
    }

    pub async fn run_detail(&self, reference: &str) -> anyhow::Result<RunDetail> {
        let record = self.load_run_record(reference).await?;
        let run_id = record.row.run_id;
        let model_calls = self.store.read(move |reader| reader.model_calls(run_id)).await?;
        Ok(RunDetail { row: record.row, checkpoints: record.checkpoints, replies: record.replies.len(), model_calls })
    }

    pub async fn replay(&self, reference: &str) -> anyhow::Result<Replay> {
        let record = self.load_run_record(reference).await?;
        let mail = match record.row.mail_id {
            Some(mail_id) => self.store.read(move |reader| reader.mail(mail_id)).await?,
            None => None,
        };
        let nodes = Nodes::shipped(&Arc::new(self.config.me.clone()), &self.tools);
        replay_run(&nodes, &record, mail.as_ref())
    }

    /// Stores the fork; the daemon, or the next `once`, works it.
    pub async fn fork(&self, reference: &str, from: NodeName) -> anyhow::Result<RunId> {
        let record = self.load_run_record(reference).await?;
        let now = self.clock.now();
        let new = fork_run(&record, from, now).context("nothing was forked")?;
        let run_id = new.run_id;
        self.store.write(Write::OpenRun(Box::new(new), now)).await?;
        Ok(run_id)
    }
}
