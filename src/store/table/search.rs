//! The full-text index over mails and tasks. A cache: rebuilt from the tables at any time.

use super::{execute, many, one, parsed, vector};
use crate::{
    model::{AccountId, Instant, Mail, Task},
    store::{
        Reader,
        error::{Context, Result},
        prepare::{FoundBy, Vectors, mail_tokens, task_tokens},
        session::Session,
        text::query_words,
        value::Hit,
    },
};

pub(in crate::store) fn put_mail(
    session: &Session,
    account: &AccountId,
    mail_id: i64,
    subject: &str,
    found: &FoundBy,
    at: Instant,
) -> Result<()> {
    put(session, &Document { doc: &format!("mail:{mail_id}"), kind: "mail", account, title: subject, at }, found)
}

pub(in crate::store) fn put_task(session: &Session, account: &AccountId, task: &Task, found: &FoundBy) -> Result<()> {
    let (doc, title, at) = (&format!("task:{}", task.task_id), &task.objective, task.created_at);
    put(session, &Document { doc, kind: "task", account, title, at }, found)
}

struct Document<'a> {
    doc: &'a str,
    kind: &'a str,
    account: &'a AccountId,
    title: &'a str,
    at: Instant,
}

fn put(session: &Session, document: &Document<'_>, found: &FoundBy) -> Result<()> {
    let Document { doc, kind, account, title, at } = document;
    let owner = vector::Owner { account: account.as_str(), kind };
    let sql = "INSERT INTO search_doc (doc, account, title, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    if execute(session, sql, (doc, account.as_str(), title, at.to_string()), "adding a document")? == 1 {
        let id = session.last_insert_rowid();
        session.index(id, found.tokens.clone(), false);
        return vector::put(session, id, &owner, &found.vectors, vector::Before::None);
    }
    let sql = "UPDATE search_doc SET title = ?2 WHERE doc = ?1 RETURNING doc_id";
    let id = one(session, sql, (doc, title), "renaming a document", |row| row.get::<_, i64>(0))?;
    let Some(id) = id else { return Ok(()) };
    session.index(id, found.tokens.clone(), true);
    vector::put(session, id, &owner, &found.vectors, vector::Before::Some)
}

/// For the end of a batch only; see [`Session`].
pub(in crate::store) fn put_words(session: &Session, doc_id: i64, tokens: &str, replaces: bool) -> Result<()> {
    if replaces {
        execute(session, "DELETE FROM search WHERE rowid = ?1", [doc_id], "unindexing")?;
    }
    execute(session, "INSERT INTO search (rowid, tokens) VALUES (?1, ?2)", (doc_id, tokens), "indexing").map(drop)
}

pub(in crate::store) fn rebuild(session: &Session) -> Result<()> {
    session.forget();
    // The documents keep their numbers, by which their vectors are found.
    session.execute_batch("DELETE FROM search;").context("emptying the index")?;
    vector::drop_orphans(session)?;
    let mails = many(session, "SELECT mail_id, account, sent_at, body FROM mail", [], "reading mails", |row| {
        Ok((row.get::<_, i64>(0)?, AccountId(row.get(1)?), parsed(row, 2)?, super::json::<Mail>(row, 3)?))
    })?;
    for (mail_id, account, at, mail) in &mails {
        let found = FoundBy { tokens: mail_tokens(mail), vectors: Vectors::Unchanged };
        put_mail(session, account, *mail_id, &mail.subject, &found, *at)?;
    }
    let sql = format!("{} ORDER BY t.task_id", super::task::COLUMNS);
    for row in many(session, &sql, [], "reading tasks", super::task::task_row)? {
        let found = FoundBy { tokens: task_tokens(&row.task), vectors: Vectors::Unchanged };
        put_task(session, &row.account, &row.task, &found)?;
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
