//! The use cases of accounts: opening each kind, signing in, modes, and their condition. An account acts only after a
//! person has set it to `active`; nothing here does that on its own.

mod condition;
pub(in crate::app) mod gmail;
mod maildir;
mod samples;

use std::sync::Arc;

use anyhow::Context as _;
pub use gmail::PendingSignIn;

use crate::{
    app::{App, LOCAL_ACCOUNT, NotFound},
    config::{AccountConfig, AccountKind, SAMPLES_ACCOUNT},
    model::{Account, AccountId, AccountMode, MailboxKind},
    source::Mailbox,
    store::Write,
};

/// The use cases of accounts: how each kind is opened and signed in to, what mode it has, and how it is doing.
#[derive(Clone, Copy)]
pub struct AccountUseCases<'a> {
    pub(super) app: &'a App,
}

impl AccountUseCases<'_> {
    pub async fn list(self) -> anyhow::Result<Vec<Account>> {
        Ok(self.app.store.read(|reader| reader.accounts().list()).await?)
    }

    /// Lets an account act, only observe, or retire. Retiring cancels its open tasks and is final. An imported account can
    /// never act.
    pub async fn set_mode(self, account: &str, mode: AccountMode) -> anyhow::Result<()> {
        let account = AccountId::from(account);
        let known = self.list().await?;
        let names: Vec<String> = known.iter().map(|known| known.account.to_string()).collect();
        let found = known.iter().find(|known| known.account == account);
        let found = found
            .ok_or_else(|| NotFound(format!("there is no account '{account}'; there are {}", names.join(", "))))?;
        anyhow::ensure!(
            found.kind != MailboxKind::Import || mode != AccountMode::Active,
            "an imported account only observes"
        );
        self.app
            .store
            .write(Write::SetMode { account, mode, at: self.app.clock.now() })
            .await
            .context("the mode was not changed")?;
        Ok(())
    }

    /// Creates the rows of configured accounts. A real account begins in observe mode, and the sample account is
    /// retired as soon as there is a real one.
    pub(in crate::app) async fn sync_configured(self) -> anyhow::Result<()> {
        let known = self.app.store.read(|reader| reader.accounts().list()).await?;
        let has = |name: &AccountId| known.iter().any(|account| account.account == *name);
        let local = AccountId::from(LOCAL_ACCOUNT);
        if !has(&local) {
            self.ensure(local, MailboxKind::Local, AccountMode::Active).await?;
        }
        for account in self.app.config.accounts.iter().filter(|account| !has(&account.name)) {
            let mode = if account.is_sample { AccountMode::Active } else { AccountMode::Observe };
            self.ensure(account.name.clone(), account.kind.mailbox_kind(), mode).await?;
        }
        if self.app.config.accounts.iter().any(|account| !account.is_sample) {
            let samples = known.iter().find(|account| account.account.as_str() == SAMPLES_ACCOUNT);
            if let Some(samples) = samples.filter(|account| account.mode != AccountMode::Retired) {
                let retire = Write::SetMode {
                    account: samples.account.clone(),
                    mode: AccountMode::Retired,
                    at: self.app.clock.now(),
                };
                self.app.store.write(retire).await?;
            }
        }
        Ok(())
    }

    /// Creates the row of an account unless it exists.
    pub(in crate::app) async fn ensure(
        self,
        account: AccountId,
        kind: MailboxKind,
        mode: AccountMode,
    ) -> anyhow::Result<()> {
        let row = Account {
            account,
            user: self.app.user.clone(),
            kind,
            mode,
            cursor: None,
            created_at: self.app.clock.now(),
            polled_at: None,
        };
        self.app.store.write(Write::OpenAccount(row)).await?;
        Ok(())
    }

    /// Returns the mailbox in which the effects of an account are carried out.
    pub(in crate::app) fn open_mailbox(self, account: &AccountConfig) -> Arc<dyn Mailbox> {
        match &account.kind {
            AccountKind::Maildir { path, sendmail } => Arc::new(self.open_maildir(account, path, sendmail.as_ref())),
            AccountKind::Gmail(gmail) => Arc::new(self.open_gmail(account, gmail).mailbox),
        }
    }
}
