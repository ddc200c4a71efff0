//! A run in hand: everything needed to go on, made when it is opened or restored from its record.

use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::{
    commit::InFlightCheckpoint,
    entry::{Call, CurrentTask, RunIdentity, UNREADABLE_REPLY},
};
use crate::model::{
    ActionId, ActionMove, Checkpoint, Mail, MailContext, MailId, Move, NewAction, NewRun, NodeName, RecordedReply,
    ReplyJson, RunRecord, RunState, TaskId, run::STATE_SCHEMA,
};

pub struct ActiveRun {
    pub(super) identity: RunIdentity,
    pub(super) mail: Option<Arc<Mail>>,
    pub(super) task_id: Option<TaskId>,
    /// The number of the last checkpoint, and the node that is visited next.
    pub(super) seq: u32,
    pub(super) node: NodeName,
    pub(super) state: RunState,
    /// The revision of the task that this run knows; none until the task is read.
    pub(super) task_revision: Option<i64>,
    pub(super) phase: Phase,
    pub(super) gathered: Gathered,
    pub(super) reply_log: ReplyLog,
    /// The checkpoint for which a model was called before this process began.
    pub(super) model_checkpoint: Option<u32>,
    /// The checkpoint by which this run is ahead of the disk.
    pub(super) in_flight_checkpoint: Option<InFlightCheckpoint>,
    /// The runs that stored checkpoints of this run have opened.
    pub(super) children: Vec<ActiveRun>,
}

/// What a run needs before it visits its next node.
pub(super) enum Phase {
    /// Nothing.
    Ready,
    /// The outcome of an effect; `planned` is that effect as it was planned a moment ago, while it is still in memory.
    AwaitingEffect { action_id: ActionId, planned: Option<Arc<NewAction>> },
}

impl Phase {
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

    /// Forgets the effect as it was planned: what is stored counts from now on.
    pub(super) fn forget_plan(&mut self) {
        if let Self::AwaitingEffect { planned, .. } = self {
            *planned = None;
        }
    }
}

/// What was gathered since the last checkpoint and is stored with the next one.
#[derive(Default)]
pub(super) struct Gathered {
    /// Replies that the node of the next visit is given before it asks for them.
    pub(super) prefilled: Vec<(Call, ReplyJson)>,
    pub(super) replies: Vec<RecordedReply>,
    /// The last move of the effect that the run waited for.
    pub(super) action_move: Option<Box<ActionMove>>,
}

/// The replies a run has on record, and how often each question was asked. A run asks a handful.
#[derive(Default)]
pub(super) struct ReplyLog {
    recorded: Vec<RecordedReply>,
    call_counts: Vec<(NodeName, String, u32)>,
}

impl ReplyLog {
    /// The ordinal of this asking, and the reply if it is on record.
    pub(super) fn register_call(&mut self, node: NodeName, hash: &str) -> (u32, Option<ReplyJson>) {
        let known = self.call_counts.iter().find(|(asker, asked, _)| *asker == node && asked == hash);
        let ordinal = known.map_or(0, |(.., times)| *times);
        self.raise_call_count(node, hash, ordinal + 1);
        let same = |reply: &&RecordedReply| reply.node == node && reply.ordinal == ordinal && reply.input_hash == hash;
        (ordinal, self.recorded.iter().rev().find(same).map(|reply| reply.reply.clone()))
    }

    /// It was asked so many times, at least.
    fn raise_call_count(&mut self, node: NodeName, hash: &str, least: u32) {
        match self.call_counts.iter_mut().find(|(asker, asked, _)| *asker == node && asked == hash) {
            Some((.., times)) => *times = least.max(*times),
            None => self.call_counts.push((node, hash.to_owned(), least)),
        }
    }

    /// What was heard for a checkpoint that was refused may be why it was: it is asked again, and not heard from the record
    /// (a model's answer puts the replies before it on the disk).
    pub(super) fn discard_recorded(&mut self) {
        for reply in std::mem::take(&mut self.recorded) {
            self.mark_reply_used(&reply);
        }
    }

    /// Counts what the checkpoints so far have used.
    fn mark_reply_used(&mut self, reply: &RecordedReply) {
        self.raise_call_count(reply.node, &reply.input_hash, reply.ordinal + 1);
    }
}

impl ActiveRun {
    pub fn run_id(&self) -> crate::model::RunId {
        self.identity.run_id
    }

    /// At the head of its node, with nothing asked yet.
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

    /// For a run that was just opened: what it knows is what was stored.
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

    /// The run of a mail that just arrived. What the store knew when it took the mail in need not be asked again, unless
    /// the mail belongs to a conversation, whose tasks may have been opened since.
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

    /// A reply known before the node asks; recorded like any other.
    fn prefill_reply(&mut self, call: Call, value: ReplyJson) {
        // A call without a name is asked by the node, and fails there.
        let Ok(hash) = call.input_hash() else { return };
        let (ordinal, _) = self.reply_log.register_call(self.node, &hash);
        let reply = RecordedReply { node: self.node, input_hash: hash, ordinal, reply: value.clone(), call: None };
        self.gathered.replies.push(reply);
        self.gathered.prefilled.push((call, value));
    }

    /// Builds the state again from arrival and changes.
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
        // The task was read at some checkpoint; what it is now must be read anew.
        run.task_revision = None;
        for (seq, reply) in &record.replies {
            run.reply_log.recorded.push(reply.clone());
            if *seq <= row.seq && *seq > 0 {
                run.reply_log.mark_reply_used(reply);
            }
        }
        Ok(run)
    }

    /// Moves the run to where a checkpoint leads. The run is ahead of the store until that checkpoint is stored.
    pub(super) fn step_to(&mut self, node: NodeName, checkpoint: &Checkpoint) {
        self.seq += 1;
        self.node = node;
        let writes_task = checkpoint.changes.iter().any(|change| change.written_field().is_of_task());
        if let Some(revision) = self.task_revision.as_mut().filter(|_| writes_task) {
            *revision += 1;
        }
        self.phase = Phase::after(&checkpoint.next_move, checkpoint.action.clone());
    }

    /// Where a checkpoint began with the task read anew, that is the task its changes apply to.
    pub(super) fn restore_task(&mut self, record: &RunRecord, seq: u32) -> anyhow::Result<()> {
        let Some(task_id) = self.task_id else { return Ok(()) };
        let hash = Call::Task { task_id }.input_hash()?;
        let read = record.replies.iter().rev().find(|(at, reply)| *at == seq && reply.input_hash == hash);
        if let Some((_, reply)) = read {
            self.set_task(reply.reply.read::<CurrentTask>().context(UNREADABLE_REPLY)?);
        }
        Ok(())
    }

    pub(super) fn set_task(&mut self, now: CurrentTask) {
        self.state.task = Some(Arc::new(now.task));
        self.state.facts = Some(now.facts);
        self.state.hand_ranked = now.hand_ranked;
        self.task_revision = Some(now.revision);
    }

    /// Mails of one conversation are read one after the other, so that a follow-up finds the task before it.
    pub(super) fn queue_key(&self) -> Option<String> {
        let mail = self.mail.as_ref().filter(|_| self.node == NodeName::PlanStep && !self.identity.is_fork)?;
        Some(format!("{}\n{}", self.identity.account, mail.thread))
    }
}
