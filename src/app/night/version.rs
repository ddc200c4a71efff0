//! The versions of the rules: what changed, why, how it was tested, and the way back.

use std::collections::BTreeSet;

use anyhow::ensure;
use serde::Serialize;

use super::{
    files::Files,
    rewrite::{Draft, Rewritten, learned_in},
};
use crate::{
    app::{App, NotFound},
    meta::guide,
    rules::{RuleSet, learned_range},
    store::night::{KeepVersion, LearnedRow, VersionRow},
};

/// A version with what it changed, line by line, against the one before.
#[derive(Debug, Clone, Serialize)]
pub struct VersionDetail {
    #[serde(flatten)]
    pub row: VersionRow,
    /// It is what the files say now.
    pub current: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiffLine {
    /// `+`, `-` or a space.
    pub sign: char,
    pub line: String,
}

impl App {
    /// The newest first.
    pub async fn rules_history(&self) -> anyhow::Result<Vec<VersionDetail>> {
        let files = self.files()?;
        let rows = self.store.read(|reader| reader.rules_versions()).await?;
        let current = rows.iter().position(|row| row.rules == files.rules && row.guidelines == files.guidelines);
        let detail = |(nth, row)| VersionDetail { row, current: Some(nth) == current };
        Ok(rows.into_iter().enumerate().map(detail).collect())
    }

    /// Where each learned entry comes from.
    pub async fn learned_entries(&self) -> anyhow::Result<Vec<LearnedRow>> {
        Ok(self.store.read(|reader| reader.learned_entries()).await?)
    }

    /// From a version to the file as it is; without one, what the newest version changed.
    pub async fn rules_diff(&self, version: Option<i64>) -> anyhow::Result<Vec<DiffLine>> {
        let rows = self.store.read(|reader| reader.rules_versions()).await?;
        let now = self.files()?;
        let (from, to) = match version {
            Some(number) => (find(&rows, number)?.rules.clone(), now.rules),
            None => match rows.as_slice() {
                [newest, before, ..] => (before.rules.clone(), newest.rules.clone()),
                _ => (now.rules.clone(), now.rules),
            },
        };
        Ok(diff(&from, &to))
    }

    /// Goes back to a version, or to the one before the newest. What a person wrote outside the marks since then stays.
    pub async fn rollback(&self, version: Option<i64>) -> anyhow::Result<i64> {
        let _turn = self.rules_turn().await?;
        self.settle_intents().await?;
        let rows = self.store.read(|reader| reader.rules_versions()).await?;
        let was = self.files()?;
        let target = match version {
            Some(number) => find(&rows, number)?,
            None => rows
                .iter()
                .find(|row| row.rules != was.rules || row.guidelines != was.guidelines)
                .ok_or_else(|| NotFound("there is no earlier version; `adjutant rules history` shows them".into()))?,
        };
        let files = Files {
            rules: with_learned_part(&was.rules, &target.rules),
            guidelines: with_guidelines(&was.guidelines, &target.guidelines),
        };
        ensure!(files != was, "the rules are what version {} had; nothing was changed", target.version);
        let after = RuleSet::parse("rules/priority.yml", &files.rules)?;
        let known = self.store.read(|reader| reader.learned_entries()).await?;
        let keep = forgotten(&rows, &known, &after);
        let why = format!("back to version {}", target.version);
        let draft = Draft { files, who: "rollback", run_id: String::new(), why, edits: Vec::new(), keep };
        let Rewritten::Version(made) = self.rewrite(&was, draft).await? else {
            anyhow::bail!("the rules were edited meanwhile; nothing was changed, try again")
        };
        self.rerank_if_new(&self.rules().rules).await?;
        Ok(made)
    }
}

fn find(rows: &[VersionRow], number: i64) -> anyhow::Result<&VersionRow> {
    let found = rows.iter().find(|row| row.version == number);
    Ok(found.ok_or_else(|| NotFound(format!("there is no version {number}; `adjutant rules history` shows them")))?)
}

/// Entries that go are a person's word against them; entries that come back come with where they came from.
fn forgotten(rows: &[VersionRow], known: &[LearnedRow], after: &RuleSet) -> KeepVersion {
    let names: BTreeSet<&str> = after.learned().into_iter().collect();
    let gone = known.iter().filter(|row| !names.contains(row.name.as_str()));
    let mut keep = KeepVersion::default();
    for row in gone {
        keep.retired.push(row.name.clone());
        if let Ok(entry) = serde_json::from_value::<crate::rules::Entry>(row.entry.clone()) {
            keep.unlearned.push((entry.reach.key(), "rolled back".to_owned()));
        }
    }
    let missing = |name: &&&str| !known.iter().any(|row| row.name == ***name);
    for name in names.iter().filter(missing) {
        let source = rows.iter().flat_map(learned_in).find(|row| row.name == **name);
        keep.learned.extend(source);
    }
    keep
}

/// The target's bytes where a person has changed nothing since; else the person's file with the target's learned part.
fn with_learned_part(now: &str, target: &str) -> String {
    let (Some(here), Some(there)) = (learned_range(now), learned_range(target)) else { return target.to_owned() };
    let part = target.get(there).unwrap_or_default();
    let (head, tail) = (now.get(..here.start).unwrap_or_default(), now.get(here.end..).unwrap_or_default());
    format!("{head}{part}{tail}")
}

fn with_guidelines(now: &str, target: &str) -> String {
    let (Some((head, tail)), Some((before, after))) = (guide::around(now), guide::around(target)) else {
        return target.to_owned();
    };
    let part = target.get(before.len()..target.len() - after.len()).unwrap_or_default();
    format!("{head}{part}{tail}")
}

/// Lines that left and lines that came, with what stands around them left out.
fn diff(from: &str, to: &str) -> Vec<DiffLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (from.lines().collect(), to.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = |lines: &[&str]| lines.len() - same;
    let tail =
        old.iter().rev().zip(new.iter().rev()).take(rest(&old).min(rest(&new))).take_while(|(a, b)| a == b).count();
    let middle = |lines: &[&str], sign: char| -> Vec<DiffLine> {
        let lines = lines.iter().skip(same).take(lines.len() - same - tail);
        lines.map(|line| DiffLine { sign, line: (*line).to_owned() }).collect()
    };
    let mut lines = middle(&old, '-');
    lines.extend(middle(&new, '+'));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollback_is_the_old_bytes_where_nobody_else_wrote() {
        let text = |part: &str, own: &str| format!("default: {own}\n# >>> learned\n{part}# <<< learned\n# end");
        let (old, new) = (text("learned: []\n", "low"), text("learned:\n  - x\n", "low"));
        assert_eq!(with_learned_part(&new, &old), old);
        assert_eq!(with_learned_part(&text("learned:\n  - x\n", "med"), &old), text("learned: []\n", "med"));
        assert_eq!(
            with_guidelines("a\n# >>> learned\n- x\n# <<< learned\nb", "a\n# >>> learned\n# <<< learned\nb"),
            "a\n# >>> learned\n# <<< learned\nb"
        );
    }

    #[test]
    fn a_diff_shows_only_what_changed() {
        let lines: Vec<String> =
            diff("a\nb\nc\n", "a\nx\ny\nc\n").into_iter().map(|line| format!("{}{}", line.sign, line.line)).collect();
        assert_eq!(lines, ["-b", "+x", "+y"]);
        assert!(diff("a\na\n", "a\na\n").is_empty());
        assert_eq!(diff("a\na\n", "a\n").len(), 1);
    }
}
