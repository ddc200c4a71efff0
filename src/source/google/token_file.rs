//! The stored sign-in: one file per account, readable by its owner only, replaced as a whole or not at all.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{durable_file::FileReplacement, failpoint, model::Instant};

/// The content of the file. It has no `Debug`, because all of it is secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SignIn {
    pub(super) client_id: String,
    pub(super) refresh_token: String,
    pub(super) access_token: String,
    pub(super) expires_at: Instant,
    pub(super) scopes: Vec<String>,
}

/// The file that holds the sign-in of one account.
#[derive(Debug, Clone)]
pub struct TokenFile(PathBuf);

impl TokenFile {
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn exists(&self) -> bool {
        self.0.is_file()
    }

    /// Returns the stored sign-in; none without a file. The error of a damaged file quotes nothing of its content.
    pub(super) fn load(&self) -> io::Result<Option<SignIn>> {
        match fs::read(&self.0) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|_| self.damaged()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the error of a file that cannot be parsed. It quotes nothing of the file.
    fn damaged(&self) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, format!("{} is damaged; sign in again", self.0.display()))
    }

    /// Replaces the file atomically and durably: a crash leaves either the old content or the new.
    pub(super) fn save(&self, sign_in: &SignIn) -> io::Result<()> {
        let folder = self.0.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let bytes = serde_json::to_vec(sign_in).map_err(io::Error::other)?;
        let replacement = FileReplacement::new(&self.0).temporary_per_process();
        failpoint::around("token.write", || replacement.write_temporary(&bytes))?;
        failpoint::around("token.rename", || {
            replacement.rename_into_place()?;
            replacement.sync_target_folder()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::durable_file::OWNER_ONLY;

    fn sign_in(refresh: &str) -> SignIn {
        SignIn {
            client_id: "c".into(),
            refresh_token: refresh.into(),
            access_token: "a".into(),
            expires_at: "2026-11-16T08:00:00Z".parse().unwrap(),
            scopes: vec!["s".into()],
        }
    }

    #[test]
    fn it_is_replaced_as_a_whole_and_nobody_else_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::at(folder.path().join("accounts/work.token"));
        assert!(file.load().unwrap().is_none());
        for refresh in ["one", "two"] {
            file.save(&sign_in(refresh)).unwrap();
            assert!(file.load().unwrap() == Some(sign_in(refresh)));
            assert_eq!(fs::metadata(file.path()).unwrap().permissions().mode() & 0o7777, OWNER_ONLY);
        }
        let parent = fs::metadata(file.path().parent().unwrap()).unwrap();
        assert_eq!(parent.permissions().mode() & 0o7777, 0o700);
        assert_eq!(fs::read_dir(folder.path().join("accounts")).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_damaged_one_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("work.token");
        fs::write(&path, "{\"refresh_token\": \"quoted-nowhere\"").unwrap();
        let Err(error) = TokenFile::at(path).load() else { panic!("it was read") };
        assert!(error.to_string().contains("sign in again") && !error.to_string().contains("quoted-nowhere"));
    }
}
