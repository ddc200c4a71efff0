//! The versions of the rules: history, comparison and rollback.

use std::collections::BTreeSet;

use anyhow::ensure;
use serde::Serialize;

use super::{
    diff::{DiffLine, diff_lines},
    rewrite::{RewriteOutcome, RulesVersionDraft, learned_entries_of},
    rules_files::RulesFiles,
};
use crate::{
    app::{NotFound, RulesUseCases},
    model::{
        Actor, Instant,
        nightly::{LearnedEntryRow, LiveRulesVersion, RulesVersionRow},
    },
    nightly::guideline_lines,
    rules::{RuleSet, learned_range, replace_learned_section},
};

/// A version of the rules.
#[derive(Debug, Clone, Serialize)]
pub struct RulesVersionDetail {
    #[serde(flatten)]
    pub row: RulesVersionRow,
    /// Whether the files are exactly this version now.
    pub current: bool,
}

impl RulesUseCases<'_> {
    /// Returns all versions, the newest first.
    pub async fn history(self) -> anyhow::Result<Vec<RulesVersionDetail>> {
        let files = self.read_files_or_no_rules()?;
        let rows = self.app.store.read(|reader| reader.rules().versions()).await?;
        let current = rows.iter().position(|row| row.rules == files.rules && row.guidelines == files.guidelines);
        let detail = |(nth, row)| RulesVersionDetail { row, current: Some(nth) == current };
        Ok(rows.into_iter().enumerate().map(detail).collect())
    }

    /// Returns the learned entries, each with the corrections it comes from.
    pub async fn learned_entries(self) -> anyhow::Result<Vec<LearnedEntryRow>> {
        Ok(self.app.store.read(|reader| reader.rules().learned_entries()).await?)
    }

    /// Returns the lines changed between a version and the files as they are; without a version, those of the newest
    /// change. What changed in the guidelines follows what changed in the rules.
    pub async fn diff(self, version: Option<i64>) -> anyhow::Result<Vec<DiffLine>> {
        let rows = self.app.store.read(|reader| reader.rules().versions()).await?;
        let now = self.read_files_or_no_rules()?;
        let files_of =
            |row: &RulesVersionRow| RulesFiles { rules: row.rules.clone(), guidelines: row.guidelines.clone() };
        let (from, to) = match version {
            Some(number) => (files_of(find_version(&rows, number)?), now),
            None => match rows.as_slice() {
                [newest, before, ..] => (files_of(before), files_of(newest)),
                _ => (now.clone(), now),
            },
        };
        Ok(diff_files((&from.rules, &from.guidelines), (&to.rules, &to.guidelines)))
    }

    /// Returns the lines that a version changed, compared with the version before it; none for the oldest one that is
    /// kept.
    pub async fn diff_of_version(self, version: i64) -> anyhow::Result<Vec<DiffLine>> {
        let rows = self.app.store.read(|reader| reader.rules().versions()).await?;
        let row = find_version(&rows, version)?;
        let Some(before) = rows.iter().find(|older| older.version < version) else { return Ok(Vec::new()) };
        Ok(diff_files((&before.rules, &before.guidelines), (&row.rules, &row.guidelines)))
    }

    /// Returns the text of the rules as it was in a version.
    pub async fn text_of_version(self, version: i64) -> anyhow::Result<String> {
        let rows = self.app.store.read(|reader| reader.rules().versions()).await?;
        Ok(find_version(&rows, version)?.rules.clone())
    }

    /// Restores the learned part of a version, or of the one before the current one. What a person wrote outside the
    /// marker lines stays. Returns the number of the new version that this makes.
    pub async fn roll_back(self, version: Option<i64>) -> anyhow::Result<i64> {
        let _turn = self.lock_files().await?;
        self.resolve_intended_versions().await?;
        let rows = self.app.store.read(|reader| reader.rules().versions()).await?;
        let was = self.read_files()?;
        let mut kept = was.clone();
        if self.is_cut_off(&was.rules) {
            kept.rules.clear();
        }
        let target = match version {
            Some(number) => find_version(&rows, number)?,
            None => version_before_current(&rows, &kept)
                .ok_or_else(|| NotFound("there is no earlier version; `adjutant rules history` shows them".into()))?,
        };
        let files = compose_files(&kept, target);
        // A rollback that changes nothing is refused, because the person expected a change.
        ensure!(files != was, "the rules are what version {} had; nothing was changed", target.version);
        // The restored file must be valid before it replaces anything.
        let after = RuleSet::parse("rules/priority.yml", &files.rules)?;
        let known = self.app.store.read(|reader| reader.rules().learned_entries()).await?;
        let mut keep = rollback_entry_changes(&rows, &known, &after, self.app.clock.now());
        let (lines, left) =
            (guideline_lines::listed_subjects(&was.guidelines), guideline_lines::listed_subjects(&files.guidelines));
        let gone = lines.into_iter().filter(|subject| !left.contains(subject));
        keep.unlearned.extend(gone.map(|subject| (guideline_lines::key(&subject), "rolled back".to_owned())));
        let (why, back_to) = (format!("back to version {}", target.version), Some(target.version));
        let draft = RulesVersionDraft {
            files,
            who: Actor::Rollback,
            run_id: String::new(),
            why,
            edits: Vec::new(),
            back_to,
            entry_changes: keep,
        };
        let RewriteOutcome::Version(made) = self.rewrite(&was, draft).await? else {
            anyhow::bail!("the rules were edited meanwhile; nothing was changed, try again")
        };
        self.app.tasks().rerank_by_current_rules().await?;
        Ok(made)
    }
}

/// Returns the changed lines of the rules, and then those of the guidelines.
fn diff_files(from: (&str, &str), to: (&str, &str)) -> Vec<DiffLine> {
    let mut lines = diff_lines(from.0, to.0);
    let guidelines = diff_lines(from.1, to.1);
    if !guidelines.is_empty() {
        lines.push(DiffLine { sign: '@', line: "guidelines.txt".into() });
        lines.extend(guidelines);
    }
    lines
}

/// Returns the version before the one in force. After a rollback that is the one before its target, so that each
/// further rollback goes further back.
fn version_before_current<'r>(rows: &'r [RulesVersionRow], was: &RulesFiles) -> Option<&'r RulesVersionRow> {
    let now = rows.iter().find(|row| compose_files(was, row) == *was);
    let now = now.map(|row| row.edits.get("back_to").and_then(serde_json::Value::as_i64).unwrap_or(row.version));
    let older = rows.iter().filter(|row| now.is_none_or(|now| row.version < now));
    older.into_iter().find(|row| compose_files(was, row) != *was)
}

/// Returns the files with the learned part of a version. What a person wrote outside the marker lines stays.
fn compose_files(was: &RulesFiles, target: &RulesVersionRow) -> RulesFiles {
    RulesFiles {
        rules: restore_learned_section(&was.rules, &target.rules),
        guidelines: restore_guideline_lines(&was.guidelines, &target.guidelines),
    }
}

/// Returns the version with this number.
fn find_version(rows: &[RulesVersionRow], number: i64) -> anyhow::Result<&RulesVersionRow> {
    let found = rows.iter().find(|row| row.version == number);
    Ok(found.ok_or_else(|| NotFound(format!("there is no version {number}; `adjutant rules history` shows them")))?)
}

/// Returns what a rollback changes about the learned entries. An entry that goes counts as unlearned, so that it is not
/// learned again from the same corrections. An entry that comes back keeps its origin.
fn rollback_entry_changes(
    rows: &[RulesVersionRow],
    known: &[LearnedEntryRow],
    after: &RuleSet,
    now: Instant,
) -> LiveRulesVersion {
    let names: BTreeSet<&str> = after.learned_names().into_iter().collect();
    let gone = known.iter().filter(|row| !names.contains(row.name.as_str()));
    let mut keep = LiveRulesVersion::default();
    for row in gone {
        keep.retired.push(row.name.clone());
        if let Ok(entry) = serde_json::from_value::<crate::rules::LearnedEntry>(row.entry.clone()) {
            keep.unlearned.push((entry.reach.key(), "rolled back".to_owned()));
        }
    }
    let missing = |name: &&&str| !known.iter().any(|row| row.name == ***name);
    for name in names.iter().filter(missing) {
        let source = rows.iter().flat_map(learned_entries_of).find(|row| row.name == **name);
        // The entry counts from now on; corrections against it from before do not.
        keep.learned.extend(source.map(|row| LearnedEntryRow { made_at: now, ..row }));
    }
    keep
}

/// Returns the target's bytes if a person has changed nothing since, otherwise the person's file with the target's
/// learned part.
fn restore_learned_section(now: &str, target: &str) -> String {
    let marked = |text: &str| learned_range(text).is_some();
    let mendable = !now.trim().is_empty() && RuleSet::parse("rules/priority.yml", now).is_ok();
    // Nothing of a broken file can be merged. It has been stored as a version of its own by then.
    if !mendable || replace_learned_section(now, None) == replace_learned_section(target, None) {
        return target.to_owned();
    }
    let part = learned_range(target).and_then(|range| target.get(range));
    if part.is_none() && !marked(now) { now.to_owned() } else { replace_learned_section(now, part) }
}

/// Does the same for the guidelines file.
fn restore_guideline_lines(now: &str, target: &str) -> String {
    let without = |text: &str| guideline_lines::replace_lines(text, &[]);
    if without(now) == without(target) {
        return target.to_owned();
    }
    let part =
        guideline_lines::around(target).and_then(|(head, tail)| target.get(head.len()..target.len() - tail.len()));
    let lines: Vec<String> = part.unwrap_or_default().lines().map(str::to_owned).collect();
    guideline_lines::replace_lines(now, &lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollback_is_the_old_bytes_where_nobody_else_wrote() {
        let text =
            |part: &str, own: &str| format!("rules: []\ndefault: {own}\n# >>> learned\n{part}# <<< learned\n# end");
        let part = "learned:\n  - name: x\n    when: { kind: { is: bulk } }\n    cap: low\n";
        let (old, new) = (text("learned: []\n", "low"), text(part, "low"));
        assert_eq!(restore_learned_section(&new, &old), old);
        assert_eq!(restore_learned_section(&text(part, "med"), &old), text("learned: []\n", "med"));
        // A file from before there were marks.
        let bare = "rules: []\ndefault: low\n";
        let own = "rules: []\ndefault: med\n";
        assert_eq!(restore_learned_section(&replace_learned_section(bare, Some(part)), bare), bare);
        let edited = replace_learned_section(own, Some(part));
        assert_eq!(restore_learned_section(&edited, bare), replace_learned_section(own, None));
        assert_eq!(restore_learned_section(own, bare), own);
        // Of a broken or missing one there is only the way back.
        assert_eq!(
            (restore_learned_section("", &old), restore_learned_section("default: [\n", &old)),
            (old.clone(), old.clone())
        );
        assert_eq!(
            restore_guideline_lines("a\n# >>> learned\n- x\n# <<< learned\nb", "a\n# >>> learned\n# <<< learned\nb"),
            "a\n# >>> learned\n# <<< learned\nb"
        );
    }
}
