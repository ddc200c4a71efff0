//! Which files of the data folder this process has open, so that it notices when they are replaced.
//!
//! A restore of the data folder replaces its files; a process that has the old ones open would go on writing to them,
//! unseen by every other command. An open file keeps its inode, so a replaced file always has another one.

use std::{
    fs::{self, File, Metadata},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The files of a data folder that a process has open. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct OpenFiles(Arc<Vec<OpenFile>>);

/// A file and the inode under which it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OpenFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// The data folder was replaced since this process started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the data folder was replaced while this process was at work: {} is no longer the file it has open ({why}). \
     Nothing more was done; what it did since then is only in the folder that was taken away. Start it again",
    path.display()
)]
pub struct DataReplaced {
    path: PathBuf,
    why: String,
}

impl OpenFiles {
    /// Returns these files and one more, which this process opened at `path` as `file`.
    pub fn with_file(&self, path: &Path, file: &File) -> io::Result<Self> {
        Ok(self.with(path, &file.metadata()?))
    }

    /// Returns these files and the one at `path`, which another part of this process has just opened.
    pub fn with_file_at(&self, path: &Path) -> io::Result<Self> {
        Ok(self.with(path, &fs::metadata(path)?))
    }

    /// Returns these files and one more.
    fn with(&self, path: &Path, meta: &Metadata) -> Self {
        let mut files = self.0.to_vec();
        files.push(OpenFile { path: path.to_owned(), device: meta.dev(), inode: meta.ino() });
        Self(Arc::new(files))
    }

    /// Checks that each open file is still the one at its path. A path that cannot be read counts as replaced.
    pub fn check(&self) -> Result<(), DataReplaced> {
        self.0.iter().try_for_each(|file| {
            let replaced = |why: String| Err(DataReplaced { path: file.path.clone(), why });
            match fs::metadata(&file.path) {
                Ok(meta) if (meta.dev(), meta.ino()) == (file.device, file.inode) => Ok(()),
                Ok(_) => replaced("another file lies there".into()),
                Err(error) => replaced(error.to_string()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_at_the_path_is_noticed_and_a_rewritten_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let (lock, database) = (data.join("lock"), data.join("database"));
        fs::create_dir(&data).unwrap();
        fs::write(&database, "rows").unwrap();
        let file = File::create(&lock).unwrap();
        let open = OpenFiles::default().with_file(&lock, &file).unwrap().with_file_at(&database).unwrap();
        fs::write(&database, "more rows").unwrap();
        assert_eq!(open.check(), Ok(()));
        fs::rename(&data, folder.path().join("old")).unwrap();
        assert!(open.check().unwrap_err().to_string().contains("data/lock"), "it is away");
        fs::create_dir(&data).unwrap();
        fs::write(&lock, "").unwrap();
        fs::copy(folder.path().join("old/database"), &database).unwrap();
        assert!(open.check().unwrap_err().to_string().contains("another file"));
        fs::remove_dir_all(&data).unwrap();
        fs::rename(folder.path().join("old"), &data).unwrap();
        assert_eq!(open.check(), Ok(()));
        fs::copy(&database, data.join("restored")).unwrap();
        fs::rename(data.join("restored"), &database).unwrap();
        assert!(open.check().unwrap_err().to_string().contains("data/database"));
    }
}
