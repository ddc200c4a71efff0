//! Reads every stored row as the type it stands for, to find and name the rows that lists skip.
//!
//! A column that is read as a type anywhere must be listed below. A column that is not in the list is plain text.

use std::{fmt::Display, str::FromStr};

use chrono::NaiveDate;
use rusqlite::types::ValueRef;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

use crate::{
    model::{
        AccountMode, Action, ActionId, Actor, Addressed, AgentId, AgentState, Change, ChatProfile, ChatRole,
        ComplexityReason, ConversationId, DecisionChannel, DecisionKind, Direction, FactsKind, Fingerprint, HeldKind,
        Instant, ItemId, ItemKind, ItemState, Mail, MailState, MailboxKind, Move, NodeName, OutboxState, PlanOrigin,
        PlanStatus, PlanStepStatus, Priority, Recurrence, RequestKind, RiskClass, RunId, RunKind, RunState, RunStatus,
        Subtask, TaskContext, TaskId, TaskStatus, TeamId, TeamOrigin, TeamState, TodoStatus, UnreadableRow,
        UnreadableRows, UrgencyOrigin,
        llm::{Outcome, Provider},
        nightly::{CorrectionKind, NightlyState},
    },
    store::{
        StoreReader,
        error::{Result, StoreContext as _},
    },
};

/// Returns why a text is not what its column stands for; none when it is.
type Check = fn(&str) -> Option<String>;

/// A table with the columns that are checked.
struct CheckedTable {
    name: &'static str,
    /// The SQL expression by which a person finds the row.
    key: &'static str,
    columns: &'static [(&'static str, Check)],
}

/// Checks a text column that is parsed as a type.
fn check_parses<T: FromStr<Err: Display>>(text: &str) -> Option<String> {
    text.parse::<T>().err().map(|error| error.to_string())
}

/// Checks a text column that is empty until there is a value.
fn check_parses_or_empty<T: FromStr<Err: Display>>(text: &str) -> Option<String> {
    if text.is_empty() { None } else { check_parses::<T>(text) }
}

/// Checks a text column that holds JSON of a type.
fn check_json<T: DeserializeOwned>(text: &str) -> Option<String> {
    serde_json::from_str::<T>(text).err().map(|error| error.to_string())
}

/// Checks JSON in a column that is empty until its row has ended.
fn check_json_or_empty<T: DeserializeOwned>(text: &str) -> Option<String> {
    if text.is_empty() { None } else { check_json::<T>(text) }
}

/// Checks the key of a document: `task:<ulid>` or `mail:<n>`.
fn check_document_key(doc: &str) -> Option<String> {
    match doc.split_once(':') {
        Some(("task", id)) => check_parses::<TaskId>(id),
        Some(("mail", number)) => check_parses::<i64>(number),
        _ => Some("neither a task nor a mail".to_owned()),
    }
}

// Short names, so that the table below stays readable.
const AT: Check = check_parses::<Instant>;
const DAY: Check = check_parses::<NaiveDate>;
const TASK: Check = check_parses::<TaskId>;
const RUN: Check = check_parses::<RunId>;
const ACTION: Check = check_parses::<ActionId>;
const ITEM: Check = check_parses::<ItemId>;
const TEAM: Check = check_parses::<TeamId>;
const AGENT: Check = check_parses::<AgentId>;
const NODE: Check = check_parses::<NodeName>;
const ACTOR: Check = check_parses::<Actor>;
const ANY_JSON: Check = check_json::<IgnoredAny>;
const NUMBERS: Check = check_json::<Vec<i64>>;

const fn checked_table(
    name: &'static str,
    key: &'static str,
    columns: &'static [(&'static str, Check)],
) -> CheckedTable {
    CheckedTable { name, key, columns }
}

/// Every table with typed columns.
const TABLES: &[CheckedTable] = &[
    checked_table(
        "account",
        "account",
        &[
            ("kind", check_parses::<MailboxKind>),
            ("mode", check_parses::<AccountMode>),
            ("created_at", AT),
            ("polled_at", AT),
        ],
    ),
    checked_table("account_condition", "account", &[("at", AT)]),
    checked_table(
        "ledger",
        "mail_id",
        &[
            ("direction", check_parses::<Direction>),
            ("arrived_at", AT),
            ("state", check_parses::<MailState>),
            ("task_id", TASK),
            ("updated_at", AT),
        ],
    ),
    checked_table(
        "mail",
        "mail_id",
        &[("sent_at", AT), ("direction", check_parses::<Direction>), ("body", check_json::<Mail>)],
    ),
    checked_table("mail_facts", "mail_id", FACTS),
    checked_table("contact", "address", &[("first_sent", AT)]),
    checked_table("muted", "address", &[("at", AT)]),
    checked_table("label", "mail_id", &[("at", AT)]),
    checked_table(
        "tasks",
        "task_id",
        &[
            ("task_id", TASK),
            ("created_at", AT),
            ("context", check_json::<TaskContext>),
            ("priority", check_parses::<Priority>),
            ("status", check_parses::<TaskStatus>),
            ("subtasks", check_json::<Vec<Subtask>>),
            ("last_updated", AT),
            ("tool_output", check_json::<Map<String, Value>>),
        ],
    ),
    checked_table(
        "plan",
        "task_id",
        &[
            ("task_id", TASK),
            ("origin", check_parses::<PlanOrigin>),
            ("reasons", check_json::<Vec<ComplexityReason>>),
            ("status", check_parses::<PlanStatus>),
            ("updated_at", AT),
        ],
    ),
    checked_table(
        "plan_step",
        "task_id || ', step ' || step_number",
        &[
            ("task_id", TASK),
            ("arguments", check_json::<Map<String, Value>>),
            ("after", NUMBERS),
            ("status", check_parses::<PlanStepStatus>),
            ("result", ANY_JSON),
        ],
    ),
    checked_table(
        "held_time",
        "task_id",
        &[("task_id", TASK), ("starts_at", AT), ("ends_at", AT), ("kind", check_parses::<HeldKind>)],
    ),
    checked_table("mail_time", "mail_id", &[("starts_at", AT), ("ends_at", AT), ("kind", check_parses::<HeldKind>)]),
    checked_table("task_owner", "task_id", &[("task_id", TASK), ("snooze_until", AT)]),
    checked_table("task_facts", "task_id", FACTS),
    checked_table("task_listing", "task_id", &[("task_id", TASK), ("due_at", AT), ("snooze_until", AT)]),
    checked_table("task_ended", "task_id", &[("task_id", TASK), ("ended_at", AT)]),
    checked_table("mail_count", "account || ' ' || state", &[("state", check_parses::<MailState>)]),
    checked_table("mail_arrived", "quarter || ' ' || state", &[("state", check_parses::<MailState>)]),
    checked_table("task_title", "task_id", &[("task_id", TASK)]),
    checked_table("task_word", "task_id || ' ' || word", &[("task_id", TASK)]),
    checked_table(
        "conversations",
        "conversation_id",
        &[
            ("conversation_id", check_parses::<ConversationId>),
            ("profile", check_parses::<ChatProfile>),
            ("created_at", AT),
            ("updated_at", AT),
        ],
    ),
    checked_table(
        "chat_messages",
        "message_id",
        &[
            ("conversation_id", check_parses::<ConversationId>),
            ("role", check_parses::<ChatRole>),
            ("task_id", TASK),
            ("memory", check_json_or_empty::<IgnoredAny>),
            ("created_at", AT),
        ],
    ),
    checked_table("task_thread", "task_id", &[("task_id", TASK)]),
    checked_table("task_mark", "task_id", &[("mark", check_parses::<Fingerprint>), ("task_id", TASK)]),
    checked_table("task_history", "entry", &[("task_id", TASK), ("who", ACTOR), ("at", AT)]),
    checked_table(
        "correction",
        "correction",
        &[("kind", check_parses::<CorrectionKind>), ("task_id", TASK), ("at", AT)],
    ),
    checked_table(
        "reminder",
        "action_id",
        &[
            ("action_id", ACTION),
            ("task_id", TASK),
            ("due_at", AT),
            ("shown_at", AT),
            ("every", check_parses::<Recurrence>),
            ("first_at", AT),
            ("told_at", AT),
        ],
    ),
    checked_table("invoice", "action_id", &[("action_id", ACTION), ("task_id", TASK), ("recorded_at", AT)]),
    checked_table(
        "run",
        "run_id",
        &[
            ("run_id", RUN),
            ("kind", check_parses::<RunKind>),
            ("task_id", TASK),
            ("parent_run", RUN),
            ("fork_of", RUN),
            ("status", check_parses::<RunStatus>),
            ("node", NODE),
            ("created_at", AT),
            ("updated_at", AT),
            ("wait_until", AT),
        ],
    ),
    checked_table("run_input", "run_id", &[("run_id", RUN), ("state", check_json::<RunState>)]),
    checked_table(
        "checkpoint",
        "run_id || ' ' || seq",
        &[
            ("run_id", RUN),
            ("node", NODE),
            ("move", check_json::<Move>),
            ("next_node", NODE),
            ("changes", check_json::<Vec<Change>>),
            ("entered_at", AT),
        ],
    ),
    checked_table("reply", "run_id || ' ' || seq", &[("run_id", RUN), ("node", NODE), ("reply", ANY_JSON)]),
    checked_table("reflection", "entry", &[("day", DAY), ("run_id", RUN), ("line", ANY_JSON)]),
    checked_table(
        "outbox",
        "action_id",
        &[
            ("action_id", ACTION),
            ("task_id", TASK),
            ("run_id", RUN),
            ("class", check_parses::<RiskClass>),
            ("action", check_json::<Action>),
            ("state", check_parses::<OutboxState>),
            ("created_at", AT),
            ("updated_at", AT),
            ("release_at", AT),
            ("doubt_since", AT),
        ],
    ),
    checked_table(
        "fork_effect",
        "run_id || ' ' || seq",
        &[
            ("run_id", RUN),
            ("class", check_parses::<RiskClass>),
            ("action", check_json::<Action>),
            ("state", check_parses::<OutboxState>),
        ],
    ),
    checked_table(
        "item",
        "item_id",
        &[
            ("item_id", ITEM),
            ("kind", check_parses::<ItemKind>),
            ("task_id", TASK),
            ("run_id", RUN),
            ("action_id", ACTION),
            ("body", ANY_JSON),
            ("state", check_parses::<ItemState>),
            ("decision", check_parses_or_empty::<DecisionKind>),
            ("decided_by", check_parses_or_empty::<Actor>),
            ("created_at", AT),
            ("updated_at", AT),
            ("expires_at", AT),
            ("snooze_until", AT),
            ("reminded_at", AT),
        ],
    ),
    checked_table("request", "request", &[("kind", check_parses::<RequestKind>), ("asked_at", AT)]),
    checked_table("search_doc", "doc_id", &[("doc", check_document_key), ("at", AT)]),
    checked_table(
        "approval",
        "action_id",
        &[
            ("action_id", ACTION),
            ("item_id", ITEM),
            ("door", check_parses::<DecisionChannel>),
            ("who", ACTOR),
            ("granted_at", AT),
            ("expires_at", AT),
            ("used_at", AT),
        ],
    ),
    checked_table("consumed", "sha256", &[("at", AT)]),
    checked_table("journal", "action_id", &[("action_id", ACTION), ("done_at", AT), ("undone_at", AT)]),
    checked_table(
        "nightly",
        "date",
        &[
            ("date", DAY),
            ("scheduled_at", AT),
            ("run_id", RUN),
            ("state", check_parses::<NightlyState>),
            ("begun_at", AT),
            ("ended_at", AT),
            ("report", check_json_or_empty::<IgnoredAny>),
        ],
    ),
    checked_table("rules_version", "version", &[("at", AT), ("who", ACTOR), ("edits", ANY_JSON)]),
    checked_table(
        "learned_entry",
        "name",
        &[("entry", ANY_JSON), ("evidence", NUMBERS), ("made_at", AT), ("last_hit", AT)],
    ),
    checked_table(
        "team",
        "team_id",
        &[
            ("team_id", TEAM),
            ("origin", check_parses::<TeamOrigin>),
            ("task_id", TASK),
            ("item_id", ITEM),
            ("state", check_parses::<TeamState>),
            ("created_at", AT),
            ("updated_at", AT),
        ],
    ),
    checked_table(
        "team_agent",
        "agent_id",
        &[
            ("agent_id", AGENT),
            ("team_id", TEAM),
            ("parent_id", AGENT),
            ("state", check_parses::<AgentState>),
            ("item_id", ITEM),
            ("started_at", AT),
            ("updated_at", AT),
        ],
    ),
    checked_table("team_message", "message_id", &[("agent_id", AGENT), ("content", ANY_JSON), ("at", AT)]),
    checked_table(
        "team_todo",
        "team_id || ' ' || position",
        &[("team_id", TEAM), ("status", check_parses::<TodoStatus>)],
    ),
    checked_table("team_event", "team_id || ' ' || seq", &[("team_id", TEAM), ("at", AT), ("event", ANY_JSON)]),
    checked_table("team_handle", "team_id || ' ' || handle", &[("team_id", TEAM)]),
    checked_table("team_input", "input_id", &[("team_id", TEAM), ("input", ANY_JSON), ("at", AT)]),
    checked_table("unlearned", "reach", &[("at", AT)]),
    checked_table(
        "proposal",
        "item_id",
        &[("item_id", ITEM), ("edit", ANY_JSON), ("evidence", NUMBERS), ("settled_at", AT)],
    ),
    checked_table(
        "model_call",
        "call_id",
        &[
            ("run_id", RUN),
            ("reply", ANY_JSON),
            ("day", DAY),
            ("at", AT),
            ("provider", check_parses::<Provider>),
            ("outcome", check_parses::<Outcome>),
        ],
    ),
];

/// The typed columns of facts, which two tables share.
const FACTS: &[(&str, Check)] = &[
    ("addressed", check_parses::<Addressed>),
    ("kind", check_parses::<FactsKind>),
    ("due_at", AT),
    ("urgency_origin", check_parses::<UrgencyOrigin>),
];

/// The number of rows that are named. A person reads no more; the rest is only counted.
const MAX_NAMED_ROWS: usize = 20;

impl StoreReader<'_> {
    /// Reads every row of every table. Returns how many cannot be read as what they stand for, and names the first of
    /// them.
    pub fn unreadable_rows(&self) -> Result<UnreadableRows> {
        let mut found = UnreadableRows::default();
        for table in TABLES {
            self.check_table(table, &mut found)?;
        }
        Ok(found)
    }

    /// Checks the rows of one table. The first bad column of a row is reported.
    fn check_table(&self, table: &CheckedTable, found: &mut UnreadableRows) -> Result<()> {
        let doing = "looking for unreadable rows";
        let columns = table.columns.iter().map(|(column, _)| *column).collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {columns}, {} FROM {}", table.key, table.name);
        let mut statement = self.0.prepare(&sql).context(doing)?;
        let mut rows = statement.query([]).context(doing)?;
        while let Some(row) = rows.next().context(doing)? {
            let problem = table.columns.iter().enumerate().find_map(|(nth, (column, check))| {
                let problem = match row.get_ref(nth).ok()? {
                    // Whether a column may be null is enforced by the schema.
                    ValueRef::Null => None,
                    value => value.as_str().map_or_else(|error| Some(error.to_string()), check),
                };
                problem.map(|problem| (*column, problem))
            });
            let Some((column, problem)) = problem else { continue };
            found.count += 1;
            if found.rows.len() < MAX_NAMED_ROWS {
                let key = match row.get_ref(table.columns.len()).context(doing)? {
                    ValueRef::Integer(number) => number.to_string(),
                    value => value.as_str().unwrap_or_default().to_owned(),
                };
                found.rows.push(UnreadableRow { table: table.name, key, column, problem });
            }
        }
        Ok(())
    }
}
