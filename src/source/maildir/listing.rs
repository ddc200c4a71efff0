//! Cached directory listings of a Maildir. A directory is read again only when its modification time has changed.

use std::{
    collections::{HashMap, hash_map::Entry},
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::name::unique_part;

/// Age from which a modification time can be trusted: a file system may give two changes in quick succession the same
/// time.
const STAMP_TRUST: Duration = Duration::from_secs(2);

/// The modification time of a directory; `None` when the directory does not exist.
pub(super) type DirStamp = Option<SystemTime>;

/// The listings of all directories that were read, by path.
#[derive(Debug, Default)]
pub(super) struct Listings {
    dirs: HashMap<PathBuf, Listing>,
}

/// The files of one directory.
#[derive(Debug, Default)]
pub(super) struct Listing {
    stamp: DirStamp,
    /// Whether the stamp was old enough when the directory was read: while it stays the same, so does the content.
    settled: bool,
    /// Full file names by their unique part, which is the name without flags.
    files: HashMap<OsString, OsString>,
    /// Unique part and full name of files whose unique part another file of the directory has too.
    duplicates: Vec<(OsString, OsString)>,
}

impl Listing {
    /// Returns the unique part and the full name of every file.
    pub(super) fn files(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.files.iter().chain(self.duplicates.iter().map(|(unique, name)| (unique, name)))
    }

    /// Returns the full names of the files with this unique part.
    pub(super) fn named(&self, unique: &OsStr) -> impl Iterator<Item = &OsString> {
        let more = self.duplicates.iter().filter(move |(other, _)| other == unique).map(|(_, name)| name);
        self.files.get(unique).into_iter().chain(more)
    }
}

/// Returns the modification time of a directory.
pub(super) fn read_dir_stamp(dir: &Path) -> io::Result<DirStamp> {
    match fs::metadata(dir) {
        Ok(meta) => meta.modified().map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Listings {
    /// Returns the listing of `dir`, read again unless it cannot have changed. A missing directory has no files.
    pub(super) fn get_or_read(&mut self, dir: &Path, now: SystemTime) -> io::Result<&Listing> {
        let stamp = read_dir_stamp(dir)?;
        let listing = self.dirs.entry(dir.to_owned()).or_default();
        if !(listing.settled && listing.stamp == stamp) {
            *listing = if stamp.is_some() { read(dir)? } else { Listing::default() };
            (listing.stamp, listing.settled) = (stamp, is_settled(stamp, now));
        }
        Ok(listing)
    }

    /// Has the directory read again at its next use.
    pub(super) fn invalidate(&mut self, dir: &Path) {
        self.dirs.remove(dir);
    }

    pub(super) fn invalidate_all(&mut self) {
        self.dirs.clear();
    }

    /// Returns the paths at which files with this unique part were last seen in `dir`.
    pub(super) fn paths_named(&self, dir: &Path, unique: &OsStr) -> Vec<PathBuf> {
        let listing = self.dirs.get(dir);
        listing.into_iter().flat_map(|listing| listing.named(unique)).map(|name| dir.join(name)).collect()
    }
}

/// Returns whether a stamp is old enough that any later change must give the directory another one.
pub(super) fn is_settled(stamp: DirStamp, now: SystemTime) -> bool {
    stamp.is_none_or(|stamp| now.duration_since(stamp).is_ok_and(|age| age > STAMP_TRUST))
}

/// Returns how many entries of a directory are neither regular files nor hidden. A missing directory has none.
pub(super) fn count_other_entries(dir: &Path) -> io::Result<u64> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let is_other = |entry: &fs::DirEntry| {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        !is_hidden && entry.file_type().is_ok_and(|kind| !kind.is_file())
    };
    Ok(entries.filter_map(Result::ok).filter(is_other).count() as u64)
}

/// Reads the regular files of a directory, without hidden ones. Links are ignored, because they could lead out of the
/// Maildir.
fn read(dir: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut links = 0_u64;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        // A file that vanished since it was listed was moved; the next poll finds it.
        let Ok(kind) = entry.file_type() else { continue };
        links += u64::from(kind.is_symlink());
        if kind.is_file() && !name.as_encoded_bytes().starts_with(b".") {
            match listing.files.entry(unique_part(&name)) {
                Entry::Vacant(free) => drop(free.insert(name)),
                Entry::Occupied(taken) => listing.duplicates.push((taken.key().clone(), name)),
            }
        }
    }
    if links > 0 {
        tracing::warn!(mail.links = links, "ignored symbolic links in a Maildir; mail is never read through a link");
    }
    Ok(listing)
}
