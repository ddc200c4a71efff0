//! The first start: the few questions without whose answers the program guesses, and entering the answers into
//! `adjutant.toml`. A new account only observes, and nothing that a person wrote in the file is lost.

mod places;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;
use toml::Value;

pub use places::{FoundMailbox, MailboxFormat};

use crate::{
    app::{App, BadInput, DiffLine, Preview, PreviewUseCases, rules::diff::diff_lines},
    config::{AccountKind, BadConfig, Config, Home, Surroundings, TEMPLATE},
    rules::{FileReplaceOutcome, read_or_empty, replace_if_unchanged},
};

/// The name of a new account unless the person gives one.
const ACCOUNT_NAME: &str = "mail";

/// What a person answers. An empty answer leaves its key as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FirstAnswers {
    /// The name that the person signs with.
    pub name: String,
    /// The person's own addresses, separated by commas.
    pub addresses: String,
    pub time_zone: String,
    /// Such as "09:00-17:00".
    pub working_hours: String,
    /// The path of a Maildir to follow.
    pub mailbox: String,
    /// The name of its account.
    pub account: String,
}

/// Answers that the check of the configuration accepts, with the file that they make.
#[derive(Debug, Clone)]
pub struct CheckedAnswers {
    /// The file as it was read; empty when there was none.
    was: String,
    /// The file with the answers.
    pub text: String,
    pub config: Config,
    /// The name of the account that follows the mailbox of the answers; none without a mailbox.
    pub account: Option<String>,
}

impl CheckedAnswers {
    /// Returns the lines of the file that the answers change.
    pub fn changed_lines(&self) -> Vec<DiffLine> {
        diff_lines(&self.was, &self.text)
    }
}

/// The questions of a first start, for one home. It needs no open database, because there may be none yet.
#[derive(Debug, Clone)]
pub struct FirstStart {
    home: Home,
    surroundings: Surroundings,
}

impl FirstStart {
    /// Reads the surroundings of the person.
    pub fn at(home: Home) -> Self {
        Self { home, surroundings: Surroundings::read() }
    }

    /// Returns the mailboxes in the usual places of this machine.
    pub fn find_mailboxes(&self) -> Vec<FoundMailbox> {
        places::find_mailboxes(&self.surroundings, Path::new("/"))
    }

    /// Returns the answers as they stand in the configuration. The time zone of the machine is proposed while none is
    /// set.
    pub fn current_answers(&self, config: &Config) -> FirstAnswers {
        let is_sample = config.accounts.iter().all(|account| account.is_sample);
        let text = read_or_empty(&self.home.config_file()).unwrap_or_default();
        let own = text.parse::<toml::Table>().ok().and_then(|table| table.get("me").cloned());
        let is_set = |key: &str| own.as_ref().is_some_and(|own| own.get(key).is_some());
        let me = &config.me;
        // Without a real account the names and addresses are those of the sample mails.
        let unless_sample = |key: &str, values: &[String]| {
            if is_sample && !is_set(key) { String::new() } else { values.join(", ") }
        };
        let zone = if is_set("time_zone") { None } else { self.surroundings.time_zone };
        FirstAnswers {
            name: me.names.first().filter(|_| !is_sample || is_set("names")).cloned().unwrap_or_default(),
            addresses: unless_sample("addresses", &me.addresses),
            time_zone: zone.unwrap_or(me.time_zone).name().to_owned(),
            working_hours: format!("{}-{}", me.work_start.format("%H:%M"), me.work_end.format("%H:%M")),
            mailbox: String::new(),
            account: String::new(),
        }
    }

    /// Enters the answers into the text of the file and checks the result as the program does when it starts. Writes
    /// nothing.
    pub fn check(&self, answers: &FirstAnswers) -> anyhow::Result<CheckedAnswers> {
        let path = self.home.config_file();
        let was = read_or_empty(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        let mut text = if was.trim().is_empty() { TEMPLATE.to_owned() } else { was.clone() };
        for (key, value) in self.own_keys(answers) {
            text = Config::with_own_key(&text, key, &value).map_err(|error| self.bad_config(&error))?;
        }
        let mut config = self.check_text(&text)?;
        let mailbox = answers.mailbox.trim();
        let mut account = None;
        if !mailbox.is_empty() {
            let mailbox = self.maildir_at(mailbox)?;
            let followed = config.accounts.iter().find(|known| known.kind.is_maildir_at(&mailbox));
            account = Some(match followed {
                Some(known) => known.name.to_string(),
                None => {
                    let name = Some(answers.account.trim()).filter(|name| !name.is_empty()).unwrap_or(ACCOUNT_NAME);
                    let place = mailbox.display().to_string();
                    text = Config::with_account(&text, name, &place).map_err(|error| self.bad_config(&error))?;
                    config = self.check_text(&text)?;
                    name.to_owned()
                }
            });
        }
        Ok(CheckedAnswers { was, text, config, account })
    }

    /// Returns the keys that the answers set, with their values.
    fn own_keys(&self, answers: &FirstAnswers) -> Vec<(&'static str, Value)> {
        let list = |text: &str| -> Value {
            let parts = text.split([',', ';', '\n']).map(str::trim).filter(|part| !part.is_empty());
            Value::Array(parts.map(Value::from).collect())
        };
        let one = |text: &str| Value::from(text.trim());
        let FirstAnswers { name, addresses, time_zone, working_hours, .. } = answers;
        let given = [
            ("names", name, Value::Array(vec![one(name)])),
            ("addresses", addresses, list(addresses)),
            ("time_zone", time_zone, one(time_zone)),
            ("working_hours", working_hours, one(working_hours)),
        ];
        given.into_iter().filter(|(_, text, _)| !text.trim().is_empty()).map(|(key, _, value)| (key, value)).collect()
    }

    fn check_text(&self, text: &str) -> Result<Config, BadConfig> {
        Config::check_text(text, &self.home)
    }

    fn bad_config(&self, error: &crate::config::ConfigEditError) -> BadConfig {
        BadConfig { file: self.home.config_file().display().to_string(), problem: error.to_string() }
    }

    /// Returns the path of a mailbox that can be followed.
    fn maildir_at(&self, typed: &str) -> Result<PathBuf, BadInput> {
        let path = match (typed.strip_prefix("~/"), &self.surroundings.user_home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.home.root().join(typed),
        };
        if ["new", "cur"].iter().all(|state| path.join(state).is_dir()) {
            return Ok(path);
        }
        let place = path.display();
        Err(BadInput(if path.is_file() {
            format!(
                "{place} is a file. Only a Maildir is followed; `adjutant import {place}` reads the mail of a file once"
            )
        } else {
            format!("there is no Maildir at {place}; expected a folder with new/ and cur/ in it")
        }))
    }

    /// Writes the file. Nothing is written when it is not any more what the answers were checked with.
    pub fn write(&self, checked: &CheckedAnswers) -> anyhow::Result<()> {
        let path = self.home.config_file();
        let writing = || format!("writing {}", path.display());
        match replace_if_unchanged(&path, &checked.was, &checked.text).with_context(writing)? {
            FileReplaceOutcome::Done => Ok(()),
            FileReplaceOutcome::ChangedMeanwhile => {
                Err(BadInput(format!("{} was changed meanwhile; nothing was written, try again", path.display()))
                    .into())
            }
        }
    }
}

impl PreviewUseCases<'_> {
    /// Returns what the last week's mail of the mailbox in the answers would become. None when they name no mailbox.
    /// Nothing is stored, neither mail nor answers.
    pub async fn read_answered(self, checked: &CheckedAnswers) -> anyhow::Result<Option<Preview>> {
        let Some(account) = checked.account.clone() else { return Ok(None) };
        let app = App { config: std::sync::Arc::new(checked.config.clone()), ..self.app.clone() };
        let runtime = tokio::runtime::Handle::current();
        // Reading a mailbox blocks, and a large one for a while.
        let read = tokio::task::spawn_blocking(move || runtime.block_on(app.preview().read_place(&account, None)));
        Ok(Some(read.await??))
    }
}

impl AccountKind {
    /// Returns whether this is the Maildir at a path, however the path is written.
    fn is_maildir_at(&self, other: &Path) -> bool {
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        matches!(self, Self::Maildir { path, .. } if real(path) == real(other))
    }
}
