//! An account as the worker follows it: where its mail is, and how it is taken in.

use std::sync::Arc;

use anyhow::Context as _;

use crate::{
    app::{WorkerUseCases, accounts::gmail::GmailConnection},
    config::{AccountConfig, AccountKind},
    ingest::{AccountIntake, GuardedParser, PolledIntake, TrustedServers},
    outbox::Outbox,
    source::{
        Maildir, Source,
        gmail::{GmailSource, PushSubscription},
    },
};

/// An account that the worker polls.
pub struct FollowedAccount {
    pub intake: PolledIntake,
    pub location: MailLocation,
}

/// Where the mail of an account is, for the loop that waits for new mail.
#[derive(Clone)]
pub enum MailLocation {
    /// A Maildir, whose folders are watched.
    Maildir(Arc<Maildir>),
    /// A Gmail account, with the push subscription that wakes its poll if one is configured.
    Gmail { source: Arc<GmailSource>, push: Option<Arc<PushSubscription>> },
}

impl std::fmt::Display for MailLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Maildir(maildir) => maildir.root().display().fmt(f),
            Self::Gmail { .. } => f.write_str("Gmail"),
        }
    }
}

impl WorkerUseCases<'_> {
    /// Opens the source of an account and registers its mailbox with the outbox. Creates the sample mailbox at the
    /// first start.
    pub(super) async fn follow_account(
        self,
        account: &AccountConfig,
        outbox: &Outbox,
    ) -> anyhow::Result<FollowedAccount> {
        let (source, place): (Arc<dyn Source>, MailLocation) = match &account.kind {
            AccountKind::Maildir { path, sendmail } => {
                let maildir = Arc::new(self.app.accounts().open_maildir(account, path, sendmail.as_ref()));
                if account.is_sample {
                    maildir.create_inbox().context("the sample mailbox cannot be made")?;
                    self.app.accounts().seed_samples(&maildir).await?;
                }
                outbox.register_mailbox(account.name.clone(), maildir.clone());
                (maildir.clone(), MailLocation::Maildir(maildir))
            }
            AccountKind::Gmail(gmail) => {
                let GmailConnection { source, mailbox, push } = self.app.accounts().open_gmail(account, gmail);
                outbox.register_mailbox(account.name.clone(), Arc::new(mailbox));
                let source = Arc::new(source);
                (source.clone(), MailLocation::Gmail { source, push: push.map(Arc::new) })
            }
        };
        let desk = AccountIntake {
            account: account.name.clone(),
            user: self.app.user.clone(),
            trusted_servers: TrustedServers { servers: account.trusted_servers.clone() },
            store: self.app.store.clone(),
            clock: self.app.clock.clone(),
            old_after: Some(chrono::Duration::days(i64::from(self.app.config.old_after_days))),
            never_touch: account.never_touch.clone(),
            parser: GuardedParser::default(),
        };
        Ok(FollowedAccount {
            intake: PolledIntake { account_intake: desk, source, poll_lock: Arc::default() },
            location: place,
        })
    }
}
