//! The full-text index over mails and tasks. A cache: rebuilt from the tables at any time.

use rusqlite::Connection;

use super::{execute, many, one, parsed};
use crate::{
    model::{AccountId, Instant, Mail, Task},
    store::{
        Reader,
        error::{Context, Result},
        prepare::mail_tokens,
        text::{query_words, tokens},
        value::Hit,
    },
};

pub(in crate::store) fn put_mail(
    connection: &Connection,
    account: &AccountId,
    mail_id: i64,
    subject: &str,
    tokens: &str,
    at: Instant,
) -> Result<()> {
    put(connection, &format!("mail:{mail_id}"), account, subject, tokens, at)
}

pub(in crate::store) fn put_task(connection: &Connection, account: &AccountId, task: &Task) -> Result<()> {
    let text = format!(
        "{} {} {}",
        task.objective,
        task.context.person.as_deref().unwrap_or(""),
        task.context.description.as_deref().unwrap_or("")
    );
    put(connection, &format!("task:{}", task.task_id), account, &task.objective, &tokens(&text), task.created_at)
}

fn put(connection: &Connection, doc: &str, account: &AccountId, title: &str, tokens: &str, at: Instant) -> Result<()> {
    let found = one(connection, "SELECT doc_id FROM search_doc WHERE doc = ?1", [doc], "finding a document", |row| {
        row.get::<_, i64>(0)
    })?;
    let id = if let Some(id) = found {
        execute(connection, "DELETE FROM search WHERE rowid = ?1", [id], "unindexing")?;
        execute(connection, "UPDATE search_doc SET title = ?2 WHERE doc_id = ?1", (id, title), "renaming a document")?;
        id
    } else {
        let sql = "INSERT INTO search_doc (doc, account, title, at) VALUES (?1, ?2, ?3, ?4)";
        execute(connection, sql, (doc, account.as_str(), title, at.to_string()), "adding a document")?;
        connection.last_insert_rowid()
    };
    execute(connection, "INSERT INTO search (rowid, tokens) VALUES (?1, ?2)", (id, tokens), "indexing").map(drop)
}

pub(in crate::store) fn rebuild(connection: &Connection) -> Result<()> {
    connection.execute_batch("DELETE FROM search_doc; DELETE FROM search;").context("emptying the index")?;
    let mails = many(connection, "SELECT mail_id, account, sent_at, body FROM mail", [], "reading mails", |row| {
        Ok((row.get::<_, i64>(0)?, AccountId(row.get(1)?), parsed(row, 2)?, super::json::<Mail>(row, 3)?))
    })?;
    for (mail_id, account, at, mail) in &mails {
        put_mail(connection, account, *mail_id, &mail.subject, &mail_tokens(mail), *at)?;
    }
    let sql = format!("{} ORDER BY t.task_id", super::task::COLUMNS);
    for row in many(connection, &sql, [], "reading tasks", super::task::task_row)? {
        put_task(connection, &row.account, &row.task)?;
    }
    Ok(())
}

impl Reader<'_> {
    /// Documents of `account` (or of all) that hold any of the words, best first.
    pub fn find(&self, text: &str, account: Option<&AccountId>, limit: usize) -> Result<Vec<Hit>> {
        let words = query_words(text);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let query = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ");
        let sql = "SELECT d.doc, d.title, d.at, -s.rank FROM search s JOIN search_doc d ON d.doc_id = s.rowid
                   WHERE search MATCH ?1 AND (?2 IS NULL OR d.account = ?2) ORDER BY s.rank LIMIT ?3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        many(self.0, sql, (query, account.map(AccountId::as_str), limit), "searching", |row| {
            Ok(Hit { doc: row.get(0)?, title: row.get(1)?, at: parsed(row, 2)?, score: row.get(3)? })
        })
    }

    /// The newest documents of `account` that hold any of the words, unranked: bounded work however much is stored.
    pub fn recent_with(&self, words: &[String], account: &AccountId, limit: usize) -> Result<Vec<Hit>> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let query = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ");
        let sql = "SELECT d.doc, d.title, d.at FROM search s JOIN search_doc d ON d.doc_id = s.rowid
                   WHERE search MATCH ?1 AND d.account = ?2 ORDER BY s.rowid DESC LIMIT ?3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        many(self.0, sql, (query, account.as_str(), limit), "recalling", |row| {
            Ok(Hit { doc: row.get(0)?, title: row.get(1)?, at: parsed(row, 2)?, score: 0.0 })
        })
    }
}
