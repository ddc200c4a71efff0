//! `data/reflections/DATE.jsonl`: one line per finished run and per correction of a person. A view of database rows: a
//! lost line is written again.
//!
//! Never holds mail text.

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
    model::Reflection,
    regular_file,
    store::{Result, Store, nightly::CorrectionRow},
};

/// The files, open as long as their day lasts.
#[derive(Clone)]
pub struct ReflectionFiles {
    folder: PathBuf,
    /// Days are the person's.
    zone: Tz,
    open_files: Arc<Mutex<HashMap<String, File>>>,
}

impl ReflectionFiles {
    pub fn new(folder: PathBuf, zone: Tz) -> Self {
        Self { folder, zone, open_files: Arc::default() }
    }

    /// After the commit. What cannot be written now is mended at the next start.
    pub fn append(&self, day: &str, line: &Reflection) {
        self.append_line(day, &serde_json::to_string(line).unwrap_or_default());
    }

    /// The same for corrections; those that are there already are not written twice.
    pub fn append_corrections(&self, rows: &[CorrectionRow]) {
        for row in rows {
            let (day, line) = self.correction_line(row);
            if !self.read_day(&day).lines().any(|known| known == line) {
                self.append_line(&day, &line);
            }
        }
    }

    fn append_line(&self, day: &str, line: &str) {
        if let Err(error) = self.append_to_day(day, &format!("{line}\n")) {
            tracing::warn!(%error, "a reflection could not be written to its file; it is kept in the database");
        }
    }

    /// The day and the line of a correction.
    fn correction_line(&self, row: &CorrectionRow) -> (String, String) {
        let day = row.at.utc().with_timezone(&self.zone).format("%Y-%m-%d").to_string();
        let line = json!({
            "schema": 1,
            "kind": "correction",
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

    fn append_to_day(&self, day: &str, text: &str) -> io::Result<()> {
        let mut open = self.open_files.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.contains_key(day) {
            open.clear();
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            open.insert(day.to_owned(), self.open_day(day, false)?);
        }
        // One write call per line: a kill leaves whole lines or one torn at the end, which mending notices.
        let file = open.get_mut(day);
        failpoint::around("journal.append", || file.map_or(Ok(()), |file| file.write_all(text.as_bytes())))
    }

    fn open_day(&self, day: &str, anew: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true).mode(0o600);
        if anew {
            options.write(true).truncate(true)
        } else {
            options.append(true)
        };
        regular_file::open_with(&mut options, &self.folder.join(format!("{day}.jsonl")))
    }

    /// Compares each day's file with the rows and writes the ones anew that differ; how many did.
    pub async fn reconcile(&self, store: &Store) -> Result<usize> {
        let (days, corrections) =
            store.read(|reader| Ok((reader.reflection_days()?, reader.corrections(None)?))).await?;
        let mut said: BTreeMap<String, Vec<String>> = days.into_iter().map(|(day, _)| (day, Vec::new())).collect();
        for row in &corrections {
            let (day, line) = self.correction_line(row);
            said.entry(day).or_default().push(line);
        }
        let mut mended = 0;
        for (day, corrections) in said {
            let wanted = day.clone();
            let mut lines = store.read(move |reader| reader.reflections(&wanted)).await?;
            lines.extend(corrections);
            // Runs and corrections are written by different programs: their order is nobody's.
            let sorted = |lines: &mut Vec<String>| lines.sort_unstable();
            let (mut there, mut due) = (self.read_day(&day).lines().map(str::to_owned).collect(), lines.clone());
            sorted(&mut there);
            sorted(&mut due);
            if there == due {
                continue;
            }
            mended += 1;
            let written = failpoint::around("journal.rewrite", || {
                DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
                self.open_day(&day, true)?.write_all((lines.join("\n") + "\n").as_bytes())
            });
            if let Err(error) = written {
                tracing::warn!(%error, day, "a day's reflections could not be written anew");
            }
        }
        Ok(mended)
    }
}
