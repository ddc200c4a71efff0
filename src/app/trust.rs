//! What the program may do, and how it knows that its data are its own: policy, pause, epoch, audit.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::Arc,
};

use anyhow::Context as _;
use tokio::sync::watch;

use super::App;
use crate::{
    audit::{Anchor, Verified},
    config::AccountConfig,
    failpoint,
    outbox::{Outbox, Setting},
    policy::Charter,
    source::{Maildir, Sendmail},
    store::Write,
};

impl App {
    /// The policy in force. A broken file counts as the strictest one.
    pub fn charter(&self) -> Charter {
        self.charter_or_problem().unwrap_or_default()
    }

    pub fn charter_or_problem(&self) -> Result<Charter, String> {
        match fs::read_to_string(self.home.policy_file()) {
            Ok(text) => Charter::parse(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Charter::default()),
            Err(error) => Err(format!("it cannot be read: {error}")),
        }
    }

    /// An outbox under the policy as it stands now, serving no mailbox yet.
    pub fn outbox(&self) -> anyhow::Result<Outbox> {
        let (_, charter) = watch::channel(Arc::new(self.charter()));
        self.outbox_following(charter, self.store.read_now(|reader| reader.epoch())?)
    }

    pub(super) fn outbox_following(
        &self,
        charter: watch::Receiver<Arc<Charter>>,
        epoch: i64,
    ) -> anyhow::Result<Outbox> {
        let setting = Setting {
            files: self.home.files(),
            labels: self.config.labels.clone(),
            own: self.config.me.addresses.clone(),
            charter,
            epoch,
        };
        Ok(Outbox::new(self.store.clone(), setting, self.clock.now())?)
    }

    pub(super) async fn maildir(
        &self,
        account: &AccountConfig,
        path: &Path,
        sendmail: Option<&str>,
    ) -> anyhow::Result<Arc<Maildir>> {
        let name = account.name.clone();
        let known = self.store.read(move |reader| reader.known_keys(&name)).await?;
        Ok(Arc::new(Maildir::open(path.to_owned(), known).with_sendmail(sendmail.and_then(Sendmail::parse))))
    }

    /// Holds every effect at once, or lets them go.
    pub async fn pause(&self, on: bool) -> anyhow::Result<()> {
        self.store.write(Write::Pause { on, at: self.clock.now() }).await?;
        Ok(())
    }

    pub async fn is_paused(&self) -> anyhow::Result<bool> {
        Ok(self.store.read(|reader| reader.is_paused()).await?)
    }

    pub fn anchor(&self) -> Anchor {
        Anchor::at(self.home.anchor_file())
    }

    pub async fn verify_audit(&self) -> anyhow::Result<Verified> {
        self.anchor().verify(&self.store).await
    }

    /// Notices a database that is older than what was seen last: then nothing is taken for granted. The epoch.
    pub(super) async fn begin_epoch(&self) -> anyhow::Result<i64> {
        let epoch = self.store.read(|reader| reader.epoch()).await?;
        let path = self.home.epoch_file();
        let seen = read_epoch(&path)?;
        if seen <= epoch && !self.anchor().is_ahead(&self.store).await? {
            if seen < epoch {
                write_epoch(&path, epoch).context("the epoch could not be written")?;
            }
            return Ok(epoch);
        }
        let epoch = epoch.max(seen) + 1;
        tracing::warn!("the database is older than what was seen last: approvals are void, accounts observe");
        // The database first: a kill in between leaves it ahead of the file, and nothing is done twice.
        self.store.write(Write::Epoch { epoch, at: self.clock.now() }).await?;
        self.anchor().begin_anew(&self.store, self.clock.now()).await?;
        write_epoch(&path, epoch).context("the epoch could not be written")?;
        Ok(epoch)
    }
}

fn read_epoch(path: &Path) -> anyhow::Result<i64> {
    match fs::read_to_string(path) {
        Ok(text) => text.trim().parse().context(
            "data/epoch is damaged: expected a number. Write one larger than before to void every approval and go on",
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error).context("the epoch cannot be read"),
    }
}

fn write_epoch(path: &Path, epoch: i64) -> io::Result<()> {
    failpoint::around("epoch.write", || {
        let unfinished = path.with_extension("tmp");
        let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        file.write_all(format!("{epoch}\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, path)?;
        path.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
    })
}
