//! The night's own rows: one per date, versions of the rules, where entries come from, and what is asked.

use std::collections::HashMap;

use rusqlite::{Connection, Row};
use serde_json::Value;

use super::{
    audit, decode_json_column, execute, facts, item, json_extract_sql, mail, parse_column, parse_optional_column,
    query_first_readable, query_optional, query_readable, task, task_edit,
};
use crate::{
    model::{
        AccountId, Instant, ItemId, MailId, TaskId, TaskStatus,
        audit::AuditEntry,
        nightly::{
            BeginNightly, DuplicateTasks, EndNightly, LearnedEntryRow, LiveRulesVersion, NewProposal, NewRulesVersion,
            NightlyRow, NightlyState, PastMail, PastTask, ProposalRow, RulesVersionRow,
        },
    },
    store::{
        StoreReader,
        error::{Result, StoreContext, StoreError},
    },
};

/// How many versions are kept.
pub(in crate::store) const MAX_KEPT_VERSIONS: i64 = 30;
/// Who acts at night.
const NIGHTLY_ACTOR: &str = "night";

fn build_audit_entry(at: Instant, who: &str, act: &str, subject: String, detail: String) -> AuditEntry {
    AuditEntry { at, account: String::new(), who: who.to_owned(), act: act.to_owned(), subject, detail }
}

/// Claims the date. Refused when it was done; a run that was cut off is taken up by its own id.
pub(in crate::store) fn begin_nightly(connection: &Connection, night: &BeginNightly) -> Result<()> {
    let sql = "INSERT INTO nightly (date, scheduled_at, run_id, state, begun_at) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
    let (run, at) = (night.run_id.to_string(), night.at.to_string());
    for (date, due) in &night.missed {
        execute(
            connection,
            sql,
            (date, due.to_string(), &run, NightlyState::CaughtUp.as_str(), &at),
            "making up for a night",
        )?;
    }
    let due = night.scheduled_at.to_string();
    if execute(connection, sql, (&night.date, due, &run, NightlyState::Running.as_str(), &at), "beginning a night")?
        == 0
    {
        let known = "SELECT state FROM nightly WHERE date = ?1 AND run_id = ?2 AND state = 'running'";
        let mine = query_optional(connection, known, (&night.date, &run), "looking for the night", |_| Ok(()))?;
        return mine.ok_or_else(|| StoreError::Refused(format!("the night of {} was done already", night.date)));
    }
    audit::append(
        connection,
        &build_audit_entry(night.at, NIGHTLY_ACTOR, "nightly_begun", format!("nightly:{}", night.date), run),
    )
}

pub(in crate::store) fn end_nightly(connection: &Connection, night: &EndNightly) -> Result<()> {
    let sql = "UPDATE nightly SET state = 'done', ended_at = ?3, report = ?4 WHERE date = ?1 AND run_id = ?2 AND state = 'running'";
    let report = serde_json::to_string(&night.report).context("encoding a report")?;
    let values = (&night.date, night.run_id.to_string(), night.at.to_string(), report);
    if execute(connection, sql, values, "ending a night")? == 0 {
        return Err(StoreError::Conflict(format!("the night of {} has ended already", night.date)));
    }
    for (name, hits, last) in &night.hits {
        let sql = "UPDATE learned_entry SET hits = ?2, last_hit = ?3 WHERE name = ?1";
        let hits = i64::try_from(*hits).unwrap_or(i64::MAX);
        execute(connection, sql, (name, hits, last.map(|at| at.to_string())), "counting hits")?;
    }
    for question in &night.proposals {
        open_proposal(connection, question, night)?;
    }
    audit::append(
        connection,
        &build_audit_entry(night.at, NIGHTLY_ACTOR, "nightly_ended", format!("nightly:{}", night.date), String::new()),
    )
}

fn open_proposal(connection: &Connection, question: &NewProposal, night: &EndNightly) -> Result<()> {
    item::open(connection, &question.item, &night.account, &night.user, None, night.at)?;
    let sql = "INSERT INTO proposal (item_id, edit, run_id, evidence) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    let edit = serde_json::to_string(&question.edit).context("encoding an edit")?;
    let evidence = serde_json::to_string(&question.evidence).context("encoding evidence")?;
    let values = (question.item.item_id.to_string(), edit, night.run_id.to_string(), evidence);
    execute(connection, sql, values, "asking about an edit").map(drop)
}

/// The line before the file is replaced.
pub(in crate::store) fn record_intended_version(connection: &Connection, new: &NewRulesVersion) -> Result<i64> {
    let sql = "INSERT INTO rules_version (at, who, run_id, why, rules, guidelines, edits) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let edits = serde_json::to_string(&new.edits).context("encoding edits")?;
    let values = (new.at.to_string(), &new.who, &new.run_id, &new.why, &new.rules, &new.guidelines, &edits);
    execute(connection, sql, values, "intending a version")?;
    let version = connection.last_insert_rowid();
    let entry = build_audit_entry(new.at, &new.who, "rules_intended", format!("rules:{version}"), new.why.clone());
    audit::append(connection, &entry)?;
    Ok(version)
}

/// It is the file now.
pub(in crate::store) fn mark_version_live(connection: &Connection, kept: &LiveRulesVersion, at: Instant) -> Result<()> {
    let sql = "UPDATE rules_version SET live = 1 WHERE version = ?1";
    if execute(connection, sql, [kept.version], "keeping a version")? == 0 {
        return Err(StoreError::NotFound(format!("version {}", kept.version)));
    }
    for name in &kept.retired {
        execute(connection, "DELETE FROM learned_entry WHERE name = ?1", [name], "retiring an entry")?;
    }
    for row in &kept.learned {
        let sql = "INSERT OR REPLACE INTO learned_entry (name, entry, run_id, evidence, made_at, hits, last_hit)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let entry = serde_json::to_string(&row.entry).context("encoding an entry")?;
        let evidence = serde_json::to_string(&row.evidence).context("encoding evidence")?;
        let hits = i64::try_from(row.hits).unwrap_or(i64::MAX);
        let last = row.last_hit.map(|at| at.to_string());
        let values = (&row.name, entry, &row.run_id, evidence, row.made_at.to_string(), hits, last);
        execute(connection, sql, values, "noting where an entry comes from")?;
    }
    for (reach, why) in &kept.unlearned {
        let sql = "INSERT OR REPLACE INTO unlearned (reach, at, why) VALUES (?1, ?2, ?3)";
        execute(connection, sql, (reach, at.to_string(), why), "unlearning")?;
    }
    if let Some(item_id) = kept.closes_proposal {
        close_proposal(connection, item_id, "adopted", at)?;
    }
    let sql = "DELETE FROM rules_version WHERE live = 1 AND version NOT IN
               (SELECT version FROM rules_version WHERE live = 1 ORDER BY version DESC LIMIT ?1)";
    execute(connection, sql, [MAX_KEPT_VERSIONS], "forgetting old versions").map(drop)
}

/// The file was never replaced.
pub(in crate::store) fn discard_intended_version(connection: &Connection, version: i64) -> Result<()> {
    let sql = "DELETE FROM rules_version WHERE version = ?1 AND live = 0";
    execute(connection, sql, [version], "dropping an intent").map(drop)
}

/// A question that was answered has been acted on.
pub(in crate::store) fn close_proposal(
    connection: &Connection,
    item_id: ItemId,
    outcome: &str,
    at: Instant,
) -> Result<()> {
    let sql = "UPDATE proposal SET settled_at = ?2, outcome = ?3 WHERE item_id = ?1 AND settled_at IS NULL";
    execute(connection, sql, (item_id.to_string(), at.to_string(), outcome), "settling a proposal").map(drop)
}

/// A person's no: the same is asked again only after newer corrections.
pub(super) fn reject_proposal(connection: &Connection, item_id: ItemId, why: &str, at: Instant) -> Result<()> {
    let key = json_extract_sql("edit", "$.key");
    let sql = format!(
        "INSERT OR REPLACE INTO unlearned (reach, at, why)
         SELECT {key}, ?2, ?3 FROM proposal WHERE item_id = ?1 AND {key} IS NOT NULL"
    );
    execute(connection, &sql, (item_id.to_string(), at.to_string(), why), "turning a proposal down")?;
    close_proposal(connection, item_id, "turned down", at)
}

/// Refused when a person has touched one of them meanwhile.
pub(in crate::store) fn cancel_duplicate_task(
    connection: &Connection,
    twins: &DuplicateTasks,
    at: Instant,
) -> Result<()> {
    if !find_duplicate_tasks(connection)?.contains(twins) {
        return Err(StoreError::Conflict(format!("task {} is no untouched duplicate any more", twins.newer)));
    }
    let row = task::get(connection, twins.newer)?;
    let why = format!("duplicate of {}: {}", twins.older, twins.why);
    task_edit::transition_task(connection, &row, TaskStatus::Cancelled, NIGHTLY_ACTOR, &why, at)
}

/// Open, untouched by a person, with no other mail linked, of one verified sender, and the same in content or invoice.
/// Each is paired with the oldest of its kind.
fn find_duplicate_tasks(connection: &Connection) -> Result<Vec<DuplicateTasks>> {
    let invoice = json_extract_sql("t.context", "$.invoice_number");
    let sql = format!(
        "SELECT t.task_id, m.mail_id, m.account, m.sender, m.content_sha256, t.objective, {invoice}
               FROM tasks t JOIN task_owner o USING (task_id) JOIN task_facts f USING (task_id) JOIN mail m ON m.mail_id = o.mail_id
               WHERE t.status NOT IN ('DONE', 'CANCELLED') AND t.status IN ('READY', 'IN_PROGRESS') AND f.sender_verified AND f.sender <> ''
                 AND o.hand_ranked = 0 AND o.snooze_until IS NULL AND o.number IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM task_history h WHERE h.task_id = t.task_id AND h.who = 'person')
                 AND NOT EXISTS (SELECT 1 FROM item i WHERE i.task_id = t.task_id)
                 AND NOT EXISTS (SELECT 1 FROM ledger k WHERE k.task_id = t.task_id AND k.state = 'linked')
               ORDER BY m.mail_id, t.task_id"
    );
    type TaskAndMail = (TaskId, i64);
    let rows = query_readable(connection, &sql, [], "looking for duplicates", |row| {
        let sender = format!("{}\u{1}{}", row.get::<_, String>(2)?, row.get::<_, String>(3)?);
        let content = format!("{}\u{1}{}", row.get::<_, String>(4)?, row.get::<_, String>(5)?);
        let invoice: Option<String> = row.get(6)?;
        let keys = [Some((sender.clone(), 'm', content)), invoice.map(|number| (sender, 'i', number))];
        Ok(((parse_column(row, 0)?, row.get(1)?), keys))
    })?;
    let mut first: HashMap<(String, char, String), TaskAndMail> = HashMap::new();
    let mut twins = Vec::new();
    for ((newer, mail), keys) in rows {
        let keys: Vec<_> = keys.into_iter().flatten().collect();
        // Two tasks of one mail are two tasks.
        let known = keys.iter().find_map(|key| Some((key.1, first.get(key).filter(|(_, other)| *other != mail)?.0)));
        if let Some((how, older)) = known {
            let why = if how == 'm' { "the same mail again" } else { "the same invoice number" };
            twins.push(DuplicateTasks { newer, older, why: why.to_owned() });
            continue;
        }
        for key in keys {
            first.entry(key).or_insert((newer, mail));
        }
    }
    Ok(twins)
}

fn nightly_row(row: &Row<'_>) -> rusqlite::Result<NightlyRow> {
    let text: String = row.get(6)?;
    Ok(NightlyRow {
        date: row.get(0)?,
        scheduled_at: parse_column(row, 1)?,
        run_id: parse_column(row, 2)?,
        state: parse_column(row, 3)?,
        begun_at: parse_column(row, 4)?,
        ended_at: parse_optional_column(row, 5)?,
        report: serde_json::from_str(&text).unwrap_or(Value::Null),
    })
}

const NIGHTLY_COLUMNS: &str = "SELECT date, scheduled_at, run_id, state, begun_at, ended_at, report FROM nightly";
const VERSION_COLUMNS: &str = "SELECT version, at, who, run_id, why, rules, guidelines, edits FROM rules_version";

fn version_row(row: &Row<'_>) -> rusqlite::Result<RulesVersionRow> {
    Ok(RulesVersionRow {
        version: row.get(0)?,
        at: parse_column(row, 1)?,
        who: row.get(2)?,
        run_id: row.get(3)?,
        why: row.get(4)?,
        rules: row.get(5)?,
        guidelines: row.get(6)?,
        edits: decode_json_column(row, 7)?,
    })
}

impl StoreReader<'_> {
    pub fn nightly_run(&self, date: &str) -> Result<Option<NightlyRow>> {
        query_optional(self.0, &format!("{NIGHTLY_COLUMNS} WHERE date = ?1"), [date], "reading a night", nightly_row)
    }

    /// The newest date that was seen to.
    pub fn last_nightly_date(&self) -> Result<Option<String>> {
        let sql = "SELECT max(date) FROM nightly WHERE state <> 'running'";
        query_optional(self.0, sql, [], "reading the last night", |row| row.get(0)).map(Option::flatten)
    }

    /// A night that was cut off.
    pub fn unfinished_nightly_run(&self) -> Result<Option<NightlyRow>> {
        let sql = format!("{NIGHTLY_COLUMNS} WHERE state = 'running' ORDER BY date");
        query_first_readable(self.0, &sql, [], "looking for a night", nightly_row)
    }

    /// The newest first.
    pub fn rules_versions(&self) -> Result<Vec<RulesVersionRow>> {
        let sql = format!("{VERSION_COLUMNS} WHERE live = 1 ORDER BY version DESC");
        query_readable(self.0, &sql, [], "listing versions of the rules", version_row)
    }

    /// A version whose file may or may not have been replaced before a crash.
    pub fn intended_versions(&self) -> Result<Vec<RulesVersionRow>> {
        let sql = format!("{VERSION_COLUMNS} WHERE live = 0 ORDER BY version");
        query_readable(self.0, &sql, [], "looking for intended versions", version_row)
    }

    pub fn learned_entries(&self) -> Result<Vec<LearnedEntryRow>> {
        let sql = "SELECT name, entry, run_id, evidence, made_at, hits, last_hit FROM learned_entry ORDER BY name";
        query_readable(self.0, sql, [], "reading learned entries", |row| {
            Ok(LearnedEntryRow {
                name: row.get(0)?,
                entry: decode_json_column(row, 1)?,
                run_id: row.get(2)?,
                evidence: decode_json_column(row, 3)?,
                made_at: parse_column(row, 4)?,
                hits: row.get::<_, i64>(5)?.unsigned_abs(),
                last_hit: parse_optional_column(row, 6)?,
            })
        })
    }

    pub fn unlearned_reaches(&self) -> Result<Vec<(String, Instant)>> {
        query_readable(self.0, "SELECT reach, at FROM unlearned", [], "reading what was unlearned", |row| {
            Ok((row.get(0)?, parse_column(row, 1)?))
        })
    }

    /// Every question about an edit that has not been acted on.
    pub fn proposals(&self) -> Result<Vec<ProposalRow>> {
        let sql = "SELECT p.item_id, p.edit, p.run_id, p.evidence, i.decision, i.created_at, i.state = 'open', p.settled_at IS NOT NULL
                   FROM proposal p JOIN item i USING (item_id) ORDER BY p.item_id";
        query_readable(self.0, sql, [], "reading proposals", |row| {
            Ok(ProposalRow {
                item_id: parse_column(row, 0)?,
                edit: decode_json_column(row, 1)?,
                run_id: row.get(2)?,
                evidence: decode_json_column(row, 3)?,
                decision: row.get(4)?,
                asked_at: parse_column(row, 5)?,
                is_open: row.get(6)?,
                is_closed: row.get(7)?,
            })
        })
    }

    pub fn duplicate_tasks(&self) -> Result<Vec<DuplicateTasks>> {
        find_duplicate_tasks(self.0)
    }

    /// Tasks of accounts that are not retired, oldest first.
    pub fn past_tasks(&self, since: Option<Instant>) -> Result<Vec<PastTask>> {
        let sql = format!(
            "SELECT t.task_id, o.number, t.created_at, t.status, t.priority, o.hand_ranked, {}
             FROM tasks t JOIN task_owner o USING (task_id) JOIN task_facts f USING (task_id) JOIN account a ON a.account = o.account
             WHERE (?1 IS NULL OR t.created_at >= ?1) AND a.mode <> 'retired' AND t.status <> 'NEW' ORDER BY t.task_id",
            facts::qualified_columns("f")
        );
        query_readable(self.0, &sql, [since.map(|at| at.to_string())], "reading the past", |row| {
            Ok(PastTask {
                task_id: parse_column(row, 0)?,
                number: row.get(1)?,
                created_at: parse_column(row, 2)?,
                status: parse_column(row, 3)?,
                priority: parse_column(row, 4)?,
                hand_ranked: row.get(5)?,
                facts: facts::facts_row(row, 6)?,
            })
        })
    }

    /// Mails that were read, and what became of them.
    pub fn past_mails(&self, since: Instant) -> Result<Vec<PastMail>> {
        let sql = format!(
            "SELECT l.mail_id, l.arrived_at, l.state = 'task',
                    EXISTS (SELECT 1 FROM correction c WHERE c.mail_id = l.mail_id AND c.kind IN ('not_a_task', 'make_task')),
                    {}, {}
             FROM ledger l JOIN mail_facts f USING (mail_id) JOIN mail m USING (mail_id) JOIN account a ON a.account = l.account
             WHERE l.arrived_at >= ?1 AND l.direction = 'in' AND a.mode <> 'retired' AND l.state IN ('task', 'no_task') ORDER BY l.mail_id",
            mail::is_bulk_sql(),
            facts::qualified_columns("f")
        );
        query_readable(self.0, &sql, [since.to_string()], "reading past mail", |row| {
            Ok(PastMail {
                mail_id: MailId(row.get(0)?),
                arrived_at: parse_column(row, 1)?,
                opened_task: row.get(2)?,
                corrected: row.get(3)?,
                bulk: row.get(4)?,
                facts: facts::facts_row(row, 5)?,
            })
        })
    }

    /// Whose questions the night's are: the first account that is not retired.
    pub fn first_unretired_account(&self) -> Result<Option<AccountId>> {
        let sql = "SELECT account FROM account WHERE mode <> 'retired' ORDER BY kind = 'local', account LIMIT 1";
        query_optional(self.0, sql, [], "finding an account", |row| row.get(0).map(AccountId))
    }
}
