//! The closed list of what can be written, and where each lands.

use std::sync::Arc;

use super::{
    error::{Result, StoreError},
    prepare::Prepared,
    session::Session,
    table::{
        account, approval, decision, item, ledger, model_call, outbox, reminder, request, run, search, setting,
        task_edit,
    },
    value::{
        Account, ActionEdit, ActionMove, Arrivals, Arrived, Checkpoint, Decision, MailEdit, NewModelCall, NewRun,
        Rejudged, Rerank, TaskEdit,
    },
};
use crate::model::{AccountId, AccountMode, ActionId, Instant, ItemId, RunId, RunStatus, TaskId};

#[derive(Debug, Clone)]
pub enum Write {
    OpenAccount(Account),
    SetMode {
        account: AccountId,
        mode: AccountMode,
        at: Instant,
    },
    Arrivals(Box<Arrivals>),
    OpenRun(Box<NewRun>, Instant),
    Checkpoint(Arc<Checkpoint>),
    EndRun {
        run_id: RunId,
        status: RunStatus,
        reason: String,
        at: Instant,
    },
    MoveAction(Box<ActionMove>),
    EditTask(Box<TaskEdit>),
    Rerank(Box<Rerank>),
    EditMail(Box<MailEdit>),
    Decide(Box<Decision>),
    EditAction(Box<ActionEdit>),
    Rejudge(Box<Rejudged>),
    SnoozeItem {
        item_id: ItemId,
        until: Option<Instant>,
        at: Instant,
    },
    /// Takes an approval back while its grace runs.
    TakeBack {
        item_id: ItemId,
        who: String,
        at: Instant,
    },
    /// What waited too long is void; timeout means no.
    Expire {
        at: Instant,
    },
    ItemsReminded {
        items: Vec<ItemId>,
        at: Instant,
    },
    /// What a model said and what it cost, before anybody uses it.
    HearModel(Box<NewModelCall>),
    /// A run that cannot go on now.
    SetAside {
        run_id: RunId,
        reason: String,
        until: Instant,
        at: Instant,
    },
    /// Holds every effect, or lets them go.
    Pause {
        on: bool,
        at: Instant,
    },
    /// The database was restored: approvals are void, open effects are in doubt and accounts observe.
    Epoch {
        epoch: i64,
        at: Instant,
    },
    /// The line before an effect is taken back, and the one after.
    Undo {
        action_id: ActionId,
        done: bool,
        at: Instant,
    },
    Ask {
        kind: String,
        at: Instant,
    },
    Answer {
        request: i64,
        answer: Option<String>,
    },
    RemindersShown {
        actions: Vec<ActionId>,
        at: Instant,
    },
    Setting {
        name: String,
        value: String,
    },
    /// Builds the search index anew from what is stored.
    Reindex,
}

impl Write {
    /// Every kind of write, by the name its places to die have.
    pub const NAMES: &'static [&'static str] = &[
        "open_account",
        "set_mode",
        "arrivals",
        "open_run",
        "checkpoint",
        "end_run",
        "move_action",
        "edit_task",
        "rerank",
        "edit_mail",
        "decide",
        "edit_action",
        "rejudge",
        "snooze_item",
        "take_back",
        "expire",
        "items_reminded",
        "hear_model",
        "set_aside",
        "pause",
        "epoch",
        "undo",
        "ask",
        "answer",
        "reminders_shown",
        "setting",
        "reindex",
    ];

    pub const fn name(&self) -> &'static str {
        match self {
            Self::OpenAccount(..) => "open_account",
            Self::SetMode { .. } => "set_mode",
            Self::Arrivals(..) => "arrivals",
            Self::OpenRun(..) => "open_run",
            Self::Checkpoint(..) => "checkpoint",
            Self::EndRun { .. } => "end_run",
            Self::MoveAction(..) => "move_action",
            Self::EditTask(..) => "edit_task",
            Self::Rerank(..) => "rerank",
            Self::EditMail(..) => "edit_mail",
            Self::Decide(..) => "decide",
            Self::EditAction(..) => "edit_action",
            Self::Rejudge(..) => "rejudge",
            Self::SnoozeItem { .. } => "snooze_item",
            Self::TakeBack { .. } => "take_back",
            Self::Expire { .. } => "expire",
            Self::ItemsReminded { .. } => "items_reminded",
            Self::HearModel(..) => "hear_model",
            Self::SetAside { .. } => "set_aside",
            Self::Pause { .. } => "pause",
            Self::Epoch { .. } => "epoch",
            Self::Undo { .. } => "undo",
            Self::Ask { .. } => "ask",
            Self::Answer { .. } => "answer",
            Self::RemindersShown { .. } => "reminders_shown",
            Self::Setting { .. } => "setting",
            Self::Reindex => "reindex",
        }
    }
}

/// What the writer has to say about a committed write.
#[derive(Debug, Clone, PartialEq)]
pub enum Receipt {
    Done,
    Arrived(Vec<Arrived>),
    Number(i64),
    Task(TaskId),
    /// The runs the write opened.
    Runs(Vec<RunId>),
}

impl Write {
    /// Where most of it lands, for those who write many at once.
    pub(super) fn place(&self) -> Option<RunId> {
        match self {
            Write::Checkpoint(point) => Some(point.run_id),
            Write::OpenRun(new, _) => Some(new.run_id),
            _ => None,
        }
    }
}

pub(super) fn perform(session: &Session, write: &Write, prepared: &Prepared) -> Result<Receipt> {
    match (write, prepared) {
        (Write::OpenAccount(account), _) => account::open(session, account),
        (Write::SetMode { account, mode, at }, _) => account::set_mode(session, account, *mode, *at),
        (Write::Arrivals(arrivals), Prepared::Arrivals(texts)) => {
            return ledger::arrive(session, arrivals, texts).map(Receipt::Arrived);
        }
        (Write::OpenRun(new, at), Prepared::Run(state)) => run::open(session, new, state, *at),
        (Write::Checkpoint(checkpoint), Prepared::Checkpoint(text)) => run::checkpoint(session, checkpoint, text),
        (Write::EndRun { run_id, status, reason, at }, _) => run::end(session, *run_id, *status, reason, *at),
        (Write::MoveAction(action), _) => outbox::advance(session, action),
        (Write::EditTask(edit), _) => return task_edit::edit(session, edit).map(Receipt::Task),
        (Write::Rerank(rerank), _) => task_edit::rerank(session, rerank),
        (Write::EditMail(edit), _) => return ledger::edit(session, edit).map(Receipt::Runs),
        (Write::Decide(decision), _) => return decision::decide(session, decision).map(Receipt::Runs),
        (Write::EditAction(edit), _) => approval::edit(session, edit),
        (Write::Rejudge(judged), _) => approval::rejudge(session, judged),
        (Write::SnoozeItem { item_id, until, at }, _) => item::snooze(session, *item_id, *until, *at),
        (Write::TakeBack { item_id, who, at }, _) => approval::take_back(session, *item_id, who, *at),
        (Write::Expire { at }, _) => return decision::expire(session, *at).map(Receipt::Runs),
        (Write::ItemsReminded { items, at }, _) => item::reminded(session, items, *at),
        (Write::HearModel(call), _) => model_call::hear(session, call),
        (Write::SetAside { run_id, reason, until, at }, _) => run::set_aside(session, *run_id, reason, *until, *at),
        (Write::Pause { on, at }, _) => setting::pause(session, *on, *at),
        (Write::Epoch { epoch, at }, _) => approval::epoch(session, *epoch, *at),
        (Write::Undo { action_id, done, at }, _) => approval::undo(session, *action_id, *done, *at),
        (Write::Ask { kind, at }, _) => return request::ask(session, kind, *at).map(Receipt::Number),
        (Write::Answer { request, answer }, _) => request::answer(session, *request, answer.as_deref()),
        (Write::RemindersShown { actions, at }, _) => reminder::shown(session, actions, *at),
        (Write::Setting { name, value }, _) => setting::set(session, name, value),
        (Write::Reindex, _) => search::rebuild(session),
        (Write::Checkpoint(_) | Write::Arrivals(_) | Write::OpenRun(..), _) => {
            Err(StoreError::Refused("it was not prepared".into()))
        }
    }
    .map(|()| Receipt::Done)
}
