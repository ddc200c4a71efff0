//! The two files the night may edit, and whose turn it is.

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

/// A rewrite takes milliseconds; whoever takes longer is stuck.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// Both files, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) struct RulesFiles {
    pub(in crate::app) rules: String,
    pub(in crate::app) guidelines: String,
}

impl RulesUseCases<'_> {
    pub(in crate::app) fn read_files(self) -> anyhow::Result<RulesFiles> {
        let read = |path: std::path::PathBuf| {
            read_or_empty(&path).with_context(|| format!("{} cannot be read; nothing was changed", path.display()))
        };
        Ok(RulesFiles { rules: read(self.app.home.rules_file())?, guidelines: read(self.app.home.guidelines_file())? })
    }

    /// The same to learn from. Into a rules file that cannot be read nothing is learned, as into one that is missing.
    pub(in crate::app) fn read_files_or_no_rules(self) -> anyhow::Result<RulesFiles> {
        let path = self.app.home.guidelines_file();
        let guidelines = read_or_empty(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        Ok(RulesFiles { rules: read_or_empty(&self.app.home.rules_file()).unwrap_or_default(), guidelines })
    }

    /// Returns whether this text of the rules file is one that was cut off: into that nothing is learned, and of it nothing
    /// is kept.
    pub(in crate::app) fn is_cut_off(self, rules: &str) -> bool {
        is_cut_off(rules, &self.app.home.last_good_rules())
    }

    /// One program at a time edits them; held until it is dropped. Waited for without holding up a thread that whoever
    /// has it may need.
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
