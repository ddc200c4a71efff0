//! The closed list of what can be written, and where each lands.

use std::sync::Arc;

use rusqlite::Connection;

use super::{
    error::{Result, StoreError},
    prepare::Prepared,
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

pub(super) fn perform(connection: &Connection, write: &Write, prepared: &Prepared) -> Result<Receipt> {
    match (write, prepared) {
        (Write::OpenAccount(account), _) => account::open(connection, account),
        (Write::SetMode { account, mode, at }, _) => account::set_mode(connection, account, *mode, *at),
        (Write::Arrivals(arrivals), Prepared::Arrivals(texts)) => {
            return ledger::arrive(connection, arrivals, texts).map(Receipt::Arrived);
        }
        (Write::OpenRun(new, at), _) => run::open(connection, new, *at),
        (Write::Checkpoint(checkpoint), Prepared::Checkpoint(text)) => run::checkpoint(connection, checkpoint, text),
        (Write::EndRun { run_id, status, reason, at }, _) => run::end(connection, *run_id, *status, reason, *at),
        (Write::MoveAction(action), _) => outbox::advance(connection, action),
        (Write::EditTask(edit), _) => return task_edit::edit(connection, edit).map(Receipt::Task),
        (Write::Rerank(rerank), _) => task_edit::rerank(connection, rerank),
        (Write::EditMail(edit), _) => return ledger::edit(connection, edit).map(Receipt::Runs),
        (Write::Decide(decision), _) => return decision::decide(connection, decision).map(Receipt::Runs),
        (Write::Ask { kind, at }, _) => return request::ask(connection, kind, *at).map(Receipt::Number),
        (Write::Answer { request, answer }, _) => request::answer(connection, *request, answer.as_deref()),
        (Write::RemindersShown { actions, at }, _) => reminder::shown(connection, actions, *at),
        (Write::Setting { name, value }, _) => setting::set(connection, name, value),
        (Write::Reindex, _) => search::rebuild(connection),
        (Write::Checkpoint(_) | Write::Arrivals(_), _) => Err(StoreError::Refused("it was not prepared".into())),
    }
    .map(|()| Receipt::Done)
}
