//! Maildirs as they are configured, and the files in them that the ledger does not know.

use std::{io, path::Path};

use crate::{
    app::AccountUseCases,
    config::{AccountConfig, AccountKind, SendmailConfig},
    model::{Account, AccountId, LedgerFileRow},
    source::{
        Maildir, Sendmail, SourceError,
        maildir::{LedgerMessage, MaildirLedger},
    },
    store::Store,
};

impl AccountUseCases<'_> {
    /// Returns the Maildir of an account, connected to the ledger and to its transport.
    pub(in crate::app) fn open_maildir(
        self,
        account: &AccountConfig,
        path: &Path,
        sendmail: Option<&SendmailConfig>,
    ) -> Maildir {
        let ledger = FilesOfLedger { store: self.app.store.clone(), account: account.name.clone() };
        let sendmail = sendmail.and_then(|sendmail| Sendmail::parse(&sendmail.command_line, sendmail.timeout));
        Maildir::open(path.to_owned(), Box::new(ledger)).with_sendmail(sendmail)
    }

    /// Compares the mailbox with the ledger. Returns how many files without a ledger row were there at the last poll,
    /// and how many came since. An error means that neither is known.
    pub(in crate::app) async fn count_unaccounted_files(self, account: &Account) -> Result<(u64, u64), SourceError> {
        let configured = self.app.config.accounts.iter().find(|known| known.name == account.account);
        // An account that was never polled has no cursor, and all of its files are still waiting for the first poll.
        let (Some(configured), Some(cursor)) = (configured, account.cursor.clone()) else { return Ok((0, 0)) };
        let AccountKind::Maildir { path, .. } = &configured.kind else { return Ok((0, 0)) };
        let maildir = self.open_maildir(configured, path, None);
        let counted = tokio::task::spawn_blocking(move || maildir.count_unaccounted(&cursor)).await;
        counted.unwrap_or_else(|_| Err(SourceError::Unsupported { what: "be counted".into() }))
    }

    /// Returns the folders of the mailbox that are not read; none when the mailbox cannot be read.
    pub(in crate::app) fn list_unread_folders(self, account: &Account) -> Vec<String> {
        let configured = self.app.config.accounts.iter().find(|known| known.name == account.account);
        let Some((configured, AccountKind::Maildir { path, .. })) = configured.map(|known| (known, &known.kind)) else {
            return Vec::new();
        };
        self.open_maildir(configured, path, None).list_unread_folders().unwrap_or_default()
    }

    /// Returns how many entries in the mailbox are not mail files; 0 when the mailbox cannot be read.
    pub(in crate::app) fn count_other_entries(self, account: &Account) -> u64 {
        let configured = self.app.config.accounts.iter().find(|known| known.name == account.account);
        let Some((configured, AccountKind::Maildir { path, .. })) = configured.map(|known| (known, &known.kind)) else {
            return 0;
        };
        self.open_maildir(configured, path, None).count_other_entries().unwrap_or_default()
    }
}

/// The files of one account as the ledger knows them.
struct FilesOfLedger {
    store: Store,
    account: AccountId,
}

impl MaildirLedger for FilesOfLedger {
    fn messages(&self) -> io::Result<Vec<(String, String, bool)>> {
        self.store.read_blocking(|reader| reader.ledger().known_files(&self.account)).map_err(io::Error::other)
    }

    fn messages_named(&self, base: &str) -> io::Result<Vec<LedgerMessage>> {
        let rows = self
            .store
            .read_blocking(|reader| reader.ledger().files_with_base_key(&self.account, base))
            .map_err(io::Error::other)?;
        let remembered = |row: LedgerFileRow| {
            let LedgerFileRow { source_key: key, stamp, size, sha256, is_read, is_gone } = row;
            LedgerMessage { key, stamp, size, sha256, is_read, is_gone }
        };
        Ok(rows.into_iter().map(remembered).collect())
    }
}
