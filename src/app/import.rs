//! `adjutant import`: mbox, .eml or a Maildir into an account of its own that only observes.

use std::{path::Path, sync::Arc};

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::App;
use crate::{
    ingest::{Intake, Trust},
    model::{AccountId, AccountMode},
    source::import,
};

#[derive(Debug, Default, Serialize)]
pub struct ImportReport {
    pub account: String,
    pub mails: usize,
    pub new: usize,
    pub duplicates: usize,
    pub unreadable: usize,
    /// Left for the graph: the daemon, or the next `once`, reads them.
    pub to_work: usize,
}

/// How far an import is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    pub done: usize,
    pub total: usize,
}

impl App {
    /// Mail older than the configured age opens no task unless `tasks`.
    pub async fn import(&self, path: &Path, account: &str, tasks: bool, mut tell: impl FnMut(Progress)) -> anyhow::Result<ImportReport> {
        let name = AccountId::from(account);
        let plain = !account.is_empty() && account.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if !plain || self.config.accounts.iter().any(|known| known.name == name) {
            bail!("'{account}' cannot be the name of an import: use letters, digits, - _ . and no name of a configured account");
        }
        let known = { let name = name.clone(); self.store.read(move |reader| reader.account(&name)).await? };
        if known.as_ref().is_some_and(|known| known.kind != "import") {
            bail!("the account '{account}' exists and is not an import; choose another with --account");
        }
        self.open_account(name.clone(), "import", AccountMode::Observe).await?;
        let source = import::Archive::open(path).with_context(|| format!("{} cannot be imported", path.display()))?;
        let days = chrono::Duration::days(i64::from(self.config.old_after_days));
        let intake = Intake {
            account: name,
            user: self.user.clone(),
            source: Arc::new(source),
            trust: Trust::default(),
            store: self.store.clone(),
            clock: self.clock.clone(),
            old_after: (!tasks).then_some(days),
        };
        let mut pass = intake.begin().await?;
        let total = pass.remaining();
        while pass.next().await?.is_some() {
            tell(Progress { done: total - pass.remaining(), total });
        }
        Ok(ImportReport {
            account: account.to_owned(),
            mails: total,
            new: pass.tally.entered,
            duplicates: pass.tally.duplicates,
            unreadable: pass.tally.unreadable,
            to_work: pass.tally.to_work,
        })
    }
}
