//! The closed list of what can be written, and where each lands.

use std::sync::Arc;

use rusqlite::Connection;

use super::{
    error::Result,
    table::{account, decision, ledger, outbox, reminder, request, run, search, setting, task_edit},
    value::{Account, ActionMove, Arrivals, Arrived, Checkpoint, Decision, MailEdit, NewRun, Rerank, TaskEdit},
};
use crate::model::{AccountId, AccountMode, ActionId, Instant, RunId, RunStatus, TaskId};

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

pub(super) fn perform(connection: &Connection, write: &Write) -> Result<Receipt> {
    match write {
        Write::OpenAccount(account) => account::open(connection, account),
        Write::SetMode { account, mode, at } => account::set_mode(connection, account, *mode, *at),
        Write::Arrivals(arrivals) => return ledger::arrive(connection, arrivals).map(Receipt::Arrived),
        Write::OpenRun(new, at) => run::open(connection, new, *at),
        Write::Checkpoint(checkpoint) => run::checkpoint(connection, checkpoint),
        Write::EndRun { run_id, status, reason, at } => run::end(connection, *run_id, *status, reason, *at),
        Write::MoveAction(action) => outbox::advance(connection, action),
        Write::EditTask(edit) => return task_edit::edit(connection, edit).map(Receipt::Task),
        Write::Rerank(rerank) => task_edit::rerank(connection, rerank),
        Write::EditMail(edit) => return ledger::edit(connection, edit).map(Receipt::Runs),
        Write::Decide(decision) => return decision::decide(connection, decision).map(Receipt::Runs),
        Write::Ask { kind, at } => return request::ask(connection, kind, *at).map(Receipt::Number),
        Write::Answer { request, answer } => request::answer(connection, *request, answer.as_deref()),
        Write::RemindersShown { actions, at } => reminder::shown(connection, actions, *at),
        Write::Setting { name, value } => setting::set(connection, name, value),
        Write::Reindex => search::rebuild(connection),
    }
    .map(|()| Receipt::Done)
}
