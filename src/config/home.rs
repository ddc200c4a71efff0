//! The home: the folder with configuration, rules and data, and the path of everything in it.

use std::path::{Path, PathBuf};

/// The folder of one installation. Paths in the configuration are relative to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

/// There is no home where one was looked for.
#[derive(Debug, thiserror::Error)]
pub enum NoHome {
    /// Neither the current folder nor one above it is a home.
    #[error(
        "no home here: neither {0} nor a folder above it has adjutant.toml or rules/. Make one with `adjutant init`, or name one with --home DIR"
    )]
    Here(String),
    /// The folder that the person named is not a home; nothing was created there.
    #[error(
        "{0} is no home: it has neither adjutant.toml nor rules/. Check --home, or make a home there with `adjutant init {0}`"
    )]
    Given(String),
}

/// Returns whether a folder is a home: it has a configuration, rules, or the data of an earlier start.
fn is_home(folder: &Path) -> bool {
    folder.join("adjutant.toml").is_file() || folder.join("rules").is_dir() || folder.join("data/tasks.db").is_file()
}

impl Home {
    /// Takes this folder as the home, whatever is in it.
    pub fn at(root: PathBuf) -> Self {
        Self(root)
    }

    /// Returns the given home, or the nearest folder upward that has a configuration file or rules. A given folder that
    /// is no home is an error, because it is more likely mistyped than meant.
    pub fn find(given: Option<PathBuf>, here: &Path) -> Result<Self, NoHome> {
        if let Some(root) = given {
            return if is_home(&root) { Ok(Self(root)) } else { Err(NoHome::Given(root.display().to_string())) };
        }
        let known =
            here.ancestors().find(|folder| folder.join("adjutant.toml").is_file() || folder.join("rules").is_dir());
        known.map(|folder| Self(folder.to_owned())).ok_or_else(|| NoHome::Here(here.display().to_string()))
    }

    pub fn root(&self) -> &Path {
        &self.0
    }

    /// Returns a configured path: as it is when it is absolute, else inside the home.
    pub(super) fn resolve(&self, path: &Path) -> PathBuf {
        self.0.join(path)
    }

    pub fn config_file(&self) -> PathBuf {
        self.0.join("adjutant.toml")
    }

    pub fn rules_file(&self) -> PathBuf {
        self.0.join("rules/priority.yml")
    }

    /// Returns the file that keeps the last good rules. It counts while the rules file is broken.
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

    /// Returns the folder under which tools create folders.
    pub fn files(&self) -> PathBuf {
        self.data().join("files")
    }

    pub fn policy_file(&self) -> PathBuf {
        self.0.join("rules/policy.yml")
    }

    /// Returns the folder of the approval queue.
    pub fn queue(&self) -> PathBuf {
        self.data().join("hitl_queue")
    }

    /// Returns the file that keeps the sign-in of an account.
    pub fn token_file(&self, account: &str) -> PathBuf {
        self.data().join("accounts").join(format!("{account}.token"))
    }

    /// Returns the file that keeps the epoch outside the database, so that a restored database is detected.
    pub fn epoch_file(&self) -> PathBuf {
        self.data().join("epoch")
    }

    /// Returns the file that keeps heads of the audit chain outside the database.
    pub fn anchor_file(&self) -> PathBuf {
        self.data().join("audit.anchor")
    }

    /// Returns the file that keeps the token of the MCP server over HTTP.
    pub fn mcp_token_file(&self) -> PathBuf {
        self.data().join("mcp.token")
    }

    /// The lock of a team: whoever holds it works the team.
    pub fn team_lock_file(&self, number: i64) -> PathBuf {
        self.data().join(format!("team-{number}.lock"))
    }

    /// Instructions for the agents of a team, in place of the built-in ones.
    pub fn prompts(&self) -> PathBuf {
        self.root().join("prompts")
    }

    /// Returns the folder of the web page: its secret, its address and the sign-in codes that were not used yet.
    pub fn web(&self) -> PathBuf {
        self.data().join("web")
    }

    /// Returns the file that the worker locks, so that there is one per data folder.
    pub fn lock_file(&self) -> PathBuf {
        self.data().join("worker.lock")
    }
}
