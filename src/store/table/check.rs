//! Every stored row, read as what it stands for: the rows that lists leave out are found and named here.
//!
//! A column that is read as a type anywhere has its line below. Whatever is not in the list is plain text.

use std::{fmt::Display, str::FromStr};

use chrono::NaiveDate;
use rusqlite::types::ValueRef;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

use crate::{
    model::{
        AccountMode, Action, ActionId, Addressed, Change, Direction, Door, Instant, ItemId, ItemKind, ItemState, Mail,
        MailState, Move, NodeName, OutboxState, Priority, Recurrence, RiskClass, RunId, RunKind, RunState, RunStatus,
        Status, Subtask, TaskContext, TaskId, UrgencyOrigin,
        llm::{Outcome, Provider},
    },
    store::{
        Reader,
        error::{Result, StoreContext as _},
        night::CorrectionKind,
        value::{Unreadable, UnreadableRow},
    },
};

/// Why a text is not what its column says; none when it is.
type Check = fn(&str) -> Option<String>;

struct Table {
    name: &'static str,
    /// By what a person finds the row.
    key: &'static str,
    columns: &'static [(&'static str, Check)],
}

fn text<T: FromStr<Err: Display>>(text: &str) -> Option<String> {
    text.parse::<T>().err().map(|error| error.to_string())
}

fn json<T: DeserializeOwned>(text: &str) -> Option<String> {
    serde_json::from_str::<T>(text).err().map(|error| error.to_string())
}

/// Empty before the end.
fn json_or_empty<T: DeserializeOwned>(text: &str) -> Option<String> {
    if text.is_empty() { None } else { json::<T>(text) }
}

/// `task:<ulid>` or `mail:<n>`.
fn document(doc: &str) -> Option<String> {
    match doc.split_once(':') {
        Some(("task", id)) => text::<TaskId>(id),
        Some(("mail", number)) => text::<i64>(number),
        _ => Some("neither a task nor a mail".to_owned()),
    }
}

const AT: Check = text::<Instant>;
const DAY: Check = text::<NaiveDate>;
const TASK: Check = text::<TaskId>;
const RUN: Check = text::<RunId>;
const ACTION: Check = text::<ActionId>;
const ITEM: Check = text::<ItemId>;
const NODE: Check = text::<NodeName>;
const ANY_JSON: Check = json::<IgnoredAny>;
const NUMBERS: Check = json::<Vec<i64>>;

const fn table(name: &'static str, key: &'static str, columns: &'static [(&'static str, Check)]) -> Table {
    Table { name, key, columns }
}

const TABLES: &[Table] = &[
    table("account", "account", &[("mode", text::<AccountMode>), ("created_at", AT), ("polled_at", AT)]),
    table("account_condition", "account", &[("at", AT)]),
    table(
        "ledger",
        "mail_id",
        &[
            ("direction", text::<Direction>),
            ("arrived_at", AT),
            ("state", text::<MailState>),
            ("task_id", TASK),
            ("updated_at", AT),
        ],
    ),
    table("mail", "mail_id", &[("sent_at", AT), ("direction", text::<Direction>), ("body", json::<Mail>)]),
    table("mail_facts", "mail_id", FACTS),
    table("contact", "address", &[("first_sent", AT)]),
    table("muted", "address", &[("at", AT)]),
    table("label", "mail_id", &[("at", AT)]),
    table(
        "tasks",
        "task_id",
        &[
            ("task_id", TASK),
            ("created_at", AT),
            ("context", json::<TaskContext>),
            ("priority", text::<Priority>),
            ("status", text::<Status>),
            ("subtasks", json::<Vec<Subtask>>),
            ("last_updated", AT),
            ("tool_output", json::<Map<String, Value>>),
        ],
    ),
    table("task_owner", "task_id", &[("task_id", TASK), ("snooze_until", AT)]),
    table("task_facts", "task_id", FACTS),
    table("task_thread", "task_id", &[("task_id", TASK)]),
    table("task_mark", "task_id", &[("task_id", TASK)]),
    table("task_history", "entry", &[("task_id", TASK), ("at", AT)]),
    table("correction", "correction", &[("kind", text::<CorrectionKind>), ("task_id", TASK), ("at", AT)]),
    table(
        "reminder",
        "action_id",
        &[
            ("action_id", ACTION),
            ("task_id", TASK),
            ("due_at", AT),
            ("shown_at", AT),
            ("every", text::<Recurrence>),
            ("first_at", AT),
            ("told_at", AT),
        ],
    ),
    table("invoice", "action_id", &[("action_id", ACTION), ("task_id", TASK), ("recorded_at", AT)]),
    table(
        "run",
        "run_id",
        &[
            ("run_id", RUN),
            ("kind", text::<RunKind>),
            ("task_id", TASK),
            ("parent_run", RUN),
            ("fork_of", RUN),
            ("status", text::<RunStatus>),
            ("node", NODE),
            ("created_at", AT),
            ("updated_at", AT),
            ("wait_until", AT),
        ],
    ),
    table("run_input", "run_id", &[("run_id", RUN), ("state", json::<RunState>)]),
    table(
        "checkpoint",
        "run_id || ' ' || seq",
        &[
            ("run_id", RUN),
            ("node", NODE),
            ("move", json::<Move>),
            ("next_node", NODE),
            ("changes", json::<Vec<Change>>),
            ("entered_at", AT),
        ],
    ),
    table("reply", "run_id || ' ' || seq", &[("run_id", RUN), ("node", NODE), ("reply", ANY_JSON)]),
    table("reflection", "entry", &[("day", DAY), ("run_id", RUN), ("line", ANY_JSON)]),
    table(
        "outbox",
        "action_id",
        &[
            ("action_id", ACTION),
            ("task_id", TASK),
            ("run_id", RUN),
            ("class", text::<RiskClass>),
            ("action", json::<Action>),
            ("state", text::<OutboxState>),
            ("created_at", AT),
            ("updated_at", AT),
            ("release_at", AT),
            ("doubt_since", AT),
        ],
    ),
    table(
        "fork_effect",
        "run_id || ' ' || seq",
        &[("run_id", RUN), ("class", text::<RiskClass>), ("action", json::<Action>), ("state", text::<OutboxState>)],
    ),
    table(
        "item",
        "item_id",
        &[
            ("item_id", ITEM),
            ("kind", text::<ItemKind>),
            ("task_id", TASK),
            ("run_id", RUN),
            ("action_id", ACTION),
            ("body", ANY_JSON),
            ("state", text::<ItemState>),
            ("created_at", AT),
            ("updated_at", AT),
            ("expires_at", AT),
            ("snooze_until", AT),
            ("reminded_at", AT),
        ],
    ),
    table("request", "request", &[("asked_at", AT)]),
    table("search_doc", "doc_id", &[("doc", document), ("at", AT)]),
    table(
        "approval",
        "action_id",
        &[
            ("action_id", ACTION),
            ("item_id", ITEM),
            ("door", text::<Door>),
            ("granted_at", AT),
            ("expires_at", AT),
            ("used_at", AT),
        ],
    ),
    table("consumed", "sha256", &[("at", AT)]),
    table("journal", "action_id", &[("action_id", ACTION), ("done_at", AT), ("undone_at", AT)]),
    table(
        "night",
        "date",
        &[
            ("date", DAY),
            ("scheduled_at", AT),
            ("run_id", RUN),
            ("begun_at", AT),
            ("ended_at", AT),
            ("report", json_or_empty::<IgnoredAny>),
        ],
    ),
    table("rules_version", "version", &[("at", AT), ("edits", ANY_JSON)]),
    table("learned_entry", "name", &[("entry", ANY_JSON), ("evidence", NUMBERS), ("made_at", AT), ("last_hit", AT)]),
    table("unlearned", "reach", &[("at", AT)]),
    table("proposal", "item_id", &[("item_id", ITEM), ("edit", ANY_JSON), ("evidence", NUMBERS), ("settled_at", AT)]),
    table(
        "model_call",
        "call_id",
        &[
            ("run_id", RUN),
            ("reply", ANY_JSON),
            ("day", DAY),
            ("at", AT),
            ("provider", text::<Provider>),
            ("outcome", text::<Outcome>),
        ],
    ),
];

const FACTS: &[(&str, Check)] =
    &[("addressed", text::<Addressed>), ("due_at", AT), ("urgency_origin", text::<UrgencyOrigin>)];

/// As many as a person reads; the rest is a number.
const MOST_NAMED: usize = 20;

impl Reader<'_> {
    /// Reads every row of every table. Returns how many cannot be read as what they stand for, and names the first.
    pub fn unreadable_rows(&self) -> Result<Unreadable> {
        let mut found = Unreadable::default();
        for table in TABLES {
            self.check(table, &mut found)?;
        }
        Ok(found)
    }

    fn check(&self, table: &Table, found: &mut Unreadable) -> Result<()> {
        let doing = "looking for unreadable rows";
        let columns = table.columns.iter().map(|(column, _)| *column).collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {columns}, {} FROM {}", table.key, table.name);
        let mut statement = self.0.prepare(&sql).context(doing)?;
        let mut rows = statement.query([]).context(doing)?;
        while let Some(row) = rows.next().context(doing)? {
            let problem = table.columns.iter().enumerate().find_map(|(nth, (column, check))| {
                let problem = match row.get_ref(nth).ok()? {
                    ValueRef::Null => None,
                    value => value.as_str().map_or_else(|error| Some(error.to_string()), check),
                };
                problem.map(|problem| (*column, problem))
            });
            let Some((column, problem)) = problem else { continue };
            found.count += 1;
            if found.rows.len() < MOST_NAMED {
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
