//! Replacing the rules file by a text that a person edited and whose effect they were shown.

use super::{
    diff::{DiffLine, diff_lines},
    overview::fingerprint_of,
    rewrite::{RewriteOutcome, RulesVersionDraft},
    rules_files::RulesFiles,
    what_if::WhatIfReport,
};
use crate::{
    app::RulesUseCases,
    model::{Actor, nightly::LiveRulesVersion},
    rules::{RuleSet, RulesError, parse_whole_file},
};

/// The name of the rules file in errors about an edited copy.
const FILE_NAME: &str = "rules/priority.yml";

/// What became of an edited copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulesSaveOutcome {
    /// The file was replaced; this is the number of the version.
    Saved(i64),
    /// The copy is the file already.
    Unchanged,
    /// The file is not the one that the copy was made from. Nothing was replaced.
    ChangedMeanwhile,
}

/// An edited copy of the rules file. It takes effect only when it is saved.
#[derive(Clone, Copy)]
pub struct RulesCopy<'a> {
    rules: RulesUseCases<'a>,
    text: &'a str,
}

impl<'a> RulesUseCases<'a> {
    /// Takes a text as an edited copy of the file.
    pub fn copy(self, text: &'a str) -> RulesCopy<'a> {
        RulesCopy { rules: self, text }
    }
}

impl RulesCopy<'_> {
    /// Checks the copy as loading it from the file would.
    pub fn check(self) -> Result<RuleSet, RulesError> {
        parse_whole_file(FILE_NAME, self.text, &self.rules.app.home.last_good_rules())
    }

    /// Ranks all past tasks by the copy and by the rules in force. Nothing is stored. Fails with the place and what was
    /// expected when the copy is broken.
    pub async fn what_if(self) -> anyhow::Result<WhatIfReport> {
        self.rules.compare(self.check()?).await
    }

    /// Returns the lines by which the copy differs from the file.
    pub fn diff(self) -> anyhow::Result<Vec<DiffLine>> {
        Ok(diff_lines(&self.rules.read_files_or_no_rules()?.rules, self.text))
    }

    /// Replaces the file by the copy, as a version of its own. `base` stands for the text that the copy was made from; if
    /// the file is another one by now, nothing is replaced. A copy that is broken is refused.
    pub async fn save(self, base: &str) -> anyhow::Result<RulesSaveOutcome> {
        let Self { rules, text } = self;
        self.check()?;
        let _turn = rules.lock_files().await?;
        rules.resolve_intended_versions().await?;
        let was = rules.read_files()?;
        if was.rules == text {
            return Ok(RulesSaveOutcome::Unchanged);
        }
        if fingerprint_of(&was.rules) != base {
            return Ok(RulesSaveOutcome::ChangedMeanwhile);
        }
        let draft = RulesVersionDraft {
            files: RulesFiles { rules: text.to_owned(), guidelines: was.guidelines.clone() },
            who: Actor::Person,
            run_id: String::new(),
            why: "edited by you".to_owned(),
            edits: Vec::new(),
            back_to: None,
            entry_changes: LiveRulesVersion::default(),
        };
        let outcome = match rules.rewrite(&was, draft).await? {
            RewriteOutcome::Version(version) => RulesSaveOutcome::Saved(version),
            RewriteOutcome::Unchanged => RulesSaveOutcome::Unchanged,
            RewriteOutcome::ChangedMeanwhile => RulesSaveOutcome::ChangedMeanwhile,
        };
        rules.app.tasks().rerank_by_current_rules().await?;
        Ok(outcome)
    }
}
