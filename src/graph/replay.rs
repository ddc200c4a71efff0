//! Replays a run from its record. It makes no call, writes nothing, and reports every difference.

use std::sync::OnceLock;

use anyhow::Context as _;
use serde::Serialize;

use super::{
    active_run::ActiveRun,
    drive::CALLS_PER_VISIT,
    entry::{Call, NodeInput, NodeOutput},
    node::Nodes,
};
use crate::model::{
    CheckpointRow, HeldTime, Mail, MatchedAct, Move, NodeName, ReplyJson, RunId, RunRecord, SentenceScores,
};
use crate::tool::EarlierAnswer;

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replay {
    pub run_id: RunId,
    pub checkpoints: Vec<ReplayedCheckpoint>,
    /// Whether every checkpoint came out as it was recorded.
    pub identical: bool,
    /// The number of calls made: always 0, because every reply comes from the record.
    pub calls_made: u32,
}

/// One replayed checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplayedCheckpoint {
    pub seq: u32,
    pub node: NodeName,
    pub identical: bool,
    /// What came out differently; empty when nothing did.
    pub difference: String,
}

/// Evaluates the node of every checkpoint again with its recorded replies, and compares the output with the record.
/// After each checkpoint the recorded changes are applied, so that one difference does not cause further ones.
pub fn replay_run(nodes: &Nodes, record: &RunRecord, mail: Option<&Mail>) -> anyhow::Result<Replay> {
    let before = RunRecord { checkpoints: Vec::new(), ..record.clone() };
    let mut run = ActiveRun::from_record(&before, None)?;
    let mut replayed = Vec::new();
    let own = record.checkpoints.iter().filter(|checkpoint| record.row.fork_seq.is_none_or(|seq| checkpoint.seq > seq));
    for checkpoint in own {
        run.node = checkpoint.node;
        run.restore_task(record, checkpoint.seq)?;
        let difference = match replay_node(nodes, record, &run, checkpoint, mail) {
            Ok(step) => describe_difference(checkpoint, &step),
            Err(error) => error_difference(checkpoint, &error),
        };
        replayed.push(ReplayedCheckpoint {
            seq: checkpoint.seq,
            node: checkpoint.node,
            identical: difference.is_empty(),
            difference,
        });
        for change in &checkpoint.changes {
            run.state.apply(change, checkpoint.entered_at)?;
        }
    }
    let identical = replayed.iter().all(|checkpoint| checkpoint.identical);
    Ok(Replay { run_id: record.row.run_id, checkpoints: replayed, identical, calls_made: 0 })
}

/// Evaluates a node with the state, replies and time it had then.
fn replay_node(
    nodes: &Nodes,
    record: &RunRecord,
    run: &ActiveRun,
    checkpoint: &CheckpointRow,
    mail: Option<&Mail>,
) -> anyhow::Result<NodeOutput> {
    let (mut replies, reading) = (Vec::<(Call, ReplyJson)>::new(), OnceLock::new());
    let model = record.model_checkpoints.contains(&checkpoint.seq);
    if let Some(Move::Wait { action_id }) =
        record.checkpoints.iter().find(|before| before.seq + 1 == checkpoint.seq).map(|before| &before.next_move)
    {
        let call = Call::Effect { action_id: *action_id };
        let value = find_recorded_reply(record, checkpoint, &call)?;
        replies.push((call, value));
    }
    loop {
        let entry = NodeInput {
            run: &run.identity,
            state: &run.state,
            mail,
            reading_cache: &reading,
            replies: &replies,
            has_model: model,
            has_second_reader: true,
            has_rule_acts: true,
            has_files: true,
            now: checkpoint.entered_at,
        };
        let step = nodes.get(checkpoint.node).evaluate(&entry)?;
        if step.calls.is_empty() || replies.len() > CALLS_PER_VISIT {
            return Ok(step);
        }
        for call in step.calls {
            let value = find_recorded_reply(record, checkpoint, &call)?;
            replies.push((call, value));
        }
    }
}

/// Returns the recorded reply to a call. A call without one is a difference, never a call to the world.
fn find_recorded_reply(record: &RunRecord, checkpoint: &CheckpointRow, call: &Call) -> anyhow::Result<ReplyJson> {
    let hash = call.input_hash()?;
    // The last one counts: when a checkpoint was refused, its calls were made again.
    let found = record
        .replies
        .iter()
        .filter(|(seq, reply)| *seq == checkpoint.seq && reply.node == checkpoint.node && reply.input_hash == hash)
        .max_by_key(|(_, reply)| reply.ordinal)
        .map(|(_, reply)| reply.reply.clone());
    // A run of a version without the second reader, or with it switched off, has heard nothing from it.
    if found.is_none() && matches!(call, Call::SecondReading { .. }) {
        return ReplyJson::encode(&Vec::<SentenceScores>::new()).context("encoding an empty reply");
    }
    // Where no rule acted on mail, the rules were not asked.
    if found.is_none() && matches!(call, Call::RuleActs { .. }) {
        return ReplyJson::encode(&Vec::<MatchedAct>::new()).context("encoding an empty reply");
    }
    // Where there were no files, none was looked for.
    if found.is_none() && matches!(call, Call::FindFiles { .. }) {
        return ReplyJson::encode(&Vec::<Option<String>>::new()).context("encoding an empty reply");
    }
    // A run of a version that accepted invitations without looking what is held has found nothing.
    if found.is_none() && matches!(call, Call::HeldTimes { .. }) {
        return ReplyJson::encode(&Vec::<HeldTime>::new()).context("encoding an empty reply");
    }
    // A run of a version that did not look for earlier answers has found none.
    if found.is_none() && matches!(call, Call::EarlierAnswer { .. }) {
        return ReplyJson::encode(&None::<EarlierAnswer>).context("encoding an empty reply");
    }
    found.ok_or_else(|| {
        anyhow::anyhow!("it asks something that is not on record: {}", serde_json::to_string(call).unwrap_or_default())
    })
}

/// Returns how the replayed output differs from the record; empty when it does not.
fn describe_difference(checkpoint: &CheckpointRow, step: &NodeOutput) -> String {
    match (serde_json::to_string(&checkpoint.changes), serde_json::to_string(&step.changes)) {
        (Ok(before), Ok(now)) if before == now => {}
        (Ok(before), Ok(now)) => return format!("changes were {before}, are {now}"),
        (Err(error), _) | (_, Err(error)) => return format!("changes cannot be compared: {error}"),
    }
    match &step.next {
        Some(next) if *next == checkpoint.next_move => String::new(),
        next => format!("the move was {:?}, is {next:?}", checkpoint.next_move),
    }
}

/// Returns how a node that failed in the replay differs from the record. A recorded failure is repeated by failing in
/// the same way.
fn error_difference(checkpoint: &CheckpointRow, error: &anyhow::Error) -> String {
    match &checkpoint.next_move {
        Move::Park { reason } if reason.contains(&format!("{error:#}")) => String::new(),
        _ => format!("{error:#}"),
    }
}
