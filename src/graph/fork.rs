//! Forks a run: an experiment that starts at one of its nodes, with the replies recorded before it. The effects of a
//! fork are void from the beginning.

use anyhow::{Context as _, bail};

use super::active_run::ActiveRun;
use crate::model::{Instant, NewRun, NodeName, RunId, RunRecord};

/// Returns a new run that repeats `record` from its first visit of the node `from`. Fails when the run never visited
/// that node.
pub fn fork_run(record: &RunRecord, from: NodeName, at: Instant) -> anyhow::Result<NewRun> {
    let entered: Vec<NodeName> = record.checkpoints.iter().map(|checkpoint| checkpoint.node).collect();
    let start = record.checkpoints.iter().find(|checkpoint| checkpoint.node == from);
    let Some(start) = start else {
        let names: Vec<&str> = entered.iter().map(|node| node.as_str()).collect();
        bail!("the run never entered {from}; it went through {}", names.join(", "));
    };
    let seq = start.seq - 1;
    let mut before = record.clone();
    before.checkpoints.retain(|checkpoint| checkpoint.seq <= seq);
    before.row.seq = seq;
    before.row.node = from;
    let mut run = ActiveRun::from_record(&before, None).context("the state before that node cannot be built")?;
    run.restore_task(record, start.seq)?;
    Ok(NewRun {
        run_id: RunId::derive(at, &["fork", &record.row.run_id.to_string(), from.as_str()]),
        account: record.row.account.clone(),
        user: record.row.user.clone(),
        kind: record.row.kind,
        parent_run: record.row.parent_run,
        fork: Some((record.row.run_id, seq)),
        node: from,
        task_id: record.row.task_id,
        state: run.state,
    })
}
