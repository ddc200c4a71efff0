//! Stores messages in a Maildir and moves them inside it: atomically, durably, and only once.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, DirBuilder, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{ARCHIVE, INBOX, Maildir, STATES, folders::MaildirFolders, keywords::MaildirKeywords, name, read_file};
use crate::{
    durable_file::{FileReplacement, sync_folder},
    failpoint,
    model::ids::sha256_hex,
    source::SourceError,
};

/// Number of the next write of this process, which makes the names of temporary files unique.
static WRITES: AtomicU64 = AtomicU64::new(0);

impl Maildir {
    /// Creates the directories of the inbox, readable by their owner only.
    pub fn create_inbox(&self) -> Result<(), SourceError> {
        self.folders.create_folder(INBOX).map_err(|error| self.unavailable(error))
    }

    /// Stores a message under a name of the caller's choice and returns its key. If a message of that name is in the
    /// folder already, nothing is written and its key is returned, so that a repeated delivery has no effect.
    pub fn deliver(&self, folder: &str, unique: &str, bytes: &[u8]) -> Result<String, SourceError> {
        let key = key_for_delivery(folder, unique)?;
        if self.is_in_folder(folder, &key)? {
            return Ok(key);
        }
        self.store_new_message(folder, unique, bytes)
    }

    /// Stores a message that cannot be there yet, without looking for it first.
    pub(super) fn store_new_message(&self, folder: &str, unique: &str, bytes: &[u8]) -> Result<String, SourceError> {
        let key = key_for_delivery(folder, unique)?;
        let unique = OsString::from(unique);
        // The folder nearly always exists, so it is created only after a write has failed.
        let written = self.folders.write_message(folder, &unique, bytes).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                self.folders.create_folder(folder)?;
                self.folders.write_message(folder, &unique, bytes)
            }
            _ => Err(error),
        });
        match written {
            Ok(()) => Ok(key),
            Err(source) => Err(SourceError::Unreadable { key, source }),
        }
    }

    /// Moves a message to the archive. One that is there already stays.
    pub fn archive(&self, key: &str) -> Result<(), SourceError> {
        self.move_to(key, ARCHIVE)
    }

    /// Moves an archived message back to the inbox.
    pub fn unarchive(&self, key: &str) -> Result<(), SourceError> {
        self.move_to(key, INBOX)
    }

    /// Moves a message to a folder, unless it is there already. Found by content, so a file that took over its name is
    /// not moved.
    fn move_to(&self, key: &str, folder: &str) -> Result<(), SourceError> {
        let mut state = self.lock();
        let path = self.locate_or_gone(&mut state, key)?;
        if self.folders.dirs(folder).iter().any(|dir| path.parent() == Some(dir)) {
            return Ok(());
        }
        let unique = name::parse_key(key).map(|(_, unique)| unique).unwrap_or_default();
        // A keyword is added to the folder before the message comes.
        self.folders.create_folder(folder).map_err(|error| self.unavailable(error))?;
        let flags = MaildirKeywords(self).flags_in_folder(&path, folder);
        let moved = failpoint::around("archive.rename", || self.folders.rename_as(&path, folder, &unique, &flags));
        moved.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => SourceError::Gone { key: key.to_owned() },
            _ => SourceError::Unreadable { key: key.to_owned(), source },
        })?;
        for dir in self.folders.dirs(folder).iter().map(PathBuf::as_path).chain(path.parent()) {
            state.listings.invalidate(dir);
        }
        Ok(())
    }
}

impl MaildirFolders {
    /// Creates the directories of a folder, readable by their owner only. Existing ones stay as they are.
    fn create_folder(&self, folder: &str) -> io::Result<()> {
        let path = self.path(folder);
        for state in STATES.iter().chain(&["tmp"]) {
            DirBuilder::new().recursive(true).mode(0o700).create(path.join(state))?;
        }
        if folder != INBOX {
            // Maildir++ recognises a folder by this file.
            OpenOptions::new().create(true).append(true).mode(0o600).open(path.join("maildirfolder"))?;
        }
        Ok(())
    }

    /// Writes a message to `tmp`, syncs it and renames it into place.
    fn write_message(&self, folder: &str, unique: &OsString, bytes: &[u8]) -> io::Result<()> {
        let base = self.path(folder);
        let mut written = unique.clone();
        written.push(format!(".{}.{}", std::process::id(), WRITES.fetch_add(1, Ordering::Relaxed)));
        // Messages outside the inbox come from the person or on their behalf, so they count as seen.
        let (dir, flags) = match folder {
            INBOX => ("new", ""),
            ".Drafts" => ("cur", ":2,DS"),
            _ => ("cur", ":2,S"),
        };
        let mut name = unique.clone();
        name.push(flags);
        let replacement = FileReplacement::new(&base.join(dir).join(name)).temporary(base.join("tmp").join(written));
        failpoint::around("maildir.write", || replacement.write_temporary(bytes))?;
        failpoint::around("maildir.rename", || {
            replacement.rename_into_place()?;
            replacement.sync_target_folder()
        })
    }

    /// Moves a file to a folder under its own name.
    pub(super) fn rename_into(&self, path: &Path, folder: &str) -> io::Result<()> {
        let file_name = path.file_name().unwrap_or_default();
        self.rename_as(path, folder, &name::unique_part(file_name), &name::flags(file_name))
    }

    /// Moves a file to a folder under this name and with these flags. If another message has the name already, the
    /// digest of the content is appended to it. Never overwrites another message.
    fn rename_as(&self, path: &Path, folder: &str, unique: &OsStr, flags: &str) -> io::Result<()> {
        self.create_folder(folder)?;
        let dir = self.path(folder).join("cur");
        let place = |mut name: OsString| {
            name.push(format!(":2,{flags}"));
            dir.join(name)
        };
        match rename_no_replace(path, &place(unique.to_owned())) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // A file of this name has the same content, so replacing it loses nothing.
                fs::rename(path, place(name::name_with_digest(unique, &sha256_hex(&read_file(path)?))))?;
            }
            moved => moved?,
        }
        sync_folder(&dir)?;
        path.parent().map_or(Ok(()), sync_folder)
    }
}

/// Renames a file unless the new name is taken.
pub(super) fn rename_no_replace(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::{fs, io::Errno};
    match fs::renameat_with(fs::CWD, from, fs::CWD, to, fs::RenameFlags::NOREPLACE) {
        // The file system cannot check and rename in one step.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match std::fs::symlink_metadata(to) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => std::fs::rename(from, to),
        },
        moved => moved.map_err(Into::into),
    }
}

/// Returns the key of a message to be stored; an error unless folder and name are safe as file names.
fn key_for_delivery(folder: &str, unique: &str) -> Result<String, SourceError> {
    let key = name::make_key(folder, unique.as_ref());
    if name::parse_key(&key).is_some() && !unique.contains(':') && is_folder_name(folder) {
        return Ok(key);
    }
    let source = io::Error::new(io::ErrorKind::InvalidInput, "not a name for a message or folder");
    Err(SourceError::Unreadable { key, source })
}

/// Returns whether a name is the inbox or a plain Maildir++ folder, so that no path can lead out of the Maildir.
fn is_folder_name(folder: &str) -> bool {
    let plain = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' '))
    };
    folder == INBOX || folder.strip_prefix('.').is_some_and(|name| plain(name) && !name.starts_with('.'))
}
