//! A large database: copies of all rows of a small one under new ids, search index and audit chain included, so that every
//! table and index has its real form and size.

use std::{path::Path, time::Instant as Stopwatch};

use adjutant::{
    document::tokenise,
    model::{
        Mail,
        audit::{AuditEntry, chain_hash},
    },
};
use anyhow::{Context as _, ensure};
use rusqlite::Connection;

/// The progress of filling is printed after this many copies.
const TOLD: u32 = 50;

/// Tables whose rows are copied. The search index and the audit chain are written separately.
const TABLES: &[&str] = &[
    "ledger",
    "mail",
    "mail_facts",
    "label",
    "tasks",
    "task_owner",
    "task_facts",
    "task_thread",
    "task_mark",
    "task_history",
    "reminder",
    "invoice",
    "run",
    "run_input",
    "checkpoint",
    "reply",
    "reflection",
    "outbox",
    "item",
    "search_doc",
    "search_vector",
];

/// Puts copied tasks, which did not begin as NEW, into the lists in which they belong.
const LISTINGS: &str = "
    DELETE FROM task_listing WHERE task_id IN (SELECT task_id FROM tasks WHERE status = 'CANCELLED');
    UPDATE task_listing SET stage = (SELECT CASE t.status WHEN 'IN_PROGRESS' THEN 'in_progress' WHEN 'WAITING_HITL' THEN 'waiting'
                                            WHEN 'DONE' THEN 'done' ELSE 'ready' END FROM tasks t WHERE t.task_id = task_listing.task_id)
    WHERE state = 'pending';
    INSERT INTO task_ended (task_id, user_id, stage, ended_at)
    SELECT t.task_id, o.user_id, lower(t.status), t.last_updated FROM tasks t JOIN task_owner o USING (task_id)
    WHERE t.status IN ('DONE', 'CANCELLED') AND o.number IS NOT NULL AND t.task_id NOT IN (SELECT task_id FROM task_ended);
";

/// Multiplies what is stored. Durability is off, because the file is thrown away if this fails.
pub(crate) fn fill(path: &Path, copies: u32) -> anyhow::Result<()> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -1000000;",
    )?;
    // A copied task does not start as NEW, so the trigger that demands it is dropped meanwhile.
    let guard: String =
        connection.query_row("SELECT sql FROM sqlite_master WHERE name = 'tasks_start'", [], |row| row.get(0))?;
    connection.execute_batch("DROP TRIGGER tasks_start")?;
    let statements = TABLES.iter().map(|table| copy_of(&connection, table)).collect::<anyhow::Result<Vec<_>>>()?;
    let documents = documents(&connection)?;
    let entries = audit_entries(&connection)?;
    let watch = Stopwatch::now();
    for copy in 1..copies {
        connection.execute_batch("BEGIN")?;
        for sql in &statements {
            connection.prepare_cached(sql)?.execute([copy]).with_context(|| sql.clone())?;
        }
        let last: i64 = connection.query_row("SELECT max(doc_id) FROM search_doc", [], |row| row.get(0))?;
        index(&connection, &documents, last)?;
        append(&connection, &entries)?;
        connection.execute_batch("COMMIT")?;
        if copy % TOLD == 0 {
            eprintln!("filled {copy} of {copies} copies, {:.0} s", watch.elapsed().as_secs_f64());
        }
    }
    connection.execute_batch(LISTINGS)?;
    connection.execute_batch(&guard)?;
    connection.execute_batch("PRAGMA journal_mode = WAL")?;
    let broken: i64 = connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))?;
    ensure!(broken == 0, "{broken} rows lost their parents");
    Ok(())
}

/// Copies the rows of a table into a temporary one. Returns the statement that adds them as copy number ?1.
fn copy_of(connection: &Connection, table: &str) -> anyhow::Result<String> {
    let mut statement = connection.prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))?;
    let columns: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).context("counting");
    let mails = count("SELECT max(mail_id) FROM ledger")?;
    let numbers = count("SELECT max(number) FROM task_owner")?;
    let items = count("SELECT coalesce(max(number), 0) FROM item")?;
    let mut values = Vec::new();
    for column in &columns {
        values.push(match column.as_str() {
            "mail_id" => format!("mail_id + ?1 * {mails}"),
            "number" if *table == *"task_owner" => format!("number + ?1 * {numbers}"),
            "number" if *table == *"item" => format!("number + ?1 * {items}"),
            // Old items must not wait for a decision: the queue has room for fifty at most.
            "state" if table == "item" => "'decided'".to_owned(),
            "state" if table == "outbox" => "CASE state WHEN 'parked' THEN 'void' ELSE state END".to_owned(),
            "status" if table == "run" => "CASE status WHEN 'running' THEN 'parked' ELSE status END".to_owned(),
            "task_id" | "run_id" | "parent_run" | "action_id" | "item_id" => id(column),
            "source_key" | "message_id" | "thread" | "mark" => format!("{column} || '-' || ?1"),
            "doc" => format!(
                "CASE WHEN doc LIKE 'mail:%' THEN 'mail:' || (substr(doc, 6) + ?1 * {mails}) ELSE 'task:' || {} END",
                id("substr(doc, 6)")
            ),
            "doc_id" => format!("doc_id + ?1 * {}", count("SELECT max(doc_id) FROM search_doc")?),
            "entry" | "vector_id" => {
                format!("{column} + ?1 * {}", count(&format!("SELECT coalesce(max({column}), 0) FROM {table}"))?)
            }
            _ => column.clone(),
        });
    }
    connection.execute_batch(&format!("CREATE TEMP TABLE first_{table} AS SELECT * FROM {table}"))?;
    Ok(format!("INSERT INTO {table} ({}) SELECT {} FROM first_{table}", columns.join(", "), values.join(", ")))
}

/// Returns the expression for the id of a copy: it keeps its time, and six letters of the rest say which copy it is.
fn id(column: &str) -> String {
    format!("substr({column}, 1, 10) || 'ZZZ' || printf('%03X', ?1) || substr({column}, 17)")
}

/// Returns the tokens of the original documents, in order.
fn documents(connection: &Connection) -> anyhow::Result<Vec<String>> {
    let mut statement = connection.prepare(
        "SELECT m.body, NULL FROM search_doc d JOIN mail m ON d.doc = 'mail:' || m.mail_id
         UNION ALL SELECT NULL, json_object('o', t.objective, 'c', json(t.context)) FROM search_doc d JOIN tasks t ON d.doc = 'task:' || t.task_id",
    )?;
    let rows =
        statement.query_map([], |row| Ok((row.get::<_, Option<String>>(0)?, row.get::<_, Option<String>>(1)?)))?;
    let mut documents = Vec::new();
    for row in rows {
        let (mail, task) = row?;
        documents.push(match (mail, task) {
            (Some(mail), _) => {
                let mail: Mail = serde_json::from_str(&mail)?;
                tokenise(&format!("{} {} {} {}", mail.subject, mail.from.label(), mail.from.addr, mail.text))
            }
            (None, task) => tokenise(&task.unwrap_or_default()),
        });
    }
    Ok(documents)
}

/// Adds the copied documents to the index of words.
fn index(connection: &Connection, documents: &[String], last: i64) -> anyhow::Result<()> {
    let mut insert = connection.prepare_cached("INSERT INTO search (rowid, tokens) VALUES (?1, ?2)")?;
    for (tokens, rowid) in documents.iter().rev().zip((1..=last).rev()) {
        insert.execute((rowid, tokens))?;
    }
    Ok(())
}

/// Returns the entries of the audit chain.
fn audit_entries(connection: &Connection) -> anyhow::Result<Vec<AuditEntry>> {
    let mut statement = connection.prepare("SELECT at, account, who, act, subject, detail FROM audit ORDER BY seq")?;
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get(1)?, row.get::<_, String>(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
    })?;
    let mut entries = Vec::new();
    for row in rows {
        let (at, account, who, act, subject, detail) = row?;
        entries.push(AuditEntry { at: at.parse()?, account, who: who.parse()?, act, subject, detail });
    }
    Ok(entries)
}

/// Appends the same entries to the audit chain once more.
fn append(connection: &Connection, entries: &[AuditEntry]) -> anyhow::Result<()> {
    let head = "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1";
    let (mut seq, mut hash): (i64, String) = connection.query_row(head, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let sql =
        "INSERT INTO audit (seq, at, account, who, act, subject, detail, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let mut insert = connection.prepare_cached(sql)?;
    for entry in entries {
        seq += 1;
        hash = chain_hash(&hash, seq, entry);
        let AuditEntry { at, account, who, act, subject, detail } = entry;
        insert.execute((seq, at.to_string(), account, who.as_str(), act, subject, detail, &hash))?;
    }
    Ok(())
}
