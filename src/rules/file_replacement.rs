//! Replacing a file that a person may be editing: as a whole, and never over what they have just written.

use std::{fs, io, path::Path};

use crate::{durable_file::FileReplacement, failpoint, regular_file};

/// How replacing a file ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileReplaceOutcome {
    /// The file has the new text, durably.
    Done,
    /// The file no longer had the text that the caller had read; it was left as it is.
    ChangedMeanwhile,
}

/// Returns the text of a file, and an empty text for a missing file. Bytes that are not UTF-8 are an error.
pub fn read_or_empty(path: &Path) -> io::Result<String> {
    match regular_file::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        outcome => outcome,
    }
}

/// Replaces the text of `path` with `text` if it is still `was`. The file keeps its mode; a kill at any step leaves the
/// old text or the new one.
pub fn replace_if_unchanged(path: &Path, was: &str, text: &str) -> io::Result<FileReplaceOutcome> {
    // The file behind a link is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = path.with_file_name(format!(".{name}.tmp"));
    let replacement = FileReplacement::new(&path).temporary(temporary).keep_mode();
    failpoint::around("rules.write", || replacement.write_temporary(text.as_bytes()))?;
    if read_or_empty(&path)? != was {
        replacement.discard_temporary()?;
        return Ok(FileReplaceOutcome::ChangedMeanwhile);
    }
    failpoint::around("rules.rename", || replacement.rename_into_place())?;
    failpoint::around("rules.sync", || replacement.sync_target_folder())?;
    Ok(FileReplaceOutcome::Done)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

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
