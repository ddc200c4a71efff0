//! The mailbox of each account, and questions to its calendar.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use crate::{
    failpoint,
    model::{AccountId, Action, Effect, Instant},
    source::{Busy, CalendarEvent, Mailbox, SourceError},
};

/// The result of an effect whose account has no mailbox, because it was removed from the configuration.
pub(super) const NO_MAILBOX: &str = "the account's mailbox is not configured any more";

/// The registered mailboxes. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Mailboxes(Arc<RwLock<HashMap<AccountId, Arc<dyn Mailbox>>>>);

impl Mailboxes {
    pub(super) fn register(&self, account: AccountId, mailbox: Arc<dyn Mailbox>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(account, mailbox);
    }

    pub(super) fn get(&self, account: &AccountId) -> Option<Arc<dyn Mailbox>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(account).cloned()
    }

    /// Returns whether the effect is a row of the database that the mailbox shows as well: a label.
    pub(super) fn shows_row_of(&self, action: &Action) -> bool {
        let label = matches!(action.effect, Effect::Label { .. });
        label && self.get(&action.account).is_some_and(|mailbox| mailbox.stores_labels())
    }

    /// Returns when the person is busy; none without a mailbox or a calendar.
    pub(super) async fn busy(
        &self,
        account: &AccountId,
        from: Instant,
        to: Instant,
    ) -> Result<Option<Vec<Busy>>, SourceError> {
        let Some(mailbox) = self.get(account) else { return Ok(None) };
        ask_calendar(move || failpoint::around("mailbox.busy", || mailbox.busy(from, to))).await
    }

    /// Returns the events under the UID of an invitation; none without a mailbox or a calendar.
    pub(super) async fn invited(
        &self,
        account: &AccountId,
        uid: String,
    ) -> Result<Option<Vec<CalendarEvent>>, SourceError> {
        let Some(mailbox) = self.get(account) else { return Ok(None) };
        ask_calendar(move || mailbox.invited(&uid)).await
    }
}

/// Asks a calendar on a blocking thread. A panic counts as an account without a calendar.
async fn ask_calendar<T: Send + 'static>(
    question: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
) -> Result<T, SourceError> {
    let answer = tokio::task::spawn_blocking(question).await;
    answer.unwrap_or_else(|_| Err(SourceError::Unsupported { what: "be asked for a calendar".into() }))
}
