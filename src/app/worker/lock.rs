//! The lock on the data folder. The process that holds it is the worker.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
};

use anyhow::Context as _;

use crate::{app::WorkerUseCases, regular_file};

/// Another process is the worker.
#[derive(Debug, thiserror::Error)]
#[error("another adjutant is at work on this data folder (process {pid}). Use it, or stop it first")]
pub struct WorkerLockHeld {
    pub pid: String,
}

impl WorkerUseCases<'_> {
    /// Tries to take the worker lock. It belongs to the returned open file: it is released when the process ends,
    /// however it ends.
    pub(in crate::app) fn try_lock(self) -> anyhow::Result<Result<File, WorkerLockHeld>> {
        let path = self.app.home.lock_file();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let open = regular_file::open_with(&mut options, &path);
        let mut file = open.with_context(|| format!("{} cannot be opened", path.display()))?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)?;
                file.rewind()?;
                write!(file, "{}", std::process::id())?;
                Ok(Ok(file))
            }
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                file.read_to_string(&mut pid)?;
                Ok(Err(WorkerLockHeld { pid }))
            }
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("{} cannot be locked", path.display()))
            }
        }
    }

    /// Returns the process id of the worker; none when no process is the worker.
    pub(in crate::app) fn find_pid(self) -> Option<String> {
        let file = regular_file::open(&self.app.home.lock_file()).ok()?;
        match file.try_lock_shared() {
            Ok(()) => None,
            Err(_) => regular_file::read_to_string(&self.app.home.lock_file()).ok(),
        }
    }
}
