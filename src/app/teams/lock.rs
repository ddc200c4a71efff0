//! The lock of a team. The process that holds it works the team.

use std::{
    fs::{File, OpenOptions, TryLockError},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use anyhow::Context as _;

use crate::regular_file;

/// Tries to take the lock. Returns none while another process holds it. The lock is released when the file is closed,
/// however the process ends.
pub(super) fn try_lock(path: &Path) -> anyhow::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = regular_file::open_with(&mut options, path);
    let file = file.with_context(|| format!("{} cannot be opened", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("{} cannot be locked", path.display())),
    }
}
