//! Looks for messages of this program among those that were sent. Only reads.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{INBOX, Maildir, SENT, folders::MaildirFolders, mailbox::DRAFTS, name, open_regular_file};
use crate::{
    model::{Action, ActionId, action::ComposedMessage},
    source::{SourceError, own_message},
};

/// How much of a file is read to find its headers.
const HEADER_BYTES: u64 = 64 * 1024;
/// By how much the clocks of two machines may differ.
const CLOCK_SKEW: Duration = Duration::from_secs(24 * 3600);

/// A sent message of this program.
pub(super) struct SentFile(PathBuf);

impl SentFile {
    /// Returns the name of the folder that the file is in.
    pub(super) fn folder(&self) -> String {
        let folder = self.0.parent().and_then(Path::parent).and_then(Path::file_name);
        folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns whether the file says the same as `message`. After a restore from an older backup, the same step may
    /// have produced another text.
    pub(super) fn has_same_text(&self, message: &ComposedMessage) -> bool {
        let ours = message.mime.as_bytes();
        fs::read(&self.0).is_ok_and(|bytes| {
            bytes == ours
                || own_message::extract_visible_text(&bytes)
                    .is_some_and(|theirs| own_message::extract_visible_text(ours) == Some(theirs))
        })
    }
}

impl Maildir {
    /// Finds the sent message of an action. Returns none when it is in no folder to which it may have been moved.
    pub(super) fn find_sent(&self, action: &Action) -> Result<Option<SentFile>, SourceError> {
        MaildirSentSearch { folders: &self.folders, action }.find().map_err(|error| self.unavailable(error))
    }

    /// Returns whether the message of an action is in `.Sent` under its own name, which is where sending puts it.
    pub(super) fn is_in_sent_folder(&self, action: &Action) -> Result<bool, SourceError> {
        let search = MaildirSentSearch { folders: &self.folders, action };
        search.is_in_sent_folder().map_err(|error| self.unavailable(error))
    }
}

/// The search for the message of one action.
struct MaildirSentSearch<'a> {
    folders: &'a MaildirFolders,
    action: &'a Action,
}

impl MaildirSentSearch<'_> {
    /// Searches all folders but the inbox and the drafts, first by the file's name and then by the action header: mail
    /// programs move sent messages, and some rename them.
    fn find(&self) -> io::Result<Option<SentFile>> {
        match self.find_by_name()? {
            Some(found) => Ok(Some(found)),
            None => self.find_by_header(),
        }
    }

    fn is_in_sent_folder(&self) -> io::Result<bool> {
        for dir in self.folders.dirs(SENT) {
            if find_file_of_action(&dir, self.action.action_id)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn find_by_name(&self) -> io::Result<Option<SentFile>> {
        for dir in self.dirs()? {
            if let Some(path) = find_file_of_action(&dir, self.action.action_id)? {
                return Ok(Some(SentFile(path)));
            }
        }
        Ok(None)
    }

    /// Reads the headers of all files that may have been written since the message was sent.
    fn find_by_header(&self) -> io::Result<Option<SentFile>> {
        // The message cannot have been sent before its task existed, and moving it since has changed the directory it
        // is in now.
        let time = self.action.possible_since_ms();
        let since = SystemTime::UNIX_EPOCH + Duration::from_millis(time);
        let since = since.min(SystemTime::now()).checked_sub(CLOCK_SKEW).unwrap_or(SystemTime::UNIX_EPOCH);
        for dir in self.dirs()? {
            if !is_directory_modified_since(&dir, since)? {
                continue;
            }
            for path in files(&dir)? {
                if is_modified_since(&path, since)? && is_for_action(&path, self.action.action_id)? {
                    return Ok(Some(SentFile(path)));
                }
            }
        }
        Ok(None)
    }

    /// Returns the directories of every folder that may hold a sent message, those of `.Sent` first. A link to the
    /// drafts is excluded like the drafts themselves.
    fn dirs(&self) -> io::Result<Vec<PathBuf>> {
        let mut folders = self.folders.list()?;
        let drafts = fs::canonicalize(self.folders.path(DRAFTS)).ok();
        let holds_drafts =
            |folder: &String| drafts.is_some() && fs::canonicalize(self.folders.path(folder)).ok() == drafts;
        folders.retain(|folder| folder != INBOX && folder != DRAFTS && !holds_drafts(folder));
        folders.sort_by_key(|folder| folder != SENT);
        Ok(folders.iter().flat_map(|folder| self.folders.dirs(folder)).collect())
    }
}

/// Returns the file in a directory that is named after an action of the same step.
fn find_file_of_action(dir: &Path, action: ActionId) -> io::Result<Option<PathBuf>> {
    let is_it = |path: &PathBuf| {
        let unique = path.file_name().map(name::unique_part);
        let named: Option<ActionId> = unique.and_then(|unique| unique.to_str()?.parse().ok());
        named.is_some_and(|named| named.step_key() == action.step_key())
    };
    Ok(files(dir)?.into_iter().find(is_it))
}

/// Returns the regular files of a directory; none when it is missing or not accessible.
fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if is_missing_folder_error(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Returns whether an error means that this is no mail folder of the user. Such folders are ignored.
fn is_missing_folder_error(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

/// Returns whether a file was changed since. A file that is gone was moved, and is found at its new place.
fn is_modified_since(path: &Path, since: SystemTime) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(meta) => Ok(meta.modified()? >= since),
        Err(error) if is_missing_folder_error(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether a directory was changed since; follows a link in its place.
fn is_directory_modified_since(dir: &Path, since: SystemTime) -> io::Result<bool> {
    match fs::metadata(dir) {
        Ok(meta) => Ok(meta.modified()? >= since),
        Err(error) if is_missing_folder_error(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether the header of a file names an action of the same step.
fn is_for_action(path: &Path, action: ActionId) -> io::Result<bool> {
    let mut head = Vec::new();
    // A file that cannot be opened was not written by this program.
    let Ok(file) = open_regular_file(path) else { return Ok(false) };
    file.take(HEADER_BYTES).read_to_end(&mut head)?;
    let named = own_message::extract_action_ids(&head);
    Ok(named.iter().filter_map(|named| named.parse().ok()).any(|named: ActionId| named.step_key() == action.step_key()))
}
