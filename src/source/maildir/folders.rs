//! The folders of a Maildir on disk (Maildir++): their paths and names. Holds no state.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{INBOX, LISTED_FOLDERS, STATES, listing, name};

/// A Maildir as a tree of directories.
#[derive(Debug, Clone)]
pub(super) struct MaildirFolders {
    root: PathBuf,
}

impl MaildirFolders {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of a folder; for the inbox, the root.
    pub(super) fn path(&self, folder: &str) -> PathBuf {
        if folder == INBOX { self.root.clone() } else { self.root.join(folder) }
    }

    /// Returns the `new` and `cur` directories of a folder.
    pub(super) fn dirs(&self, folder: &str) -> [PathBuf; 2] {
        STATES.map(|state| self.path(folder).join(state))
    }

    /// Returns the modification times of the polled directories. A folder other than the inbox that cannot be examined
    /// counts as missing, so that the inbox is read all the same.
    pub(super) fn dir_stamps(&self) -> io::Result<Vec<listing::DirStamp>> {
        let dirs = LISTED_FOLDERS.iter().flat_map(|(folder, _)| self.dirs(folder).map(|dir| (*folder, dir)));
        dirs.map(|(folder, dir)| match listing::read_dir_stamp(&dir) {
            Err(_) if folder != INBOX => Ok(None),
            stamp => stamp,
        })
        .collect()
    }

    /// Returns the names of all folders, the inbox first. A link to a folder counts as one, unless it leads back to the
    /// inbox.
    pub(super) fn list(&self) -> io::Result<Vec<String>> {
        let mut folders = vec![INBOX.to_owned()];
        let inbox = fs::canonicalize(&self.root)?;
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            let leads_to_folder =
                || fs::canonicalize(entry.path()).is_ok_and(|target| target.is_dir() && target != inbox);
            if let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type())
                && (name.starts_with('.') || LISTED_FOLDERS.iter().any(|(listed, _)| *listed == name))
                && (kind.is_dir() || (kind.is_symlink() && leads_to_folder()))
            {
                folders.push(name);
            }
        }
        Ok(folders)
    }

    /// Returns the names of the directories without a dot that are folders of messages, as some programs keep them.
    pub(super) fn list_plain(&self) -> io::Result<Vec<String>> {
        let mut folders = Vec::new();
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string()
                && !name.starts_with('.')
                && entry.path().join("cur").is_dir()
            {
                folders.push(name);
            }
        }
        Ok(folders)
    }

    /// Returns the path of the file in a folder that has the name of a key. Compares names only, not content.
    pub(super) fn find_file(&self, folder: &str, key: &str) -> io::Result<Option<PathBuf>> {
        let Some((_, unique)) = name::parse_key(key) else { return Ok(None) };
        for dir in self.dirs(folder) {
            let listed = match fs::read_dir(&dir) {
                Ok(listed) => listed,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for entry in listed {
                let entry = entry?;
                let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
                if is_file && name::unique_part(&entry.file_name()) == unique {
                    return Ok(Some(entry.path()));
                }
            }
        }
        Ok(None)
    }
}
