//! The cycle of a run: enter the node, make the calls it wants, commit what it did, go where the graph says.

use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, anyhow, bail};

use super::{
    active_run::ActiveRun,
    call_handler::{CallContext, CallReply, RunDeferred, encode_reply},
    commit::{CheckpointOutcome, DISK_RETRY_INTERVAL, stored},
    engine::EngineInner,
    entry::{Call, CurrentTask, EffectOutcome, NodeInput, NodeOutput, UNREADABLE_REPLY},
    failure,
    node::find_forbidden_change,
    topology::{Outcome, Place},
};
use crate::{
    model::{
        ContextDoc, Instant, Mail, Move, NodeName, OutboxState, Reading, Reflection, ReplyJson, RunId, RunKind,
        RunStatus,
    },
    store::{
        StoreError, Write,
        value::{Checkpoint, RecordedReply},
    },
};

/// A node that keeps asking is in a loop.
const CALLS_PER_VISIT: usize = 8;

impl EngineInner {
    /// Drives a run to its end, or to where it must be left. The runs it opened come back to be launched.
    pub(super) async fn drive_run(self: &Arc<Self>, mut ticket: ActiveRun) -> Vec<ActiveRun> {
        let run_id = ticket.run_id();
        match self.advance_until_stop(&mut ticket).await {
            Ok(children) => children,
            // The process is ending: nothing is wrong with the run, which goes on at the next start.
            Err(error) if is_stopped(&error) => Vec::new(),
            Err(error) if error.is::<RunDeferred>() => {
                if let Some(not_now) = error.downcast_ref() {
                    self.defer_run(run_id, not_now).await;
                }
                Vec::new()
            }
            Err(error) => {
                let node = ticket.node;
                tracing::error!(run.id = %run_id, node = %node, error = format!("{error:#}"), "a run could not go on");
                if let Err(error) = self.park_run(run_id, &format!("{error:#}")).await {
                    tracing::error!(run.id = %run_id, error = format!("{error:#}"), "a run could not be parked");
                }
                Vec::new()
            }
        }
    }

    async fn advance_until_stop(&self, ticket: &mut ActiveRun) -> anyhow::Result<Vec<ActiveRun>> {
        loop {
            let advanced = match self.advance_one_node(ticket).await {
                // Whether the state it failed on counts is not known before.
                Err(error) if ticket.in_flight_checkpoint.is_some() => {
                    match self.await_in_flight_checkpoint(ticket).await? {
                        CheckpointOutcome::Stored => return Err(error),
                        committed => committed,
                    }
                }
                advanced => advanced?,
            };
            match advanced {
                CheckpointOutcome::Stored => {}
                CheckpointOutcome::Stop => return Ok(std::mem::take(&mut ticket.children)),
                CheckpointOutcome::Overtaken => {
                    let children = std::mem::take(&mut ticket.children);
                    let Some(read) = self.load_run(ticket.run_id()).await? else { return Ok(children) };
                    *ticket = ActiveRun { children, ..read };
                    ticket.reply_log.discard_recorded();
                }
            }
        }
    }

    /// One node further. A node only thinks, so it may do that before the last checkpoint is on the disk; until then
    /// nothing is asked for it, nothing done and nothing told.
    async fn advance_one_node(&self, ticket: &mut ActiveRun) -> anyhow::Result<CheckpointOutcome> {
        if self.stop.is_cancelled() {
            self.await_in_flight_checkpoint(ticket).await?;
            return Ok(CheckpointOutcome::Stop);
        }
        if ticket.awaited_effect.is_some() {
            stored!(self.await_in_flight_checkpoint(ticket).await?);
        }
        if !self.prepare_visit(ticket).await? {
            return Ok(CheckpointOutcome::Stop);
        }
        let now = self.clock.now();
        let step = match self.visit_node(ticket, now).await? {
            Ok(step) => step,
            Err(committed) => return Ok(committed),
        };
        if step.reflection.is_some() {
            stored!(self.await_in_flight_checkpoint(ticket).await?);
        }
        let checkpoint = self.build_checkpoint(ticket, step, now)?;
        stored!(self.submit_checkpoint(ticket, &checkpoint).await?);
        if checkpoint.end.is_some() {
            stored!(self.await_in_flight_checkpoint(ticket).await?);
            return Ok(CheckpointOutcome::Stop);
        }
        ticket.seq += 1;
        ticket.node = checkpoint.next.context("the run has nowhere to go")?;
        if checkpoint.changes.iter().any(|change| change.written_field().starts_with("task."))
            && let Some(revision) = &mut ticket.task_revision
        {
            *revision += 1;
        }
        ticket.awaited_effect = match checkpoint.next_move {
            Move::Wait { action_id } => Some(action_id),
            _ => None,
        };
        ticket.planned_action.clone_from(&checkpoint.action);
        Ok(CheckpointOutcome::Stored)
    }

    /// Reads what changed outside and waits for the effect the run waits for. False when there is nothing left to do.
    async fn prepare_visit(&self, ticket: &mut ActiveRun) -> anyhow::Result<bool> {
        let now = self.clock.now();
        if let (Some(task_id), None, false) = (ticket.task_id, ticket.task_revision, ticket.identity.is_fork) {
            let value = self.obtain_reply(ticket, &Call::Task { task_id }, now).await?;
            ticket.set_task(value.read::<CurrentTask>().context(UNREADABLE_REPLY)?);
            let terminal = ticket.state.task.as_ref().is_some_and(|task| task.status.is_terminal());
            if terminal && ticket.identity.kind != RunKind::Rank {
                // What has begun is brought to its end, or nobody would ever know it.
                if let Some(action_id) = ticket.awaited_effect {
                    ticket.planned_action = None;
                    self.obtain_reply(ticket, &Call::Effect { action_id }, now).await?;
                }
                let end = Write::EndRun {
                    run_id: ticket.run_id(),
                    status: RunStatus::Overtaken,
                    reason: "the task has ended".into(),
                    at: now,
                };
                self.store.write(end).await?;
                return Ok(false);
            }
        }
        // Kept until a checkpoint has stored its end: a run that is overtaken meanwhile is told again.
        if let Some(action_id) = ticket.awaited_effect {
            let call = Call::Effect { action_id };
            let value = loop {
                match self.obtain_reply(ticket, &call, now).await {
                    // Its end could not be stored for want of room. It is probed before it is done, so never done twice.
                    Err(error) if is_transient(&error) && !self.stop.is_cancelled() => {
                        tokio::time::sleep(DISK_RETRY_INTERVAL).await;
                    }
                    outcome => break outcome?,
                }
            };
            ticket.planned_action = None;
            ticket.prefilled_replies.push((call, value));
        }
        Ok(true)
    }

    /// Leaves a run for later. If that cannot be stored, the run is merely taken up again sooner.
    async fn defer_run(&self, run_id: RunId, not_now: &RunDeferred) {
        let RunDeferred { reason, until } = not_now.clone();
        let aside = Write::DeferRun { run_id, reason, until, at: self.clock.now() };
        if let Err(error) = self.store.write(aside).await {
            tracing::warn!(run.id = %run_id, %error, "a run could not be set aside");
        }
    }

    /// Enters the node until it answers with a move; no step when the checkpoint before it was not stored, or the watch has
    /// taken the run away.
    async fn visit_node(
        &self,
        ticket: &mut ActiveRun,
        now: Instant,
    ) -> anyhow::Result<Result<NodeOutput, CheckpointOutcome>> {
        let mut replies = std::mem::take(&mut ticket.prefilled_replies);
        let (mail, reading) = (ticket.mail.clone(), OnceLock::new());
        let mut attempt = 0;
        loop {
            let entry = self.node_input(ticket, (mail.as_deref(), &reading), &replies, now);
            let Some(outcome) = self.evaluate_node(ticket.node, &entry) else {
                return Ok(Err(CheckpointOutcome::Stop));
            };
            let failed = match outcome.and_then(|step| check_node_contract(ticket.node, step, replies.len())) {
                Ok(step) if step.calls.is_empty() => return Ok(Ok(step)),
                Ok(step) => match self.await_in_flight_checkpoint(ticket).await? {
                    CheckpointOutcome::Stored => self.make_calls(ticket, step.calls, &mut replies, now).await.err(),
                    committed => return Ok(Err(committed)),
                },
                Err(error) => Some(error),
            };
            let Some(error) = failed else { continue };
            if is_stopped(&error) {
                return Ok(Err(CheckpointOutcome::Stop));
            }
            if error.is::<RunDeferred>() {
                return Err(error);
            }
            attempt += 1;
            if attempt >= self.limits.attempts {
                tracing::warn!(run.id = %ticket.run_id(), node = %ticket.node, error = format!("{error:#}"), "a node failed for good");
                let entry = self.node_input(ticket, (mail.as_deref(), &reading), &replies, now);
                return Ok(Ok(failure::park_failed_node(ticket.node, &entry, &format!("{error:#}"))));
            }
            tokio::time::sleep(self.limits.backoff * 2_u32.pow(attempt - 1)).await;
        }
    }

    fn node_input<'a>(
        &self,
        ticket: &'a ActiveRun,
        (mail, reading): (Option<&'a Mail>, &'a OnceLock<Reading>),
        replies: &'a [(Call, ReplyJson)],
        now: Instant,
    ) -> NodeInput<'a> {
        // What was heard before a restart is used, whether there still is a model or not.
        let model = self.call_handler.has_model() || ticket.model_checkpoint == Some(ticket.seq + 1);
        NodeInput {
            run: &ticket.identity,
            state: &ticket.state,
            mail,
            reading_cache: reading,
            replies,
            has_model: model,
            now,
        }
    }

    async fn make_calls(
        &self,
        ticket: &mut ActiveRun,
        calls: Vec<Call>,
        replies: &mut Vec<(Call, ReplyJson)>,
        now: Instant,
    ) -> anyhow::Result<()> {
        for call in calls {
            let value = self.obtain_reply(ticket, &call, now).await?;
            replies.push((call, value));
        }
        Ok(())
    }

    /// From the record if it is there; else made, and put on the record with the next checkpoint.
    async fn obtain_reply(&self, ticket: &mut ActiveRun, call: &Call, now: Instant) -> anyhow::Result<ReplyJson> {
        let hash = call.input_hash();
        let (ordinal, recorded) = ticket.reply_log.register_call(ticket.node, &hash);
        if let Some(value) = recorded {
            return Ok(value);
        }
        let value = match call {
            // A fork shares its effects' keys with its parent and must not lay a hand on them.
            Call::Effect { .. } if ticket.identity.is_fork => void_effect_reply()?,
            _ => {
                let asker = CallContext {
                    run: &ticket.identity,
                    state: &ticket.state,
                    mail: ticket.mail.as_deref(),
                    planned: ticket.planned_action.as_deref(),
                    now,
                };
                let answer = self.call_handler.answer(asker, call);
                let limit = self.limits.call_timeout;
                let answered = match call {
                    // An effect that is cut off in the middle is one in doubt; the outbox has limits of its own.
                    Call::Effect { .. } => answer.await,
                    // A model may be slow and has its own limits too; whoever stops does not wait for it.
                    Call::Model { .. } => tokio::select! {
                        answered = answer => answered,
                        () = self.stop.cancelled() => Err(StoreError::Stopped.into()),
                    },
                    _ => tokio::time::timeout(limit, answer)
                        .await
                        .map_err(|_| anyhow!("no answer within {limit:?}"))
                        .flatten(),
                };
                match answered {
                    // Work goes on without documents, and a replay does too.
                    Err(error) if matches!(call, Call::Recall { .. }) => {
                        tracing::warn!(run.id = %ticket.run_id(), error = format!("{error:#}"), "nothing could be recalled");
                        encode_reply(&Vec::<ContextDoc>::new())?
                    }
                    answered => {
                        let CallReply { value, action_move: moved, call } = answered?;
                        if let Some(call) = call {
                            return self.record_model_reply(ticket, (hash, ordinal), value, call, now).await;
                        }
                        ticket.action_move = moved.or(ticket.action_move.take());
                        value
                    }
                }
            }
        };
        let reply = RecordedReply { node: ticket.node, input_hash: hash, ordinal, reply: value.clone(), call: None };
        ticket.unsaved_replies.push(reply);
        Ok(value)
    }

    /// What the step changes, as a value to store. The ticket is ahead of the store until it is: a run whose checkpoint is
    /// refused is read anew.
    fn build_checkpoint(
        &self,
        ticket: &mut ActiveRun,
        step: NodeOutput,
        now: Instant,
    ) -> anyhow::Result<Arc<Checkpoint>> {
        let mv = step.next.context("the node named no move")?;
        for change in &step.changes {
            ticket.state.apply(change, now)?;
        }
        let place = self.topology.target_of(ticket.node, Outcome::from(&mv));
        let place = place.with_context(|| format!("{} has no way on '{}'", ticket.node, mv.as_str()))?;
        // A mail's run ends where its tasks' runs begin.
        let hands_over = ticket.node == NodeName::PlanStep && mv == Move::Next;
        let reason = match &mv {
            Move::Park { reason } | Move::Skip { reason } => reason.clone(),
            _ => String::new(),
        };
        let (next, end) = match place {
            Place::Node(_) if hands_over => (None, Some((RunStatus::Done, String::new()))),
            Place::Node(node) => (Some(node), None),
            Place::End(status) => (None, Some((status, reason))),
        };
        let mut runs = step.runs;
        if let Place::Node(node) = place {
            runs.iter_mut().for_each(|run| run.node = node);
        }
        let task = ticket.state.task.clone().zip(ticket.task_revision);
        let checkpoint = Checkpoint {
            run_id: ticket.run_id(),
            account: ticket.identity.account.clone(),
            user: ticket.identity.user.clone(),
            seq: ticket.seq + 1,
            node: ticket.node,
            next_move: mv,
            next,
            mail_id: ticket.state.mail_id,
            entered_at: now,
            changes: step.changes,
            replies: std::mem::take(&mut ticket.unsaved_replies),
            task,
            action: step.action,
            action_move: ticket.action_move.take().filter(|_| !ticket.identity.is_fork),
            item: step.item,
            runs: if ticket.identity.is_fork { Vec::new() } else { runs },
            reflection: step
                .reflection
                .filter(|_| !ticket.identity.is_fork)
                .map(|line| self.add_run_feedback(line, now)),
            end,
            fork: ticket.identity.is_fork,
        };
        Ok(Arc::new(checkpoint))
    }

    /// A line to learn from is poorer without them, never missing.
    fn add_run_feedback(&self, mut told: Box<(String, Reflection)>, now: Instant) -> Box<(String, Reflection)> {
        let (_, line) = &mut *told;
        let found = self.store.read_blocking(|reader| reader.run_feedback(line.task_id, line.run_id, now));
        line.feedback = found.unwrap_or_default();
        told
    }

    /// A run as far as it got. None when it has ended meanwhile.
    pub(super) async fn load_run(&self, run_id: RunId) -> anyhow::Result<Option<ActiveRun>> {
        let record = self.store.read(move |reader| reader.run(run_id)).await?.context("the run is not in the store")?;
        if record.row.status != RunStatus::Running {
            return Ok(None);
        }
        let mail = match record.row.mail_id {
            Some(mail_id) => self.store.read(move |reader| reader.mail(mail_id)).await?.map(Arc::new),
            None => None,
        };
        ActiveRun::from_record(&record, mail).map(Some)
    }

    /// Ends a run that cannot go on, with an item for a person. If its node hangs, a checkpoint of it may still have been
    /// under way and come first: then once more.
    async fn park_run(&self, run_id: RunId, error: &str) -> anyhow::Result<()> {
        for _ in 0..2 {
            let parked = match self.try_park_run(run_id, error).await {
                // What it is about cannot be read: it ends as it is, and is not taken up again for ever.
                Err(cause) if is_unreadable(&cause) => self.end_run_parked(run_id, error).await?,
                parked => parked?,
            };
            if !matches!(parked, CheckpointOutcome::Stop) || self.stop.is_cancelled() {
                break;
            }
        }
        Ok(())
    }

    async fn end_run_parked(&self, run_id: RunId, error: &str) -> anyhow::Result<CheckpointOutcome> {
        let (status, reason, at) = (RunStatus::Parked, error.to_owned(), self.clock.now());
        self.store.write(Write::EndRun { run_id, status, reason, at }).await?;
        Ok(CheckpointOutcome::Stored)
    }

    async fn try_park_run(&self, run_id: RunId, error: &str) -> anyhow::Result<CheckpointOutcome> {
        let Some(mut ticket) = self.load_run(run_id).await? else { return Ok(CheckpointOutcome::Stored) };
        let now = self.clock.now();
        if let Some(task_id) = ticket.task_id.filter(|_| !ticket.identity.is_fork) {
            let value = self.obtain_reply(&mut ticket, &Call::Task { task_id }, now).await?;
            ticket.set_task(value.read::<CurrentTask>().context(UNREADABLE_REPLY)?);
        }
        let mail = ticket.mail.clone();
        let reading = OnceLock::new();
        let entry = self.node_input(&ticket, (mail.as_deref(), &reading), &[], now);
        let step = failure::park_failed_node(ticket.node, &entry, error);
        let checkpoint = self.build_checkpoint(&mut ticket, step, now)?;
        match self.commit_checkpoint(&checkpoint).await {
            Ok(committed @ (CheckpointOutcome::Stored | CheckpointOutcome::Stop)) => Ok(committed),
            Ok(CheckpointOutcome::Overtaken) | Err(_) => self.end_run_parked(run_id, error).await,
        }
    }

    pub(super) async fn park_overdue_run(&self, run_id: RunId, node: NodeName) -> anyhow::Result<()> {
        let reason = format!("{node} took longer than {:?}", self.limits.node_timeout);
        tracing::error!(run.id = %run_id, node = %node, "{reason}");
        self.park_run(run_id, &reason).await
    }
}

fn is_transient(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(StoreError::is_transient)
}

fn is_unreadable(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(StoreError::is_unreadable)
}

fn is_stopped(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(StoreError::Stopped))
}

fn void_effect_reply() -> anyhow::Result<ReplyJson> {
    let end = EffectOutcome { state: OutboxState::Void, result: "a fork's effects are void".into() };
    encode_reply(&end)
}

/// A step that breaks the node's contract is a failure of the node.
fn check_node_contract(node: NodeName, step: NodeOutput, calls_so_far: usize) -> anyhow::Result<NodeOutput> {
    if calls_so_far + step.calls.len() > CALLS_PER_VISIT {
        bail!("it asked more than {CALLS_PER_VISIT} questions");
    }
    if let Some(change) = find_forbidden_change(node, &step.changes) {
        bail!("it may not write {}", change.written_field());
    }
    Ok(step)
}
