//! The audit chain from outside: its heads are anchored in a file of `data/` and in a witness elsewhere, and all three are
//! verified together.
//!
//! The chain itself is written by the store, in the transaction of the act. Nothing here changes it. A head outside that
//! the database does not have means that the database was cut off, edited or replaced by an older one. What does not
//! fit is left as it is: noting another head beside it would hide it.

mod anchor;

use std::{fs::File, path::PathBuf, sync::Arc};

use anyhow::Context as _;
use serde::Serialize;

use crate::{
    model::Instant,
    store::{
        Store, Write,
        value::{AuditChain, AuditHead, WitnessKept},
    },
    witness::{Witness, WitnessFileStatus, WitnessRecord},
};
pub use anchor::AnchorFile;

/// What is known of the chain outside the database.
#[derive(Debug, Clone)]
pub struct AuditEvidence {
    anchor: Arc<AnchorFile>,
    witness: Witness,
    /// Locked while heads are noted or compared, so that nobody sees one noted and the other not yet.
    data_folder: PathBuf,
}

/// What verifying found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceVerification {
    pub lines: i64,
    pub anchors: usize,
    /// The first thing that does not fit.
    pub problem: Option<String>,
}

/// Both as they were at one moment.
struct RecordedHeads {
    /// None without a file.
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

    /// Notes the newest head, first in the anchor, then in the witness. Whatever contradicts the chain stays as it is.
    pub async fn record_head(&self, store: &Store, now: Instant) -> anyhow::Result<()> {
        let (evidence, reading) = (self.clone(), store.clone());
        let noting = tokio::task::spawn_blocking(move || evidence.record_head_blocking(&reading, now));
        store_flags(store, noting.await.context("noting the head of the audit chain")??).await
    }

    fn record_head_blocking(&self, store: &Store, now: Instant) -> anyhow::Result<Vec<RecordedFlag>> {
        let mut flags = Vec::new();
        let Some(chain) = store.read_blocking(|reader| reader.audit_chain())? else { return Ok(flags) };
        if self.witness.has_recorded(&witness_record(&chain)) {
            return Ok(flags);
        }
        let _lock = self.lock_data_folder()?;
        let found = self.read_recorded_heads();
        let Some(chain) = store.read_blocking(|reader| reader.audit_chain())? else { return Ok(flags) };
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

    /// A state folder that cannot be written is no reason to stop: `doctor` says so.
    fn record_in_witness(&self, chain: &AuditChain) -> Option<RecordedFlag> {
        let record = witness_record(chain);
        match self.witness.write_record(&record) {
            Ok(()) => (chain.witness != WitnessKept::Kept).then_some(RecordedFlag::Witness(WitnessKept::Kept)),
            Err(error) => {
                if self.witness.claim_first_warning() {
                    tracing::warn!(%error, "nothing can be noted in the state folder: a restored data folder may go unnoticed");
                }
                None
            }
        }
    }

    /// Says why the database must be taken for one that was put back from a copy; none when nothing speaks for it.
    pub async fn detect_restore(&self, store: &Store) -> anyhow::Result<Option<String>> {
        let (evidence, store) = (self.clone(), store.clone());
        let looking = tokio::task::spawn_blocking(move || {
            let _lock = evidence.lock_data_folder()?;
            let found = evidence.read_recorded_heads();
            let Some(chain) = store.read_blocking(|reader| reader.audit_chain())? else { return Ok(None) };
            Ok(evidence
                .find_contradiction(&store, &chain, &found)?
                .or_else(|| find_witness_absence(&chain, &found.witness)))
        });
        looking.await.context("comparing the audit chain with what was noted")?
    }

    /// The epoch that the witness knows, if it knows one.
    pub fn witnessed_epoch(&self) -> Option<i64> {
        match self.witness.read_status() {
            WitnessFileStatus::Known(record) => Some(record.epoch),
            _ => None,
        }
    }

    /// What contradicts the chain.
    fn find_contradiction(
        &self,
        store: &Store,
        chain: &AuditChain,
        found: &RecordedHeads,
    ) -> anyhow::Result<Option<String>> {
        let doubt = find_anchor_problem(chain, &found.anchors).or_else(|| find_witness_problem(chain, found));
        if doubt.is_some() {
            return Ok(doubt);
        }
        let has = |seq: i64, hash: &str| -> anyhow::Result<bool> {
            Ok(store.read_blocking(|reader| reader.audit_hash(seq))?.as_deref() == Some(hash))
        };
        if let Ok(Some(heads)) = &found.anchors
            && let Some(last) = heads.last()
            && !has(last.seq, &last.hash)?
        {
            return Ok(Some(format!("the audit chain does not hold line {}, which was anchored", last.seq)));
        }
        if let WitnessFileStatus::Known(record) = &found.witness
            && !has(record.seq, &record.hash)?
        {
            return Ok(Some(format!("the audit chain does not hold line {}, which was seen before", record.seq)));
        }
        Ok(None)
    }

    /// Walks the chain and holds every anchor and the witness against it.
    pub async fn verify(&self, store: &Store) -> anyhow::Result<EvidenceVerification> {
        let (evidence, store) = (self.clone(), store.clone());
        let walking = tokio::task::spawn_blocking(move || {
            let found = {
                let _lock = evidence.lock_data_folder()?;
                evidence.read_recorded_heads()
            };
            evidence.verify_blocking(&store, &found)
        });
        walking.await.context("verifying the audit chain")?
    }

    fn verify_blocking(&self, store: &Store, found: &RecordedHeads) -> anyhow::Result<EvidenceVerification> {
        let mut heads = found.anchors.as_ref().ok().cloned().flatten().unwrap_or_default();
        let anchors = heads.len();
        if let WitnessFileStatus::Known(record) = &found.witness {
            let place = heads.partition_point(|head| head.seq <= record.seq);
            heads.insert(place, AuditHead { seq: record.seq, hash: record.hash.clone() });
        }
        let walked = store.read_blocking(|reader| Ok((reader.verify_audit(&heads)?, reader.audit_chain()?)))?;
        let (walk, chain) = walked;
        let around = chain.and_then(|chain| {
            let doubt = find_anchor_problem(&chain, &found.anchors).or_else(|| find_witness_problem(&chain, found));
            doubt.or_else(|| find_witness_absence(&chain, &found.witness))
        });
        Ok(EvidenceVerification { lines: walk.lines, anchors, problem: walk.problem.or(around) })
    }

    /// After a restore the old heads are set aside, in a file beside it, and a new series begins.
    pub async fn start_new_series(&self, store: &Store, now: Instant) -> anyhow::Result<()> {
        let (evidence, reading) = (self.clone(), store.clone());
        let beginning = tokio::task::spawn_blocking(move || {
            let _lock = evidence.lock_data_folder()?;
            evidence.anchor.rename_aside(now)?;
            let Some(chain) = reading.read_blocking(|reader| reader.audit_chain())? else { return Ok(Vec::new()) };
            evidence.anchor.append(&chain.head, now)?;
            let kept = evidence.record_in_witness(&chain).or_else(|| {
                // What cannot be seen now is not missed at every start: that would be a restore each time.
                let away = evidence.witness.read_status() != WitnessFileStatus::Known(witness_record(&chain));
                away.then_some(RecordedFlag::Witness(WitnessKept::Away))
            });
            anyhow::Ok([RecordedFlag::Anchored].into_iter().chain(kept).collect())
        });
        store_flags(store, beginning.await.context("beginning a new series of anchors")??).await
    }

    fn read_recorded_heads(&self) -> RecordedHeads {
        RecordedHeads {
            anchors: self.anchor.read_heads().map_err(|error| error.to_string()),
            witness: self.witness.read_status(),
        }
    }

    fn lock_data_folder(&self) -> anyhow::Result<File> {
        let data = File::open(&self.data_folder)
            .with_context(|| format!("{} cannot be opened", self.data_folder.display()))?;
        data.lock().with_context(|| format!("{} cannot be locked", self.data_folder.display()))?;
        Ok(data)
    }
}

/// What the database is to remember about what was noted outside it.
enum RecordedFlag {
    Anchored,
    Witness(WitnessKept),
}

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

fn find_anchor_problem(chain: &AuditChain, anchors: &Result<Option<Vec<AuditHead>>, String>) -> Option<String> {
    match anchors {
        Err(problem) => Some(format!("the anchor file cannot be read: {problem}")),
        Ok(None) if chain.anchored => Some("the anchor file is missing".into()),
        Ok(Some(heads)) if heads.is_empty() && chain.anchored => Some("the anchor file is empty".into()),
        Ok(_) => None,
    }
}

/// The anchor is written first: one that is behind the witness was put back.
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

/// A witness that was kept and cannot be asked contradicts nothing, and bears nothing out.
fn find_witness_absence(chain: &AuditChain, witness: &WitnessFileStatus) -> Option<String> {
    match witness {
        WitnessFileStatus::Unavailable(problem) if chain.witness == WitnessKept::Kept => Some(problem.clone()),
        _ => None,
    }
}
