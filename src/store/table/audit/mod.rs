//! The audit chain: a hash-chained log of acts.
//!
//! The head is read inside the transaction that appends, never cached. No entry is changed or deleted.

pub(in crate::store) mod epoch;

use rusqlite::{Connection, Row};

use super::{execute, parse_column, query_optional, query_readable, setting::SettingReader};
use crate::{
    model::{
        Actor, AuditChain, AuditHead, AuditVerification, Instant, WitnessKept,
        audit::{AuditEntry, AuditLine, GENESIS, chain_hash},
    },
    store::error::{Result, StoreContext},
};

/// The SQL of the newest entry.
const HEAD: &str = "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1";

/// Starts the chain of a new home with a random entry, so that the hash of that entry identifies the home.
pub(super) fn start_chain(connection: &Connection, at: Instant) -> Result<()> {
    if query_optional(connection, HEAD, [], "reading the head of the audit chain", |_| Ok(()))?.is_some() {
        return Ok(());
    }
    let sql = "SELECT lower(hex(randomblob(16)))";
    let name: String = query_optional(connection, sql, [], "naming the home", |row| row.get(0))?.unwrap_or_default();
    let entry = AuditEntry {
        at,
        account: String::new(),
        who: Actor::Person,
        act: "home_opened".into(),
        subject: format!("home:{name}"),
        detail: String::new(),
    };
    append(connection, &entry)
}

/// Appends an entry, whose hash covers the hash of the entry before it.
pub(in crate::store) fn append(connection: &Connection, entry: &AuditEntry) -> Result<()> {
    let head = query_optional(connection, HEAD, [], "reading the head of the audit chain", |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
    })?;
    let (last, previous) = head.unwrap_or_else(|| (0, GENESIS.to_owned()));
    let seq = last + 1;
    let hash = chain_hash(&previous, seq, entry);
    let sql =
        "INSERT INTO audit (seq, at, account, who, act, subject, detail, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let AuditEntry { at, account, who, act, subject, detail } = entry;
    execute(
        connection,
        sql,
        (seq, at.to_string(), account, who.as_str(), act, subject, detail, hash),
        "appending to the audit chain",
    )
    .map(drop)
}

/// Queries of the audit chain and the epoch.
#[derive(Clone, Copy)]
pub struct AuditReader<'a>(pub(in crate::store) &'a Connection);

impl AuditReader<'_> {
    /// Returns the newest entry; none while the chain is empty.
    pub fn head(self) -> Result<Option<AuditHead>> {
        query_optional(self.0, HEAD, [], "reading the head of the audit chain", |row| {
            Ok(AuditHead { seq: row.get(0)?, hash: row.get(1)? })
        })
    }

    /// Returns what identifies the chain and its newest state; none while the chain is empty.
    pub fn chain(self) -> Result<Option<AuditChain>> {
        let first = "SELECT hash FROM audit ORDER BY seq LIMIT 1";
        let first = query_optional(self.0, first, [], "reading the start of the audit chain", |row| row.get(0))?;
        let (Some(first), Some(head)) = (first, self.head()?) else { return Ok(None) };
        let witness = SettingReader(self.0).get(AuditChain::WITNESS)?.and_then(|kept| kept.parse().ok());
        Ok(Some(AuditChain {
            first,
            head,
            epoch: self.epoch()?,
            anchored: SettingReader(self.0).get(AuditChain::ANCHORED)?.is_some(),
            witness: witness.unwrap_or(WitnessKept::Never),
        }))
    }

    /// Returns the hash of one entry.
    pub fn hash(self, seq: i64) -> Result<Option<String>> {
        query_optional(self.0, "SELECT hash FROM audit WHERE seq = ?1", [seq], "reading the audit chain", |row| {
            row.get(0)
        })
    }

    /// Returns the newest lines about one of these subjects, the newest first.
    pub fn about(self, subjects: &[String], limit: usize) -> Result<Vec<AuditLine>> {
        let sql = "SELECT seq, at, account, who, act, subject, detail FROM audit WHERE subject = ?1 ORDER BY seq DESC LIMIT ?2";
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut lines = Vec::new();
        for subject in subjects {
            let found = query_readable(self.0, sql, (subject, most), "reading the audit chain", |row| {
                let (seq, entry) = audit_entry_row(row)?;
                Ok(AuditLine { seq, entry })
            });
            lines.extend(found?);
        }
        lines.sort_by_key(|line: &AuditLine| std::cmp::Reverse(line.seq));
        lines.truncate(limit);
        Ok(lines)
    }

    /// Verifies every hash of the chain, and compares it with the anchored heads, which come oldest first. Returns the
    /// first problem.
    pub fn verify(self, anchors: &[AuditHead]) -> Result<AuditVerification> {
        let sql = "SELECT seq, at, account, who, act, subject, detail, hash FROM audit ORDER BY seq";
        let mut walk = AuditVerification { lines: 0, problem: None };
        let mut previous = GENESIS.to_owned();
        let mut anchors = anchors.iter().peekable();
        let doing = "walking the audit chain";
        let mut statement = self.0.prepare_cached(sql).context(doing)?;
        let mut rows = statement.query([]).context(doing)?;
        while let Some(row) = rows.next().context(doing)? {
            walk.lines += 1;
            let hash: String = row.get(7).context(doing)?;
            let fits = audit_entry_row(row)
                .is_ok_and(|(seq, entry)| seq == walk.lines && chain_hash(&previous, seq, &entry) == hash);
            if !fits {
                walk.note_problem(format!("line {} was changed, or one before it is missing", walk.lines));
            }
            // An anchored head must be the entry with that number.
            while let Some(anchor) = anchors.next_if(|anchor| anchor.seq <= walk.lines) {
                if anchor.seq == walk.lines && anchor.hash != hash {
                    walk.note_problem(format!("line {} is not the one that was anchored", anchor.seq));
                }
            }
            previous = hash;
        }
        // An anchor beyond the end means that entries were cut off, or an older database was put back.
        if let Some(anchor) = anchors.next() {
            walk.note_problem(format!("the chain ends at line {}, line {} was anchored", walk.lines, anchor.seq));
        }
        Ok(walk)
    }
}

fn audit_entry_row(row: &Row<'_>) -> rusqlite::Result<(i64, AuditEntry)> {
    let entry = AuditEntry {
        at: parse_column(row, 1)?,
        account: row.get(2)?,
        who: parse_column(row, 3)?,
        act: row.get(4)?,
        subject: row.get(5)?,
        detail: row.get(6)?,
    };
    Ok((row.get(0)?, entry))
}

impl AuditVerification {
    /// Keeps the first problem: later ones usually follow from it.
    fn note_problem(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }
}
