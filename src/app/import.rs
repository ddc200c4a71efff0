//! `adjutant import`: mbox, .eml or a Maildir into an account of its own that only observes.

use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::App;
use crate::{
    ingest::{Desk, PART, Tally, Trust},
    model::{AccountId, AccountMode},
    source::import::{Import, Imported},
    store::value::Arrival,
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
    /// Bytes.
    pub done: u64,
    pub total: u64,
}

impl App {
    /// Mail older than the configured age opens no task unless `tasks`.
    pub async fn import(
        &self,
        path: &Path,
        account: &str,
        tasks: bool,
        mut tell: impl FnMut(Progress),
    ) -> anyhow::Result<ImportReport> {
        let name = AccountId::from(account);
        let plain =
            !account.is_empty() && account.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if !plain || self.config.accounts.iter().any(|known| known.name == name) {
            bail!(
                "'{account}' cannot be the name of an import: use letters, digits, - _ . and no name of a configured account"
            );
        }
        let known = {
            let name = name.clone();
            self.store.read(move |reader| reader.account(&name)).await?
        };
        if known.as_ref().is_some_and(|known| known.kind != "import") {
            bail!("the account '{account}' exists and is not an import; choose another with --account");
        }
        self.open_account(name.clone(), "import", AccountMode::Observe).await?;
        let archive = Import::open(path).with_context(|| format!("{} cannot be imported", path.display()))?;
        let total = archive.total_bytes();
        let days = chrono::Duration::days(i64::from(self.config.old_after_days));
        let desk = Desk {
            account: name,
            user: self.user.clone(),
            trust: Trust::default(),
            store: self.store.clone(),
            clock: self.clock.clone(),
            old_after: (!tasks).then_some(days),
            never_touch: Vec::new(),
        };
        let mut report = ImportReport { account: account.to_owned(), ..ImportReport::default() };
        let mut tally = Tally::default();
        let mut rest = Some(archive);
        while let Some(archive) = rest.take() {
            let part = take_part(archive, desk.clone()).await?;
            report.mails += part.arrivals.len() + part.unreadable;
            report.unreadable += part.unreadable;
            tell(Progress { done: part.progress, total });
            rest = part.rest;
            desk.enter(part.arrivals, Vec::new(), None, &mut tally).await?;
        }
        report.new = tally.entered;
        report.duplicates = tally.duplicates;
        report.unreadable += tally.unreadable;
        report.to_work = tally.to_work;
        Ok(report)
    }
}

/// Some messages of an import, read, and the import itself as long as there are more.
struct Part {
    arrivals: Vec<Arrival>,
    unreadable: usize,
    progress: u64,
    rest: Option<Import>,
}

async fn take_part(mut archive: Import, desk: Desk) -> anyhow::Result<Part> {
    let read = move || {
        let mut part = Part { arrivals: Vec::new(), unreadable: 0, progress: 0, rest: None };
        for message in archive.by_ref().take(PART) {
            let Ok(message) = message else {
                part.unreadable += 1;
                continue;
            };
            part.progress = message.progress;
            let content = desk.content(&message.bytes, message.arrived_at);
            let Imported { key, folder, direction, arrived_at, bytes, .. } = message;
            part.arrivals.push(Arrival {
                source_key: key,
                folder,
                direction,
                arrived_at,
                size: bytes.len() as u64,
                content,
            });
        }
        let more = part.arrivals.len() + part.unreadable == PART;
        part.rest = more.then_some(archive);
        part
    };
    tokio::task::spawn_blocking(read).await.context("reading mail")
}
