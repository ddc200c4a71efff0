//! Where rules, guidelines and data live.

use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

#[derive(Debug, thiserror::Error)]
#[error(
    "no home here: neither {0} nor a folder above it has adjutant.toml or rules/. Make one with `adjutant init`, or name one with --home DIR"
)]
pub struct NoHome(String);

impl Home {
    pub fn at(root: PathBuf) -> Self {
        Self(root)
    }

    /// The given one, or the nearest folder upward that looks like one.
    pub fn find(given: Option<PathBuf>, here: &Path) -> Result<Self, NoHome> {
        if let Some(root) = given {
            return Ok(Self(root));
        }
        let known =
            here.ancestors().find(|folder| folder.join("adjutant.toml").is_file() || folder.join("rules").is_dir());
        known.map(|folder| Self(folder.to_owned())).ok_or_else(|| NoHome(here.display().to_string()))
    }

    pub fn root(&self) -> &Path {
        &self.0
    }

    pub fn config_file(&self) -> PathBuf {
        self.0.join("adjutant.toml")
    }

    pub fn rules_file(&self) -> PathBuf {
        self.0.join("rules/priority.yml")
    }

    /// A copy of the rules file as it was when it was last whole.
    pub fn last_good_rules(&self) -> PathBuf {
        self.data().join("rules.good.yml")
    }

    pub fn guidelines_file(&self) -> PathBuf {
        self.0.join("guidelines.txt")
    }

    pub fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    pub fn database(&self) -> PathBuf {
        self.data().join("tasks.db")
    }

    pub fn backups(&self) -> PathBuf {
        self.data().join("backups")
    }

    pub fn reflections(&self) -> PathBuf {
        self.data().join("reflections")
    }

    pub fn files(&self) -> PathBuf {
        self.data().join("files")
    }

    pub fn policy_file(&self) -> PathBuf {
        self.0.join("rules/policy.yml")
    }

    /// The approval queue, as files.
    pub fn queue(&self) -> PathBuf {
        self.data().join("hitl_queue")
    }

    /// Where an account's sign-in is kept.
    pub fn token_file(&self, account: &str) -> PathBuf {
        self.data().join("accounts").join(format!("{account}.token"))
    }

    /// Outside the database, so that a restored one is noticed.
    pub fn epoch_file(&self) -> PathBuf {
        self.data().join("epoch")
    }

    /// Heads of the audit chain, outside the database.
    pub fn anchor_file(&self) -> PathBuf {
        self.data().join("audit.anchor")
    }

    pub fn lock_file(&self) -> PathBuf {
        self.data().join("worker.lock")
    }
}
