//! The ledger: every message ever seen, and what became of it.
//!
//! A row is added once per source key and moves between states; it is never deleted. A message is entered in the
//! transaction that stores its mail and opens its run, so that none is lost and none is processed twice.

use rusqlite::{Connection, Row};

use crate::{
    model::{
        AccountId, Actor, Arrival, ArrivalContent, ArrivalFile, ArrivalReceipt, Arrivals, Instant, MailContext,
        MailEdit, MailEditKind, MailId, MailState, NewRun, NodeName, RunId, RunKind, RunState, TaskId, TaskStatus,
        UnchangedFile, UserId, audit::AuditEntry, nightly::CorrectionKind,
    },
    store::{
        error::{Result, StoreError},
        prepared::{self, EncodedMail},
        session::Session,
        table::{
            account, audit, execute, json_extract_sql,
            mail::{self, MessageIdMatch, warning},
            nightly::correction,
            parse_column, parse_optional_column, query_optional, run,
            task::{self, followup},
        },
    },
};

/// The reason of a message that left the mailbox before it was read.
const GONE_REASON: &str = "left the mailbox before it was read";

/// Enters the messages of a poll, accounts for those that are gone, updates file stamps and moves the cursor. Returns
/// the messages that are new or tried again.
pub(in crate::store) fn record_arrivals(
    session: &Session,
    batch: &Arrivals,
    texts: &[Option<EncodedMail>],
) -> Result<Vec<ArrivalReceipt>> {
    let mut arrived = Vec::with_capacity(batch.arrivals.len());
    for (arrival, text) in batch.arrivals.iter().zip(texts) {
        if let Some(entry) = enter_arrival(session, batch, arrival, text.as_ref())? {
            arrived.push(entry);
        }
    }
    for key in &batch.gone_keys {
        mark_gone(session, &batch.account, key, batch.at)?;
    }
    for file in &batch.unchanged_files {
        update_file_stamp(session, &batch.account, file)?;
    }
    // The cursor moves in the transaction that stores the messages before it, so that a crash loses none.
    if let Some(cursor) = &batch.cursor {
        account::record_poll(session, &batch.account, cursor, batch.at)?;
    }
    Ok(arrived)
}

/// Enters one message. A message that failed, was parked or was gone before is tried again. Returns none when the
/// ledger has its outcome already.
fn enter_arrival(
    session: &Session,
    batch: &Arrivals,
    arrival: &Arrival,
    text: Option<&EncodedMail>,
) -> Result<Option<ArrivalReceipt>> {
    let sql = "INSERT INTO ledger (account, source_key, folder, direction, arrived_at, size, state, reason, task_id, retries, updated_at, stamp, bytes_sha256)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'pending', '', NULL, 0, ?7, ?8, ?9) ON CONFLICT (account, source_key) DO NOTHING";
    let size = i64::try_from(arrival.size).unwrap_or(i64::MAX);
    let values = (
        batch.account.as_str(),
        &arrival.source_key,
        &arrival.folder,
        arrival.direction.as_str(),
        arrival.arrived_at.to_string(),
        size,
        batch.at.to_string(),
        &arrival.file.stamp,
        &arrival.file.sha256,
    );
    let (mail_id, retries) = if execute(session, sql, values, "entering a mail into the ledger")? == 1 {
        (MailId(session.last_insert_rowid()), 0)
    } else {
        // The key is known. Only a message without a final outcome is tried again; any other update matches no row.
        let sql = "UPDATE ledger SET state = 'pending', reason = '', flagged = 0, retries = retries + 1, size = ?3, updated_at = ?4, stamp = ?5, bytes_sha256 = ?6
                   WHERE account = ?1 AND source_key = ?2 AND state IN ('failed', 'parked', 'gone') RETURNING mail_id, retries";
        let ArrivalFile { stamp, sha256, .. } = &arrival.file;
        let values = (batch.account.as_str(), &arrival.source_key, size, batch.at.to_string(), stamp, sha256);
        let row =
            query_optional(session, sql, values, "trying a mail again", |row| Ok((MailId(row.get(0)?), row.get(1)?)))?;
        let Some(row) = row else { return Ok(None) };
        row
    };
    let ArrivalOutcome { state, reason, run } = store_arrival_content(session, batch, arrival, text, mail_id, retries)?;
    if state != MailState::Pending {
        record_outcome(session, mail_id, state, &reason, None, batch.at)?;
    } else if !reason.is_empty() {
        flag_mail(session, mail_id, &reason, batch.at)?;
    }
    Ok(Some(ArrivalReceipt { source_key: arrival.source_key.clone(), mail_id, state, run }))
}

/// The state that the ledger gets for an arrival, and the run that was opened for it.
struct ArrivalOutcome {
    state: MailState,
    /// Why it is in its state. Of a mail that is yet to be worked: what is odd about it, or empty.
    reason: String,
    run: Option<(RunId, MailContext)>,
}

impl ArrivalOutcome {
    fn without_run(state: MailState, reason: &str) -> Self {
        Self { state, reason: reason.to_owned(), run: None }
    }
}

/// Stores the mail of an arrival and opens its run. A mail that is a copy of a known one opens no run; one that only
/// carries the Message-ID of a known one is processed and flagged, because anyone can forge an id to suppress a mail.
fn store_arrival_content(
    session: &Session,
    batch: &Arrivals,
    arrival: &Arrival,
    text: Option<&EncodedMail>,
    mail_id: MailId,
    retries: u32,
) -> Result<ArrivalOutcome> {
    let mail = match &arrival.content {
        ArrivalContent::Failed { reason } => return Ok(ArrivalOutcome::without_run(MailState::Failed, reason)),
        ArrivalContent::Parked { reason } => return Ok(ArrivalOutcome::without_run(MailState::Parked, reason)),
        ArrivalContent::Gone => return Ok(ArrivalOutcome::without_run(MailState::Gone, GONE_REASON)),
        ArrivalContent::Process(mail) | ArrivalContent::StoreOnly { mail, .. } => mail,
    };
    let same_id = mail::find_message_id_match(session, &batch.account, mail_id, mail)?;
    let text = text.ok_or_else(|| StoreError::Refused("the mail was not prepared".into()))?;
    mail::store_mail(session, &batch.account, mail_id, arrival, mail, text)?;
    if let MessageIdMatch::Same(first) = same_id {
        update_rewritten_file(session, first, arrival)?;
        return Ok(ArrivalOutcome::without_run(MailState::Duplicate, &format!("the same mail as {first}")));
    }
    if let Some((first, account)) = mail::find_in_other_account(session, &batch.account, mail)? {
        let reason = format!("the same mail as {first} in account {account}");
        return Ok(ArrivalOutcome::without_run(MailState::Duplicate, &reason));
    }
    if let ArrivalContent::StoreOnly { reason, .. } = &arrival.content {
        let reasons: Vec<&str> = std::iter::once(reason).chain(&mail.truncations).map(String::as_str).collect();
        return Ok(ArrivalOutcome::without_run(MailState::NoTask, &reasons.join("; ")));
    }
    let begun =
        arrival.file.completes.as_deref().map(|key| replace_partial_mail(session, batch, key, mail_id)).transpose()?;
    let origin = match (begun.flatten(), same_id) {
        (Some(first), _) => Some(format!("the whole of mail {first}, which was read while it was still being written")),
        (None, MessageIdMatch::Forged(other)) => {
            Some(format!("carries the Message-ID of mail {other}, which is not the same mail"))
        }
        _ => None,
    };
    let flags: Vec<String> = origin.into_iter().chain(mail.truncations.iter().cloned()).collect();
    // `record_outcome` recognises this prefix and keeps the flag.
    let flag = if flags.is_empty() { String::new() } else { format!("flagged: {}", flags.join("; ")) };
    let run = build_mail_run(&batch.account, &batch.user, mail_id, &arrival.source_key, arrival.arrived_at, retries);
    run::open(session, &run, &prepared::encode_state(&run.state)?, batch.at)?;
    let known = mail::load_mail_context(session, mail_id, mail, text.fingerprint.as_ref())?;
    Ok(ArrivalOutcome { state: MailState::Pending, reason: flag, run: known.map(|known| (run.run_id, known)) })
}

/// Returns the run of a mail. Its id is derived from the source key and the number of retries, so that each attempt has
/// one run.
fn build_mail_run(
    account: &AccountId,
    user: &UserId,
    mail_id: MailId,
    key: &str,
    arrived_at: Instant,
    retries: u32,
) -> NewRun {
    NewRun {
        run_id: RunId::derive(arrived_at, &[account.as_str(), key, "mail", &retries.to_string()]),
        account: account.clone(),
        user: user.clone(),
        kind: RunKind::Mail,
        parent_run: None,
        fork: None,
        node: NodeName::PlanStep,
        task_id: None,
        state: RunState { mail_id: Some(mail_id), ..RunState::default() },
    }
}

/// Updates the stamp and digest of a mail whose file was rewritten under the same name, for example by a program that
/// adds header fields. Effects on the mail then find the new bytes.
fn update_rewritten_file(connection: &Connection, first: MailId, arrival: &Arrival) -> Result<()> {
    let ArrivalFile { stamp, sha256, .. } = &arrival.file;
    let sql = "UPDATE ledger SET stamp = ?3, bytes_sha256 = ?4, size = ?5
               WHERE mail_id = ?1 AND bytes_sha256 <> '' AND substr(?2, 1, length(source_key) + 1) = source_key || '/'";
    let size = i64::try_from(arrival.size).unwrap_or(i64::MAX);
    let values = (first.0, &arrival.source_key, stamp, sha256, size);
    execute(connection, sql, values, "following a file that was rewritten").map(drop)
}

/// Handles a complete mail whose beginning was read while it was still being written. When nobody has touched the tasks
/// of the beginning and nothing was sent for them, they are cancelled and the complete mail opens them anew. Otherwise
/// they stay, and the complete mail is a follow-up. Returns the mail of the beginning.
fn replace_partial_mail(session: &Session, batch: &Arrivals, key: &str, whole: MailId) -> Result<Option<MailId>> {
    let sql = "SELECT mail_id, state FROM ledger WHERE account = ?1 AND source_key = ?2";
    let values = (batch.account.as_str(), key);
    let read = |row: &Row<'_>| Ok((MailId(row.get(0)?), parse_column::<MailState>(row, 1)?));
    let row = query_optional(session, sql, values, "finding the beginning of a mail", read)?;
    let Some((first, state)) = row else { return Ok(None) };
    let tasks = task::of_mail(session, first)?;
    if state != MailState::Task || !task::edit::are_untouched(session, &tasks)? {
        followup::mark_tasks_of_beginning(session, &batch.account, &tasks, whole)?;
        return Ok(Some(first));
    }
    let why = format!("was still being written when it was read; mail {whole} is the whole of it");
    for task in tasks.iter().filter(|task| !task.task.status.is_terminal()) {
        task::edit::transition_task(session, task, TaskStatus::Cancelled, Actor::Intake, &why, batch.at)?;
    }
    record_outcome(session, first, MailState::NoTask, &why, None, batch.at)?;
    Ok(Some(first))
}

/// Stores the new stamp of a file whose content is unchanged.
fn update_file_stamp(connection: &Connection, account: &AccountId, file: &UnchangedFile) -> Result<()> {
    let sql = "UPDATE ledger SET stamp = ?3, bytes_sha256 = coalesce(?4, bytes_sha256) WHERE account = ?1 AND source_key = ?2";
    let values = (account.as_str(), &file.source_key, &file.stamp, &file.sha256);
    execute(connection, sql, values, "noting how a file looks").map(drop)
}

/// Marks a message as gone that could not be processed before. One that has an outcome keeps it.
fn mark_gone(connection: &Connection, account: &AccountId, key: &str, at: Instant) -> Result<()> {
    let sql = "UPDATE ledger SET state = 'gone', reason = ?4, flagged = 0, updated_at = ?3
               WHERE account = ?1 AND source_key = ?2 AND state IN ('failed', 'parked')";
    execute(connection, sql, (account.as_str(), key, at.to_string(), GONE_REASON), "accounting for a mail that is gone")
        .map(drop)
}

/// Notes what is odd about a mail that is yet to be worked. Every later reason is appended to it.
fn flag_mail(connection: &Connection, mail_id: MailId, reason: &str, at: Instant) -> Result<()> {
    let sql = "UPDATE ledger SET reason = ?2, flagged = 1, updated_at = ?3 WHERE mail_id = ?1";
    execute(connection, sql, (mail_id.0, reason, at.to_string()), "flagging a mail").map(drop)
}

/// Stores the outcome of a mail. The reason of a flagged mail is kept, and the new reason is appended to it.
pub(in crate::store) fn record_outcome(
    connection: &Connection,
    mail_id: MailId,
    state: MailState,
    reason: &str,
    task: Option<TaskId>,
    at: Instant,
) -> Result<()> {
    let sql = "UPDATE ledger SET state = ?2, task_id = coalesce(?4, task_id), updated_at = ?5,
               reason = CASE WHEN flagged AND ?3 <> '' THEN reason || '; ' || ?3 ELSE ?3 END, flagged = flagged AND ?3 <> ''
               WHERE mail_id = ?1";
    let values = (mail_id.0, state.as_str(), reason, task.map(|id| id.to_string()), at.to_string());
    execute(connection, sql, values, "settling a mail").map(drop)
}

/// The columns of a ledger row that edits and decisions depend on.
pub(in crate::store) struct LedgerEntry {
    pub(in crate::store) account: AccountId,
    pub(in crate::store) source_key: String,
    pub(in crate::store) arrived_at: Instant,
    pub(in crate::store) state: MailState,
    pub(in crate::store) task_id: Option<TaskId>,
    /// How often the message was tried again; part of the id of its run.
    pub(in crate::store) retries: u32,
}

/// Returns the ledger row of a mail, or an error when there is none.
pub(in crate::store) fn read_entry(connection: &Connection, mail_id: MailId) -> Result<LedgerEntry> {
    let sql = "SELECT account, source_key, arrived_at, state, task_id, retries FROM ledger WHERE mail_id = ?1";
    query_optional(connection, sql, [mail_id.0], "reading the ledger", |row| {
        Ok(LedgerEntry {
            account: AccountId(row.get(0)?),
            source_key: row.get(1)?,
            arrived_at: parse_column(row, 2)?,
            state: parse_column(row, 3)?,
            task_id: parse_optional_column(row, 4)?,
            retries: row.get(5)?,
        })
    })?
    .ok_or_else(|| StoreError::NotFound(format!("mail {mail_id}")))
}

/// Processes a parked mail again in a new run, as if it had just arrived. Returns the run.
pub(in crate::store) fn retry_mail(
    connection: &Connection,
    mail_id: MailId,
    user: &UserId,
    at: Instant,
) -> Result<RunId> {
    let entry = read_entry(connection, mail_id)?;
    let sql = "UPDATE ledger SET state = 'pending', reason = '', flagged = 0, retries = retries + 1, updated_at = ?2 WHERE mail_id = ?1";
    execute(connection, sql, (mail_id.0, at.to_string()), "working a mail again")?;
    let run = build_mail_run(&entry.account, user, mail_id, &entry.source_key, entry.arrived_at, entry.retries + 1);
    run::open(connection, &run, &prepared::encode_state(&run.state)?, at)?;
    Ok(run.run_id)
}

/// Overrules what was made of a mail, or mutes or unmutes its sender, and records the correction. Returns the runs that
/// were opened.
pub(in crate::store) fn edit_mail(connection: &Connection, edit: &MailEdit) -> Result<Vec<RunId>> {
    let entry = read_entry(connection, edit.mail_id)?;
    let mut runs = Vec::new();
    let (kind, from, to) = match &edit.kind {
        MailEditKind::NotATask => {
            mark_not_a_task(connection, edit, &entry)?;
            (CorrectionKind::NotATask, entry.state.as_str(), "no_task")
        }
        MailEditKind::MakeTask(run) => {
            run::open(connection, run, &prepared::encode_state(&run.state)?, edit.at)?;
            runs.push(run.run_id);
            (CorrectionKind::MakeTask, entry.state.as_str(), "task")
        }
        MailEditKind::Archive(run) => {
            run::open(connection, run, &prepared::encode_state(&run.state)?, edit.at)?;
            runs.push(run.run_id);
            (CorrectionKind::Archive, entry.state.as_str(), "archived")
        }
        MailEditKind::Genuine(run) => {
            let run = run.as_deref();
            warning::lift_warnings(connection, edit)?;
            if let Some(run) = run {
                run::open(connection, run, &prepared::encode_state(&run.state)?, edit.at)?;
            }
            runs.extend(run.map(|run| run.run_id));
            (CorrectionKind::Genuine, "warned", "genuine")
        }
        MailEditKind::Mute => {
            // If the mail is not verified, only unverified mail of the address is muted: its real owner is not silenced
            // by a forgery.
            let verified = json_extract_sql("body", "$.authentication.verified");
            let sql = format!(
                "INSERT INTO muted (account, address, at, unverified_only)
                 SELECT account, sender, ?2, NOT coalesce({verified}, 0) FROM mail WHERE mail_id = ?1
                 ON CONFLICT DO UPDATE SET unverified_only = min(unverified_only, excluded.unverified_only)"
            );
            execute(connection, &sql, (edit.mail_id.0, edit.at.to_string()), "muting a sender")?;
            (CorrectionKind::Mute, "", "muted")
        }
        MailEditKind::Unmute => {
            let sql =
                "DELETE FROM muted WHERE (account, address) IN (SELECT account, sender FROM mail WHERE mail_id = ?1)";
            execute(connection, sql, [edit.mail_id.0], "unmuting a sender")?;
            (CorrectionKind::Mute, "muted", "")
        }
    };
    record_correction(connection, edit, &entry, kind, (from, to))?;
    Ok(runs)
}

/// Cancels the open tasks of a mail and records that it opens none. Refused for a mail without a task.
fn mark_not_a_task(connection: &Connection, edit: &MailEdit, entry: &LedgerEntry) -> Result<()> {
    if !matches!(entry.state, MailState::Task | MailState::Linked | MailState::Parked) {
        return Err(StoreError::Refused(format!(
            "mail {} is {}: there is no task to take back",
            edit.mail_id, entry.state
        )));
    }
    for task in task::of_mail(connection, edit.mail_id)? {
        if !task.task.status.is_terminal() {
            task::edit::transition_task(
                connection,
                &task,
                TaskStatus::Cancelled,
                Actor::Person,
                "not a task",
                edit.at,
            )?;
        }
    }
    record_outcome(connection, edit.mail_id, MailState::NoTask, "a person said: not a task", None, edit.at)
}

/// Records the correction of a mail, with an audit entry.
fn record_correction(
    connection: &Connection,
    edit: &MailEdit,
    entry: &LedgerEntry,
    kind: CorrectionKind,
    values: (&str, &str),
) -> Result<()> {
    let about = correction::CorrectionSubject {
        account: &entry.account,
        user: &edit.user,
        task_id: entry.task_id,
        mail_id: Some(edit.mail_id),
        at: edit.at,
    };
    correction::record(connection, &about, kind, values, &edit.why)?;
    let audit = AuditEntry {
        at: edit.at,
        account: entry.account.to_string(),
        who: Actor::Person,
        act: kind.to_string(),
        subject: format!("mail:{}", edit.mail_id),
        detail: edit.why.clone(),
    };
    audit::append(connection, &audit)
}
