//! Looks for messages of this program among the sent mail. Only reads.

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
/// The most sent messages that one search reads.
const MOST_SENT: usize = 50;

/// The search in the sent mail of one account.
pub(super) struct GmailSentSearch {
    client: GmailClient,
    drafts: Drafts,
}

impl GmailSentSearch {
    pub(super) fn new(client: GmailClient) -> Self {
        Self { drafts: Drafts::new(client.clone()), client }
    }

    /// Returns the id of the sent message of an action. With a handle, the mailbox's history since its draft was stored
    /// is searched, which is up to date at once; without one, mail that was sent to the same recipient. More than
    /// [`MOST_SENT`] candidates are an error: the answer would be a guess.
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

    /// Returns whether a message made for `wanted` was sent to the recipient of `action`, when its handle is not known.
    /// If the person wrote to that address very often, only the newest messages are searched.
    pub(super) fn was_sent(&self, wanted: ActionId, action: &Action) -> Result<bool, ApiError> {
        let candidates = self.listed(action, wanted)?;
        let old = candidates.len().saturating_sub(MOST_SENT);
        Ok(self.find_newest(candidates.into_iter().skip(old), wanted)?.is_some())
    }

    /// Returns the actions whose messages were sent in a conversation.
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

    /// Returns the newest candidate that was made for the step of `wanted`.
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

    /// Returns the ids of messages that were sent since a history id; stops once there are too many.
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

    /// Returns the ids of mail to the recipient of an action that was sent since the action existed, oldest first.
    fn listed(&self, action: &Action, first: ActionId) -> Result<Vec<String>, ApiError> {
        let to = action.effect.message().and_then(|message| message.to.first()).map_or("", |to| to.addr.as_str());
        // After a restore from an older backup an action is created again, with a later id than the one that was sent.
        // So the search begins when its task was created, if that is earlier.
        let time = first.0.timestamp_ms().min(action.possible_since_ms());
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

/// Returns the ids of the messages that one history entry added to the sent mail, each once.
fn messages(entry: History) -> Vec<String> {
    let added = entry.messages_added.unwrap_or_default().into_iter().filter_map(|added| added.message);
    let labelled = entry.labels_added.unwrap_or_default().into_iter().filter_map(|added| added.message);
    let mut ids: Vec<String> = added.chain(labelled).filter_map(|message| message.id).collect();
    ids.sort();
    ids.dedup();
    ids
}
