//! Replacing files so that a kill or a power cut leaves the old bytes or the new ones.
//!
//! The order is always the same: write a temporary file, fsync it, rename it over the target, fsync the folder. Callers
//! wrap the steps in failpoints of their own. A file is never readable for others before its mode is set, and a target
//! never holds a part of its bytes.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// The mode of a file that only its owner may read and write.
pub const OWNER_ONLY: u32 = 0o600;

/// One replacement of a file, either as a whole ([`replace_durably`](Self::replace_durably)) or step by step for
/// callers that check something between the steps.
#[derive(Debug, Clone)]
pub struct FileReplacement {
    target: PathBuf,
    /// Lies on the same file system as the target.
    temporary: PathBuf,
    mode: u32,
}

impl FileReplacement {
    /// Describes the replacement of `target` by a file that only its owner can read, written under the same name with
    /// the extension `tmp`.
    pub fn new(target: &Path) -> Self {
        Self { target: target.to_owned(), temporary: target.with_extension("tmp"), mode: OWNER_ONLY }
    }

    /// Sets where the bytes are written before they become the target.
    #[must_use]
    pub fn temporary(self, temporary: PathBuf) -> Self {
        Self { temporary, ..self }
    }

    /// Puts the process id into the name of the temporary file, for targets that several processes may replace at once.
    #[must_use]
    pub fn temporary_per_process(self) -> Self {
        let temporary = self.target.with_extension(format!("{}.tmp", std::process::id()));
        self.temporary(temporary)
    }

    /// Gives the new file the mode of the one it replaces, where there is one.
    #[must_use]
    pub fn keep_mode(self) -> Self {
        let mode = fs::metadata(&self.target).map_or(self.mode, |known| known.permissions().mode() & 0o777);
        Self { mode, ..self }
    }

    /// Replaces the target with `bytes` and waits until both the file and its name are on the disk.
    pub fn replace_durably(&self, bytes: &[u8]) -> io::Result<()> {
        self.write_temporary(bytes)?;
        self.rename_into_place()?;
        self.sync_target_folder()
    }

    /// Writes the temporary file and waits until it is on the disk. One that a killed process left is removed first.
    pub fn write_temporary(&self, bytes: &[u8]) -> io::Result<()> {
        self.discard_temporary()?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&self.temporary)?;
        file.write_all(bytes)?;
        // The mode of an open is reduced by the umask; this one is not.
        file.set_permissions(Permissions::from_mode(self.mode))?;
        file.sync_all()
    }

    /// Gives the temporary file the name of the target. The name is durable after
    /// [`sync_target_folder`](Self::sync_target_folder).
    pub fn rename_into_place(&self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.target)
    }

    /// Waits until the name of the target is on the disk.
    pub fn sync_target_folder(&self) -> io::Result<()> {
        sync_folder_of(&self.target)
    }

    /// Removes the temporary file, where there is one.
    pub fn discard_temporary(&self) -> io::Result<()> {
        match fs::remove_file(&self.temporary) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        }
    }
}

/// Waits until the names in the folder of `path` are on the disk: a created or renamed file is durable only then.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), sync_folder)
}

/// Waits until the names in `folder` are on the disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_is_replaced_whole_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("epoch");
        fs::write(folder.path().join("epoch.tmp"), "half of an earlier try").unwrap();
        for bytes in ["1", "22"] {
            FileReplacement::new(&target).replace_durably(bytes.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), bytes);
            assert_eq!(mode(&target), 0o600);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_link_in_place_of_the_temporary_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (target, other) = (folder.path().join("token.json"), folder.path().join("other"));
        fs::write(&other, "other").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join("token.tmp")).unwrap();
        FileReplacement::new(&target).replace_durably(b"new").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "other");
        assert!(!fs::symlink_metadata(&target).unwrap().is_symlink());
    }

    #[test]
    fn the_mode_of_the_replaced_file_is_kept_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("priority.yml");
        FileReplacement::new(&target).keep_mode().replace_durably(b"new").unwrap();
        assert_eq!(mode(&target), 0o600);
        fs::set_permissions(&target, Permissions::from_mode(0o640)).unwrap();
        FileReplacement::new(&target).keep_mode().temporary_per_process().replace_durably(b"newer").unwrap();
        assert_eq!(mode(&target), 0o640);
    }

    #[test]
    fn a_replacement_that_is_not_wanted_any_more_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let replacement = FileReplacement::new(&folder.path().join("file"));
        replacement.write_temporary(b"new").unwrap();
        replacement.discard_temporary().unwrap();
        replacement.discard_temporary().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
