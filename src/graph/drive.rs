//! The cycle of a run: evaluate the node, make its calls, commit its checkpoint, go where the topology leads.

use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, bail};
use tokio_util::sync::CancellationToken;

use super::{
    active_run::ActiveRun,
    call_recorder::CallRecorder,
    commit::CheckpointCommitter,
    engine::EngineLimits,
    entry::{Call, CurrentTask, NodeInput, NodeOutput, UNREADABLE_REPLY},
    failure,
    interrupt::{Advance, Interrupt},
    node::{Nodes, find_forbidden_change},
    supervisor::RunSupervisor,
    topology::GraphTopology,
};
use crate::{
    clock::Clock,
    model::{Instant, Mail, NodeName, Reading, ReplyJson, RunId, RunKind, RunStatus},
    store::{Store, Write},
};

/// The largest number of calls in one visit. A node that makes more is taken to be in a loop.
pub(super) const CALLS_PER_VISIT: usize = 8;

/// Drives runs from node to node. It holds no state of a run, so that one driver serves all runs at once.
pub(super) struct RunDriver {
    pub(super) topology: GraphTopology,
    pub(super) nodes: Nodes,
    pub(super) store: Store,
    pub(super) clock: Clock,
    pub(super) limits: EngineLimits,
    pub(super) calls: CallRecorder,
    pub(super) committer: CheckpointCommitter,
    pub(super) supervisor: Arc<RunSupervisor>,
    pub(super) stop: CancellationToken,
}

impl RunDriver {
    /// Drives a run to its end, or until it is deferred, parked or stopped. Returns the runs that it opened, to be
    /// started.
    pub(super) async fn drive_run(&self, mut run: ActiveRun) -> Vec<ActiveRun> {
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

    /// Visits one node after the other, and reloads the run when its task was changed meanwhile. Returns why the run
    /// does not go on.
    async fn advance_until_interrupted(&self, run: &mut ActiveRun) -> Interrupt {
        loop {
            let interrupt = match self.advance_one_node(run).await {
                Ok(()) => continue,
                // The failure may be due to a state that the store is about to refuse. So the checkpoint in flight is
                // awaited first, and its refusal counts more.
                Err(failed @ (Interrupt::Fail(_) | Interrupt::Defer(_))) => {
                    self.committer.await_in_flight(run).await.err().unwrap_or(failed)
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

    /// Reads a run from the store again because its task was changed by somebody else. The runs that it opened are
    /// kept.
    async fn reload_run(&self, run: &mut ActiveRun) -> Advance {
        let reloaded = self.load_run(run.run_id()).await?.ok_or(Interrupt::Stop)?;
        let children = std::mem::take(&mut run.children);
        *run = ActiveRun { children, ..reloaded };
        run.reply_log.discard_recorded();
        Ok(())
    }

    /// Visits one node and submits its checkpoint.
    ///
    /// Evaluating a node has no effect outside the process, so it may happen before the last checkpoint is committed.
    /// Until that one is committed, no call is made, no effect is carried out and no reflection is written.
    async fn advance_one_node(&self, run: &mut ActiveRun) -> Advance {
        if self.stop.is_cancelled() {
            self.committer.await_in_flight(run).await?;
            return Err(Interrupt::Stop);
        }
        if run.phase.awaited_effect().is_some() {
            self.committer.await_in_flight(run).await?;
        }
        self.prepare_visit(run).await?;
        let now = self.clock.now();
        let output = self.visit_node(run, now).await?;
        if output.reflection.is_some() {
            self.committer.await_in_flight(run).await?;
        }
        let checkpoint = self.build_checkpoint(run, output, now)?;
        self.committer.submit(run, &checkpoint).await?;
        if checkpoint.end.is_some() {
            self.committer.await_in_flight(run).await?;
            return Err(Interrupt::Stop);
        }
        run.step_to(checkpoint.next.context("the run has nowhere to go")?, &checkpoint);
        Ok(())
    }

    /// Reads the task again where it may have changed, and waits for the effect that the run awaits.
    async fn prepare_visit(&self, run: &mut ActiveRun) -> Advance {
        let now = self.clock.now();
        if let (Some(task_id), None, false) = (run.task_id, run.task_revision, run.identity.is_fork) {
            let value = self.calls.obtain_reply(run, &Call::Task { task_id }, now).await?;
            run.set_task(value.read::<CurrentTask>().context(UNREADABLE_REPLY)?);
            let is_terminal = run.state.task.as_ref().is_some_and(|task| task.status.is_terminal());
            if is_terminal && run.identity.kind != RunKind::Rank {
                return self.end_run_of_ended_task(run, now).await;
            }
        }
        // The phase is kept until a checkpoint has stored the outcome, so that a run that is reloaded before that asks
        // again.
        if let Some(action_id) = run.phase.awaited_effect() {
            let call = Call::Effect { action_id };
            let value = self.calls.obtain_reply(run, &call, now).await?;
            run.phase.forget_plan();
            run.gathered.prefilled.push((call, value));
        }
        Ok(())
    }

    /// Ends a run whose task has ended. An effect that has begun is first brought to its end; otherwise its outcome
    /// would never be recorded.
    async fn end_run_of_ended_task(&self, run: &mut ActiveRun, now: Instant) -> Advance {
        if let Some(action_id) = run.phase.awaited_effect() {
            run.phase.forget_plan();
            self.calls.obtain_reply(run, &Call::Effect { action_id }, now).await?;
        }
        let (run_id, status, reason) = (run.run_id(), RunStatus::Overtaken, "the task has ended".into());
        self.store.write(Write::EndRun { run_id, status, reason, at: now }).await?;
        Err(Interrupt::Stop)
    }

    /// Evaluates the node until its output has a move and no calls. A node that fails is tried again with a doubling
    /// backoff; after the last attempt the run is parked with an item for a person.
    async fn visit_node(&self, run: &mut ActiveRun, now: Instant) -> Advance<NodeOutput> {
        let mut replies = std::mem::take(&mut run.gathered.prefilled);
        let (mail, reading) = (run.mail.clone(), OnceLock::new());
        let mut attempt = 0;
        loop {
            let input = self.node_input(run, (mail.as_deref(), &reading), &replies, now);
            let output = self.evaluate_node(run.node, &input).ok_or(Interrupt::Stop)?;
            let error = match output.and_then(|output| check_node_contract(run.node, output, replies.len())) {
                Ok(output) if output.calls.is_empty() => return Ok(output),
                Ok(output) => {
                    self.committer.await_in_flight(run).await?;
                    match self.calls.make_calls(run, output.calls, &mut replies, now).await {
                        Ok(()) => continue,
                        Err(Interrupt::Fail(error)) => {
                            // A call of a step was tried again where that could help, so its failure is final.
                            if run.identity.kind == RunKind::Step {
                                attempt = self.limits.attempts;
                            }
                            error
                        }
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

    /// Evaluates a node under supervision. Returns none when the supervisor has abandoned the run meanwhile.
    fn evaluate_node(&self, node: NodeName, input: &NodeInput<'_>) -> Option<anyhow::Result<NodeOutput>> {
        self.supervisor.watch_node(input.run.run_id, node, || self.nodes.get(node).evaluate(input))
    }

    /// Returns the input of a node for the run as it stands.
    pub(super) fn node_input<'a>(
        &self,
        run: &'a ActiveRun,
        (mail, reading): (Option<&'a Mail>, &'a OnceLock<Reading>),
        replies: &'a [(Call, ReplyJson)],
        now: Instant,
    ) -> NodeInput<'a> {
        // A model's reply from before a restart is used whether or not a model is configured now.
        let has_model = self.calls.has_model() || run.model_checkpoint == Some(run.seq + 1);
        NodeInput {
            run: &run.identity,
            state: &run.state,
            mail,
            reading_cache: reading,
            replies,
            has_model,
            has_second_reader: self.calls.has_second_reader(),
            has_rule_acts: self.calls.has_rule_acts(),
            has_files: self.calls.has_files(),
            now,
        }
    }

    /// Rebuilds a run from the store. Returns none when it has ended meanwhile.
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
}

/// Checks that a node makes no more calls than allowed and writes only the fields of its contract. A violation counts
/// as a failure of the node.
fn check_node_contract(node: NodeName, step: NodeOutput, calls_so_far: usize) -> anyhow::Result<NodeOutput> {
    if calls_so_far + step.calls.len() > CALLS_PER_VISIT {
        bail!("it asked more than {CALLS_PER_VISIT} questions");
    }
    if let Some(change) = find_forbidden_change(node, &step.changes) {
        bail!("it may not write {}", change.written_field());
    }
    Ok(step)
}
