//! Looking for a message of ours among the sent ones. Only reads.

use google_gmail1::api::History;

use super::{
    draft::{ACTION_HEADER, Drafts, since},
    handle::Handle,
};
use crate::{
    model::{Action, ActionId},
    source::{
        gmail::client::{Client, ME, SCOPE, price},
        google::ApiError,
    },
};

const SENT: &str = "SENT";
/// More sent mails than this since the draft was stored are more than a look can read.
const MOST_SENT: usize = 50;

pub(super) struct Sent {
    client: Client,
    drafts: Drafts,
}

impl Sent {
    pub(super) fn new(client: Client) -> Self {
        Self { drafts: Drafts::new(client.clone()), client }
    }

    /// The id of the sent message that carries the action's name. With a handle only what was sent since its draft was
    /// stored is looked at, by the mailbox's own history, which knows at once; else, what was sent to the same person.
    pub(super) fn look(&self, action: &Action, handle: Option<&Handle>) -> Result<Option<String>, ApiError> {
        let since = handle.map(|handle| self.since(handle.history)).transpose();
        let candidates = match since {
            Ok(Some(found)) => found,
            Ok(None) | Err(ApiError::Gone) => self.listed(action, action.action_id)?,
            Err(error) => return Err(error),
        };
        if candidates.len() > MOST_SENT {
            let what = format!("more than {MOST_SENT} mails were sent since; look for the {ACTION_HEADER} header");
            return Err(ApiError::Network { what, left: true });
        }
        let found = self.newest(candidates.into_iter(), |found| found == action.action_id)?;
        Ok(found.map(|(id, _)| id))
    }

    /// Before an action has a handle: whether its message is there, or that of the draft it replaces; whose it is. Should
    /// the person write very often to the same address, the newest count.
    pub(super) fn already(&self, action: &Action, replaced: Option<ActionId>) -> Result<Option<ActionId>, ApiError> {
        let candidates = self.listed(action, replaced.unwrap_or(action.action_id))?;
        let old = candidates.len().saturating_sub(MOST_SENT);
        let wanted = |found: ActionId| found == action.action_id || Some(found) == replaced;
        let found = self.newest(candidates.into_iter().skip(old), wanted)?;
        Ok(found.map(|(_, action_id)| action_id))
    }

    /// The newest first: that is where it will be.
    fn newest(
        &self,
        candidates: impl DoubleEndedIterator<Item = String>,
        wanted: impl Fn(ActionId) -> bool,
    ) -> Result<Option<(String, ActionId)>, ApiError> {
        for id in candidates.rev() {
            if let Some((found, _)) = self.drafts.action_of(&id)?.filter(|(found, _)| wanted(*found)) {
                return Ok(Some((id, found)));
            }
        }
        Ok(None)
    }

    fn since(&self, history: u64) -> Result<Vec<String>, ApiError> {
        let (mut ids, mut page): (Vec<String>, Option<String>) = (Vec::new(), None);
        loop {
            let listed = self.client.ask(price::HISTORY, async |hub, heard| {
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
        let query = format!("to:{to} {}", since(first));
        let most = u32::try_from(MOST_SENT).unwrap_or(u32::MAX);
        let listed = self.client.ask(price::LIST, async |hub, heard| {
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
