//! `data/reflections/DATE.jsonl`: one line for each finished run and for each correction of a person.
//!
//! The files are a view of database rows: a lost line is written again. They never hold text of a mail.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use chrono_tz::Tz;
use serde_json::json;

use crate::{
    failpoint,
    model::{Reflection, ReflectionKind, nightly::CorrectionRow},
    regular_file,
    store::{Result, Store},
};

/// The reflection files of a home. A cheap handle; the file of the current day stays open.
#[derive(Clone)]
pub struct ReflectionFiles {
    folder: PathBuf,
    /// The time zone of the person, which decides the day of a line.
    zone: Tz,
    open_files: Arc<Mutex<HashMap<String, File>>>,
}

impl ReflectionFiles {
    pub fn new(folder: PathBuf, zone: Tz) -> Self {
        Self { folder, zone, open_files: Arc::default() }
    }

    /// Appends the line of a run after its commit. If that fails, the next start writes it ([`Self::reconcile`]).
    pub fn append(&self, day: &str, line: &Reflection) {
        match serde_json::to_string(line) {
            Ok(line) => self.append_line(day, &line),
            Err(error) => tracing::warn!(%error, "a reflection could not be encoded; its file has no line for it"),
        }
    }

    /// Appends the lines of corrections that are not in their file yet.
    pub fn append_corrections(&self, rows: &[CorrectionRow]) {
        for row in rows {
            let (day, line) = self.correction_line(row);
            if !self.read_day(&day).lines().any(|known| known == line) {
                self.append_line(&day, &line);
            }
        }
    }

    /// Appends a line. A failure is logged and loses nothing, because the row is in the database.
    fn append_line(&self, day: &str, line: &str) {
        if let Err(error) = self.append_to_day(day, &format!("{line}\n")) {
            tracing::warn!(%error, "a reflection could not be written to its file; it is in the database and is written at the next start");
        }
    }

    /// Returns the day and the line of a correction.
    fn correction_line(&self, row: &CorrectionRow) -> (String, String) {
        let day = row.at.utc().with_timezone(&self.zone).format("%Y-%m-%d").to_string();
        let line = json!({
            "schema": 1,
            "kind": ReflectionKind::Correction,
            "at": row.at,
            "correction": row.correction,
            "account": row.account,
            "what": row.kind,
            "task_id": row.task_id,
            "mail_id": row.mail_id,
            "from": row.from,
            "to": row.to,
            "why": row.why,
        });
        (day, line.to_string())
    }

    fn read_day(&self, day: &str) -> String {
        regular_file::read_to_string(&self.folder.join(format!("{day}.jsonl"))).unwrap_or_default()
    }

    /// Appends to the file of a day, which stays open until a line of another day comes.
    fn append_to_day(&self, day: &str, text: &str) -> io::Result<()> {
        let mut open = self.open_files.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.contains_key(day) {
            open.clear();
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            open.insert(day.to_owned(), self.open_day(day, false)?);
        }
        // One write call per line: after a kill at most the last line is incomplete, which `reconcile` notices.
        let file = open.get_mut(day);
        failpoint::around("journal.append", || file.map_or(Ok(()), |file| file.write_all(text.as_bytes())))
    }

    fn open_day(&self, day: &str, truncate: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true).mode(0o600);
        if truncate {
            options.write(true).truncate(true)
        } else {
            options.append(true)
        };
        regular_file::open_with(&mut options, &self.folder.join(format!("{day}.jsonl")))
    }

    /// Compares the file of each day with the rows and rewrites those that differ. Returns how many differed.
    pub async fn reconcile(&self, store: &Store) -> Result<usize> {
        let (days, corrections) =
            store.read(|reader| Ok((reader.runs().reflection_days()?, reader.nightly().corrections(None)?))).await?;
        let mut corrections_by_day: BTreeMap<String, Vec<String>> =
            days.into_iter().map(|(day, _)| (day, Vec::new())).collect();
        for row in &corrections {
            let (day, line) = self.correction_line(row);
            corrections_by_day.entry(day).or_default().push(line);
        }
        let mut rewritten = 0;
        for (day, corrections) in corrections_by_day {
            let of_day = day.clone();
            let mut lines = store.read(move |reader| reader.runs().reflections(&of_day)).await?;
            lines.extend(corrections);
            if !self.has_lines(&day, &lines) {
                rewritten += 1;
                self.rewrite_day(&day, &lines);
            }
        }
        Ok(rewritten)
    }

    /// Returns whether the file of a day holds exactly these lines, in any order: runs and corrections are appended by
    /// different processes.
    fn has_lines(&self, day: &str, lines: &[String]) -> bool {
        let text = self.read_day(day);
        let (mut found, mut expected): (Vec<&str>, Vec<&str>) =
            (text.lines().collect(), lines.iter().map(String::as_str).collect());
        found.sort_unstable();
        expected.sort_unstable();
        found == expected
    }

    /// Replaces the file of a day. A failure is logged: the rows stay in the database.
    fn rewrite_day(&self, day: &str, lines: &[String]) {
        let written = failpoint::around("journal.rewrite", || {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            self.open_day(day, true)?.write_all((lines.join("\n") + "\n").as_bytes())
        });
        if let Err(error) = written {
            tracing::warn!(%error, day, "the reflections of a day could not be rewritten; they are in the database");
        }
    }
}
