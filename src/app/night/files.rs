//! The two files the night may edit, and whose turn it is.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;

use anyhow::Context as _;

use crate::{app::App, rules::read_file};

/// Both files, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) rules: String,
    pub(super) guidelines: String,
}

impl App {
    pub(super) fn files(&self) -> anyhow::Result<Files> {
        let read = |path: std::path::PathBuf| {
            read_file(&path).with_context(|| format!("{} cannot be read; nothing was changed", path.display()))
        };
        Ok(Files { rules: read(self.home.rules_file())?, guidelines: read(self.home.guidelines_file())? })
    }

    /// One program at a time edits them; held until it is dropped.
    pub(super) fn rules_turn(&self) -> anyhow::Result<File> {
        let path = self.home.data().join("rules.lock");
        let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = open.with_context(|| format!("{} cannot be opened", path.display()))?;
        file.lock().with_context(|| format!("{} cannot be locked", path.display()))?;
        Ok(file)
    }
}
