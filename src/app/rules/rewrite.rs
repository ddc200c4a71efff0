//! Replaces the rules files in three steps: the new version is stored as intended, the files are replaced, the version
//! is marked as live. After a kill at any point, the next process to hold the lock completes or discards the intended
//! version.

use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::rules_files::RulesFiles;
use crate::{
    app::RulesUseCases,
    model::{
        Actor, Instant, ItemId, RunId,
        nightly::{LearnedEntryRow, LiveRulesVersion, NewRulesVersion, RulesVersionRow},
    },
    nightly::{LearningInput, LearningOutcome, TestedEdit},
    rules::{FileReplaceOutcome, RuleSet, RulesEdit, keep_as_last_good, read_or_empty, replace_if_unchanged},
    store::{Receipt, Write},
};

/// A version to be made: both files, and what is stored with them.
pub(in crate::app) struct RulesVersionDraft {
    pub(in crate::app) files: RulesFiles,
    /// Who makes the version.
    pub(in crate::app) who: Actor,
    pub(in crate::app) run_id: String,
    pub(in crate::app) why: String,
    pub(in crate::app) edits: Vec<TestedEdit>,
    /// The version that a rollback restores.
    pub(in crate::app) back_to: Option<i64>,
    /// What the version changes about learned entries; stored when it becomes live.
    pub(in crate::app) entry_changes: LiveRulesVersion,
}

/// The result of a rewrite.
pub(in crate::app) enum RewriteOutcome {
    /// There was nothing to change.
    Unchanged,
    /// The files were replaced; this is the number of the version.
    Version(i64),
    /// A person changed a file meanwhile. Nothing was replaced.
    ChangedMeanwhile,
}

impl RulesVersionDraft {
    /// Returns the draft for what the nightly job learned. An entry that a person removed from the file counts as
    /// unlearned.
    pub(in crate::app) fn from_nightly(
        findings: &LearningOutcome,
        material: &LearningInput,
        run_id: RunId,
        at: Instant,
    ) -> anyhow::Result<Self> {
        let mut entry_changes = entry_changes_of(&findings.adopted, &run_id.to_string(), at)?;
        // A removal by a person counts like a rollback.
        let gone = material.tracked_entries.iter().filter(|kept| findings.taken_out.contains(&kept.name));
        entry_changes.unlearned.extend(gone.map(|kept| (kept.entry.reach.key(), "taken out of the file".to_owned())));
        entry_changes.retired.extend(findings.taken_out.iter().cloned());
        Ok(Self {
            files: RulesFiles { rules: findings.rules.clone(), guidelines: findings.guidelines.clone() },
            who: Actor::Nightly,
            run_id: run_id.to_string(),
            why: summarise_edits(&findings.adopted, &findings.taken_out),
            edits: findings.adopted.clone(),
            back_to: None,
            entry_changes,
        })
    }

    /// Returns the draft for a proposal that a person approved.
    pub(in crate::app) fn from_approval(
        files: RulesFiles,
        item_id: ItemId,
        tested: TestedEdit,
        run_id: &str,
        at: Instant,
    ) -> anyhow::Result<Self> {
        let edits = vec![tested];
        let entry_changes =
            LiveRulesVersion { closes_proposal: Some(item_id), ..entry_changes_of(&edits, run_id, at)? };
        let why = format!("you approved: {}", summarise_edits(&edits, &[]));
        Ok(Self { files, who: Actor::Approval, run_id: run_id.to_owned(), why, edits, back_to: None, entry_changes })
    }
}

/// Returns the edits in words, as the reason of the version.
fn summarise_edits(edits: &[TestedEdit], taken_out: &[String]) -> String {
    if edits.is_empty() && !taken_out.is_empty() {
        return format!("you took out: {}", taken_out.join(", "));
    }
    if edits.is_empty() {
        return "guidelines".into();
    }
    edits.iter().map(|tested| tested.words.as_str()).collect::<Vec<_>>().join("; ")
}

/// Returns what these edits change about the learned entries.
fn entry_changes_of(edits: &[TestedEdit], run_id: &str, at: Instant) -> anyhow::Result<LiveRulesVersion> {
    let mut keep = LiveRulesVersion::default();
    for tested in edits {
        let name = tested.edit.name();
        match &tested.edit {
            RulesEdit::Retire { .. } => {
                keep.retired.push(name);
                // An overruled entry is not learned again from the corrections before.
                if !tested.evidence.is_empty() {
                    keep.unlearned.push((tested.key.clone(), "overruled".to_owned()));
                }
            }
            RulesEdit::Add { entry, .. } | RulesEdit::Change { entry, .. } => keep.learned.push(LearnedEntryRow {
                name,
                entry: serde_json::to_value(entry).context("encoding a learned entry")?,
                run_id: run_id.to_owned(),
                evidence: tested.evidence.clone(),
                made_at: at,
                hits: 0,
                last_hit: None,
            }),
        }
    }
    Ok(keep)
}

impl RulesUseCases<'_> {
    /// Replaces the files by a draft that was made from `was`. The caller must hold the lock. If a file is not what
    /// `was` says, nothing is replaced.
    pub(in crate::app) async fn rewrite(
        self,
        was: &RulesFiles,
        draft: RulesVersionDraft,
    ) -> anyhow::Result<RewriteOutcome> {
        let RulesVersionDraft { files, who, run_id, why, edits, back_to, entry_changes: keep } = draft;
        let remembers = !keep.retired.is_empty() || keep.closes_proposal.is_some();
        if files == *was && !remembers {
            return Ok(RewriteOutcome::Unchanged);
        }
        // What the person wrote is kept before anything is replaced.
        self.save_hand_edited_version(was).await?;
        let now = self.app.clock.now();
        let new = NewRulesVersion {
            who,
            run_id,
            why,
            rules: files.rules.clone(),
            guidelines: files.guidelines.clone(),
            edits: json!({ "edits": edits, "keep": encode_entry_changes(&keep)?, "back_to": back_to }),
            at: now,
        };
        let Receipt::Number(version) = self.app.store.write(Write::IntendRulesVersion(Box::new(new))).await? else {
            anyhow::bail!("the version was not numbered")
        };
        // The rules come last: once they are replaced, the version is in force.
        let changes = [
            (self.app.home.guidelines_file(), &was.guidelines, &files.guidelines),
            (self.app.home.rules_file(), &was.rules, &files.rules),
        ];
        self.expect_rules(&files.rules)?;
        for (nth, (path, old, new)) in changes.iter().enumerate() {
            // A file that stays the same is compared too, because the stored entries refer to exactly these bytes.
            let done = if old == new { check_unchanged(path, old)? } else { replace_if_unchanged(path, old, new)? };
            if done == FileReplaceOutcome::ChangedMeanwhile {
                for (path, old, new) in changes.iter().take(nth).filter(|(_, old, new)| old != new) {
                    replace_if_unchanged(path, new, old)?;
                }
                self.expect_rules(&was.rules)?;
                self.app.store.write(Write::DiscardIntendedRulesVersion { version }).await?;
                return Ok(RewriteOutcome::ChangedMeanwhile);
            }
        }
        self.expect_rules(&files.rules)?;
        self.app.store.write(Write::MarkRulesVersionLive(Box::new(LiveRulesVersion { version, ..keep }), now)).await?;
        Ok(RewriteOutcome::Version(version))
    }

    /// Stores rules without a learned part as the last good rules before they are written, because a file without that
    /// part would otherwise be taken for one that was cut off.
    fn expect_rules(self, rules: &str) -> std::io::Result<()> {
        match RuleSet::parse("rules/priority.yml", rules) {
            Ok(set) if set.learned_range().is_none() => keep_as_last_good(&self.app.home.last_good_rules(), rules),
            _ => Ok(()),
        }
    }

    /// Stores what a person wrote since the last version as a version of its own, so that it can be restored.
    async fn save_hand_edited_version(self, files: &RulesFiles) -> anyhow::Result<()> {
        let last = self.app.store.read(|reader| Ok(reader.rules().versions()?.into_iter().next())).await?;
        if last.is_some_and(|last| last.rules == files.rules && last.guidelines == files.guidelines) {
            return Ok(());
        }
        let now = self.app.clock.now();
        let new = NewRulesVersion {
            who: Actor::Person,
            run_id: String::new(),
            why: "as it was".into(),
            rules: files.rules.clone(),
            guidelines: files.guidelines.clone(),
            edits: json!({}),
            at: now,
        };
        if let Receipt::Number(version) = self.app.store.write(Write::IntendRulesVersion(Box::new(new))).await? {
            let keep = LiveRulesVersion { version, ..LiveRulesVersion::default() };
            self.app.store.write(Write::MarkRulesVersionLive(Box::new(keep), now)).await?;
        }
        Ok(())
    }

    /// Resolves versions that a kill left as intended: one whose bytes are in the files becomes live, any other is
    /// discarded. The caller must hold the lock, so that no rewrite is under way.
    pub(in crate::app) async fn resolve_intended_versions(self) -> anyhow::Result<()> {
        let (intended, last) = self
            .app
            .store
            .read(|reader| Ok((reader.rules().intended_versions()?, reader.rules().versions()?.into_iter().next())))
            .await?;
        if intended.is_empty() {
            return Ok(());
        }
        let files = self.read_files()?;
        for version in intended {
            let rules_done = files.rules == version.rules;
            let moved = last.as_ref().is_none_or(|last| last.rules != version.rules);
            let write = if rules_done && (moved || files.guidelines == version.guidelines) {
                match decode_entry_changes(&version) {
                    Ok(changes) => Write::MarkRulesVersionLive(Box::new(changes), self.app.clock.now()),
                    Err(error) => {
                        tracing::error!(rules.version = version.version, %error, "what a version of the rules knows about its entries cannot be read: the files count as written by hand");
                        Write::DiscardIntendedRulesVersion { version: version.version }
                    }
                }
            } else {
                Write::DiscardIntendedRulesVersion { version: version.version }
            };
            self.app.store.write(write).await?;
        }
        Ok(())
    }
}

/// Checks that a file has these bytes.
fn check_unchanged(path: &Path, bytes: &str) -> std::io::Result<FileReplaceOutcome> {
    Ok(if read_or_empty(path)? == bytes { FileReplaceOutcome::Done } else { FileReplaceOutcome::ChangedMeanwhile })
}

/// What a version changes about the learned entries, as stored under `keep` in its edits.
#[derive(Serialize, Deserialize)]
struct EntryChanges {
    learned: Vec<LearnedEntryRow>,
    retired: Vec<String>,
    unlearned: Vec<(String, String)>,
    #[serde(rename = "settles")]
    closes_proposal: Option<ItemId>,
}

/// Returns the entry changes as stored with an intended version, so that a restart can complete it.
fn encode_entry_changes(keep: &LiveRulesVersion) -> serde_json::Result<Value> {
    let LiveRulesVersion { version: _, learned, retired, unlearned, closes_proposal } = keep.clone();
    serde_json::to_value(EntryChanges { learned, retired, unlearned, closes_proposal })
}

/// Returns the entry changes that were stored with a version; a version that a person wrote changes nothing.
fn decode_entry_changes(row: &RulesVersionRow) -> serde_json::Result<LiveRulesVersion> {
    let version = row.version;
    let Some(keep) = row.edits.get("keep") else { return Ok(LiveRulesVersion { version, ..Default::default() }) };
    let EntryChanges { learned, retired, unlearned, closes_proposal } = EntryChanges::deserialize(keep)?;
    Ok(LiveRulesVersion { version, learned, retired, unlearned, closes_proposal })
}

/// Returns the learned entries that a version added or changed; none where they cannot be read.
pub(in crate::app) fn learned_entries_of(version: &RulesVersionRow) -> Vec<LearnedEntryRow> {
    decode_entry_changes(version).map(|changes| changes.learned).unwrap_or_default()
}
