//! File system notifications for a Maildir, so that a change is polled at once. They are only hints: everything works
//! without them, only later.

use std::{path::Path, sync::Arc};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

use super::{LISTED_FOLDERS, Maildir};

/// Keeps the notifications alive; they stop when it is dropped.
#[derive(Debug)]
pub struct MaildirWatcher {
    _watcher: RecommendedWatcher,
}

/// The file system offers no notifications. Nothing is lost; mail is noticed at the next poll.
#[derive(Debug, thiserror::Error)]
#[error("the Maildir cannot be watched; it is polled instead")]
pub struct CannotWatch(#[from] notify::Error);

impl Maildir {
    /// Wakes `hint` after every change in the polled folders. Several changes may wake it once.
    pub fn watch(&self, hint: Arc<Notify>) -> Result<MaildirWatcher, CannotWatch> {
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // An error may mean that a change was missed, and one poll more costs little.
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
