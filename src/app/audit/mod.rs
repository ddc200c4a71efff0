//! The use cases of the audit chain, of its anchors outside the database, and of restored backups. Nothing here changes
//! the chain. Where the evidence contradicts the database or cannot be read, a restore is assumed, because an approval
//! that is asked for twice is harmless and a mail that is sent twice is not.

use std::{io, path::Path};

use anyhow::Context as _;
use serde::Serialize;

use crate::{
    app::App,
    audit::{AnchorFile, AuditEvidence, EvidenceVerification},
    durable_file::FileReplacement,
    failpoint,
    model::{DetectedRestore, audit::AuditLine},
    regular_file,
    store::Write,
    witness::Witness,
};

/// What `doctor` reports about the witness.
#[derive(Debug, Serialize)]
pub struct WitnessHealth {
    /// The folder of the witness; none when there is no state folder.
    pub folder: Option<String>,
    /// Why nothing can be written there.
    pub problem: Option<String>,
    /// The last restore that was detected.
    pub restored: Option<DetectedRestore>,
}

impl App {
    /// Finds the witness of this home, and anchors a chain that was never anchored. Only a new home, or one from before
    /// there was a witness, has such a chain.
    pub(in crate::app) async fn attach_witness(&mut self) -> anyhow::Result<()> {
        let Some(chain) = self.store.read_blocking(|reader| reader.audit().chain())? else { return Ok(()) };
        self.witness = Witness::for_home(self.config.state_folder.as_deref(), chain.home_id());
        if !chain.anchored {
            self.audit().record_head().await;
        }
        Ok(())
    }
}

/// The use cases of the audit chain and of what is recorded outside the database.
#[derive(Clone, Copy)]
pub struct AuditUseCases<'a> {
    pub(super) app: &'a App,
}

impl AuditUseCases<'_> {
    /// Returns the anchor file and the witness, against which the chain is compared.
    pub fn evidence(self) -> AuditEvidence {
        AuditEvidence::new(AnchorFile::new(self.app.home.anchor_file()), self.app.witness.clone(), self.app.home.data())
    }

    /// Records the newest head of the audit chain outside the database. A failure is only logged, because what the
    /// command did is already committed.
    pub async fn record_head(self) {
        // After a replacement, the head of this process's database would be recorded beside the database that is there
        // now.
        if self.app.check_data_folder().is_err() {
            return;
        }
        if let Err(error) = self.evidence().record_head(&self.app.store, self.app.clock.now()).await {
            tracing::warn!(error = format!("{error:#}"), "the head of the audit chain could not be recorded");
        }
    }

    /// Returns the newest lines about one of these subjects, such as `task:…` or `mail:18`, the newest first.
    pub async fn lines_about(self, subjects: Vec<String>, limit: usize) -> anyhow::Result<Vec<AuditLine>> {
        Ok(self.app.store.read(move |reader| reader.audit().about(&subjects, limit)).await?)
    }

    /// Compares the whole chain with its anchors and its witness.
    pub async fn verify(self) -> anyhow::Result<EvidenceVerification> {
        self.evidence().verify(&self.app.store).await
    }

    /// Returns the state of the witness and the last restore that was detected.
    pub(in crate::app) async fn witness_health(self) -> anyhow::Result<WitnessHealth> {
        let problem = self.app.witness.find_problem();
        let restored = self.app.store.read(|reader| reader.audit().last_restore()).await?;
        Ok(WitnessHealth {
            folder: self.app.witness.folder().map(|folder| folder.display().to_string()),
            problem,
            restored,
        })
    }

    /// Detects that the data were restored from a backup, and then starts a new epoch: all approvals are void, effects
    /// under way are probed, and accounts only observe.
    pub(in crate::app) async fn start_epoch_if_restored(self) -> anyhow::Result<()> {
        let epoch = self.app.store.read(|reader| reader.audit().epoch()).await?;
        let path = self.app.home.epoch_file();
        let seen = read_epoch(&path)?;
        let evidence = self.evidence();
        let ahead = match &seen {
            EpochFile::Epoch(seen) if *seen > epoch => Some(format!("data/epoch says {seen}, the database {epoch}")),
            EpochFile::Damaged => Some("data/epoch is damaged".into()),
            EpochFile::Epoch(_) | EpochFile::Missing => None,
        };
        let doubt = match ahead {
            Some(ahead) => Some(ahead),
            None => evidence.detect_restore(&self.app.store).await?,
        };
        let Some(reason) = doubt else {
            if seen != EpochFile::Epoch(epoch) && epoch > 0 {
                write_epoch(&path, epoch).context("the epoch could not be written")?;
            }
            return self.app.witness.trim_send_log().or_else(|error| {
                tracing::warn!(%error, "the log of sends could not be shortened");
                Ok(())
            });
        };
        let file = if let EpochFile::Epoch(seen) = seen { seen } else { 0 };
        // The new epoch must be greater than every epoch seen anywhere, or an old approval could count again.
        let epoch = epoch.max(file).max(evidence.witnessed_epoch().unwrap_or(0)) + 1;
        tracing::warn!(
            "the data were restored from a copy ({reason}). Approvals are void, effects under way are looked for, \
             accounts observe until you turn them on: `adjutant mail mode NAME active`"
        );
        let now = self.app.clock.now();
        // The database comes first: a kill in between leaves it ahead of the files, which counts as no restore.
        self.app.store.write(Write::StartEpoch { epoch, reason, at: now }).await?;
        evidence.start_new_series(&self.app.store, now).await?;
        write_epoch(&path, epoch).context("the epoch could not be written")
    }
}

/// The content of `data/epoch`, which records the epoch beside the database.
#[derive(PartialEq, Eq)]
enum EpochFile {
    Missing,
    Epoch(i64),
    Damaged,
}

/// Reads `data/epoch`. A file with other content counts as damaged, and a damaged file as a restore.
fn read_epoch(path: &Path) -> anyhow::Result<EpochFile> {
    match regular_file::read_to_string(path) {
        Ok(text) => Ok(text.trim().parse().map_or(EpochFile::Damaged, EpochFile::Epoch)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(EpochFile::Missing),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(EpochFile::Damaged),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

/// Returns what is wrong with the epoch file; none when it can be read or does not exist.
pub(in crate::app) fn epoch_problem(path: &Path) -> Option<String> {
    match read_epoch(path) {
        Ok(EpochFile::Missing | EpochFile::Epoch(_)) => None,
        Ok(EpochFile::Damaged) => Some(format!("{} is damaged", path.display())),
        Err(error) => Some(format!("{error:#}")),
    }
}

/// Replaces `data/epoch` durably.
fn write_epoch(path: &Path, epoch: i64) -> io::Result<()> {
    let text = format!("{epoch}\n");
    failpoint::around("epoch.write", || FileReplacement::new(path).replace_durably(text.as_bytes()))
}
