//! The condition of each account: the result of its last poll.

use crate::{
    app::AccountUseCases,
    ingest::{IntakeCounts, PolledIntake},
    model::{AccountCondition, AccountId},
    source::SourceError,
    store::Write,
};

impl AccountUseCases<'_> {
    /// Returns the conditions that are recorded.
    pub async fn conditions(self) -> anyhow::Result<Vec<AccountCondition>> {
        Ok(self.app.store.read(|reader| reader.accounts().conditions()).await?)
    }

    /// Returns whether the recorded condition of the account is a problem.
    async fn has_noted_trouble(self, account: &AccountId) -> bool {
        let conditions = self.conditions().await.unwrap_or_default();
        conditions.iter().any(|known| known.account == *account && !known.problem.is_empty())
    }

    /// Records the result of a poll, for `doctor` and for whoever asks.
    pub(in crate::app) async fn record_condition(
        self,
        intake: &PolledIntake,
        tally: &IntakeCounts,
        trouble: Option<&anyhow::Error>,
    ) {
        let account = &intake.account_intake.account;
        let quota = intake.source.quota_usage();
        // A local mailbox is polled very often, so nothing is written while all is well.
        if quota.is_none() && trouble.is_none() && !self.app.accounts().has_noted_trouble(account).await {
            return;
        }
        let (quota_used, quota) = quota.map_or((0, 0), |usage| (usage.quota_used, usage.quota));
        let signed_out = trouble.is_some_and(|error| matches!(error.downcast_ref(), Some(SourceError::Auth { .. })));
        let condition = AccountCondition {
            account: account.clone(),
            problem: trouble.map(|error| format!("{error:#}")).unwrap_or_default(),
            signed_in: !signed_out,
            lag_seconds: tally.lag_seconds,
            backlog: tally.backlog,
            missed: tally.missed as u64,
            quota_used,
            quota,
            at: self.app.clock.now(),
        };
        if let Err(error) = self.app.store.write(Write::RecordAccountCondition(condition)).await {
            tracing::warn!(%account, %error, "the condition of an account could not be recorded");
        }
    }
}
