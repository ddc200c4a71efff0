//! Applies the changes that follow from a decision, in their order, in the transaction that records the decision.
//!
//! What a decision means is decided by [`crate::approval`]; nothing is decided here.

use rusqlite::Connection;

use crate::{
    approval::{self, DecisionChange, DecisionRunInput, TaskChange},
    model::{
        Action, Actor, Instant, ItemRow, ItemState, MailState, NewRun, NodeName, RunId, TaskId, TaskRow, TaskStatus,
    },
    store::{
        error::Result,
        prepared,
        table::{
            approval as approval_table,
            approval::item,
            execute,
            mail::ledger,
            nightly::rules_version,
            outbox, run,
            task::{self, facts},
        },
    },
};

/// The item that was decided, by whom and when.
#[derive(Clone, Copy)]
pub(in crate::store::table) struct DecisionCause<'a> {
    pub(in crate::store::table) item: &'a ItemRow,
    pub(in crate::store::table) who: Actor,
    pub(in crate::store::table) at: Instant,
}

/// Applies the changes in their order. Returns the runs that were opened by them.
pub(in crate::store::table) fn apply_changes(
    connection: &Connection,
    cause: DecisionCause<'_>,
    changes: &[DecisionChange<'_>],
) -> Result<Vec<RunId>> {
    let mut writer = ChangeWriter { connection, cause, task: None, runs: Vec::new() };
    changes.iter().try_for_each(|change| writer.apply(change))?;
    Ok(writer.runs)
}

/// Applies changes one after the other, and keeps the task between them.
struct ChangeWriter<'a> {
    connection: &'a Connection,
    cause: DecisionCause<'a>,
    /// The task as it is after the changes so far, so that a later change has its newest revision.
    task: Option<TaskRow>,
    runs: Vec<RunId>,
}

impl ChangeWriter<'_> {
    /// Applies one change. An error rolls the whole decision back.
    fn apply(&mut self, change: &DecisionChange<'_>) -> Result<()> {
        let (connection, DecisionCause { item, who, at }) = (self.connection, self.cause);
        match change {
            DecisionChange::VoidItem { why } => {
                item::close(connection, item.item_id, ItemState::Void, why, at).map(drop)
            }
            DecisionChange::ReopenItem => item::reopen(connection, item.item_id, at),
            DecisionChange::Grant(grant) => approval_table::grant(connection, grant, who),
            DecisionChange::Revoke { action, state } => {
                approval_table::revoke(connection, action.action_id, *state, at)
            }
            DecisionChange::VoidAction { action, why } => outbox::void(connection, action, why, who, at),
            DecisionChange::VoidActionsOfTask { row, why } => outbox::void_of_task(connection, row, (who, why), at),
            DecisionChange::VoidActionsOfStep { row, step, why } => {
                outbox::void_of_step(connection, (row, step), (who, why), at)
            }
            DecisionChange::MoveAction(mv) => outbox::advance(connection, mv),
            DecisionChange::RecordCorrection { action, kind, from, to, why } => {
                approval_table::record_correction(connection, action, *kind, (from, to), why, at)
            }
            DecisionChange::AuditAction { action, detail, act } => {
                outbox::append_audit(connection, action, detail, who, act, at)
            }
            DecisionChange::ResumeTask { task_id, why } => self.resume_task(*task_id, why),
            DecisionChange::SuspendTask { action, why } => self.suspend_task(action, why),
            DecisionChange::ChangeTask { task_id, changes } => self.change_task(*task_id, changes),
            DecisionChange::EndTask { row, to, why } => task::edit::transition_task(connection, row, *to, who, why, at),
            DecisionChange::OpenRun { task_id, step, node, approved } => {
                self.open_run(*task_id, step, *node, *approved)
            }
            DecisionChange::EndDecisionRuns { task_id, why } => end_decision_runs(connection, *task_id, why, at),
            DecisionChange::RejectProposal { why } => rules_version::reject_proposal(connection, item.item_id, why, at),
            DecisionChange::RetryMail(mail_id) => {
                self.runs.push(ledger::retry_mail(connection, *mail_id, &item.user, at)?);
                Ok(())
            }
            DecisionChange::CloseMail { mail_id, why } => {
                ledger::record_outcome(connection, *mail_id, MailState::NoTask, why, None, at)
            }
        }
    }

    /// Returns the task as of the changes so far, or reads it.
    fn take_task(&mut self, task_id: TaskId) -> Result<TaskRow> {
        match self.task.take() {
            Some(row) if row.task.task_id == task_id => Ok(row),
            _ => task::get(self.connection, task_id),
        }
    }

    /// Moves a task that waits for a person to `IN_PROGRESS`; any other task stays as it is.
    fn resume_task(&mut self, task_id: TaskId, why: &str) -> Result<()> {
        let row = self.take_task(task_id)?;
        if row.task.status != TaskStatus::WaitingHitl {
            self.task = Some(row);
            return Ok(());
        }
        let mv = task::StatusTransition {
            account: &row.account,
            from: row.task.status.as_str(),
            to: TaskStatus::InProgress,
            who: self.cause.who,
            why,
            at: self.cause.at,
        };
        task::set_status(self.connection, task_id, &mv)?;
        self.task = Some(task::get(self.connection, task_id)?);
        Ok(())
    }

    /// Moves a task in progress back to `WAITING_HITL`; any other task stays as it is.
    fn suspend_task(&self, action: &Action, why: &str) -> Result<()> {
        let task_id = outbox::task_of(action)?;
        let (from, _) = task::status_and_priority(self.connection, task_id)?;
        if from != TaskStatus::InProgress.as_str() {
            return Ok(());
        }
        let mv = task::StatusTransition {
            account: &action.account,
            from: &from,
            to: TaskStatus::WaitingHitl,
            who: self.cause.who,
            why,
            at: self.cause.at,
        };
        task::set_status(self.connection, task_id, &mv)
    }

    /// Applies changes to the fields of a task. Writes no new revision when nothing differs.
    fn change_task(&mut self, task_id: TaskId, changes: &[TaskChange]) -> Result<()> {
        let mut row = self.take_task(task_id)?;
        let mut is_changed = false;
        for change in changes {
            is_changed |= change.apply_to(&mut row.task);
        }
        if is_changed {
            row.task.last_updated = self.cause.at;
            task::update(self.connection, &row.task, row.revision, None)?;
            // The update has advanced the stored revision by one.
            row.revision += 1;
        }
        self.task = Some(row);
        Ok(())
    }

    /// Opens the run in which the task goes on. With an approved action, the run waits for exactly that effect.
    fn open_run(&mut self, task_id: TaskId, step: &str, node: NodeName, approved: Option<&Action>) -> Result<()> {
        let row = self.take_task(task_id)?;
        let item = self.cause.item;
        let because = (&*item.item_id.to_string(), item.run_id);
        let mut new = build_decision_run(self.connection, because, &row, step, node, self.cause.at)?;
        if let Some(action) = approved {
            new.state.generation = action.generation;
            new.state.decided = Some(action.action_id);
        }
        run::open(self.connection, &new, &prepared::encode_state(&new.state)?, self.cause.at)?;
        self.runs.push(new.run_id);
        self.task = Some(row);
        Ok(())
    }
}

/// Opens a run that does a step again because a person edited the task, without an item.
pub(in crate::store::table) fn open_step_run(
    connection: &Connection,
    row: &TaskRow,
    step: &str,
    at: Instant,
) -> Result<RunId> {
    let because = (&*row.task.task_id.to_string(), None);
    let new = build_decision_run(connection, because, row, step, NodeName::ExecuteTool, at)?;
    run::open(connection, &new, &prepared::encode_state(&new.state)?, at)?;
    Ok(new.run_id)
}

/// Reads what a decision run starts with, and returns it.
fn build_decision_run(
    connection: &Connection,
    (because, parent_run): (&str, Option<RunId>),
    row: &TaskRow,
    step: &str,
    node: NodeName,
    at: Instant,
) -> Result<NewRun> {
    let task_id = row.task.task_id;
    let entry = row.mail_id.map(|mail_id| ledger::read_entry(connection, mail_id)).transpose()?;
    Ok(approval::new_decision_run(DecisionRunInput {
        because,
        parent_run,
        row,
        step,
        node,
        generation: outbox::next_generation(connection, task_id, step)?,
        runs: run::count_of_task(connection, task_id)?,
        mail_key: entry.map(|entry| entry.source_key),
        facts: facts::of_task(connection, task_id)?,
        at,
    }))
}

/// Ends the decision runs of a task that are still running.
fn end_decision_runs(connection: &Connection, task_id: TaskId, why: &str, at: Instant) -> Result<()> {
    let sql = "UPDATE run SET status = 'overtaken', reason = ?2, updated_at = ?3
               WHERE task_id = ?1 AND status = 'running' AND kind = 'decision'";
    execute(connection, sql, (task_id.to_string(), why, at.to_string()), "ending a run").map(drop)
}
