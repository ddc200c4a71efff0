//! Proposals, that is edits of the rules that a person must allow: put into the queue, adopted after their approval.
//! Also explains what a correction teaches.

use anyhow::Context as _;
use chrono::Duration;
use serde_json::json;

use super::rewrite::{RewriteOutcome, RulesVersionDraft};
use crate::{
    app::RulesUseCases,
    model::{
        ItemId, ItemKind, NewItem, RunId,
        nightly::{CorrectionKind, CorrectionRow, NewProposal},
    },
    nightly::{ApprovedProposal, TestedEdit, approved_proposals, explain_correction},
    rules::{RuleSet, apply_edits},
    store::Write,
};

/// How long a proposal waits: longer than a mail, but not for ever.
const PROPOSAL_LIFETIME: Duration = Duration::days(14);

impl RulesUseCases<'_> {
    /// Returns the proposal of a tested edit, with the item that asks about it.
    pub(in crate::app) fn build_proposal(self, tested: &TestedEdit, run_id: RunId) -> anyhow::Result<NewProposal> {
        let now = self.app.clock.now();
        let edit = serde_json::to_value(tested).context("encoding a proposal")?;
        let item = NewItem {
            item_id: ItemId::derive(now, &["rule", &tested.key, &run_id.to_string()]),
            kind: ItemKind::RuleProposal,
            task_id: None,
            mail_id: None,
            action_id: None,
            title: format!("Shall it be a rule that {}?", tested.words),
            body: json!({
                "reason": format!("{}; {}. Tested on the last 30 days: {}", tested.words, tested.edit.why(), tested.trial),
                "rule": tested.words,
                "corrections": tested.evidence,
                "test": tested.trial,
                "edit": tested.edit,
            }),
            expires_at: Some(now.plus(PROPOSAL_LIFETIME)),
            sender: String::new(),
            queue_limits: None,
        };
        Ok(NewProposal { item, edit, evidence: tested.evidence.clone() })
    }

    /// Writes approved proposals into the rules. Returns how many. It can be called at any time: whoever records an
    /// approval does it, and the worker does it again in case that process was killed.
    pub async fn adopt_approved_proposals(self) -> anyhow::Result<usize> {
        let waiting = self.app.store.read(|reader| reader.rules().proposals()).await?;
        if approved_proposals(&waiting).is_empty() {
            return Ok(0);
        }
        let _turn = self.lock_files().await?;
        self.resolve_intended_versions().await?;
        let mut adopted = 0;
        // They are read again under the lock, because another process may have adopted them meanwhile.
        for yes in approved_proposals(&self.app.store.read(|reader| reader.rules().proposals()).await?) {
            adopted += usize::from(self.adopt_proposal(yes).await?);
        }
        self.app.tasks().rerank_by_current_rules().await?;
        Ok(adopted)
    }

    /// Writes one approved proposal into the rules. Returns false when it was not adopted.
    async fn adopt_proposal(self, yes: ApprovedProposal) -> anyhow::Result<bool> {
        let ApprovedProposal { item_id, tested, run_id } = yes;
        let was = self.read_files()?;
        if self.is_cut_off(&was.rules) {
            // The proposal waits until the file is whole again.
            return Ok(false);
        }
        let mut files = was.clone();
        match apply_edits("rules/priority.yml", &was.rules, std::slice::from_ref(&tested.edit)) {
            Ok(text) => files.rules = text,
            Err(error) => {
                let outcome = format!("not adopted: {error}");
                self.app.store.write(Write::CloseProposal { item_id, outcome, at: self.app.clock.now() }).await?;
                return Ok(false);
            }
        }
        let draft = RulesVersionDraft::from_approval(files, item_id, tested, &run_id, self.app.clock.now())?;
        // If the file was changed meanwhile, the next call adopts it.
        Ok(matches!(self.rewrite(&was, draft).await?, RewriteOutcome::Version(_)))
    }

    /// Appends the newest corrections to the reflection file. Returns, in words, what the newest one that `what`
    /// accepts teaches.
    pub async fn log_and_explain_correction(
        self,
        what: impl Fn(&CorrectionRow) -> bool + Send + 'static,
    ) -> anyhow::Result<Option<String>> {
        let now = self.app.clock.now();
        let fresh = self
            .app
            .store
            .read(move |reader| reader.nightly().corrections(Some(now.plus(-Duration::minutes(1)))))
            .await?;
        self.app.reflection_files().append_corrections(&fresh);
        let about: Vec<i64> = fresh.iter().rev().filter(|row| what(row)).map(|row| row.correction).collect();
        let Some(newest) = fresh.iter().rev().find(|row| what(row)).map(|row| row.kind) else { return Ok(None) };
        let material = self.app.nightly().gather_learning_input().await?;
        let told = tokio::task::spawn_blocking(move || {
            let rules = RuleSet::parse("rules/priority.yml", &material.rules).ok()?;
            about.iter().find_map(|id| explain_correction(&material, &rules, *id)).map(|outlook| outlook.to_string())
        });
        Ok(told.await?.or_else(|| Some(no_rule_message(newest).to_owned())))
    }
}

/// Returns the message for a correction that teaches no rule.
const fn no_rule_message(kind: CorrectionKind) -> &'static str {
    match kind {
        CorrectionKind::Edit | CorrectionKind::Reject | CorrectionKind::Respond => {
            "noted; what you change in replies teaches the guidelines, no rule"
        }
        _ => "noted for this one; it teaches no rule",
    }
}
