//! Teams, their agents, and everything that the agents know. Messages and events are only added.

mod read;

use rusqlite::{Connection, params};

pub use read::TeamReader;

use super::{approval::item, execute, query_optional, run::model_call};
use crate::{
    model::{
        AccountId, AgentId, AgentRow, AgentState, Instant, ItemId, ItemState, NewItem, NewTeam, TeamChange, TeamId,
        TeamState, TeamUpdate, TeamWrite, TodoItem, UserId,
    },
    store::{
        Receipt,
        error::{Result, StoreError},
    },
};

/// Whose items are those of a team that reads all accounts.
const EVERY_ACCOUNT: &str = "local";

/// Performs a write about teams.
pub(in crate::store) fn perform_write(connection: &Connection, write: &TeamWrite) -> Result<Receipt> {
    match write {
        TeamWrite::Open(new) => open(connection, new).map(Receipt::Number),
        TeamWrite::Update(update) => apply_update(connection, update).map(|()| Receipt::Done),
        TeamWrite::AddInput { team_id, input, at } => add_input(connection, *team_id, input, *at).map(Receipt::Number),
    }
}

/// Adds a team. Returns its number. A team that a person must agree to is proposed, with its question in the queue.
fn open(connection: &Connection, new: &NewTeam) -> Result<i64> {
    let account = new.account.clone().unwrap_or_else(|| AccountId::from(EVERY_ACCOUNT));
    if let Some(question) = &new.question {
        item::open(connection, question, &account, &new.user, None, new.at)?;
    }
    let state = if new.question.is_some() { TeamState::Proposed } else { TeamState::Requested };
    let sql = "INSERT INTO team (team_id, number, user_id, account, request, origin, task_id, item_id, state, created_at, updated_at)
               VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM team), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)
               ON CONFLICT DO NOTHING";
    let values = params![
        new.team_id.to_string(),
        new.user.as_str(),
        new.account.as_ref().map(AccountId::as_str),
        new.request,
        new.origin.as_str(),
        new.task_id.map(|id| id.to_string()),
        new.question.as_ref().map(|item| item.item_id.to_string()),
        state.as_str(),
        new.at.to_string(),
    ];
    execute(connection, sql, values, "opening a team")?;
    let sql = "SELECT number FROM team WHERE team_id = ?1";
    let number = query_optional(connection, sql, [new.team_id.to_string()], "numbering a team", |row| row.get(0))?;
    number.ok_or_else(|| StoreError::Refused("the task has a team already".into()))
}

/// Leaves an input for the process that works the team. Returns its number.
fn add_input(connection: &Connection, team_id: TeamId, input: &str, at: Instant) -> Result<i64> {
    let sql = "INSERT INTO team_input (team_id, input, at) VALUES (?1, ?2, ?3)";
    execute(connection, sql, (team_id.to_string(), input, at.to_string()), "saying something to a team")?;
    Ok(connection.last_insert_rowid())
}

/// Applies the changes of a team in their order.
fn apply_update(connection: &Connection, update: &TeamUpdate) -> Result<()> {
    update.changes.iter().try_for_each(|change| apply_change(connection, update.team_id, change, update.at))
}

fn apply_change(connection: &Connection, team_id: TeamId, change: &TeamChange, at: Instant) -> Result<()> {
    let team = team_id.to_string();
    let now = at.to_string();
    match change {
        TeamChange::SetState(state) => {
            let sql = "UPDATE team SET state = ?2, updated_at = ?3 WHERE team_id = ?1";
            execute(connection, sql, (team, state.as_str(), now), "moving a team").map(drop)
        }
        TeamChange::AddAgent(agent) => add_agent(connection, &team, agent, &now),
        TeamChange::SetAgentState { agent, state, result } => {
            set_agent_state(connection, *agent, *state, result.as_deref(), &now)
        }
        TeamChange::AddMessage { agent, content } => {
            let sql = "INSERT INTO team_message (agent_id, position, content, at)
                       VALUES (?1, (SELECT coalesce(max(position), 0) + 1 FROM team_message WHERE agent_id = ?1), ?2, ?3)";
            execute(connection, sql, (agent.to_string(), content, now), "adding a message of an agent").map(drop)
        }
        TeamChange::PostMessage { agent, content } => {
            let sql = "INSERT INTO team_message (agent_id, content, at) VALUES (?1, ?2, ?3)";
            execute(connection, sql, (agent.to_string(), content, now), "leaving a message for an agent").map(drop)
        }
        TeamChange::DeliverMessages { agent } => deliver_messages(connection, *agent),
        TeamChange::ReplaceTodos(todos) => replace_todos(connection, &team, todos),
        TeamChange::AddEvent(event) => {
            let sql = "INSERT INTO team_event (team_id, seq, at, event)
                       VALUES (?1, (SELECT coalesce(max(seq), 0) + 1 FROM team_event WHERE team_id = ?1), ?2, ?3)";
            execute(connection, sql, (team, now, event), "recording what happened in a team").map(drop)
        }
        TeamChange::AddHandle(handle) => {
            let sql = "INSERT INTO team_handle (team_id, handle, target, name) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
            execute(connection, sql, (team, &handle.handle, &handle.target, &handle.name), "adding a handle").map(drop)
        }
        TeamChange::TakeInput(input) => take_input(connection, *input),
        TeamChange::RecordModelCall(call) => model_call::record_model_call(connection, call),
        TeamChange::AskInQueue { agent, item } => ask_in_queue(connection, &team, *agent, item, at),
        TeamChange::CloseQuestion { agent, item, why } => close_question(connection, *agent, *item, why, at),
    }
}

fn add_agent(connection: &Connection, team: &str, agent: &AgentRow, now: &str) -> Result<()> {
    let sql = "INSERT INTO team_agent (agent_id, team_id, number, parent_id, task, expected_format, state, started_at, updated_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)";
    let values = params![
        agent.agent_id.to_string(),
        team,
        agent.number,
        agent.agent_type.parent_id().map(|id| id.to_string()),
        agent.task,
        agent.expected_format,
        agent.state.as_str(),
        now,
    ];
    execute(connection, sql, values, "adding an agent").map(drop)
}

fn set_agent_state(
    connection: &Connection,
    agent: AgentId,
    state: AgentState,
    result: Option<&str>,
    now: &str,
) -> Result<()> {
    let sql = "UPDATE team_agent SET state = ?2, result = coalesce(?3, result), updated_at = ?4 WHERE agent_id = ?1";
    execute(connection, sql, (agent.to_string(), state.as_str(), result, now), "moving an agent").map(drop)
}

/// Gives the messages that wait for an agent their places at the end of its conversation.
fn deliver_messages(connection: &Connection, agent: AgentId) -> Result<()> {
    let sql = "UPDATE team_message SET position =
                   (SELECT coalesce(max(d.position), 0) + 1 FROM team_message d WHERE d.agent_id = ?1)
               WHERE message_id = (SELECT min(message_id) FROM team_message WHERE agent_id = ?1 AND position IS NULL)";
    // One at a time: the place of each depends on those before it.
    while execute(connection, sql, [agent.to_string()], "delivering messages to an agent")? > 0 {}
    Ok(())
}

fn replace_todos(connection: &Connection, team: &str, todos: &[TodoItem]) -> Result<()> {
    execute(connection, "DELETE FROM team_todo WHERE team_id = ?1", [team], "replacing a todo list")?;
    let sql = "INSERT INTO team_todo (team_id, position, content, active_form, status) VALUES (?1, ?2, ?3, ?4, ?5)";
    (1_u32..).zip(todos).try_for_each(|(position, todo)| {
        let values = (team, position, &todo.content, &todo.active_form, todo.status.as_str());
        execute(connection, sql, values, "replacing a todo list").map(drop)
    })
}

/// Marks an input as taken. Refused when it was taken before, so that no input has its effect twice.
fn take_input(connection: &Connection, input: i64) -> Result<()> {
    let sql = "UPDATE team_input SET taken = 1 WHERE input_id = ?1 AND taken = 0";
    if execute(connection, sql, [input], "taking what was said to a team")? == 0 {
        return Err(StoreError::Refused("what was said to the team was taken already".into()));
    }
    Ok(())
}

fn ask_in_queue(connection: &Connection, team: &str, agent: AgentId, new: &NewItem, at: Instant) -> Result<()> {
    let sql = "SELECT user_id, account FROM team WHERE team_id = ?1";
    let owner = query_optional(connection, sql, [team], "finding whose team it is", |row| {
        let account = row.get::<_, Option<String>>(1)?.unwrap_or_else(|| EVERY_ACCOUNT.to_owned());
        Ok((UserId(row.get(0)?), AccountId(account)))
    })?;
    let (user, account) = owner.ok_or_else(|| StoreError::NotFound(format!("team {team}")))?;
    item::open(connection, new, &account, &user, None, at)?;
    set_question(connection, agent, Some(new.item_id))
}

/// Forgets an agent's question, and closes its item if nobody has answered it.
fn close_question(connection: &Connection, agent: AgentId, item_id: ItemId, why: &str, at: Instant) -> Result<()> {
    item::close(connection, item_id, ItemState::Void, why, at)?;
    set_question(connection, agent, None)
}

fn set_question(connection: &Connection, agent: AgentId, item_id: Option<ItemId>) -> Result<()> {
    let sql = "UPDATE team_agent SET item_id = ?2 WHERE agent_id = ?1";
    execute(connection, sql, (agent.to_string(), item_id.map(|id| id.to_string())), "noting a question").map(drop)
}
