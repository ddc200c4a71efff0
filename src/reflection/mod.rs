//! `data/reflections/DATE.jsonl`: one line per finished run. A view of database rows: a lost line is written again.
//!
//! Never holds mail text.

use std::{
    collections::HashMap,
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    failpoint,
    model::Reflection,
    store::{Result, Store},
};

/// The files, open as long as their day lasts.
#[derive(Clone)]
pub struct Journal {
    folder: PathBuf,
    today: Arc<Mutex<HashMap<String, File>>>,
}

impl Journal {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, today: Arc::default() }
    }

    /// After the commit. What cannot be written now is mended at the next start.
    pub fn append(&self, day: &str, line: &Reflection) {
        let text = serde_json::to_string(line).unwrap_or_default() + "\n";
        if let Err(error) = self.write(day, &text) {
            tracing::warn!(%error, "a reflection could not be written to its file; it is kept in the database");
        }
    }

    fn write(&self, day: &str, text: &str) -> io::Result<()> {
        let mut open = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.contains_key(day) {
            open.clear();
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            open.insert(day.to_owned(), self.open(day, false)?);
        }
        // One write call per line: a kill leaves whole lines or one torn at the end, which mending notices.
        let file = open.get_mut(day);
        failpoint::around("journal.append", || file.map_or(Ok(()), |file| file.write_all(text.as_bytes())))
    }

    fn open(&self, day: &str, anew: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true).mode(0o600);
        if anew {
            options.write(true).truncate(true)
        } else {
            options.append(true)
        };
        options.open(self.folder.join(format!("{day}.jsonl")))
    }

    /// Compares each day's file with the rows and writes the ones anew that differ; how many did.
    pub async fn mend(&self, store: &Store) -> Result<usize> {
        let days = store.read(|reader| reader.reflection_days()).await?;
        let mut mended = 0;
        for (day, _) in days {
            let wanted = day.clone();
            let lines = store.read(move |reader| reader.reflections(&wanted)).await?;
            let text = lines.join("\n") + "\n";
            if std::fs::read_to_string(self.folder.join(format!("{day}.jsonl"))).is_ok_and(|found| found == text) {
                continue;
            }
            mended += 1;
            let written = DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&self.folder)
                .and_then(|()| self.open(&day, true))
                .and_then(|mut file| file.write_all(text.as_bytes()));
            if let Err(error) = written {
                tracing::warn!(%error, day, "a day's reflections could not be written anew");
            }
        }
        Ok(mended)
    }
}
