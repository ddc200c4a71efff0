//! Plans: rows that mirror the plan in the context of a task, and where its steps stand.
//!
//! They are written in the transaction that writes the task, and derived from it. Nothing else writes them.

use rusqlite::{Connection, Row};

use crate::{
    model::{PlanRow, PlanStatus, PlanStepRow, Task, TaskId, TaskPlan, TaskStatus},
    store::{
        error::{Result, StoreContext},
        table::{
            decode_json_column, execute, json_extract_sql, parse_column, query_first_readable, query_optional,
            query_readable,
        },
    },
};

/// Writes the rows of a task's plan anew, as far as they differ. A task without a plan has none.
pub(super) fn mirror_plan(connection: &Connection, task: &Task) -> Result<()> {
    let Some(plan) = TaskPlan::of_context(&task.context) else { return Ok(()) };
    let row = PlanRow::of_task(&plan, task);
    let id = task.task_id.to_string();
    let sql =
        "INSERT INTO plan (task_id, original_request, origin, score, reasons, status, execution_summary, updated_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
               ON CONFLICT (task_id) DO UPDATE SET origin = excluded.origin, status = excluded.status,
                   execution_summary = excluded.execution_summary, updated_at = excluded.updated_at";
    let values = (
        &id,
        &row.original_request,
        row.origin.as_str(),
        row.score,
        serde_json::to_string(&row.reasons).context("encoding reasons")?,
        row.status.as_str(),
        &row.execution_summary,
        task.last_updated.to_string(),
    );
    execute(connection, sql, values, "storing a plan")?;
    for (row, step) in row.steps.iter().zip(&plan.steps) {
        let arguments = step.call.as_ref().map(|call| serde_json::to_string(&call.arguments)).transpose();
        let arguments = arguments.context("encoding arguments")?.unwrap_or_else(|| "{}".to_owned());
        store_step(connection, &id, row, &arguments)?;
    }
    Ok(())
}

fn store_step(connection: &Connection, task_id: &str, row: &PlanStepRow, arguments: &str) -> Result<()> {
    let sql = "INSERT INTO plan_step (task_id, step_number, description, instruction, tool, arguments, after, status, result, error_message)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
               ON CONFLICT (task_id, step_number) DO UPDATE SET tool = excluded.tool, arguments = excluded.arguments, after = excluded.after,
                   status = excluded.status, result = excluded.result, error_message = excluded.error_message
               WHERE status IS NOT excluded.status OR result IS NOT excluded.result OR tool IS NOT excluded.tool OR after IS NOT excluded.after";
    let values = (
        task_id,
        row.step_number,
        &row.description,
        &row.instruction,
        &row.tool,
        arguments,
        serde_json::to_string(&row.after).context("encoding an order")?,
        row.status.as_str(),
        &row.result,
        &row.error_message,
    );
    execute(connection, sql, values, "storing a step").map(drop)
}

/// Moves the plan of a task along with a transition of the task.
pub(super) fn move_plan(connection: &Connection, task_id: TaskId, to: TaskStatus, at: &str) -> Result<()> {
    let status = match to {
        TaskStatus::Done => PlanStatus::Completed,
        TaskStatus::Cancelled => PlanStatus::Cancelled,
        TaskStatus::InProgress => PlanStatus::InProgress,
        TaskStatus::New | TaskStatus::Ready | TaskStatus::WaitingHitl => return Ok(()),
    };
    let sql = "UPDATE plan SET status = ?2, updated_at = ?3 WHERE task_id = ?1";
    execute(connection, sql, (task_id.to_string(), status.as_str(), at), "moving a plan").map(drop)
}

/// Queries of plans.
#[derive(Clone, Copy)]
pub struct PlanReader<'a>(pub(in crate::store) &'a Connection);

impl PlanReader<'_> {
    /// Returns the plan of a task with its steps; none when the task has no plan.
    pub fn of_task(self, task_id: TaskId) -> Result<Option<PlanRow>> {
        let sql = format!("{PLAN_COLUMNS} WHERE task_id = ?1");
        let found = query_optional(self.0, &sql, [task_id.to_string()], "reading a plan", plan_row)?;
        found.map(|plan| self.with_steps(plan)).transpose()
    }

    /// Returns the newest plan that has not ended; none when there is none.
    pub fn newest_open(self) -> Result<Option<PlanRow>> {
        let sql = format!("{PLAN_COLUMNS} WHERE status NOT IN ('completed', 'cancelled') ORDER BY task_id DESC");
        let found = query_first_readable(self.0, &sql, [], "reading a plan", plan_row)?;
        found.map(|plan| self.with_steps(plan)).transpose()
    }

    /// Returns the newest plans with the numbers of their tasks, without their steps.
    pub fn newest(self, skipped: usize, limit: usize) -> Result<Vec<(PlanRow, Option<i64>)>> {
        let sql = "SELECT p.task_id, original_request, origin, score, reasons, status, execution_summary, o.number
                   FROM plan p LEFT JOIN task_owner o USING (task_id) ORDER BY p.task_id DESC LIMIT ?1 OFFSET ?2";
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let values = (number(limit), number(skipped));
        query_readable(self.0, sql, values, "listing plans", |row| Ok((plan_row(row)?, row.get(7)?)))
    }

    fn with_steps(self, mut plan: PlanRow) -> Result<PlanRow> {
        let sql = "SELECT step_number, description, instruction, tool, after, status, result, error_message
                   FROM plan_step WHERE task_id = ?1 ORDER BY step_number";
        plan.steps = query_readable(self.0, sql, [plan.task_id.to_string()], "reading steps", |row| {
            Ok(PlanStepRow {
                step_number: row.get(0)?,
                description: row.get(1)?,
                instruction: row.get(2)?,
                tool: row.get(3)?,
                after: decode_json_column(row, 4)?,
                status: parse_column(row, 5)?,
                result: row.get(6)?,
                error_message: row.get(7)?,
            })
        })?;
        Ok(plan)
    }

    /// Returns the numbers of the steps of a plan whose runs are under way.
    pub fn running_steps(self, task_id: TaskId) -> Result<Vec<u32>> {
        let number = json_extract_sql("i.state", "$.plan_step");
        let sql = format!(
            "SELECT {number} FROM run r JOIN run_input i USING (run_id)
             WHERE r.task_id = ?1 AND r.status = 'running' AND r.kind IN ('step', 'decision') AND {number} IS NOT NULL"
        );
        query_readable(self.0, &sql, [task_id.to_string()], "reading running steps", |row| row.get(0))
    }

    /// Returns whether a run of the task is under way.
    pub fn has_running_run(self, task_id: TaskId) -> Result<bool> {
        let sql = "SELECT 1 FROM run WHERE task_id = ?1 AND status = 'running' LIMIT 1";
        Ok(query_optional(self.0, sql, [task_id.to_string()], "reading runs", |_| Ok(()))?.is_some())
    }
}

const PLAN_COLUMNS: &str =
    "SELECT task_id, original_request, origin, score, reasons, status, execution_summary FROM plan";

fn plan_row(row: &Row<'_>) -> rusqlite::Result<PlanRow> {
    Ok(PlanRow {
        task_id: parse_column(row, 0)?,
        original_request: row.get(1)?,
        origin: parse_column(row, 2)?,
        score: row.get(3)?,
        reasons: decode_json_column(row, 4)?,
        status: parse_column(row, 5)?,
        execution_summary: row.get(6)?,
        steps: Vec::new(),
    })
}
