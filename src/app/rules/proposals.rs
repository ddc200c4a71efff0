//! Edits a person must allow: asked in the approval queue, adopted after their yes. And what a correction teaches.

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

/// A rule can wait longer than a mail; never more than a fortnight.
const PROPOSAL_LIFETIME: Duration = Duration::days(14);

impl RulesUseCases<'_> {
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

    /// Writes into the rules what was said yes to; how many. Whoever is told of a yes does it, or the next to come by.
    pub async fn adopt_approved_proposals(self) -> anyhow::Result<usize> {
        let waiting = self.app.store.read(|reader| reader.rules().proposals()).await?;
        if approved_proposals(&waiting).is_empty() {
            return Ok(0);
        }
        let _turn = self.lock_files().await?;
        self.resolve_intended_versions().await?;
        let mut adopted = 0;
        // Read again: another may have had the turn before.
        for yes in approved_proposals(&self.app.store.read(|reader| reader.rules().proposals()).await?) {
            adopted += usize::from(self.adopt_proposal(yes).await?);
        }
        self.app.tasks().rerank_by_current_rules().await?;
        Ok(adopted)
    }

    async fn adopt_proposal(self, yes: ApprovedProposal) -> anyhow::Result<bool> {
        let ApprovedProposal { item_id, tested, run_id } = yes;
        let was = self.read_files()?;
        if self.is_cut_off(&was.rules) {
            // It waits until the file is whole again.
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
        // Changed meanwhile: the next look adopts it.
        Ok(matches!(self.rewrite(&was, draft).await?, RewriteOutcome::Version(_)))
    }

    /// What the newest correction of this command teaches, in words; and its line goes into the day's file.
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

/// What teaches no rule is noted all the same.
const fn no_rule_message(kind: CorrectionKind) -> &'static str {
    match kind {
        CorrectionKind::Edit | CorrectionKind::Reject | CorrectionKind::Respond => {
            "noted; what you change in replies teaches the guidelines, no rule"
        }
        _ => "noted for this one; it teaches no rule",
    }
}
