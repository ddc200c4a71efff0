//! Imports mail from files: an mbox, an .eml file, a directory of them, or a Maildir, one message at a time.
//!
//! Nothing in this module changes what it reads, and no file is held in memory as a whole unless it is a single
//! message.

mod envelope;
mod mbox;
#[cfg(test)]
mod tests;

use std::{
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{MAX_FETCH_BYTES, Maildir, Source, SourceError};
use crate::{
    failpoint,
    model::{Direction, Instant, ids::sha256_hex},
};
use mbox::Mbox;

/// One imported message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The message's key, made of its content: the same at every import, so that importing twice enters it once.
    pub key: String,
    /// The key under which the message was entered if an earlier import could not read it.
    pub place_key: String,
    pub folder: String,
    pub direction: Direction,
    pub arrived_at: Instant,
    pub bytes: Vec<u8>,
    /// Bytes of the source that were read so far, this message included.
    pub progress: u64,
}

/// A message that could not be read.
#[derive(Debug)]
pub struct NotImported {
    /// The message's key, made of its place because its content is not known: the same at every import.
    pub key: String,
    pub folder: String,
    pub direction: Direction,
    pub error: SourceError,
}

/// An iterator over the messages. A message that cannot be read is an error among the others; iteration may go on after
/// it.
#[derive(Debug)]
pub struct Import {
    total: u64,
    progress: u64,
    source: ImportSource,
}

/// What is being read. `fallback` is the arrival time of messages that do not tell their own.
#[derive(Debug)]
enum ImportSource {
    Mbox { messages: Box<Mbox<File>>, folder: String, direction: Direction, fallback: Instant },
    Files(std::vec::IntoIter<EmlFile>),
    Maildir { maildir: Box<Maildir>, messages: std::vec::IntoIter<super::FoundMessage> },
}

/// A file to be imported, and the folder that its mail counts as.
#[derive(Debug)]
struct EmlFile {
    path: PathBuf,
    folder: String,
}

/// How deep nested directories of .eml files are followed.
const MAX_DIRECTORY_DEPTH: usize = 16;
/// How often young files of a Maildir are waited for. One wait is enough unless new ones keep arriving.
const MAX_SETTLE_WAITS: usize = 5;

impl Import {
    /// Opens a file or directory and detects its kind. A directory with `cur` or `new` is a Maildir.
    pub fn open(path: &Path) -> Result<Import, SourceError> {
        let unavailable = |source| SourceError::Unavailable { what: path.display().to_string(), source };
        let meta = fs::metadata(path).map_err(unavailable)?;
        if !meta.is_dir() {
            return Self::open_file(path, &meta).map_err(unavailable);
        }
        if path.join("cur").is_dir() || path.join("new").is_dir() {
            return Self::open_maildir(path);
        }
        let mut files = Vec::new();
        collect_eml_files(path, "", MAX_DIRECTORY_DEPTH, &mut files).map_err(unavailable)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let total = files.iter().filter_map(|file| fs::metadata(&file.path).ok()).map(|meta| meta.len()).sum();
        Ok(Import { total, progress: 0, source: ImportSource::Files(files.into_iter()) })
    }

    /// Returns the size of everything to be read, for a progress bar.
    pub fn total_bytes(&self) -> u64 {
        self.total
    }

    /// Opens a file: an mbox if it begins like one, otherwise a single message.
    fn open_file(path: &Path, meta: &fs::Metadata) -> io::Result<Import> {
        let kind = match Mbox::open(File::open(path)?)? {
            Some(messages) => {
                let folder = stem(path);
                let direction = direction_of(&folder);
                ImportSource::Mbox { messages: Box::new(messages), folder, direction, fallback: modified(meta) }
            }
            None => ImportSource::Files(vec![EmlFile { path: path.to_owned(), folder: String::new() }].into_iter()),
        };
        Ok(Import { total: meta.len(), progress: 0, source: kind })
    }

    /// Polls a Maildir once, without a ledger, so that every message is handed out.
    fn open_maildir(path: &Path) -> Result<Import, SourceError> {
        let maildir = Box::new(Maildir::open(path.to_owned(), Box::new(Vec::new())));
        let mut poll = failpoint::around("source.poll", || maildir.poll(None))?;
        // Files that may still be being written are waited for, but not forever: a mailbox in use always has some.
        for pause in std::iter::repeat_n(poll.poll_again_after, MAX_SETTLE_WAITS).flatten() {
            std::thread::sleep(pause);
            poll = failpoint::around("source.poll", || maildir.poll(None))?;
            if poll.poll_again_after.is_none() {
                break;
            }
        }
        let messages = poll.messages;
        let total = messages.iter().map(|found| found.size).sum();
        Ok(Import { total, progress: 0, source: ImportSource::Maildir { maildir, messages: messages.into_iter() } })
    }
}

impl Iterator for Import {
    type Item = Result<Imported, NotImported>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.source {
            ImportSource::Mbox { messages, folder, direction, fallback } => {
                let begin = messages.bytes_read();
                let message = match messages.next()? {
                    Ok(message) => message,
                    Err(source) => {
                        let error = SourceError::Unavailable { what: format!("the mbox from byte {begin} on"), source };
                        let (key, folder) = (format!("mbox/{folder}/{begin}"), folder.clone());
                        return Some(Err(NotImported { key, folder, direction: *direction, error }));
                    }
                };
                let arrived_at =
                    message.arrived_at.or_else(|| envelope::header_date(&message.bytes)).unwrap_or(*fallback);
                Some(Ok(Imported {
                    key: format!("mbox/{}", sha256_hex(&message.bytes)),
                    place_key: format!("mbox/{folder}/{begin}"),
                    folder: folder.clone(),
                    direction: *direction,
                    arrived_at,
                    bytes: message.bytes,
                    progress: message.end,
                }))
            }
            ImportSource::Files(files) => {
                let file = files.next()?;
                let result = read_eml(&file, &mut self.progress);
                Some(result.map_err(|source| {
                    let error = SourceError::Unreadable { key: file.path.display().to_string(), source };
                    let direction = direction_of(&file.folder);
                    NotImported { key: place_key(&file.path), folder: file.folder, direction, error }
                }))
            }
            ImportSource::Maildir { maildir, messages } => {
                let found = messages.next()?;
                self.progress += found.size;
                let super::FoundMessage { key, folder, direction, arrived_at, .. } = found;
                let place = place_key(&maildir.root().join(&key));
                let fetched = failpoint::around("source.fetch", || maildir.fetch(&key));
                Some(match fetched {
                    Ok(bytes) => {
                        // Copying an archive gives old mail new files, so the Date header counts if it is earlier.
                        let arrived_at = envelope::header_date(&bytes).map_or(arrived_at, |at| at.min(arrived_at));
                        let (key, progress) = (format!("maildir/{}", sha256_hex(&bytes)), self.progress);
                        Ok(Imported { key, place_key: place, folder, direction, arrived_at, bytes, progress })
                    }
                    Err(error) => Err(NotImported { key: place, folder, direction, error }),
                })
            }
        }
    }
}

/// Reads one .eml file, truncated at the fetch limit.
fn read_eml(file: &EmlFile, progress: &mut u64) -> io::Result<Imported> {
    let opened = File::open(&file.path)?;
    let meta = opened.metadata()?;
    *progress += meta.len();
    let mut bytes = Vec::new();
    opened.take(MAX_FETCH_BYTES).read_to_end(&mut bytes)?;
    let arrived_at = envelope::header_date(&bytes).unwrap_or_else(|| modified(&meta));
    Ok(Imported {
        key: format!("eml/{}", sha256_hex(&bytes)),
        place_key: place_key(&file.path),
        folder: file.folder.clone(),
        direction: direction_of(&file.folder),
        arrived_at,
        bytes,
        progress: *progress,
    })
}

/// Returns the key of a message whose content is not known.
fn place_key(path: &Path) -> String {
    format!("file/{}", path.display())
}

/// Collects the regular .eml files of a directory and those below it. Links are not followed.
fn collect_eml_files(dir: &Path, folder: &str, depth: usize, files: &mut Vec<EmlFile>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() && depth > 0 && !name.starts_with('.') {
            let below = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            collect_eml_files(&path, &below, depth - 1, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("eml")) {
            files.push(EmlFile { path, folder: folder.to_owned() });
        }
    }
    Ok(())
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns when a file was written, as far as its times are within the supported range; otherwise now.
fn modified(meta: &fs::Metadata) -> Instant {
    let written = Instant::from_unix(meta.mtime()).or_else(|| Instant::from_unix(meta.ctime()));
    written.or_else(|| Instant::from_file_time(SystemTime::now())).unwrap_or(Instant::EARLIEST)
}

/// What the names of folders with the person's own mail begin with.
const SENT_NAMES: [&str; 2] = ["sent", "gesendet"];

/// Returns the direction of a folder's mail. Folders such as `Sent`, `Sent Items`, `INBOX.Sent`, `.Sent` and `Gesendet`
/// hold what the person wrote.
fn direction_of(folder: &str) -> Direction {
    let last = folder.rsplit(['/', '.']).next().unwrap_or(folder);
    let begins = |name: &&str| last.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    if SENT_NAMES.iter().any(begins) { Direction::Out } else { Direction::In }
}
