//! Replacing the rules file by a text that a person edited and whose effect they were shown.

use super::{
    overview::fingerprint_of,
    rewrite::{RewriteOutcome, RulesVersionDraft},
    rules_files::RulesFiles,
    version::find_version,
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

impl RulesUseCases<'_> {
    /// Checks an edited copy as loading it from the file would.
    pub fn check_copy(self, text: &str) -> Result<RuleSet, RulesError> {
        parse_whole_file(FILE_NAME, text, &self.app.home.last_good_rules())
    }

    /// Replaces the file by an edited copy, as a version of its own. `base` stands for the text that the copy was made
    /// from; if the file is another one by now, nothing is replaced. A copy that is broken is refused.
    pub async fn save_copy(self, base: &str, text: &str) -> anyhow::Result<RulesSaveOutcome> {
        self.check_copy(text)?;
        let _turn = self.lock_files().await?;
        self.resolve_intended_versions().await?;
        let was = self.read_files()?;
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
        let outcome = match self.rewrite(&was, draft).await? {
            RewriteOutcome::Version(version) => RulesSaveOutcome::Saved(version),
            RewriteOutcome::Unchanged => RulesSaveOutcome::Unchanged,
            RewriteOutcome::ChangedMeanwhile => RulesSaveOutcome::ChangedMeanwhile,
        };
        self.app.tasks().rerank_by_current_rules().await?;
        Ok(outcome)
    }

    /// Returns the text of the rules as it was in a version.
    pub async fn text_of_version(self, version: i64) -> anyhow::Result<String> {
        let rows = self.app.store.read(|reader| reader.rules().versions()).await?;
        Ok(find_version(&rows, version)?.rules.clone())
    }
}
