//! How the program knows that its data are its own: what was noted outside them, epochs, and what a restore means.

use std::{io, path::Path};

use anyhow::Context as _;
use serde::Serialize;

use crate::{
    app::App,
    audit::{AnchorFile, AuditEvidence, EvidenceVerification},
    durable_file::FileReplacement,
    failpoint,
    model::DetectedRestore,
    regular_file,
    store::Write,
    witness::Witness,
};

/// What `doctor` tells about the witness.
#[derive(Debug, Serialize)]
pub struct WitnessHealth {
    /// Its folder; none without a state folder.
    pub folder: Option<String>,
    /// Why nothing can be noted there.
    pub problem: Option<String>,
    /// The last restore that was noticed.
    pub restored: Option<DetectedRestore>,
}

impl App {
    /// Finds the witness of this home, and anchors a chain that never was. Only a home that has just been made, or one from
    /// before there was a witness, has such a chain.
    pub(in crate::app) async fn attach_witness(&mut self) -> anyhow::Result<()> {
        let Some(chain) = self.store.read_blocking(|reader| reader.audit().chain())? else { return Ok(()) };
        self.witness = Witness::for_home(self.config.state_folder.as_deref(), chain.home_id());
        if !chain.anchored {
            self.audit().record_head().await;
        }
        Ok(())
    }
}

/// The use cases of the audit chain and of what is noted outside the database.
#[derive(Clone, Copy)]
pub struct AuditUseCases<'a> {
    pub(super) app: &'a App,
}

impl AuditUseCases<'_> {
    pub fn evidence(self) -> AuditEvidence {
        AuditEvidence::new(AnchorFile::new(self.app.home.anchor_file()), self.app.witness.clone(), self.app.home.data())
    }

    /// Notes the newest line of the audit outside the database. What a command did is done, so failing is only said.
    pub async fn record_head(self) {
        // The head of a database that was taken away would be noted beside the one that is there now.
        if self.app.check_data_folder().is_err() {
            return;
        }
        if let Err(error) = self.evidence().record_head(&self.app.store, self.app.clock.now()).await {
            tracing::warn!(error = format!("{error:#}"), "the end of the audit chain could not be noted");
        }
    }

    pub async fn verify(self) -> anyhow::Result<EvidenceVerification> {
        self.evidence().verify(&self.app.store).await
    }

    pub(in crate::app) async fn witness_health(self) -> anyhow::Result<WitnessHealth> {
        let problem = self.app.witness.find_problem();
        let restored = self.app.store.read(|reader| reader.audit().last_restore()).await?;
        Ok(WitnessHealth {
            folder: self.app.witness.folder().map(|folder| folder.display().to_string()),
            problem,
            restored,
        })
    }

    /// Detects that the data were put back from a copy and then starts a new epoch: approvals are void, open effects are
    /// looked for, accounts observe.
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
        let epoch = epoch.max(file).max(evidence.witnessed_epoch().unwrap_or(0)) + 1;
        tracing::warn!(
            "the data were restored from a copy ({reason}). Approvals are void, effects under way are looked for, \
             accounts observe until you turn them on: `adjutant mail mode NAME active`"
        );
        let now = self.app.clock.now();
        // The database first: a kill in between leaves it ahead of the files, and nothing is done twice.
        self.app.store.write(Write::StartEpoch { epoch, reason, at: now }).await?;
        evidence.start_new_series(&self.app.store, now).await?;
        write_epoch(&path, epoch).context("the epoch could not be written")
    }
}

#[derive(PartialEq, Eq)]
enum EpochFile {
    Missing,
    Epoch(i64),
    Damaged,
}

fn read_epoch(path: &Path) -> anyhow::Result<EpochFile> {
    match regular_file::read_to_string(path) {
        Ok(text) => Ok(text.trim().parse().map_or(EpochFile::Damaged, EpochFile::Epoch)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(EpochFile::Missing),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(EpochFile::Damaged),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

/// Returns what is wrong with the file of the epoch; none when it can be read, or is not there.
pub(in crate::app) fn epoch_problem(path: &Path) -> Option<String> {
    match read_epoch(path) {
        Ok(EpochFile::Missing | EpochFile::Epoch(_)) => None,
        Ok(EpochFile::Damaged) => Some(format!("{} is damaged", path.display())),
        Err(error) => Some(format!("{error:#}")),
    }
}

fn write_epoch(path: &Path, epoch: i64) -> io::Result<()> {
    let text = format!("{epoch}\n");
    failpoint::around("epoch.write", || FileReplacement::new(path).replace_durably(text.as_bytes()))
}
