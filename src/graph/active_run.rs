//! A run in memory while the engine drives it: created when the run is opened, or rebuilt from its record. The module
//! owns the bookkeeping of one run (position, state, gathered replies) and does no I/O: the driver reads and writes the
//! store, and everything here can be rebuilt from what is stored.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde::Deserialize as _;

use super::{
    commit::InFlightCheckpoint,
    entry::{Call, CurrentTask, RunIdentity, UNREADABLE_REPLY},
};
use crate::followup::fingerprint;
use crate::model::{
    ActionId, ActionMove, AskedTimes, Checkpoint, Instant, Mail, MailContext, MailId, Move, NewAction, NewRun,
    NodeName, RecordedReply, ReplyJson, RunRecord, RunState, Task, TaskContext, TaskId, run::STATE_SCHEMA,
    task::PROPOSE_TIME_SLOTS,
};

/// The step that answers an invitation.
const ANSWER_INVITATION: &str = "answer_invitation";

/// One run that the engine drives, with everything it needs to go on without reading the store again.
///
/// The run may be ahead of the store by one checkpoint (`in_flight_checkpoint`). If that checkpoint is refused, the
/// value is thrown away and rebuilt from the record.
pub struct ActiveRun {
    pub(super) identity: RunIdentity,
    /// The mail that the run is about. It is kept beside the state, because the store has it once and checkpoints never
    /// change it.
    pub(super) mail: Option<Arc<Mail>>,
    /// The task that the run works on; none for the run of a mail.
    pub(super) task_id: Option<TaskId>,
    /// The number of the last checkpoint.
    pub(super) seq: u32,
    /// The node that is visited next.
    pub(super) node: NodeName,
    pub(super) state: RunState,
    /// The revision of the task that this run has read. A checkpoint carries it, and the store refuses the checkpoint
    /// when the task has a newer one. None means that the task must be read before the next visit.
    pub(super) task_revision: Option<i64>,
    /// What the run must wait for before it visits `node`.
    pub(super) phase: Phase,
    pub(super) gathered: Gathered,
    /// The recorded replies of the run, consulted before any call is made.
    pub(super) reply_log: ReplyLog,
    /// The number of the checkpoint for which a model was called before this process began. Its recorded reply is used
    /// even if no model is configured any more.
    pub(super) model_checkpoint: Option<u32>,
    /// The checkpoint that was handed to the writer and is not known to be stored yet.
    pub(super) in_flight_checkpoint: Option<InFlightCheckpoint>,
    /// The runs that stored checkpoints of this run have opened. They are started when this run ends.
    pub(super) children: Vec<ActiveRun>,
}

/// What a run needs before it visits its next node.
pub(super) enum Phase {
    /// Nothing.
    Ready,
    /// The outcome of an effect. `planned` is the effect as this process planned it, so that the outbox need not read
    /// it again; it is none after a restart.
    AwaitingEffect { action_id: ActionId, planned: Option<Arc<NewAction>> },
}

impl Phase {
    /// Returns the phase that follows a move: only [`Move::Wait`] makes the run wait.
    fn after(next_move: &Move, planned: Option<Arc<NewAction>>) -> Self {
        match next_move {
            Move::Wait { action_id } => Self::AwaitingEffect { action_id: *action_id, planned },
            _ => Self::Ready,
        }
    }

    pub(super) fn awaited_effect(&self) -> Option<ActionId> {
        match self {
            Self::Ready => None,
            Self::AwaitingEffect { action_id, .. } => Some(*action_id),
        }
    }

    pub(super) fn planned_action(&self) -> Option<&NewAction> {
        match self {
            Self::Ready => None,
            Self::AwaitingEffect { planned, .. } => planned.as_deref(),
        }
    }

    /// Drops the copy of the planned effect in memory, so that only the stored row counts from now on.
    pub(super) fn forget_plan(&mut self) {
        if let Self::AwaitingEffect { planned, .. } = self {
            *planned = None;
        }
    }
}

/// What was gathered since the last checkpoint and is stored with the next one.
#[derive(Default)]
pub(super) struct Gathered {
    /// Replies that are given to the next visit before its node asks for them.
    pub(super) prefilled: Vec<(Call, ReplyJson)>,
    /// Replies to calls made since the last checkpoint.
    pub(super) replies: Vec<RecordedReply>,
    /// The last transition of the effect that the run waited for, to be stored with the outcome.
    pub(super) action_move: Option<Box<ActionMove>>,
}

/// The recorded replies of a run, and how often each call was made. Both lists are searched linearly, because a run
/// makes only a handful of calls.
///
/// A call is identified by its node, the hash of its input and an ordinal. The ordinal distinguishes repetitions of the
/// same call, so that a resumed run gives each repetition the reply it had before.
#[derive(Default)]
pub(super) struct ReplyLog {
    recorded: Vec<RecordedReply>,
    /// The replies that were recorded before the run was loaded again.
    discarded: Vec<RecordedReply>,
    call_counts: Vec<(NodeName, String, u32)>,
}

impl ReplyLog {
    /// Counts one more call with this input. Returns its ordinal, and the recorded reply if there is one.
    pub(super) fn register_call(&mut self, node: NodeName, hash: &str) -> (u32, Option<ReplyJson>) {
        let known = self.call_counts.iter().find(|(asker, asked, _)| *asker == node && asked == hash);
        let ordinal = known.map_or(0, |(.., times)| *times);
        self.raise_call_count(node, hash, ordinal + 1);
        let same = |reply: &&RecordedReply| reply.node == node && reply.ordinal == ordinal && reply.input_hash == hash;
        (ordinal, self.recorded.iter().rev().find(same).map(|reply| reply.reply.clone()))
    }

    /// Raises the count of a call to `least`, and never lowers it.
    fn raise_call_count(&mut self, node: NodeName, hash: &str, least: u32) {
        match self.call_counts.iter_mut().find(|(asker, asked, _)| *asker == node && asked == hash) {
            Some((.., times)) => *times = least.max(*times),
            None => self.call_counts.push((node, hash.to_owned(), least)),
        }
    }

    /// Makes every call of the run be made anew instead of answered from the record. Used when a checkpoint was
    /// refused: the replies it was based on may be outdated, and some of them are on the disk already, because a
    /// model's reply is stored together with the replies that its prompt was made from.
    pub(super) fn discard_recorded(&mut self) {
        for reply in std::mem::take(&mut self.recorded) {
            self.mark_reply_used(&reply);
            self.discarded.push(reply);
        }
    }

    /// Returns the reply to the same call before the run was loaded again.
    pub(super) fn find_discarded(&self, node: NodeName, hash: &str) -> Option<ReplyJson> {
        let same = |reply: &&RecordedReply| reply.node == node && reply.input_hash == hash;
        self.discarded.iter().rev().find(same).map(|reply| reply.reply.clone())
    }

    /// Counts the call behind a reply that a stored checkpoint has used, so that the next call gets a new ordinal.
    fn mark_reply_used(&mut self, reply: &RecordedReply) {
        self.raise_call_count(reply.node, &reply.input_hash, reply.ordinal + 1);
    }
}

impl ActiveRun {
    pub fn run_id(&self) -> crate::model::RunId {
        self.identity.run_id
    }

    /// Returns a run that stands before its node and has made no call.
    fn new(identity: RunIdentity, node: NodeName, state: RunState, mail: Option<Arc<Mail>>) -> Self {
        Self {
            identity,
            seq: 0,
            node,
            state,
            mail,
            task_id: None,
            task_revision: None,
            phase: Phase::Ready,
            gathered: Gathered::default(),
            reply_log: ReplyLog::default(),
            model_checkpoint: None,
            in_flight_checkpoint: None,
            children: Vec::new(),
        }
    }

    /// Returns the run for a [`NewRun`] that was just stored. A child that opened its task with the parent's checkpoint
    /// knows that the task is at revision 1 and need not read it.
    pub fn from_new_run(new: NewRun, mail: Option<Arc<Mail>>) -> Self {
        let fresh_task = new.state.task.is_some() && new.parent_run.is_some();
        let head = RunIdentity {
            run_id: new.run_id,
            account: new.account,
            user: new.user,
            kind: new.kind,
            is_fork: new.fork.is_some(),
        };
        Self {
            seq: new.fork.map_or(0, |(_, seq)| seq),
            task_id: new.task_id,
            task_revision: fresh_task.then_some(1),
            ..Self::new(head, new.node, new.state, mail)
        }
    }

    /// Returns the run of a mail that just arrived. The context that the store returned on arrival is used as the reply
    /// to the first call, unless the mail belongs to a conversation: its tasks may have been opened since.
    pub fn for_arrived_mail(head: RunIdentity, mail_id: MailId, mail: Arc<Mail>, known: &MailContext) -> Self {
        let state = RunState { mail_id: Some(mail_id), ..RunState::default() };
        let mut run = Self::new(head, NodeName::PlanStep, state, Some(mail));
        if known.alone
            && let Ok(value) = ReplyJson::encode(known)
        {
            run.prefill_reply(Call::MailContext { mail_id }, value);
        }
        run
    }

    /// Stores a reply that is known before the node asks. It is recorded like any other, so that a replay finds it.
    fn prefill_reply(&mut self, call: Call, value: ReplyJson) {
        // A call without a name is asked by the node, and fails there.
        let Ok(hash) = call.input_hash() else { return };
        let (ordinal, _) = self.reply_log.register_call(self.node, &hash);
        let reply = RecordedReply { node: self.node, input_hash: hash, ordinal, reply: value.clone(), call: None };
        self.gathered.replies.push(reply);
        self.gathered.prefilled.push((call, value));
    }

    /// Rebuilds a run from its record: the initial state, then the changes of every checkpoint in order.
    ///
    /// Fails when the record was written by a program with another state version. The state is never guessed at; the
    /// engine parks such a run.
    pub fn from_record(record: &RunRecord, mail: Option<Arc<Mail>>) -> anyhow::Result<Self> {
        let row = &record.row;
        if row.schema != STATE_SCHEMA {
            bail!("its state has version {}, this program reads version {STATE_SCHEMA}", row.schema);
        }
        let head = RunIdentity {
            run_id: row.run_id,
            account: row.account.clone(),
            user: row.user.clone(),
            kind: row.kind,
            is_fork: row.fork_of.is_some(),
        };
        let mut run = Self {
            seq: row.seq,
            task_id: row.task_id,
            ..Self::new(head, row.node, record.initial_state.clone(), mail)
        };
        for checkpoint in
            record.checkpoints.iter().filter(|checkpoint| row.fork_seq.is_none_or(|seq| checkpoint.seq > seq))
        {
            run.restore_task(record, checkpoint.seq)?;
            for change in &checkpoint.changes {
                run.state.apply(change, checkpoint.entered_at).context("a stored change does not fit its state")?;
            }
            run.phase = Phase::after(&checkpoint.next_move, None);
        }
        run.model_checkpoint = record.model_checkpoints.contains(&(row.seq + 1)).then_some(row.seq + 1);
        // The record has the task as some checkpoint read it. It may have changed since, so it is read again.
        run.task_revision = None;
        for (seq, reply) in &record.replies {
            run.reply_log.recorded.push(reply.clone());
            if *seq <= row.seq && *seq > 0 {
                run.reply_log.mark_reply_used(reply);
            }
        }
        Ok(run)
    }

    /// Moves the run to `node`, where a checkpoint leads. The run is ahead of the store until that checkpoint is
    /// stored.
    pub(super) fn step_to(&mut self, node: NodeName, checkpoint: &Checkpoint) {
        self.seq += 1;
        self.node = node;
        let writes_task = checkpoint.changes.iter().any(|change| change.written_field().is_of_task());
        if let Some(revision) = self.task_revision.as_mut().filter(|_| writes_task) {
            *revision += 1;
        }
        self.phase = Phase::after(&checkpoint.next_move, checkpoint.action.clone());
    }

    /// Sets the task to what the checkpoint `seq` read at its beginning, if it read it: its changes apply to exactly
    /// that task.
    pub(super) fn restore_task(&mut self, record: &RunRecord, seq: u32) -> anyhow::Result<()> {
        let Some(task_id) = self.task_id else { return Ok(()) };
        let hash = Call::Task { task_id }.input_hash()?;
        let read = record.replies.iter().rev().find(|(at, reply)| *at == seq && reply.input_hash == hash);
        if let Some((_, reply)) = read {
            self.set_task(reply.reply.read::<CurrentTask>().context(UNREADABLE_REPLY)?);
        }
        Ok(())
    }

    /// Replaces the task and its facts by what was just read from the store.
    pub(super) fn set_task(&mut self, now: CurrentTask) {
        self.state.task = Some(Arc::new(now.task));
        self.state.facts = Some(now.facts);
        self.state.hand_ranked = now.hand_ranked;
        self.task_revision = Some(now.revision);
    }

    /// Returns the key of the queue in which tasks wait that still look for the time of a meeting: one after the other, so
    /// that none of them takes an hour that another has just proposed.
    fn meeting_key(&self) -> Option<String> {
        let task = self.state.task.as_ref().filter(|_| !self.identity.is_fork)?;
        let is_looking = task.subtasks.iter().any(|step| step.step == PROPOSE_TIME_SLOTS && !step.done);
        is_looking.then(|| format!("{}\n\n\nmeetings", self.identity.user))
    }

    /// Returns whether the run still looks for the time of a meeting, or answers an invitation to one.
    pub(super) fn looks_for_time(&self) -> bool {
        let answers = |task: &Task| task.subtasks.iter().any(|step| step.step == ANSWER_INVITATION && !step.done);
        self.meeting_key().is_some()
            || self.state.task.as_ref().is_some_and(|task| !self.identity.is_fork && answers(task))
    }

    /// Returns whether the run reads a mail.
    pub(super) fn reads_mail(&self) -> bool {
        self.node == NodeName::PlanStep && !self.identity.is_fork
    }

    /// Returns by what runs that look for a time are ordered: whether the mail leaves the hour open, and when it was
    /// written.
    pub(super) fn meeting_order(&self) -> (bool, Option<Instant>) {
        let asked = self.state.task.as_ref().and_then(|task| task.context.more.get(TaskContext::ASKED_TIMES));
        let asked = asked.and_then(|asked| AskedTimes::deserialize(asked).ok());
        (!asked.is_some_and(|asked| asked.is_exact()), self.mail.as_ref().and_then(|mail| mail.date))
    }

    /// Returns the keys of the queues that the run must wait in; none if it needs no queue. Mails of one conversation are
    /// read one after the other, so that a follow-up finds the task that the mail before it opened. So are mails without
    /// references under one subject between the same people: one may answer the other.
    pub(super) fn queue_keys(&self) -> Vec<String> {
        if let Some(key) = self.meeting_key() {
            return vec![key];
        }
        let Some(mail) = self.mail.as_ref().filter(|_| self.reads_mail()) else { return Vec::new() };
        let mut keys = vec![format!("{}\n{}", self.identity.account, mail.thread)];
        let mut subjects = fingerprint::of_missing_conversation(mail);
        subjects.sort_unstable();
        subjects.dedup();
        keys.extend(subjects.iter().map(|subject| format!("{}\n\n{subject}", self.identity.account)));
        keys
    }
}
