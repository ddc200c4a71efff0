//! The full-text index over mails and tasks. It is a cache, and can be rebuilt from the tables at any time.

use super::DocumentReader;
use crate::{
    model::{AccountId, Instant, Mail, Task},
    store::{
        error::{Result, SkipUnreadable as _, StoreContext},
        prepared::{PreparedVectors, SearchEntry, build_task_entry_with_due_vectors, tokenise_mail},
        session::Session,
        table::{
            decode_json_column,
            document::vector,
            execute, parse_column, query_optional, query_readable, setting,
            setting::SettingReader,
            task,
            task::{facts, listing},
        },
    },
};

/// The setting with the edition of the index, which says how documents are split into tokens and snippets.
const EDITION: &str = "search_edition";
/// The edition of this program. It must be increased when tokens or the snippets of tasks change; then the index is
/// rebuilt at the next start, and tasks are embedded again.
const NEWEST_EDITION: &str = "3";

/// Adds or updates the document of a mail, with its tokens and vectors.
pub(in crate::store) fn index_mail(
    session: &Session,
    account: &AccountId,
    mail_id: i64,
    mail: &Mail,
    found: &SearchEntry,
    at: Instant,
) -> Result<()> {
    let document = IndexedDocument {
        doc: &format!("mail:{mail_id}"),
        kind: "mail",
        account,
        title: &mail.subject,
        at,
        person: &mail.from.addr,
        thread: &mail.thread,
    };
    index_document(session, &document, found)
}

/// Adds or updates the document of a task, with its tokens and vectors, and its title. `sender` wrote the mail that the task came
/// from.
pub(in crate::store) fn index_task(
    session: &Session,
    account: &AccountId,
    task: &Task,
    sender: &str,
    found: &SearchEntry,
) -> Result<()> {
    listing::index_title(session, task.task_id, &task.objective)?;
    let document = IndexedDocument {
        doc: &format!("task:{}", task.task_id),
        kind: "task",
        account,
        title: &task.objective,
        at: task.created_at,
        person: sender,
        thread: task.context.threads.first().map_or("", String::as_str),
    };
    index_document(session, &document, found)
}

/// Updates the document of a task whose objective or context has changed. Its vectors are due, because making them would
/// hold up every other write.
pub(in crate::store) fn index_changed_task(session: &Session, account: &AccountId, task: &Task) -> Result<()> {
    let sender = facts::of_task(session, task.task_id).skip_unreadable()?.map(|facts| facts.sender).unwrap_or_default();
    index_task(session, account, task, &sender, &build_task_entry_with_due_vectors(task))
}

/// The columns of a document.
struct IndexedDocument<'a> {
    /// The key of the document: `mail:<n>` or `task:<ulid>`.
    doc: &'a str,
    kind: &'a str,
    account: &'a AccountId,
    title: &'a str,
    at: Instant,
    person: &'a str,
    thread: &'a str,
}

/// Adds or updates a document. Its number stays the same, because vectors refer to it. Tokens are queued for the end of
/// the batch.
fn index_document(session: &Session, document: &IndexedDocument<'_>, found: &SearchEntry) -> Result<()> {
    let IndexedDocument { doc, kind, account, title, at, person, thread } = document;
    let owner = vector::VectorOwner { account: account.as_str(), kind };
    // The length is stored for BM25, because a contentless index does not keep it.
    let words = i64::try_from(found.tokens.split(' ').count()).unwrap_or(i64::MAX);
    let sql =
        "INSERT INTO search_doc (doc, account, title, at, words, person, thread) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
               ON CONFLICT DO NOTHING";
    let values = (doc, account.as_str(), title, at.to_string(), words, person, thread);
    // A new document has no old tokens or vectors to delete, which is the common case.
    if execute(session, sql, values, "adding a document")? == 1 {
        let id = session.last_insert_rowid();
        session.queue_tokens(id, found.tokens.clone(), false);
        return vector::store_vectors(session, id, &owner, &found.vectors, vector::PreviousVectors::None);
    }
    let sql = "UPDATE search_doc SET title = ?2, words = ?3, person = ?4, thread = ?5 WHERE doc = ?1 RETURNING doc_id";
    let values = (doc, title, words, person, thread);
    let id = query_optional(session, sql, values, "renaming a document", |row| row.get::<_, i64>(0))?;
    let Some(id) = id else { return Ok(()) };
    session.queue_tokens(id, found.tokens.clone(), true);
    vector::store_vectors(session, id, &owner, &found.vectors, vector::PreviousVectors::Some)
}

/// Writes the tokens of a document to the index. Only [`Session`] calls this, at the end of a batch.
pub(in crate::store) fn write_tokens(session: &Session, doc_id: i64, tokens: &str, replaces: bool) -> Result<()> {
    if replaces {
        execute(session, "DELETE FROM search WHERE rowid = ?1", [doc_id], "unindexing")?;
    }
    execute(session, "INSERT INTO search (rowid, tokens) VALUES (?1, ?2)", (doc_id, tokens), "indexing").map(drop)
}

/// Rebuilds the index from the stored mails and tasks. Rows that cannot be read are skipped. The vectors of mails are
/// kept. Those of tasks are kept until they are made again, because the snippets of a task differ between editions.
pub(in crate::store) fn rebuild(session: &Session) -> Result<()> {
    session.discard_pending_tokens();
    // The documents keep their numbers, by which their vectors are found.
    session.execute_batch("DELETE FROM search;").context("emptying the index")?;
    vector::drop_orphans(session)?;
    let mails =
        query_readable(session, "SELECT mail_id, account, sent_at, body FROM mail", [], "reading mails", |row| {
            Ok((
                row.get::<_, i64>(0)?,
                AccountId(row.get(1)?),
                parse_column(row, 2)?,
                decode_json_column::<Mail>(row, 3)?,
            ))
        })?;
    for (mail_id, account, at, mail) in &mails {
        let found = SearchEntry { tokens: tokenise_mail(mail), vectors: PreparedVectors::Unchanged };
        index_mail(session, account, *mail_id, mail, &found, *at)?;
    }
    let sql = format!("{} ORDER BY t.task_id", task::COLUMNS);
    for row in query_readable(session, &sql, [], "reading tasks", task::task_row)? {
        index_changed_task(session, &row.account, &row.task)?;
    }
    setting::set(session, EDITION, NEWEST_EDITION)
}

impl DocumentReader<'_> {
    /// Returns whether the index was built with the tokens of this program, and not by an older version.
    pub fn is_index_current(self) -> Result<bool> {
        Ok(SettingReader(self.0).get(EDITION)?.is_some_and(|edition| edition == NEWEST_EDITION))
    }
}
