//! The evidence for the audit chain outside the database: its heads are recorded in an anchor file in `data/` and in a
//! witness outside `data/`, and all three are verified together.
//!
//! The store writes the chain itself, in the transaction of each act; nothing here changes it. A recorded head that the
//! database lacks means that the database was truncated, edited or replaced by an older copy. Such a contradiction is
//! never overwritten: a new head beside it would hide it.

mod anchor;

use std::{fs::File, path::PathBuf, sync::Arc};

use anyhow::Context as _;
use serde::Serialize;

use crate::{
    model::{AuditChain, AuditHead, Instant, WitnessKept},
    store::{Store, Write},
    witness::{Witness, WitnessFileStatus, WitnessRecord},
};
pub use anchor::AnchorFile;

/// Records heads of the audit chain outside the database and compares the chain with them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct AuditEvidence {
    anchor: Arc<AnchorFile>,
    witness: Witness,
    /// Locked while heads are recorded or compared, so that no process sees a head in the anchor file and not yet in
    /// the witness.
    data_folder: PathBuf,
}

/// The result of verifying the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceVerification {
    /// How many lines the chain has.
    pub lines: i64,
    /// How many heads the anchor file holds.
    pub anchors: usize,
    /// The first contradiction; none when chain, anchors and witness agree.
    pub problem: Option<String>,
}

/// The anchor file and the witness, read under one lock.
struct RecordedHeads {
    /// The heads of the anchor file, oldest first; none when there is no file.
    anchors: Result<Option<Vec<AuditHead>>, String>,
    witness: WitnessFileStatus,
}

impl AuditEvidence {
    pub fn new(anchor: AnchorFile, witness: Witness, data_folder: PathBuf) -> Self {
        Self { anchor: Arc::new(anchor), witness, data_folder }
    }

    pub const fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Records the newest head, first in the anchor file, then in the witness. Records nothing when either of them
    /// contradicts the chain.
    pub async fn record_head(&self, store: &Store, now: Instant) -> anyhow::Result<()> {
        let (evidence, reading) = (self.clone(), store.clone());
        let recording = tokio::task::spawn_blocking(move || evidence.record_head_blocking(&reading, now));
        store_flags(store, recording.await.context("recording the head of the audit chain")??).await
    }

    /// Returns the flags that the database must store about what was recorded.
    fn record_head_blocking(&self, store: &Store, now: Instant) -> anyhow::Result<Vec<RecordedFlag>> {
        let mut flags = Vec::new();
        let Some(chain) = store.read_blocking(|reader| reader.audit().chain())? else { return Ok(flags) };
        if self.witness.has_recorded(&witness_record(&chain)) {
            return Ok(flags);
        }
        let _lock = self.lock_data_folder()?;
        let found = self.read_recorded_heads();
        let Some(chain) = store.read_blocking(|reader| reader.audit().chain())? else { return Ok(flags) };
        if self.find_contradiction(store, &chain, &found)?.is_some() {
            return Ok(flags);
        }
        let last = found.anchors.ok().flatten().and_then(|mut heads| heads.pop());
        if last.is_none_or(|last| last.seq < chain.head.seq) {
            self.anchor.append(&chain.head, now)?;
        }
        if !chain.anchored {
            flags.push(RecordedFlag::Anchored);
        }
        flags.extend(self.record_in_witness(&chain));
        Ok(flags)
    }

    /// Records the head in the witness. A state folder that cannot be written stops nothing: it is logged once, and
    /// `doctor` reports it. Returns the flag to store if the witness was not known to be kept.
    fn record_in_witness(&self, chain: &AuditChain) -> Option<RecordedFlag> {
        let record = witness_record(chain);
        match self.witness.write_record(&record) {
            Ok(()) => (chain.witness != WitnessKept::Kept).then_some(RecordedFlag::Witness(WitnessKept::Kept)),
            Err(error) => {
                if self.witness.claim_first_warning() {
                    tracing::warn!(%error, "the state folder cannot be written: a data folder restored from a backup may go unnoticed. Check its permissions");
                }
                None
            }
        }
    }

    /// Returns why the database must be taken for one that was restored from a backup, or none if all evidence agrees.
    pub async fn detect_restore(&self, store: &Store) -> anyhow::Result<Option<String>> {
        let (evidence, store) = (self.clone(), store.clone());
        let comparing = tokio::task::spawn_blocking(move || {
            let _lock = evidence.lock_data_folder()?;
            let found = evidence.read_recorded_heads();
            let Some(chain) = store.read_blocking(|reader| reader.audit().chain())? else { return Ok(None) };
            Ok(evidence
                .find_contradiction(&store, &chain, &found)?
                .or_else(|| find_witness_absence(&chain, &found.witness)))
        });
        comparing.await.context("comparing the audit chain with the recorded heads")?
    }

    /// Returns the epoch in the witness, if the witness can be read.
    pub fn witnessed_epoch(&self) -> Option<i64> {
        match self.witness.read_status() {
            WitnessFileStatus::Known(record) => Some(record.epoch),
            _ => None,
        }
    }

    /// Returns the first contradiction between the chain and the recorded heads.
    fn find_contradiction(
        &self,
        store: &Store,
        chain: &AuditChain,
        found: &RecordedHeads,
    ) -> anyhow::Result<Option<String>> {
        let problem = find_anchor_problem(chain, &found.anchors).or_else(|| find_witness_problem(chain, found));
        if problem.is_some() {
            return Ok(problem);
        }
        let chain_has = |seq: i64, hash: &str| -> anyhow::Result<bool> {
            Ok(store.read_blocking(|reader| reader.audit().hash(seq))?.as_deref() == Some(hash))
        };
        if let Ok(Some(heads)) = &found.anchors
            && let Some(last) = heads.last()
            && !chain_has(last.seq, &last.hash)?
        {
            return Ok(Some(format!("the audit chain does not hold line {}, which was anchored", last.seq)));
        }
        if let WitnessFileStatus::Known(record) = &found.witness
            && !chain_has(record.seq, &record.hash)?
        {
            return Ok(Some(format!("the audit chain does not hold line {}, which was seen before", record.seq)));
        }
        Ok(None)
    }

    /// Recomputes the whole chain and compares it with every anchor and with the witness.
    pub async fn verify(&self, store: &Store) -> anyhow::Result<EvidenceVerification> {
        let (evidence, store) = (self.clone(), store.clone());
        let verifying = tokio::task::spawn_blocking(move || {
            let found = {
                let _lock = evidence.lock_data_folder()?;
                evidence.read_recorded_heads()
            };
            evidence.verify_blocking(&store, &found)
        });
        verifying.await.context("verifying the audit chain")?
    }

    /// Checks the witness's head like one more anchor, then looks for anchors and a witness that are missing.
    fn verify_blocking(&self, store: &Store, found: &RecordedHeads) -> anyhow::Result<EvidenceVerification> {
        let mut heads = found.anchors.as_ref().ok().cloned().flatten().unwrap_or_default();
        let anchors = heads.len();
        if let WitnessFileStatus::Known(record) = &found.witness {
            let place = heads.partition_point(|head| head.seq <= record.seq);
            heads.insert(place, AuditHead { seq: record.seq, hash: record.hash.clone() });
        }
        let (walk, chain) =
            store.read_blocking(|reader| Ok((reader.audit().verify(&heads)?, reader.audit().chain()?)))?;
        let outside_problem = chain.and_then(|chain| {
            let problem = find_anchor_problem(&chain, &found.anchors).or_else(|| find_witness_problem(&chain, found));
            problem.or_else(|| find_witness_absence(&chain, &found.witness))
        });
        Ok(EvidenceVerification { lines: walk.lines, anchors, problem: walk.problem.or(outside_problem) })
    }

    /// Starts a new anchor file after a restore was detected. The old file is kept beside it under another name.
    pub async fn start_new_series(&self, store: &Store, now: Instant) -> anyhow::Result<()> {
        let (evidence, reading) = (self.clone(), store.clone());
        let starting = tokio::task::spawn_blocking(move || {
            let _lock = evidence.lock_data_folder()?;
            evidence.anchor.rename_aside(now)?;
            let Some(chain) = reading.read_blocking(|reader| reader.audit().chain())? else { return Ok(Vec::new()) };
            evidence.anchor.append(&chain.head, now)?;
            let witness_flag = evidence.record_in_witness(&chain).or_else(|| {
                // A witness that cannot be written is stored as away; otherwise every start would detect a restore.
                let is_away = evidence.witness.read_status() != WitnessFileStatus::Known(witness_record(&chain));
                is_away.then_some(RecordedFlag::Witness(WitnessKept::Away))
            });
            anyhow::Ok([RecordedFlag::Anchored].into_iter().chain(witness_flag).collect())
        });
        store_flags(store, starting.await.context("starting a new anchor file")??).await
    }

    fn read_recorded_heads(&self) -> RecordedHeads {
        RecordedHeads {
            anchors: self.anchor.read_heads().map_err(|error| error.to_string()),
            witness: self.witness.read_status(),
        }
    }

    /// Waits for the lock on the data folder; dropping the result releases it.
    fn lock_data_folder(&self) -> anyhow::Result<File> {
        let data = File::open(&self.data_folder)
            .with_context(|| format!("{} cannot be opened", self.data_folder.display()))?;
        data.lock().with_context(|| format!("{} cannot be locked", self.data_folder.display()))?;
        Ok(data)
    }
}

/// What the database stores about the records outside it, so that a missing one is noticed.
enum RecordedFlag {
    /// The anchor file holds a head.
    Anchored,
    /// Whether the witness is kept.
    Witness(WitnessKept),
}

/// Stores the flags as settings, after the records outside exist, so that a crash in between never looks like a
/// restore.
async fn store_flags(store: &Store, flags: Vec<RecordedFlag>) -> anyhow::Result<()> {
    for flag in flags {
        let (name, value) = match flag {
            RecordedFlag::Anchored => (AuditChain::ANCHORED, "1"),
            RecordedFlag::Witness(kept) => (AuditChain::WITNESS, kept.as_str()),
        };
        store.write(Write::StoreSetting { name: name.into(), value: value.into() }).await?;
    }
    Ok(())
}

fn witness_record(chain: &AuditChain) -> WitnessRecord {
    WitnessRecord { epoch: chain.epoch, seq: chain.head.seq, hash: chain.head.hash.clone() }
}

/// Returns why the anchor file cannot be relied on: unreadable, or missing although heads were anchored before.
fn find_anchor_problem(chain: &AuditChain, anchors: &Result<Option<Vec<AuditHead>>, String>) -> Option<String> {
    match anchors {
        Err(problem) => Some(format!("the anchor file cannot be read: {problem}")),
        Ok(None) if chain.anchored => Some("the anchor file is missing".into()),
        Ok(Some(heads)) if heads.is_empty() && chain.anchored => Some("the anchor file is empty".into()),
        Ok(_) => None,
    }
}

/// Returns what the witness says against the chain or the anchor file. The anchor file is written first, so one that is
/// behind the witness was restored from a backup.
fn find_witness_problem(chain: &AuditChain, found: &RecordedHeads) -> Option<String> {
    let last = found.anchors.as_ref().ok().and_then(|heads| heads.as_ref()?.last());
    match &found.witness {
        WitnessFileStatus::Known(record) if record.epoch > chain.epoch => {
            Some(format!("epoch {} was seen before, the database is in {}", record.epoch, chain.epoch))
        }
        WitnessFileStatus::Known(record) if last.is_some_and(|last| last.seq < record.seq) => {
            Some(format!("the anchor file ends before line {}, which was seen before", record.seq))
        }
        WitnessFileStatus::Known(_) => None,
        WitnessFileStatus::Unreadable(problem) => Some(problem.clone()),
        WitnessFileStatus::Missing if chain.witness == WitnessKept::Kept => {
            Some("the state folder of this user does not know this home".into())
        }
        WitnessFileStatus::Missing | WitnessFileStatus::Unavailable(_) => None,
    }
}

/// Returns why a witness that was kept before cannot be read now. That contradicts nothing, but it proves nothing
/// either.
fn find_witness_absence(chain: &AuditChain, witness: &WitnessFileStatus) -> Option<String> {
    match witness {
        WitnessFileStatus::Unavailable(problem) if chain.witness == WitnessKept::Kept => Some(problem.clone()),
        _ => None,
    }
}
