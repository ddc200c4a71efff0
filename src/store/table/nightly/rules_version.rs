//! Versions of the rules, the evidence of learned entries, and proposals.
//!
//! A version is stored as intended before the files are replaced, and marked live after. A crash in between leaves an
//! intended version, which the next start compares with the files.

use rusqlite::{Connection, Row};

use super::build_audit_entry;
use crate::{
    model::{
        Instant, ItemId,
        nightly::{
            EndNightly, LearnedEntryRow, LiveRulesVersion, NewProposal, NewRulesVersion, ProposalRow, RulesVersionRow,
        },
    },
    store::{
        error::{Result, StoreContext, StoreError},
        table::{
            approval::item, audit, decode_json_column, execute, json_extract_sql, parse_column,
            parse_column_unless_empty, parse_optional_column, query_readable,
        },
    },
};

/// The number of live versions that are kept for a rollback.
pub(in crate::store) const MAX_KEPT_VERSIONS: i64 = 30;

/// The columns that [`version_row`] reads.
const VERSION_COLUMNS: &str = "SELECT version, at, who, run_id, why, rules, guidelines, edits FROM rules_version";

/// Stores a proposed edit of the rules, and opens the item that asks a person about it.
pub(super) fn open_proposal(connection: &Connection, question: &NewProposal, night: &EndNightly) -> Result<()> {
    item::open(connection, &question.item, &night.account, &night.user, None, night.at)?;
    let sql = "INSERT INTO proposal (item_id, edit, run_id, evidence) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    let edit = serde_json::to_string(&question.edit).context("encoding an edit")?;
    let evidence = serde_json::to_string(&question.evidence).context("encoding evidence")?;
    let values = (question.item.item_id.to_string(), edit, night.run_id.to_string(), evidence);
    execute(connection, sql, values, "asking about an edit").map(drop)
}

/// Stores a version before the files are replaced by it. Returns its number.
pub(in crate::store) fn record_intended_version(connection: &Connection, new: &NewRulesVersion) -> Result<i64> {
    let sql = "INSERT INTO rules_version (at, who, run_id, why, rules, guidelines, edits) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let edits = serde_json::to_string(&new.edits).context("encoding edits")?;
    let values = (new.at.to_string(), new.who.as_str(), &new.run_id, &new.why, &new.rules, &new.guidelines, &edits);
    execute(connection, sql, values, "intending a version")?;
    let version = connection.last_insert_rowid();
    let entry = build_audit_entry(new.at, new.who, "rules_intended", format!("rules:{version}"), new.why.clone());
    audit::append(connection, &entry)?;
    Ok(version)
}

/// Marks a version as live after the files were replaced, and stores in the same transaction what it learned, retired
/// and unlearned. Old versions beyond the limit are deleted.
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
    // The time keeps older corrections from teaching the same again.
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

/// Deletes an intended version whose files were never replaced. A live version is not touched.
pub(in crate::store) fn discard_intended_version(connection: &Connection, version: i64) -> Result<()> {
    let sql = "DELETE FROM rules_version WHERE version = ?1 AND live = 0";
    execute(connection, sql, [version], "dropping an intent").map(drop)
}

/// Closes a proposal with its outcome. One that is closed already keeps its outcome.
pub(in crate::store) fn close_proposal(
    connection: &Connection,
    item_id: ItemId,
    outcome: &str,
    at: Instant,
) -> Result<()> {
    let sql = "UPDATE proposal SET settled_at = ?2, outcome = ?3 WHERE item_id = ?1 AND settled_at IS NULL";
    execute(connection, sql, (item_id.to_string(), at.to_string(), outcome), "settling a proposal").map(drop)
}

/// Records that a person turned a proposal down. The same edit is proposed again only after newer corrections.
pub(in crate::store::table) fn reject_proposal(
    connection: &Connection,
    item_id: ItemId,
    why: &str,
    at: Instant,
) -> Result<()> {
    // The key names the conditions of the proposed edit.
    let key = json_extract_sql("edit", "$.key");
    let sql = format!(
        "INSERT OR REPLACE INTO unlearned (reach, at, why)
         SELECT {key}, ?2, ?3 FROM proposal WHERE item_id = ?1 AND {key} IS NOT NULL"
    );
    execute(connection, &sql, (item_id.to_string(), at.to_string(), why), "turning a proposal down")?;
    close_proposal(connection, item_id, "turned down", at)
}

fn version_row(row: &Row<'_>) -> rusqlite::Result<RulesVersionRow> {
    Ok(RulesVersionRow {
        version: row.get(0)?,
        at: parse_column(row, 1)?,
        who: parse_column(row, 2)?,
        run_id: row.get(3)?,
        why: row.get(4)?,
        rules: row.get(5)?,
        guidelines: row.get(6)?,
        edits: decode_json_column(row, 7)?,
    })
}

/// Queries of versions of the rules, learned entries and proposals.
#[derive(Clone, Copy)]
pub struct RulesReader<'a>(pub(in crate::store) &'a Connection);

impl RulesReader<'_> {
    /// Returns the live versions, newest first.
    pub fn versions(self) -> Result<Vec<RulesVersionRow>> {
        let sql = format!("{VERSION_COLUMNS} WHERE live = 1 ORDER BY version DESC");
        query_readable(self.0, &sql, [], "listing versions of the rules", version_row)
    }

    /// Returns the versions whose files may or may not have been replaced before a crash, oldest first.
    pub fn intended_versions(self) -> Result<Vec<RulesVersionRow>> {
        let sql = format!("{VERSION_COLUMNS} WHERE live = 0 ORDER BY version");
        query_readable(self.0, &sql, [], "looking for intended versions", version_row)
    }

    /// Returns the learned entries with their evidence and hits, by name.
    pub fn learned_entries(self) -> Result<Vec<LearnedEntryRow>> {
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

    /// Returns the conditions that must not be learned again from corrections before the given time.
    pub fn unlearned_reaches(self) -> Result<Vec<(String, Instant)>> {
        query_readable(self.0, "SELECT reach, at FROM unlearned", [], "reading what was unlearned", |row| {
            Ok((row.get(0)?, parse_column(row, 1)?))
        })
    }

    /// Returns all proposals, with whether the item still waits and whether the proposal is closed.
    pub fn proposals(self) -> Result<Vec<ProposalRow>> {
        let sql = "SELECT p.item_id, p.edit, p.run_id, p.evidence, i.decision, i.created_at, i.state = 'open', p.settled_at IS NOT NULL
                   FROM proposal p JOIN item i USING (item_id) ORDER BY p.item_id";
        query_readable(self.0, sql, [], "reading proposals", |row| {
            Ok(ProposalRow {
                item_id: parse_column(row, 0)?,
                edit: decode_json_column(row, 1)?,
                run_id: row.get(2)?,
                evidence: decode_json_column(row, 3)?,
                decision: parse_column_unless_empty(row, 4)?,
                asked_at: parse_column(row, 5)?,
                is_open: row.get(6)?,
                is_closed: row.get(7)?,
            })
        })
    }
}
