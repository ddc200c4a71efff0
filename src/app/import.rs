//! `adjutant import`: mbox, .eml or a Maildir into an account of its own that only observes.

use std::{collections::HashSet, path::Path, sync::Arc};

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::App;
use crate::{
    ingest::{Desk, Left, PART, Tally, Trust},
    model::{AccountId, AccountMode, Instant},
    source::import::{Import, Imported, NotImported},
    store::value::{Arrival, ArrivalContent, ArrivalFile},
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
        let account_name = desk.account.clone();
        let unread = Arc::new(self.store.read(move |reader| reader.unread_keys(&account_name)).await?);
        let mut report = ImportReport { account: account.to_owned(), ..ImportReport::default() };
        let mut tally = Tally::default();
        let mut rest = Some(archive);
        while let Some(archive) = rest.take() {
            let part = take_part(archive, desk.clone(), Arc::clone(&unread)).await?;
            report.mails += part.arrivals.len();
            tell(Progress { done: part.progress, total });
            rest = part.rest;
            let left = Left { gone: part.read_now, ..Left::default() };
            desk.enter(part.arrivals, left, None, &mut tally).await?;
        }
        report.new = tally.entered;
        report.duplicates = tally.duplicates;
        report.unreadable = tally.unreadable;
        report.to_work = tally.to_work;
        Ok(report)
    }
}

/// Some messages of an import, and the import itself as long as there are more.
struct Part {
    arrivals: Vec<Arrival>,
    /// Keys of those that could not be read before.
    read_now: Vec<String>,
    progress: u64,
    rest: Option<Import>,
}

async fn take_part(mut archive: Import, desk: Desk, unread: Arc<HashSet<String>>) -> anyhow::Result<Part> {
    let read = move || {
        let mut part = Part { arrivals: Vec::new(), read_now: Vec::new(), progress: 0, rest: None };
        for message in archive.by_ref().take(PART) {
            part.arrivals.push(match message {
                Ok(message) => {
                    part.progress = message.progress;
                    part.read_now.extend(unread.get(&message.place).cloned());
                    arrival(message, &desk)
                }
                Err(message) => unreadable(message, desk.clock.now()),
            });
        }
        part.rest = (part.arrivals.len() == PART).then_some(archive);
        part
    };
    tokio::task::spawn_blocking(read).await.context("reading mail")
}

fn arrival(message: Imported, desk: &Desk) -> Arrival {
    let content = desk.content(&message.bytes, message.arrived_at);
    let Imported { key, folder, direction, arrived_at, bytes, .. } = message;
    let (size, file) = (bytes.len() as u64, ArrivalFile::default());
    Arrival { source_key: key, folder, direction, arrived_at, size, content, file }
}

/// It is accounted for, and a person may look.
fn unreadable(message: NotImported, arrived_at: Instant) -> Arrival {
    let NotImported { key, folder, direction, error } = message;
    let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
    let content = ArrivalContent::Parked { reason: format!("{error}{cause}") };
    Arrival { source_key: key, folder, direction, arrived_at, size: 0, content, file: ArrivalFile::default() }
}
