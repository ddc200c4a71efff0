//! A hint that something changed in a Maildir, so that a poll need not wait for its turn. Everything works without it.

use std::{path::Path, sync::Arc};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

use super::{LISTED_FOLDERS, Maildir};

/// Hints stop when it is dropped.
#[derive(Debug)]
pub struct MaildirWatcher {
    _watcher: RecommendedWatcher,
}

#[derive(Debug, thiserror::Error)]
#[error("the Maildir cannot be watched; it is polled instead")]
pub struct CannotWatch(#[from] notify::Error);

impl Maildir {
    /// Wakes `hint` after every change in the listed folders. Several changes may be one hint.
    pub fn watch(&self, hint: Arc<Notify>) -> Result<MaildirWatcher, CannotWatch> {
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // After an error of the watcher something may have been missed: looking once more costs little.
            if !event.is_ok_and(|event| matches!(event.kind, EventKind::Access(_))) {
                hint.notify_one();
            }
        })?;
        for dir in
            LISTED_FOLDERS.iter().flat_map(|(folder, _)| self.folders.dirs(folder)).filter(|dir| Path::is_dir(dir))
        {
            watcher.watch(&dir, RecursiveMode::NonRecursive)?;
        }
        Ok(MaildirWatcher { _watcher: watcher })
    }
}
