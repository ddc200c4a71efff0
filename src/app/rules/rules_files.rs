//! Reads and locks the two files that the nightly job edits: the rules and the guidelines. Whoever replaces one of them
//! must hold the lock, because two processes that edit at once would lose one edit.

use std::{
    fs::{File, OpenOptions, TryLockError},
    os::unix::fs::OpenOptionsExt as _,
    time::{Duration, Instant},
};

use anyhow::Context as _;

use crate::{
    app::RulesUseCases,
    regular_file,
    rules::{is_cut_off, read_or_empty},
};

/// How long to wait for the lock. A rewrite takes milliseconds; a process that holds the lock longer is stuck.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause between two attempts to take the lock.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The content of both files, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) struct RulesFiles {
    pub(in crate::app) rules: String,
    pub(in crate::app) guidelines: String,
}

impl RulesUseCases<'_> {
    /// Returns both files. A missing file is empty; one that cannot be read is an error, so that nothing is
    /// overwritten.
    pub(in crate::app) fn read_files(self) -> anyhow::Result<RulesFiles> {
        let read = |path: std::path::PathBuf| {
            read_or_empty(&path).with_context(|| format!("{} cannot be read; nothing was changed", path.display()))
        };
        Ok(RulesFiles { rules: read(self.app.home.rules_file())?, guidelines: read(self.app.home.guidelines_file())? })
    }

    /// Returns both files for learning. A rules file that cannot be read counts as missing, and nothing is learned into
    /// it.
    pub(in crate::app) fn read_files_or_no_rules(self) -> anyhow::Result<RulesFiles> {
        let path = self.app.home.guidelines_file();
        let guidelines = read_or_empty(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        Ok(RulesFiles { rules: read_or_empty(&self.app.home.rules_file()).unwrap_or_default(), guidelines })
    }

    /// Returns whether this text of the rules file was cut off. Nothing is learned into such a file, and nothing of it
    /// is kept.
    pub(in crate::app) fn is_cut_off(self, rules: &str) -> bool {
        is_cut_off(rules, &self.app.home.last_good_rules())
    }

    /// Takes the lock under which the files are edited, one process at a time. It is held until the returned file is
    /// dropped. The wait is asynchronous, because the holder may need the thread.
    pub(in crate::app) async fn lock_files(self) -> anyhow::Result<File> {
        let path = self.app.home.data().join("rules.lock");
        let mut options = OpenOptions::new();
        let open = regular_file::open_with(options.write(true).create(true).truncate(false).mode(0o600), &path);
        let file = open.with_context(|| format!("{} cannot be opened", path.display()))?;
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    tokio::time::sleep(LOCK_RETRY_INTERVAL).await
                }
                Err(TryLockError::WouldBlock) => {
                    anyhow::bail!("another adjutant edits the rules; nothing was changed, try again")
                }
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("{} cannot be locked", path.display()));
                }
            }
        }
    }
}
