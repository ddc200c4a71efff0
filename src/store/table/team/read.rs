//! Queries of teams.

use rusqlite::{Connection, Row};

use crate::{
    model::{AccountId, AgentId, AgentRow, AgentType, Instant, TaskId, TeamHandle, TeamId, TeamRow, TodoItem, UserId},
    store::{
        error::Result,
        table::{parse_column, parse_optional_column, query_all, query_optional, query_readable},
    },
};

const TEAM_COLUMNS: &str = "SELECT team_id, number, user_id, account, request, origin, task_id, item_id, state, created_at, updated_at FROM team";

fn team_row(row: &Row<'_>) -> rusqlite::Result<TeamRow> {
    Ok(TeamRow {
        team_id: parse_column(row, 0)?,
        number: row.get(1)?,
        user: UserId(row.get(2)?),
        account: row.get::<_, Option<String>>(3)?.map(AccountId),
        request: row.get(4)?,
        origin: parse_column(row, 5)?,
        task_id: parse_optional_column(row, 6)?,
        item_id: parse_optional_column(row, 7)?,
        state: parse_column(row, 8)?,
        created_at: parse_column(row, 9)?,
        updated_at: parse_column(row, 10)?,
    })
}

fn agent_row(row: &Row<'_>) -> rusqlite::Result<AgentRow> {
    let parent: Option<AgentId> = parse_optional_column(row, 2)?;
    Ok(AgentRow {
        agent_id: parse_column(row, 0)?,
        number: row.get(1)?,
        agent_type: parent.map_or(AgentType::TaskManager, |parent_id| AgentType::TaskWorker { parent_id }),
        task: row.get(3)?,
        expected_format: row.get(4)?,
        state: parse_column(row, 5)?,
        item_id: parse_optional_column(row, 6)?,
        result: row.get(7)?,
    })
}

/// Queries of teams, their agents, and what the agents know.
#[derive(Clone, Copy)]
pub struct TeamReader<'a>(pub(in crate::store) &'a Connection);

impl TeamReader<'_> {
    pub fn get(self, team_id: TeamId) -> Result<Option<TeamRow>> {
        let sql = format!("{TEAM_COLUMNS} WHERE team_id = ?1");
        query_optional(self.0, &sql, [team_id.to_string()], "reading a team", team_row)
    }

    /// Returns the team that a person names by this number.
    pub fn by_number(self, number: i64) -> Result<Option<TeamRow>> {
        let sql = format!("{TEAM_COLUMNS} WHERE number = ?1");
        query_optional(self.0, &sql, [number], "finding a team", team_row)
    }

    /// Returns the team of a task.
    pub fn of_task(self, task_id: TaskId) -> Result<Option<TeamRow>> {
        let sql = format!("{TEAM_COLUMNS} WHERE task_id = ?1");
        query_optional(self.0, &sql, [task_id.to_string()], "finding the team of a task", team_row)
    }

    /// Returns the newest teams, the newest first.
    pub fn list(self, limit: usize) -> Result<Vec<TeamRow>> {
        let sql = format!("{TEAM_COLUMNS} ORDER BY number DESC LIMIT ?1");
        query_readable(self.0, &sql, [i64::try_from(limit).unwrap_or(i64::MAX)], "listing teams", team_row)
    }

    /// Returns the teams that wait for a process or for a person's consent, and those to which something was said that
    /// had no effect yet, the oldest first.
    pub fn open(self) -> Result<Vec<TeamRow>> {
        let sql = format!(
            "{TEAM_COLUMNS} WHERE state IN ('proposed', 'requested', 'running')
                OR team_id IN (SELECT team_id FROM team_input WHERE taken = 0) ORDER BY number"
        );
        query_readable(self.0, &sql, [], "finding teams to work", team_row)
    }

    /// Returns the open tasks that a team may work and that have none yet.
    pub fn tasks_without_team(self) -> Result<Vec<TaskId>> {
        let sql =
            "SELECT task_id FROM tasks WHERE assigned_agent = 'TaskManager' AND status NOT IN ('DONE', 'CANCELLED')
                   AND task_id NOT IN (SELECT task_id FROM team WHERE task_id IS NOT NULL) ORDER BY task_id";
        query_readable(self.0, sql, [], "finding tasks for teams", |row| parse_column(row, 0))
    }

    /// Returns the agents of a team, the manager first.
    pub fn agents(self, team_id: TeamId) -> Result<Vec<AgentRow>> {
        let sql = "SELECT agent_id, number, parent_id, task, expected_format, state, item_id, result FROM team_agent
                   WHERE team_id = ?1 ORDER BY number";
        query_all(self.0, sql, [team_id.to_string()], "reading the agents of a team", agent_row)
    }

    /// Returns the conversation of an agent as JSON: what was delivered, and what waits for its next turn.
    pub fn messages(self, agent: AgentId) -> Result<(Vec<String>, Vec<String>)> {
        let sql = "SELECT position, content FROM team_message WHERE agent_id = ?1
                   ORDER BY position IS NULL, position, message_id";
        let rows = query_all(self.0, sql, [agent.to_string()], "reading the messages of an agent", |row| {
            Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, String>(1)?))
        })?;
        let (delivered, waiting): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(position, _)| position.is_some());
        let content = |rows: Vec<(Option<i64>, String)>| rows.into_iter().map(|(_, content)| content).collect();
        Ok((content(delivered), content(waiting)))
    }

    pub fn todos(self, team_id: TeamId) -> Result<Vec<TodoItem>> {
        let sql = "SELECT content, active_form, status FROM team_todo WHERE team_id = ?1 ORDER BY position";
        query_all(self.0, sql, [team_id.to_string()], "reading a todo list", |row| {
            Ok(TodoItem { content: row.get(0)?, active_form: row.get(1)?, status: parse_column(row, 2)? })
        })
    }

    /// Returns the events of a team after a place, in their order, as JSON.
    pub fn events_after(self, team_id: TeamId, seq: i64) -> Result<Vec<(i64, Instant, String)>> {
        let sql = "SELECT seq, at, event FROM team_event WHERE team_id = ?1 AND seq > ?2 ORDER BY seq";
        query_all(self.0, sql, (team_id.to_string(), seq), "reading what happened in a team", |row| {
            Ok((row.get(0)?, parse_column(row, 1)?, row.get(2)?))
        })
    }

    pub fn handles(self, team_id: TeamId) -> Result<Vec<TeamHandle>> {
        let sql = "SELECT handle, target, name FROM team_handle WHERE team_id = ?1 ORDER BY handle";
        query_all(self.0, sql, [team_id.to_string()], "reading the handles of a team", |row| {
            Ok(TeamHandle { handle: row.get(0)?, target: row.get(1)?, name: row.get(2)? })
        })
    }

    /// Returns what was said to a team and had no effect yet, as JSON, in the order of arrival.
    pub fn open_inputs(self, team_id: TeamId) -> Result<Vec<(i64, String)>> {
        let sql = "SELECT input_id, input FROM team_input WHERE team_id = ?1 AND taken = 0 ORDER BY input_id";
        query_all(self.0, sql, [team_id.to_string()], "reading what was said to a team", |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
    }
}
