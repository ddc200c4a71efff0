//! Makes the calls of nodes once, records the replies, and answers repeated calls from the record. The record is what
//! makes a run resumable: after a crash, a node that is evaluated again is given the replies it had before. A reply of
//! a model is stored before it is used; every other reply is stored with the checkpoint.

use std::{sync::Arc, time::Duration};

use backon::Retryable as _;
use tokio_util::sync::CancellationToken;

use super::{
    active_run::ActiveRun,
    call_handler::{CallContext, CallError, CallHandler, CallReply, CallResult, encode_reply},
    commit::DISK_RETRY_INTERVAL,
    entry::{Call, EffectOutcome},
    interrupt::Advance,
};
use crate::{
    model::{ContextDoc, Instant, NewModelCall, OutboxState, RecordedReply, ReplyJson, RunKind, llm::ModelCall},
    planner::retry::{CallTimedOut, is_transient, retry_pauses},
    store::{Store, StoreError, Write},
};

/// Makes the calls of nodes and records the replies.
pub(super) struct CallRecorder {
    pub(super) handler: Arc<dyn CallHandler>,
    pub(super) store: Store,
    /// The time limit of one call. Effects and model calls have their own limits.
    pub(super) call_timeout: Duration,
    /// The time limit of one call of a step of a plan.
    pub(super) step_call_timeout: Duration,
    /// How often a call that reads is made again after a transient error.
    pub(super) call_retries: usize,
    pub(super) stop: CancellationToken,
}

impl CallRecorder {
    /// Whether nodes may ask a model.
    pub(super) fn has_model(&self) -> bool {
        self.handler.has_model()
    }

    /// Whether nodes may ask the second reader.
    pub(super) fn has_second_reader(&self) -> bool {
        self.handler.has_second_reader()
    }

    /// Whether any rule acts on mail.
    pub(super) fn has_rule_acts(&self) -> bool {
        self.handler.has_rule_acts()
    }

    /// Whether there are files that a mail may ask for.
    pub(super) fn has_files(&self) -> bool {
        self.handler.has_files()
    }

    /// Makes the calls in order and appends each with its reply to `replies`. Stops at the first call that interrupts
    /// the run.
    pub(super) async fn make_calls(
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

    /// Returns the recorded reply to a call. If there is none, makes the call; the reply is stored with the next
    /// checkpoint.
    pub(super) async fn obtain_reply(&self, run: &mut ActiveRun, call: &Call, now: Instant) -> Advance<ReplyJson> {
        let input_hash = call.input_hash()?;
        let (ordinal, recorded) = run.reply_log.register_call(run.node, &input_hash);
        if let Some(value) = recorded {
            return Ok(value);
        }
        // The steps of a plan change one task side by side. When another one was first, a model is not paid again for
        // the answer to the same prompt.
        let is_paid = matches!(call, Call::Model { .. }) && run.identity.kind == RunKind::Step;
        if let Some(value) = run.reply_log.find_discarded(run.node, &input_hash).filter(|_| is_paid) {
            let reply = RecordedReply { node: run.node, input_hash, ordinal, reply: value.clone(), call: None };
            run.gathered.replies.push(reply);
            return Ok(value);
        }
        let value = match call {
            // A fork has the effect keys of its original and must not touch those effects.
            Call::Effect { .. } if run.identity.is_fork => void_effect_reply()?,
            _ => match self.make_call(run, call, now).await {
                // Context documents are a help, not a need: the run goes on without them, and so does a replay.
                Err(error) if matches!(call, Call::Recall { .. }) => {
                    tracing::warn!(run.id = %run.run_id(), error = format!("{error:#}"), "no context documents could be looked up");
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

    /// Makes a call, within the time limit of its kind.
    async fn make_call(&self, run: &ActiveRun, call: &Call, now: Instant) -> CallResult {
        let context = CallContext {
            run: &run.identity,
            state: &run.state,
            mail: run.mail.as_deref(),
            planned: run.phase.planned_action(),
            now,
        };
        let is_step = run.identity.kind == RunKind::Step;
        let limit = if is_step { self.step_call_timeout } else { self.call_timeout };
        match call {
            // No timeout here: an effect that is cut off is in doubt. The outbox has limits of its own.
            Call::Effect { .. } => self.carry_out_effect(context, call).await,
            // No timeout here either: a model call has its own limits. Only a shutdown ends the wait.
            Call::Model { .. } => tokio::select! {
                reply = self.handler.answer(context, call) => reply,
                () = self.stop.cancelled() => Err(StoreError::Stopped.into()),
            },
            _ => {
                let attempt = || async move {
                    match tokio::time::timeout(limit, self.handler.answer(context, call)).await {
                        Ok(reply) => reply,
                        Err(_) => Err(anyhow::Error::from(CallTimedOut(limit)).into()),
                    }
                };
                attempt.retry(retry_pauses(self.call_retries)).when(is_transient_failure).await
            }
        }
    }

    /// Carries out an effect. While its outcome cannot be stored because the disk is full, the call is repeated. That
    /// is safe: the outbox probes an effect before it carries it out, so it happens at most once.
    async fn carry_out_effect(&self, context: CallContext<'_>, call: &Call) -> CallResult {
        loop {
            match self.handler.answer(context, call).await {
                Err(CallError::Store(error)) if error.is_transient() && !self.stop.is_cancelled() => {
                    tokio::time::sleep(DISK_RETRY_INTERVAL).await;
                }
                reply => return reply,
            }
        }
    }

    /// Stores a model's reply with its cost in a row of its own before anybody uses it, so that a run that is killed
    /// after this gets the same reply and pays once. A reply without an attempted model call (for example: budget
    /// spent) cost nothing and is stored with the checkpoint.
    async fn record_model_reply(
        &self,
        run: &mut ActiveRun,
        (input_hash, ordinal): (String, u32),
        value: ReplyJson,
        call: Box<ModelCall>,
        at: Instant,
    ) -> Advance<ReplyJson> {
        let node = run.node;
        if !call.outcome.was_attempted() {
            let reply = RecordedReply { node, input_hash, ordinal, reply: value.clone(), call: Some(call) };
            run.gathered.replies.push(reply);
            return Ok(value);
        }
        let new = NewModelCall {
            run: Some((run.run_id(), run.seq + 1)),
            node: node.to_string(),
            input_hash,
            ordinal,
            reply: value.clone(),
            call: *call,
            input_replies: model_input_replies(run)?,
            at,
        };
        self.store_model_call(new).await?;
        Ok(value)
    }

    /// Stores a model call, and retries while the disk is full.
    async fn store_model_call(&self, new: NewModelCall) -> Advance {
        loop {
            match self.store.write(Write::RecordModelCall(Box::new(new.clone()))).await {
                Ok(_) => return Ok(()),
                // The model is not called again because of a full disk: the reply was paid for.
                Err(error) if error.is_transient() && !self.stop.is_cancelled() => {
                    tokio::time::sleep(DISK_RETRY_INTERVAL).await
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Returns whether a call may succeed when it is made again. The store has retries of its own.
fn is_transient_failure(error: &CallError) -> bool {
    matches!(error, CallError::Failed(error) if is_transient(error))
}

/// Returns the replies from which the model's prompt was made, to be stored with the model's reply. The task is not
/// among them, because it is read again after a crash.
fn model_input_replies(run: &ActiveRun) -> anyhow::Result<Vec<RecordedReply>> {
    let task = run.task_id.map(|task_id| Call::Task { task_id }.input_hash()).transpose()?;
    let is_input = |reply: &&RecordedReply| reply.call.is_none() && Some(&reply.input_hash) != task.as_ref();
    Ok(run.gathered.replies.iter().filter(is_input).cloned().collect())
}

/// Returns the outcome that a fork is given for each of its effects.
fn void_effect_reply() -> CallResult<ReplyJson> {
    let end = EffectOutcome { state: OutboxState::Void, result: "a fork's effects are void".into() };
    encode_reply(&end)
}
