//! Gmail accounts: how they are opened, signed in to, and how they are doing.

use std::sync::Arc;

use anyhow::Context as _;

use crate::{
    app::{AccountUseCases, NotFound, Worker},
    config::{AccountConfig, AccountKind, GmailConfig, PushConfig},
    ingest::{IntakeCounts, PolledIntake},
    model::{AccountCondition, AccountId, Secret},
    source::{
        Mailbox, SourceError,
        calendar::{self, Calendar},
        gmail::{self, GmailClient, GmailMailbox, GmailSource, GmailWatchSettings, PushSubscription, push},
        google::{ClientApp, Quota, TokenFile, TokenProvider, TokenStore, sign_in::ConsentRequest},
    },
    store::Write,
};

/// A sign-in under way.
pub struct PendingSignIn {
    pub account: String,
    pub consent: ConsentRequest,
    app: ClientApp,
    file: TokenFile,
}

/// One account at Google, as a source and as a mailbox; both pay from one quota.
pub(in crate::app) struct GmailConnection {
    pub(in crate::app) source: GmailSource,
    pub(in crate::app) mailbox: GmailMailbox,
    pub(in crate::app) push: Option<PushSubscription>,
}

impl<'a> AccountUseCases<'a> {
    pub(in crate::app) fn open_gmail(self, account: &AccountConfig, config: &GmailConfig) -> GmailConnection {
        let file = TokenFile::at(config.token_file.clone());
        let token_store =
            TokenStore::new(config.client_file.clone(), file, account.name.as_str(), self.app.clock.clone());
        let tokens: Arc<dyn TokenProvider> = Arc::new(token_store);
        let quota = || Arc::new(Quota::new(self.app.clock.clone()));
        let client = GmailClient::new(Arc::clone(&tokens), quota(), config.api.as_deref());
        // Calendar counts for itself.
        let calendar = config.calendar.then(|| Calendar::new(Arc::clone(&tokens), quota(), config.api.as_deref()));
        let push = config.push.clone().map(|PushConfig { topic, subscription }| {
            PushSubscription::new(client.clone(), tokens, topic, subscription, config.pubsub_api.as_deref())
        });
        let (labels, since) = (config.labels.clone(), config.since);
        let watch = GmailWatchSettings { labels, since, page: gmail::MAX_PAGE_SIZE, most: gmail::MAX_READ_PER_LABEL };
        GmailConnection {
            source: GmailSource::new(client.clone(), watch, self.app.clock.clone()),
            mailbox: GmailMailbox::new(client, calendar),
            push,
        }
    }

    /// Where the effects on an account land.
    pub(in crate::app) fn open_mailbox(self, account: &AccountConfig) -> Arc<dyn Mailbox> {
        match &account.kind {
            AccountKind::Maildir { path, sendmail } => Arc::new(self.open_maildir(account, path, sendmail.as_ref())),
            AccountKind::Gmail(gmail) => Arc::new(self.open_gmail(account, gmail).mailbox),
        }
    }

    /// The Gmail account of that name; without one, the only one there is.
    pub(in crate::app) fn find_gmail(self, name: Option<&str>) -> anyhow::Result<(&'a AccountConfig, &'a GmailConfig)> {
        let mut accounts = self.app.config.accounts.iter().filter_map(|account| match &account.kind {
            AccountKind::Gmail(gmail) => Some((account, gmail)),
            AccountKind::Maildir { .. } => None,
        });
        if let Some(name) = name {
            let named = accounts.find(|(account, _)| account.name.as_str() == name);
            return named
                .ok_or_else(|| NotFound(format!("no account '{name}' of kind \"gmail\" in adjutant.toml")).into());
        }
        match (accounts.next(), accounts.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => Err(NotFound(
                "no account of kind \"gmail\" in adjutant.toml; add [[account]] with name and kind = \"gmail\"".into(),
            )
            .into()),
            (Some(_), Some(_)) => anyhow::bail!("there are several Gmail accounts; say which with --account NAME"),
        }
    }

    /// Begins a sign-in. `redirect`: where the browser ends up.
    pub fn begin_sign_in(self, account: Option<&str>, redirect: &str) -> anyhow::Result<PendingSignIn> {
        let (account, config) = self.find_gmail(account)?;
        let app = ClientApp::load(&config.client_file).map_err(anyhow::Error::msg)?;
        let scopes = scopes(config);
        let consent = ConsentRequest::new(&app, redirect, &scopes).map_err(anyhow::Error::msg)?;
        let file = TokenFile::at(config.token_file.clone());
        Ok(PendingSignIn { account: account.name.to_string(), consent, app, file })
    }

    /// Ends it with what the browser was given. The address that was signed in, where Gmail tells it.
    pub async fn end_sign_in(self, signing_in: &PendingSignIn, code: &Secret) -> anyhow::Result<String> {
        let PendingSignIn { account, consent, app, file } = signing_in;
        consent.exchange_code(app, code, file, self.app.clock.now()).await.context("Google did not sign you in")?;
        let (account, config) = self.find_gmail(Some(account))?;
        let gmail = self.open_gmail(account, config).source;
        let address = tokio::task::spawn_blocking(move || gmail.address()).await?;
        address.context("signed in, but Gmail does not answer")
    }
}

fn scopes(config: &GmailConfig) -> Vec<&'static str> {
    let mut scopes = vec![gmail::SCOPE_NAME];
    if config.calendar {
        scopes.extend(calendar::SCOPES);
    }
    if config.push.is_some() {
        scopes.push(push::SCOPE_NAME);
    }
    scopes
}

impl AccountUseCases<'_> {
    /// Returns how each account was doing at its last look, where that was noted.
    pub async fn conditions(self) -> anyhow::Result<Vec<AccountCondition>> {
        Ok(self.app.store.read(|reader| reader.accounts().conditions()).await?)
    }

    async fn has_noted_trouble(self, account: &AccountId) -> bool {
        let conditions = self.conditions().await.unwrap_or_default();
        conditions.iter().any(|known| known.account == *account && !known.problem.is_empty())
    }
}

impl Worker {
    /// Leaves a line about an account for those who ask how it is doing.
    pub(in crate::app) async fn record_account_condition(
        &self,
        intake: &PolledIntake,
        tally: &IntakeCounts,
        trouble: Option<&anyhow::Error>,
    ) {
        let account = &intake.account_intake.account;
        let quota = intake.source.quota_usage();
        // A mailbox without a quota is looked at very often; nothing is written while all is well.
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
            tracing::warn!(%account, %error, "how an account is doing could not be noted");
        }
    }
}
