//! Lists messages in the two ways the API has: everything since a day, or what changed since a history id.

use std::collections::{BTreeSet, HashSet};

use google_gmail1::api::{History, Message, Profile};

use super::{
    client::{GmailClient, Hub, ME, SCOPE, price},
    sync::GmailWatchSettings,
    watched_labels::{WatchedLabels, is_excluded},
};
use crate::source::google::{ApiError, FailureDetails};

/// The largest page that the API returns.
pub const MAX_PAGE_SIZE: u32 = 500;
/// A full listing hands out only this many of the newest messages of each label: listing them at 500 a page costs 200
/// units and reading them takes an hour and a half. Older ones are listed too, only to be counted.
pub const MAX_READ_PER_LABEL: usize = 20_000;
/// Upper bound of the pages of one listing, so that a server that repeats itself cannot keep the program in a loop.
const MAX_PAGES: usize = 2_000;

/// What happened to watched mail since a history id.
#[derive(Debug, Default)]
pub(super) struct HistoryChanges {
    /// Ids of messages that arrived or were given a watched label, in the order in which it happened.
    pub(super) arrived: Vec<String>,
    /// Ids among them that came without labels, so that only reading them shows whether they are watched.
    pub(super) unlabelled: HashSet<String>,
    /// Ids of messages that were deleted for good; may repeat.
    pub(super) deleted: Vec<String>,
    /// The history id from which the next poll reads.
    pub(super) history: u64,
    /// Ids in `arrived`, because a history names the same message several times.
    seen: HashSet<String>,
}

/// Returns the newest history id of the mailbox.
pub(super) fn fetch_history_id(client: &GmailClient) -> Result<u64, ApiError> {
    let nothing = ApiError::Network { what: "the profile has no history".into(), left: true };
    fetch_profile(client)?.history_id.ok_or(nothing)
}

/// Returns the address of the person who signed in.
pub(super) fn fetch_address(client: &GmailClient) -> Result<String, ApiError> {
    Ok(fetch_profile(client)?.email_address.unwrap_or_default())
}

fn fetch_profile(client: &GmailClient) -> Result<Profile, ApiError> {
    let request = async |hub: &Hub, heard: &mut FailureDetails| {
        hub.users().get_profile(ME).add_scope(SCOPE).delegate(heard).doit().await
    };
    client.call(price::PROFILE, request)
}

/// The result of a full listing.
#[derive(Debug, Default)]
pub(super) struct ListedMail {
    /// Ids of the messages to be read, oldest first.
    pub(super) ids: Vec<String>,
    /// Ids of older messages beyond the limit per label; they are counted and not read.
    pub(super) left_out: Vec<String>,
}

/// Lists all watched mail since a time, in seconds since 1970.
pub(super) fn list_watched(
    client: &GmailClient,
    watched: &WatchedLabels,
    since: i64,
    watch: &GmailWatchSettings,
) -> Result<ListedMail, ApiError> {
    let (mut seen, mut left_out) = (HashSet::new(), BTreeSet::new());
    let mut all = ListedMail::default();
    let query = format!("after:{since}");
    for label in watched.labels() {
        let before = all.ids.len();
        let mut token: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let request = async |hub: &Hub, heard: &mut FailureDetails| {
                let call = hub.users().messages_list(ME).add_label_ids(label).q(&query).max_results(watch.page);
                let call = token.iter().fold(call, |call, token| call.page_token(token));
                call.add_scope(SCOPE).delegate(heard).doit().await
            };
            let listed = client.call(price::LIST, request)?;
            let fresh = listed.messages.into_iter().flatten().filter_map(|message| message.id);
            for id in fresh {
                if all.ids.len() - before >= watch.most {
                    left_out.insert(id);
                } else if seen.insert(id.clone()) {
                    all.ids.push(id);
                }
            }
            token = listed.next_page_token.filter(|token| !token.is_empty());
            if token.is_none() {
                break;
            }
        }
    }
    // A message over the limit of one label may be within that of another.
    all.left_out = left_out.into_iter().filter(|id| !seen.contains(id)).collect();
    if !all.left_out.is_empty() {
        tracing::warn!(mails = all.left_out.len(), "there is more old mail than is read; only the newest is taken in");
    }
    all.ids.reverse();
    Ok(all)
}

/// Returns everything that changed since a history id, reading all pages. The error is `Gone` when the id is too old.
pub(super) fn fetch_changes(
    client: &GmailClient,
    watched: &WatchedLabels,
    since: u64,
    page: u32,
) -> Result<HistoryChanges, ApiError> {
    let mut changes = HistoryChanges { history: since, ..HistoryChanges::default() };
    let mut token: Option<String> = None;
    for nth in 0..MAX_PAGES {
        let request = async |hub: &Hub, heard: &mut FailureDetails| {
            let call = hub.users().history_list(ME).start_history_id(since).max_results(page);
            let types = ["messageAdded", "messageDeleted", "labelAdded", "labelRemoved"];
            let call = types.iter().fold(call, |call, kind| call.add_history_types(kind));
            let call = token.iter().fold(call, |call, token| call.page_token(token));
            call.add_scope(SCOPE).delegate(heard).doit().await
        };
        let told = client.call(price::HISTORY, request)?;
        // Changes that happen while the pages are read belong to the next poll, so it begins where the first page says.
        if nth == 0 {
            changes.history = told.history_id.unwrap_or(since).max(since);
        }
        told.history.into_iter().flatten().for_each(|entry| changes.add(entry, watched));
        token = told.next_page_token.filter(|token| !token.is_empty());
        if token.is_none() {
            return Ok(changes);
        }
    }
    Err(ApiError::Network { what: "the history has no end".into(), left: true })
}

impl HistoryChanges {
    /// Adds one entry of the history.
    fn add(&mut self, entry: History, watched: &WatchedLabels) {
        let added = entry.messages_added.into_iter().flatten().filter_map(|added| added.message);
        // A star on an old mail does not make it new. Only two changes of labels do: a watched label added, or an
        // excluding one (such as spam) removed.
        let brings = |labels: &Option<Vec<String>>| labels.as_ref().is_some_and(|labels| watched.has_any(labels));
        let labelled = entry.labels_added.into_iter().flatten().filter(|change| brings(&change.label_ids));
        let frees = |labels: &Option<Vec<String>>| labels.as_ref().is_some_and(|labels| is_excluded(labels));
        let freed = entry.labels_removed.into_iter().flatten().filter(|change| frees(&change.label_ids));
        let changed = labelled.filter_map(|change| change.message).chain(freed.filter_map(|change| change.message));
        for message in added.chain(changed).filter(|message| watched.includes(message)) {
            self.add_arrival(message);
        }
        let deleted = entry.messages_deleted.into_iter().flatten().filter_map(|deleted| deleted.message);
        self.deleted.extend(deleted.filter_map(|message: Message| message.id));
    }

    fn add_arrival(&mut self, message: Message) {
        let Some(id) = message.id else { return };
        if message.label_ids.is_none() {
            self.unlabelled.insert(id.clone());
        }
        if self.seen.insert(id.clone()) {
            self.arrived.push(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use google_gmail1::api::{HistoryLabelAdded, HistoryMessageAdded, HistoryMessageDeleted};

    use super::*;

    #[test]
    fn what_a_server_says_twice_is_known_once() {
        let message = |id: &str| Some(Message { id: Some(id.into()), ..Message::default() });
        let entry = History {
            messages_added: Some(vec![HistoryMessageAdded { message: message("a") }]),
            labels_added: Some(vec![HistoryLabelAdded { message: message("a"), label_ids: None }]),
            messages_deleted: Some(vec![HistoryMessageDeleted { message: message("b") }]),
            ..History::default()
        };
        let mut changes = HistoryChanges::default();
        for _ in 0..3 {
            changes.add(entry.clone(), &WatchedLabels::default());
        }
        assert_eq!(changes.arrived, ["a"]);
        assert!(changes.deleted.iter().all(|id| id == "b"));
    }
}
