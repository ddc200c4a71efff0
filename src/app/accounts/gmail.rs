//! Gmail accounts: how they are opened, and how a person signs in to them.

use std::sync::Arc;

use anyhow::Context as _;

use crate::{
    app::{AccountUseCases, NotFound},
    config::{AccountConfig, AccountKind, GmailConfig, PushConfig},
    model::Secret,
    source::{
        calendar::{self, Calendar},
        gmail::{self, GmailClient, GmailMailbox, GmailSource, GmailWatchSettings, PushSubscription, push},
        google::{ClientApp, Quota, TokenFile, TokenProvider, TokenStore, sign_in::ConsentRequest},
    },
};

/// A sign-in that waits for the person's consent in a browser.
pub struct PendingSignIn {
    pub account: String,
    /// What the person is asked at Google, with the address to open.
    pub consent: ConsentRequest,
    app: ClientApp,
    file: TokenFile,
}

/// One Gmail account as a source and as a mailbox. Both share one quota.
pub(in crate::app) struct GmailConnection {
    pub(in crate::app) source: GmailSource,
    pub(in crate::app) mailbox: GmailMailbox,
    pub(in crate::app) push: Option<PushSubscription>,
}

impl<'a> AccountUseCases<'a> {
    /// Returns the source and the mailbox of a Gmail account. No request is made yet.
    pub(in crate::app) fn open_gmail(self, account: &AccountConfig, config: &GmailConfig) -> GmailConnection {
        let file = TokenFile::at(config.token_file.clone());
        let token_store =
            TokenStore::new(config.client_file.clone(), file, account.name.as_str(), self.app.clock.clone());
        let tokens: Arc<dyn TokenProvider> = Arc::new(token_store);
        let quota = || Arc::new(Quota::new(self.app.clock.clone()));
        let client = GmailClient::new(Arc::clone(&tokens), quota(), config.api.as_deref());
        // Google counts the calendar's quota separately.
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

    /// Returns the Gmail account of that name; without a name, the only one there is.
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

    /// Begins a sign-in. `redirect` is the address at which the browser ends up.
    pub fn begin_sign_in(self, account: Option<&str>, redirect: &str) -> anyhow::Result<PendingSignIn> {
        let (account, config) = self.find_gmail(account)?;
        let app = ClientApp::load(&config.client_file).map_err(anyhow::Error::msg)?;
        let scopes = scopes(config);
        let consent = ConsentRequest::new(&app, redirect, &scopes).map_err(anyhow::Error::msg)?;
        let file = TokenFile::at(config.token_file.clone());
        Ok(PendingSignIn { account: account.name.to_string(), consent, app, file })
    }

    /// Completes a sign-in with the code from the browser, and stores the token. Returns the address that was signed
    /// in.
    pub async fn end_sign_in(self, signing_in: &PendingSignIn, code: &Secret) -> anyhow::Result<String> {
        let PendingSignIn { account, consent, app, file } = signing_in;
        consent.exchange_code(app, code, file, self.app.clock.now()).await.context("Google did not sign you in")?;
        let (account, config) = self.find_gmail(Some(account))?;
        let gmail = self.open_gmail(account, config).source;
        let address = tokio::task::spawn_blocking(move || gmail.address()).await?;
        address.context("signed in, but Gmail does not answer")
    }
}

/// Returns the permissions that the account's configuration needs, and no more.
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
