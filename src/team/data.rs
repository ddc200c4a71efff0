//! What workers can read: mails, tasks, search and the date, of the accounts of the team. Read-only, and every person,
//! mail and task in an answer is a handle.
//!
//! The closed list of requests is shared by the actions of a worker and by the functions of its scripts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{Duration, NaiveDate};
use serde_json::{Value, json};

use super::handles::Handles;
use crate::{
    clock::Clock,
    memory::{Filter, Memory, MemoryQuery, Scope},
    model::{AccountId, Direction, Instant, LedgerRow, Mail, MailId, Me, TaskId, TaskRow},
    store::Store,
};

/// The most entries of a list that a worker reads itself.
pub(super) const MOST_LISTED: usize = 30;
/// The most entries of a list that a script gets.
pub(super) const MOST_SCRIPTED: usize = 300;
/// How many of the newest messages are looked through for a list.
const MOST_SCANNED: usize = 5_000;
/// How much of a mail is shown, in characters.
const LONGEST_TEXT: usize = 4_000;
/// How much of a mail is shown in a list, in characters.
const PREVIEW_CHARS: usize = 160;
const LONGEST_LINE: usize = 200;

/// What a worker or its script asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DataRequest {
    Date,
    /// The newest mails between two days, both included, with all words in sender or subject.
    ListMails {
        since: Option<NaiveDate>,
        until: Option<NaiveDate>,
        words: String,
        limit: usize,
    },
    ReadMail {
        handle: String,
    },
    ListTasks {
        /// Whether tasks that have ended are listed too.
        all: bool,
        limit: usize,
    },
    ReadTask {
        handle: String,
    },
    /// Tasks and mails by words and by meaning.
    Search {
        words: String,
        limit: usize,
    },
    /// Tasks and mails by meaning alone.
    Memory {
        text: String,
        limit: usize,
    },
}

/// Why there is no answer, in words that help a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(super) struct DataError {
    /// `not_found`, `invalid_argument` or `unavailable`.
    pub kind: &'static str,
    pub message: String,
}

impl DataError {
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self { kind: "invalid_argument", message: message.into() }
    }

    fn not_found(message: impl Into<String>) -> Self {
        Self { kind: "not_found", message: message.into() }
    }

    fn unavailable(error: impl std::fmt::Display) -> Self {
        Self { kind: "unavailable", message: error.to_string() }
    }
}

type Answer<T = Value> = Result<T, DataError>;

/// Reads the data of one team. Clones share the handles.
#[derive(Clone)]
pub struct DataReader {
    pub store: Store,
    pub memory: Memory,
    pub clock: Clock,
    pub me: Arc<Me>,
    /// The only account that is read; none for all.
    pub account: Option<AccountId>,
    pub handles: Arc<Mutex<Handles>>,
}

impl DataReader {
    /// Returns the handles of the team.
    pub(super) fn handles(&self) -> MutexGuard<'_, Handles> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request.
    pub(super) async fn answer(&self, request: DataRequest) -> Answer {
        match request {
            DataRequest::Date => Ok(self.date()),
            DataRequest::ListMails { since, until, words, limit } => {
                self.list_mails((since, until), &words, limit).await
            }
            DataRequest::ReadMail { handle } => self.read_mail(&handle).await,
            DataRequest::ListTasks { all, limit } => self.list_tasks(all, limit).await,
            DataRequest::ReadTask { handle } => self.read_task(&handle).await,
            DataRequest::Search { words, limit } => self.search(&words, limit).await,
            DataRequest::Memory { text, limit } => self.search_meaning(&text, limit).await,
        }
    }

    fn date(&self) -> Value {
        let local = self.clock.now().utc().with_timezone(&self.me.time_zone);
        json!({
            "now": local.format("%Y-%m-%d %H:%M").to_string(),
            "today": local.format("%Y-%m-%d").to_string(),
            "weekday": local.format("%A").to_string(),
            "time_zone": self.me.time_zone.to_string(),
        })
    }

    fn may_read(&self, account: &AccountId) -> bool {
        self.account.as_ref().is_none_or(|only| only == account)
    }

    async fn list_mails(
        &self,
        (since, until): (Option<NaiveDate>, Option<NaiveDate>),
        words: &str,
        limit: usize,
    ) -> Answer {
        let zone = self.me.time_zone;
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let only = self.account.clone();
        let fits = move |row: &LedgerRow| {
            let day = row.arrived_at.utc().with_timezone(&zone).date_naive();
            let line = format!("{} {}", row.sender, row.subject).to_lowercase();
            only.as_ref().is_none_or(|only| *only == row.account)
                && since.is_none_or(|since| day >= since)
                && until.is_none_or(|until| day <= until)
                && words.iter().all(|word| line.contains(word))
        };
        let read = self.store.read(move |reader| {
            let rows = reader.ledger().list(None, MOST_SCANNED)?;
            let mut found = Vec::new();
            let mut more = 0_usize;
            for row in rows.into_iter().filter(fits) {
                if found.len() >= limit {
                    more += 1;
                } else if let Some(mail) = reader.mails().get(row.mail_id)? {
                    found.push((row, mail));
                }
            }
            Ok((found, more))
        });
        let (found, more) = read.await.map_err(DataError::unavailable)?;
        let mails: Vec<Value> = found.iter().map(|(row, mail)| self.show_mail(row, mail, PREVIEW_CHARS)).collect();
        Ok(json!({ "mails": mails, "not_shown": more }))
    }

    async fn read_mail(&self, handle: &str) -> Answer {
        let unknown = || DataError::not_found(format!("there is no mail {handle:?}; list or search mails first"));
        let mail_id: MailId = self.handles().mail(handle).ok_or_else(unknown)?;
        let read = self.store.read(move |reader| Ok((reader.ledger().get(mail_id)?, reader.mails().get(mail_id)?)));
        match read.await.map_err(DataError::unavailable)? {
            (Some(row), Some(mail)) if self.may_read(&row.account) => Ok(self.show_mail(&row, &mail, LONGEST_TEXT)),
            _ => Err(unknown()),
        }
    }

    async fn list_tasks(&self, all: bool, limit: usize) -> Answer {
        let open_at = (!all).then(|| self.clock.now());
        let rows = self.store.read(move |reader| reader.tasks().list(open_at, MOST_SCANNED));
        let rows = rows.await.map_err(DataError::unavailable)?;
        let mine: Vec<&TaskRow> = rows.iter().filter(|row| self.may_read(&row.account)).collect();
        let tasks: Vec<Value> = mine.iter().take(limit).map(|row| self.show_task(row)).collect();
        Ok(json!({ "tasks": tasks, "not_shown": mine.len().saturating_sub(limit) }))
    }

    async fn read_task(&self, handle: &str) -> Answer {
        let unknown = || DataError::not_found(format!("there is no task {handle:?}; list or search tasks first"));
        let task_id: TaskId = self.handles().task(handle).ok_or_else(unknown)?;
        let row = self.store.read(move |reader| reader.tasks().get(task_id)).await.map_err(DataError::unavailable)?;
        let row = row.filter(|row| self.may_read(&row.account)).ok_or_else(unknown)?;
        let mut shown = self.show_task(&row);
        if let Some(fields) = shown.as_object_mut() {
            let steps: Vec<Value> = row.task.subtasks.iter().map(|step| self.show_step(step)).collect();
            fields.insert("steps".into(), Value::from(steps));
            let summary = row.task.result_summary.as_deref().unwrap_or_default();
            fields.insert("summary".into(), Value::from(self.handles().redact(summary, LONGEST_TEXT)));
        }
        Ok(shown)
    }

    fn show_step(&self, step: &crate::model::Subtask) -> Value {
        json!({ "step": self.handles().redact(&step.step, LONGEST_LINE), "done": step.done })
    }

    async fn search(&self, words: &str, limit: usize) -> Answer {
        let mut found = Vec::new();
        for account in self.accounts().await? {
            let query = MemoryQuery {
                account: &account,
                text: words,
                thread: "",
                person: "",
                invoice: "",
                leave_out: &[],
                now: self.clock.now(),
                scope: Scope::person(limit),
            };
            let results = self.memory.search(&query).await.map_err(DataError::unavailable)?;
            found.extend(results.found.into_iter().map(|document| (document.score, document.doc)));
        }
        self.show_documents(found, limit).await
    }

    async fn search_meaning(&self, text: &str, limit: usize) -> Answer {
        let mut found = Vec::new();
        for account in self.accounts().await? {
            let near = self.memory.find_nearest(&Filter::account(&account), text, limit).await;
            let near = near.map_err(DataError::unavailable)?;
            found.extend(near.into_iter().map(|document| (f64::from(document.score), document.doc)));
        }
        self.show_documents(found, limit).await
    }

    async fn accounts(&self) -> Answer<Vec<AccountId>> {
        match &self.account {
            Some(only) => Ok(vec![only.clone()]),
            None => self.store.read(|reader| reader.accounts().ids()).await.map_err(DataError::unavailable),
        }
    }

    /// Returns documents that a search found, the best first.
    async fn show_documents(&self, mut found: Vec<(f64, String)>, limit: usize) -> Answer {
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut shown: Vec<Value> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for (_, doc) in found {
            if shown.len() >= limit || !seen.insert(doc.clone()) {
                continue;
            }
            let entry = match doc.split_once(':') {
                Some(("mail", id)) => self.found_mail(id).await?,
                Some(("task", id)) => self.found_task(id).await?,
                _ => None,
            };
            shown.extend(entry);
        }
        Ok(json!({ "found": shown }))
    }

    async fn found_mail(&self, id: &str) -> Answer<Option<Value>> {
        let Ok(number) = id.parse() else { return Ok(None) };
        let mail_id = MailId(number);
        let read = self.store.read(move |reader| Ok((reader.ledger().get(mail_id)?, reader.mails().get(mail_id)?)));
        let (row, mail) = read.await.map_err(DataError::unavailable)?;
        Ok(row.zip(mail).map(|(row, mail)| self.show_mail(&row, &mail, PREVIEW_CHARS)))
    }

    async fn found_task(&self, id: &str) -> Answer<Option<Value>> {
        let Ok(task_id) = id.parse::<TaskId>() else { return Ok(None) };
        let row = self.store.read(move |reader| reader.tasks().get(task_id)).await.map_err(DataError::unavailable)?;
        Ok(row.map(|row| self.show_task(&row)))
    }

    fn show_mail(&self, row: &LedgerRow, mail: &Mail, text_chars: usize) -> Value {
        let from = self.show_person(&mail.from.addr, mail.from.name.as_deref());
        let to: Vec<String> =
            mail.to.iter().chain(&mail.cc).map(|one| self.show_person(&one.addr, one.name.as_deref())).collect();
        let mut handles = self.handles();
        let handle = handles.of_mail(row.mail_id);
        let task = row.task_id.map(|task| handles.of_task(task));
        let text = handles.redact(&mail.text, text_chars);
        json!({
            "mail": handle,
            "from": from,
            "to": to,
            "date": self.show_time(mail.date.unwrap_or(row.arrived_at)),
            "mine": row.direction == Direction::Out,
            "subject": handles.redact(&mail.subject, LONGEST_LINE),
            "text": text,
            "cut": mail.text.chars().count() > text_chars,
            "attachments": mail.attachments.len(),
            "task": task,
            "warnings": row.warnings.len(),
        })
    }

    /// Returns a person as "P3 (Anna Berg)". The person that the team works for is `P0`.
    fn show_person(&self, address: &str, name: Option<&str>) -> String {
        if self.me.addresses.contains(&address.to_lowercase()) {
            return "P0 (the person you work for)".to_owned();
        }
        let mut handles = self.handles();
        let handle = handles.of_person(address, name.unwrap_or_default());
        match handles.redact(name.unwrap_or_default(), LONGEST_LINE) {
            name if name.trim().is_empty() => handle,
            name => format!("{handle} ({name})"),
        }
    }

    fn show_task(&self, row: &TaskRow) -> Value {
        let mut handles = self.handles();
        json!({
            "task": handles.of_task(row.task.task_id),
            "number": row.number,
            "objective": handles.redact(&row.task.objective, LONGEST_LINE),
            "status": row.task.status,
            "priority": row.task.priority,
            "deadline": row.task.context.deadline.as_ref().map(ToString::to_string),
            "created": self.show_time(row.task.created_at),
            "mail": row.mail_id.map(|mail| handles.of_mail(mail)),
        })
    }

    fn show_time(&self, at: Instant) -> String {
        at.utc().with_timezone(&self.me.time_zone).format("%Y-%m-%d %H:%M").to_string()
    }
}

/// Reads a day as a worker writes it: `YYYY-MM-DD`, `today`, `yesterday`, or empty for none.
pub(super) fn parse_day(text: &str, today: NaiveDate) -> Answer<Option<NaiveDate>> {
    match text.trim() {
        "" => Ok(None),
        "today" => Ok(Some(today)),
        "yesterday" => Ok(Some(today - Duration::days(1))),
        text => {
            let day = text.get(..10).unwrap_or(text).parse();
            day.map(Some).map_err(|_| DataError::invalid(format!("{text:?} is not a day; write it as YYYY-MM-DD")))
        }
    }
}
