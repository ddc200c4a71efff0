//! Replacing a file a person may be editing: all of it or nothing, and never over what they have just written.
//!
//! tmp → fsync → rename → fsync of the folder. A kill at any step leaves the old bytes or the new ones.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::{failpoint, regular_file};

/// How replacing a file ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileReplaceOutcome {
    Done,
    /// It was not any more what it was when it was read; nothing was touched.
    ChangedMeanwhile,
}

/// A missing file is an empty one. What is not text is an error, and stays as it is.
pub fn read_or_empty(path: &Path) -> io::Result<String> {
    match regular_file::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        outcome => outcome,
    }
}

/// Makes `path` say `text` instead of `was`, if it still says `was`.
pub fn replace_if_unchanged(path: &Path, was: &str, text: &str) -> io::Result<FileReplaceOutcome> {
    // The file behind a link is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let unfinished = folder.join(format!(".{name}.night"));
    failpoint::around("rules.write", || write_temporary(&unfinished, &path, text))?;
    if read_or_empty(&path)? != was {
        fs::remove_file(&unfinished)?;
        return Ok(FileReplaceOutcome::ChangedMeanwhile);
    }
    failpoint::around("rules.rename", || fs::rename(&unfinished, &path))?;
    failpoint::around("rules.sync", || File::open(&folder).and_then(|folder| folder.sync_all()))?;
    Ok(FileReplaceOutcome::Done)
}

/// With the rights of the file it will be, or those of a new one.
fn write_temporary(unfinished: &Path, path: &Path, text: &str) -> io::Result<()> {
    let rights = fs::metadata(path).map_or(0o600, |known| known.permissions().mode() & 0o777);
    match fs::remove_file(unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(unfinished)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(fs::Permissions::from_mode(rights))?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_wrote_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("priority.yml");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(replace_if_unchanged(&path, "older", "new").unwrap(), FileReplaceOutcome::ChangedMeanwhile);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(replace_if_unchanged(&path, "old", "new").unwrap(), FileReplaceOutcome::Done);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_link_stays_a_link_and_a_missing_file_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.yml"), folder.path().join("priority.yml"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(replace_if_unchanged(&link, "old", "new").unwrap(), FileReplaceOutcome::Done);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(
            replace_if_unchanged(&folder.path().join("more.txt"), "", "text").unwrap(),
            FileReplaceOutcome::Done
        );
    }
}
