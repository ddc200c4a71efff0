//! Looking for a message of ours among the sent ones. Only reads.

use google_gmail1::api::History;

use super::{
    draft::{Drafts, action_named, after, is_in},
    handle::DraftHandle,
};
use crate::{
    model::{Action, ActionId},
    source::{
        gmail::client::{GmailClient, ME, SCOPE, price},
        google::ApiError,
        own_message::ACTION_HEADER,
    },
};

const SENT: &str = "SENT";
/// More sent mails than this since the draft was stored are more than a look can read.
const MOST_SENT: usize = 50;

pub(super) struct GmailSentSearch {
    client: GmailClient,
    drafts: Drafts,
}

impl GmailSentSearch {
    pub(super) fn new(client: GmailClient) -> Self {
        Self { drafts: Drafts::new(client.clone()), client }
    }

    /// The id of the sent message that carries the action's name. With a handle only what was sent since its draft was
    /// stored is looked at, by the mailbox's own history, which knows at once; else, what was sent to the same person.
    pub(super) fn find_sent(&self, action: &Action, handle: Option<&DraftHandle>) -> Result<Option<String>, ApiError> {
        let since = handle.map(|handle| self.list_sent_since(handle.history)).transpose();
        let candidates = match since {
            Ok(Some(found)) => found,
            Ok(None) | Err(ApiError::Gone) => self.listed(action, action.action_id)?,
            Err(error) => return Err(error),
        };
        if candidates.len() > MOST_SENT {
            let what = format!("more than {MOST_SENT} mails were sent since; look for the {ACTION_HEADER} header");
            return Err(ApiError::Network { what, left: true });
        }
        self.find_newest(candidates.into_iter(), action.action_id)
    }

    /// Whether a message made for `wanted` is among those that were sent to whom the action writes, its handle not being
    /// known. Should the person write very often to the same address, the newest count.
    pub(super) fn was_sent(&self, wanted: ActionId, action: &Action) -> Result<bool, ApiError> {
        let candidates = self.listed(action, wanted)?;
        let old = candidates.len().saturating_sub(MOST_SENT);
        Ok(self.find_newest(candidates.into_iter().skip(old), wanted)?.is_some())
    }

    /// The actions for which a message of a known conversation was sent.
    pub(super) fn actions_sent_in_thread(&self, thread: &str) -> Result<Vec<ActionId>, ApiError> {
        let read = self.client.call(price::READ_THREAD, async |hub, heard| {
            let call = hub.users().threads_get(ME, thread).format("metadata").add_metadata_headers(ACTION_HEADER);
            call.add_scope(SCOPE).delegate(heard).doit().await
        });
        let messages = match read {
            Ok(thread) => thread.messages.unwrap_or_default(),
            Err(ApiError::Gone) => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(messages.iter().filter(|message| is_in(message, SENT)).filter_map(action_named).collect())
    }

    /// The newest first: that is where it will be.
    fn find_newest(
        &self,
        candidates: impl DoubleEndedIterator<Item = String>,
        wanted: ActionId,
    ) -> Result<Option<String>, ApiError> {
        for id in candidates.rev() {
            if self.drafts.is_for(&id, |made_for| made_for.step_key() == wanted.step_key())?.is_some() {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    fn list_sent_since(&self, history: u64) -> Result<Vec<String>, ApiError> {
        let (mut ids, mut page): (Vec<String>, Option<String>) = (Vec::new(), None);
        loop {
            let listed = self.client.call(price::HISTORY, async |hub, heard| {
                let call = hub.users().history_list(ME).start_history_id(history).label_id(SENT);
                let call = call.add_history_types("messageAdded").add_history_types("labelAdded");
                let call = match &page {
                    Some(page) => call.page_token(page),
                    None => call,
                };
                call.add_scope(SCOPE).delegate(heard).doit().await
            })?;
            for entry in listed.history.unwrap_or_default() {
                ids.extend(messages(entry));
            }
            page = listed.next_page_token;
            if page.is_none() || ids.len() > MOST_SENT {
                return Ok(ids);
            }
        }
    }

    fn listed(&self, action: &Action, first: ActionId) -> Result<Vec<String>, ApiError> {
        let to = action.effect.message().and_then(|message| message.to.first()).map_or("", |to| to.addr.as_str());
        // A database that was put back makes an action anew, later than it was sent; never before its mail had come.
        let time = first.0.timestamp_ms().min(action.task_id.0.timestamp_ms());
        let query = format!("to:{to} {}", after(time));
        let most = u32::try_from(MOST_SENT).unwrap_or(u32::MAX);
        let listed = self.client.call(price::LIST, async |hub, heard| {
            let call = hub.users().messages_list(ME).add_label_ids(SENT).q(&query).max_results(most + 1);
            call.add_scope(SCOPE).delegate(heard).doit().await
        })?;
        let newest_first = listed.messages.unwrap_or_default();
        Ok(newest_first.into_iter().rev().filter_map(|message| message.id).collect())
    }
}

/// The messages that came among the sent ones with one entry of the history, each once.
fn messages(entry: History) -> Vec<String> {
    let added = entry.messages_added.unwrap_or_default().into_iter().filter_map(|added| added.message);
    let labelled = entry.labels_added.unwrap_or_default().into_iter().filter_map(|added| added.message);
    let mut ids: Vec<String> = added.chain(labelled).filter_map(|message| message.id).collect();
    ids.sort();
    ids.dedup();
    ids
}
