//! The cycle of a run: enter the node, make the calls it wants, commit what it did, go where the graph says.

use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, anyhow, bail};

use super::{
    active_run::ActiveRun,
    call_handler::{CallContext, CallError, CallReply, CallResult, RunDeferred, encode_reply},
    commit::DISK_RETRY_INTERVAL,
    engine::EngineInner,
    entry::{Call, CurrentTask, EffectOutcome, NodeInput, NodeOutput, UNREADABLE_REPLY},
    failure,
    interrupt::{Advance, Interrupt},
    node::find_forbidden_change,
    topology::{MoveKind, Place},
};
use crate::{
    model::{
        Checkpoint, ContextDoc, Instant, Mail, Move, NodeName, OutboxState, Reading, RecordedReply, Reflection,
        ReplyJson, RunId, RunKind, RunStatus,
    },
    store::{StoreError, Write},
};

/// A node that keeps asking is in a loop.
const CALLS_PER_VISIT: usize = 8;

impl EngineInner {
    /// Drives a run to its end, or to where it must be left. Returns the runs that it opened, to be launched.
    pub(super) async fn drive_run(self: &Arc<Self>, mut run: ActiveRun) -> Vec<ActiveRun> {
        let run_id = run.run_id();
        match self.advance_until_interrupted(&mut run).await {
            Interrupt::Stop | Interrupt::Reload => {}
            Interrupt::Defer(deferred) => self.defer_run(run_id, deferred).await,
            Interrupt::Fail(error) => {
                tracing::error!(run.id = %run_id, node = %run.node, error = format!("{error:#}"), "a run could not go on");
                if let Err(error) = self.park_run(run_id, &format!("{error:#}")).await {
                    tracing::error!(run.id = %run_id, error = format!("{error:#}"), "a run could not be parked");
                }
            }
        }
        run.children
    }

    /// Visits one node after the other. Returns why the run does not go on.
    async fn advance_until_interrupted(&self, run: &mut ActiveRun) -> Interrupt {
        loop {
            let interrupt = match self.advance_one_node(run).await {
                Ok(()) => continue,
                // Whether the state that it failed on counts is not known before the checkpoint in flight is stored.
                Err(failed @ (Interrupt::Fail(_) | Interrupt::Defer(_))) => {
                    self.await_in_flight_checkpoint(run).await.err().unwrap_or(failed)
                }
                Err(interrupt) => interrupt,
            };
            match interrupt {
                Interrupt::Reload => match self.reload_run(run).await {
                    Ok(()) => {}
                    Err(interrupt) => return interrupt,
                },
                interrupt => return interrupt,
            }
        }
    }

    /// Reads a run anew because its task changed under it.
    async fn reload_run(&self, run: &mut ActiveRun) -> Advance {
        let reloaded = self.load_run(run.run_id()).await?.ok_or(Interrupt::Stop)?;
        let children = std::mem::take(&mut run.children);
        *run = ActiveRun { children, ..reloaded };
        run.reply_log.discard_recorded();
        Ok(())
    }

    /// Visits one node and submits its checkpoint. A node only thinks, so it may do that before the last checkpoint is on the
    /// disk; until then no call is made for it, no effect carried out and nothing reported.
    async fn advance_one_node(&self, run: &mut ActiveRun) -> Advance {
        if self.stop.is_cancelled() {
            self.await_in_flight_checkpoint(run).await?;
            return Err(Interrupt::Stop);
        }
        if run.phase.awaited_effect().is_some() {
            self.await_in_flight_checkpoint(run).await?;
        }
        self.prepare_visit(run).await?;
        let now = self.clock.now();
        let output = self.visit_node(run, now).await?;
        if output.reflection.is_some() {
            self.await_in_flight_checkpoint(run).await?;
        }
        let checkpoint = self.build_checkpoint(run, output, now)?;
        self.submit_checkpoint(run, &checkpoint).await?;
        if checkpoint.end.is_some() {
            self.await_in_flight_checkpoint(run).await?;
            return Err(Interrupt::Stop);
        }
        run.step_to(checkpoint.next.context("the run has nowhere to go")?, &checkpoint);
        Ok(())
    }

    /// Reads the task anew where it may have changed, and waits for the effect that the run awaits.
    async fn prepare_visit(&self, run: &mut ActiveRun) -> Advance {
        let now = self.clock.now();
        if let (Some(task_id), None, false) = (run.task_id, run.task_revision, run.identity.is_fork) {
            let value = self.obtain_reply(run, &Call::Task { task_id }, now).await?;
            run.set_task(value.read::<CurrentTask>().context(UNREADABLE_REPLY)?);
            let is_terminal = run.state.task.as_ref().is_some_and(|task| task.status.is_terminal());
            if is_terminal && run.identity.kind != RunKind::Rank {
                return self.end_run_of_ended_task(run, now).await;
            }
        }
        // The run awaits it until a checkpoint has stored its outcome: a run that is reloaded meanwhile is told again.
        if let Some(action_id) = run.phase.awaited_effect() {
            let call = Call::Effect { action_id };
            let value = self.obtain_reply(run, &call, now).await?;
            run.phase.forget_plan();
            run.gathered.prefilled.push((call, value));
        }
        Ok(())
    }

    /// Ends a run whose task has ended. An effect that has begun is brought to its end, or nobody would ever know it.
    async fn end_run_of_ended_task(&self, run: &mut ActiveRun, now: Instant) -> Advance {
        if let Some(action_id) = run.phase.awaited_effect() {
            run.phase.forget_plan();
            self.obtain_reply(run, &Call::Effect { action_id }, now).await?;
        }
        let (run_id, status, reason) = (run.run_id(), RunStatus::Overtaken, "the task has ended".into());
        self.store.write(Write::EndRun { run_id, status, reason, at: now }).await?;
        Err(Interrupt::Stop)
    }

    /// Leaves a run for later. If that cannot be stored, the run is merely resumed sooner.
    async fn defer_run(&self, run_id: RunId, deferred: RunDeferred) {
        let RunDeferred { reason, until } = deferred;
        let write = Write::DeferRun { run_id, reason, until, at: self.clock.now() };
        if let Err(error) = self.store.write(write).await {
            tracing::warn!(run.id = %run_id, %error, "a run could not be deferred");
        }
    }

    /// Evaluates the node until it answers with a move. A node that fails is tried again, and at last the run is parked.
    async fn visit_node(&self, run: &mut ActiveRun, now: Instant) -> Advance<NodeOutput> {
        let mut replies = std::mem::take(&mut run.gathered.prefilled);
        let (mail, reading) = (run.mail.clone(), OnceLock::new());
        let mut attempt = 0;
        loop {
            let input = self.node_input(run, (mail.as_deref(), &reading), &replies, now);
            // None when the supervisor has abandoned the run.
            let output = self.evaluate_node(run.node, &input).ok_or(Interrupt::Stop)?;
            let error = match output.and_then(|output| check_node_contract(run.node, output, replies.len())) {
                Ok(output) if output.calls.is_empty() => return Ok(output),
                Ok(output) => {
                    self.await_in_flight_checkpoint(run).await?;
                    match self.make_calls(run, output.calls, &mut replies, now).await {
                        Ok(()) => continue,
                        Err(Interrupt::Fail(error)) => error,
                        Err(interrupt) => return Err(interrupt),
                    }
                }
                Err(error) => error,
            };
            attempt += 1;
            if attempt >= self.limits.attempts {
                tracing::warn!(run.id = %run.run_id(), node = %run.node, error = format!("{error:#}"), "a node failed for good");
                let input = self.node_input(run, (mail.as_deref(), &reading), &replies, now);
                return Ok(failure::park_failed_node(run.node, &input, &format!("{error:#}")));
            }
            tokio::time::sleep(self.limits.backoff * 2_u32.pow(attempt - 1)).await;
        }
    }

    fn node_input<'a>(
        &self,
        run: &'a ActiveRun,
        (mail, reading): (Option<&'a Mail>, &'a OnceLock<Reading>),
        replies: &'a [(Call, ReplyJson)],
        now: Instant,
    ) -> NodeInput<'a> {
        // A model's reply from before a restart is used, whether there still is a model or not.
        let has_model = self.call_handler.has_model() || run.model_checkpoint == Some(run.seq + 1);
        NodeInput { run: &run.identity, state: &run.state, mail, reading_cache: reading, replies, has_model, now }
    }

    async fn make_calls(
        &self,
        run: &mut ActiveRun,
        calls: Vec<Call>,
        replies: &mut Vec<(Call, ReplyJson)>,
        now: Instant,
    ) -> Advance {
        for call in calls {
            let value = self.obtain_reply(run, &call, now).await?;
            replies.push((call, value));
        }
        Ok(())
    }

    /// Returns the recorded reply to a call; without one, makes the call, and has the reply recorded with the next checkpoint.
    async fn obtain_reply(&self, run: &mut ActiveRun, call: &Call, now: Instant) -> Advance<ReplyJson> {
        let input_hash = call.input_hash();
        let (ordinal, recorded) = run.reply_log.register_call(run.node, &input_hash);
        if let Some(value) = recorded {
            return Ok(value);
        }
        let value = match call {
            // A fork shares its effects' keys with its parent and must not touch them.
            Call::Effect { .. } if run.identity.is_fork => void_effect_reply()?,
            _ => match self.make_call(run, call, now).await {
                // Work goes on without documents, and a replay does too.
                Err(error) if matches!(call, Call::Recall { .. }) => {
                    tracing::warn!(run.id = %run.run_id(), error = format!("{error:#}"), "nothing could be recalled");
                    encode_reply(&Vec::<ContextDoc>::new())?
                }
                reply => {
                    let CallReply { value, action_move, call } = reply?;
                    if let Some(call) = call {
                        return self.record_model_reply(run, (input_hash, ordinal), value, call, now).await;
                    }
                    run.gathered.action_move = action_move.or(run.gathered.action_move.take());
                    value
                }
            },
        };
        let reply = RecordedReply { node: run.node, input_hash, ordinal, reply: value.clone(), call: None };
        run.gathered.replies.push(reply);
        Ok(value)
    }

    /// Has a call answered, within the time that its kind may take.
    async fn make_call(&self, run: &ActiveRun, call: &Call, now: Instant) -> CallResult {
        let context = CallContext {
            run: &run.identity,
            state: &run.state,
            mail: run.mail.as_deref(),
            planned: run.phase.planned_action(),
            now,
        };
        let limit = self.limits.call_timeout;
        match call {
            // An effect that is cut off in the middle is one in doubt; the outbox has limits of its own.
            Call::Effect { .. } => self.carry_out_effect(context, call).await,
            // A model may be slow and has its own limits too; whoever stops does not wait for it.
            Call::Model { .. } => tokio::select! {
                reply = self.call_handler.answer(context, call) => reply,
                () = self.stop.cancelled() => Err(StoreError::Stopped.into()),
            },
            _ => match tokio::time::timeout(limit, self.call_handler.answer(context, call)).await {
                Ok(reply) => reply,
                Err(_) => Err(anyhow!("no answer within {limit:?}").into()),
            },
        }
    }

    /// Has an effect carried out. While its outcome cannot be stored for want of room on the disk, it is asked for again: an
    /// effect is probed before it is carried out, so this never does it twice.
    async fn carry_out_effect(&self, context: CallContext<'_>, call: &Call) -> CallResult {
        loop {
            match self.call_handler.answer(context, call).await {
                Err(CallError::Store(error)) if error.is_transient() && !self.stop.is_cancelled() => {
                    tokio::time::sleep(DISK_RETRY_INTERVAL).await;
                }
                reply => return reply,
            }
        }
    }

    /// What the step changes, as a value to store. The run is ahead of the store until it is: a run whose checkpoint is
    /// refused is read anew.
    fn build_checkpoint(&self, run: &mut ActiveRun, step: NodeOutput, now: Instant) -> anyhow::Result<Arc<Checkpoint>> {
        let mv = step.next.context("the node named no move")?;
        for change in &step.changes {
            run.state.apply(change, now)?;
        }
        let place = self.topology.target_of(run.node, MoveKind::from(&mv));
        let place = place.with_context(|| format!("{} has no way on '{}'", run.node, mv.as_str()))?;
        // A mail's run ends where its tasks' runs begin.
        let hands_over = run.node == NodeName::PlanStep && mv == Move::Next;
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
        let task = run.state.task.clone().zip(run.task_revision);
        let checkpoint = Checkpoint {
            run_id: run.run_id(),
            account: run.identity.account.clone(),
            user: run.identity.user.clone(),
            seq: run.seq + 1,
            node: run.node,
            next_move: mv,
            next,
            mail_id: run.state.mail_id,
            entered_at: now,
            changes: step.changes,
            replies: std::mem::take(&mut run.gathered.replies),
            task,
            action: step.action,
            action_move: run.gathered.action_move.take().filter(|_| !run.identity.is_fork),
            item: step.item,
            runs: if run.identity.is_fork { Vec::new() } else { runs },
            reflection: step.reflection.filter(|_| !run.identity.is_fork).map(|line| self.add_run_feedback(line, now)),
            end,
            fork: run.identity.is_fork,
        };
        Ok(Arc::new(checkpoint))
    }

    /// A line to learn from is poorer without them, never missing.
    fn add_run_feedback(&self, mut told: Box<(String, Reflection)>, now: Instant) -> Box<(String, Reflection)> {
        let (_, line) = &mut *told;
        let found = self.store.read_blocking(|reader| reader.runs().feedback(line.task_id, line.run_id, now));
        line.feedback = found.unwrap_or_default();
        told
    }

    /// Reads a run as far as it got. Returns none when it has ended meanwhile.
    pub(super) async fn load_run(&self, run_id: RunId) -> Advance<Option<ActiveRun>> {
        let record =
            self.store.read(move |reader| reader.runs().get(run_id)).await?.context("the run is not in the store")?;
        if record.row.status != RunStatus::Running {
            return Ok(None);
        }
        let mail = match record.row.mail_id {
            Some(mail_id) => self.store.read(move |reader| reader.mails().get(mail_id)).await?.map(Arc::new),
            None => None,
        };
        Ok(Some(ActiveRun::from_record(&record, mail)?))
    }

    /// Ends a run that cannot go on, with an item for a person. If its node hangs, a checkpoint of it may still have been
    /// in flight and come first: then it is tried once more.
    async fn park_run(&self, run_id: RunId, reason: &str) -> anyhow::Result<()> {
        for _ in 0..2 {
            match self.try_park_run(run_id, reason).await {
                Err(Interrupt::Stop) if !self.stop.is_cancelled() => {}
                // What it is about cannot be read: it ends as it is, and is not resumed for ever.
                Err(Interrupt::Fail(error)) if is_unreadable(&error) => {
                    return self.end_run_parked(run_id, reason).await;
                }
                Err(Interrupt::Fail(error)) => return Err(error),
                Ok(()) | Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    async fn end_run_parked(&self, run_id: RunId, reason: &str) -> anyhow::Result<()> {
        let (status, reason, at) = (RunStatus::Parked, reason.to_owned(), self.clock.now());
        self.store.write(Write::EndRun { run_id, status, reason, at }).await?;
        Ok(())
    }

    async fn try_park_run(&self, run_id: RunId, reason: &str) -> Advance {
        let Some(mut run) = self.load_run(run_id).await? else { return Ok(()) };
        let now = self.clock.now();
        if let Some(task_id) = run.task_id.filter(|_| !run.identity.is_fork) {
            let value = self.obtain_reply(&mut run, &Call::Task { task_id }, now).await?;
            run.set_task(value.read::<CurrentTask>().context(UNREADABLE_REPLY)?);
        }
        let mail = run.mail.clone();
        let reading = OnceLock::new();
        let input = self.node_input(&run, (mail.as_deref(), &reading), &[], now);
        let output = failure::park_failed_node(run.node, &input, reason);
        let checkpoint = self.build_checkpoint(&mut run, output, now)?;
        match self.commit_checkpoint(&checkpoint).await {
            // The task changed again, or the item does not fit into the queue: the run ends without one.
            Err(Interrupt::Reload | Interrupt::Defer(_) | Interrupt::Fail(_)) => {
                Ok(self.end_run_parked(run_id, reason).await?)
            }
            parked => parked,
        }
    }

    pub(super) async fn park_overdue_run(&self, run_id: RunId, node: NodeName) -> anyhow::Result<()> {
        let reason = format!("{node} took longer than {:?}", self.limits.node_timeout);
        tracing::error!(run.id = %run_id, node = %node, "{reason}");
        self.park_run(run_id, &reason).await
    }
}

fn is_unreadable(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(StoreError::is_unreadable)
}

fn void_effect_reply() -> CallResult<ReplyJson> {
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
