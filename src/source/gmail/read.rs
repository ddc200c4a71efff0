//! Fetches messages, a few in parallel.

use std::{
    collections::HashSet,
    io,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

use google_gmail1::api::Message;

use super::{
    client::{GmailClient, Hub, ME, SCOPE, price},
    watched_labels::{WatchedLabels, direction_of_labels, is_excluded},
};
use crate::{
    failpoint,
    model::Instant,
    source::{
        FoundMessage, MAX_FETCH_BYTES, SourceError,
        google::{ApiError, FailureDetails},
    },
};

/// The quota allows five messages a second and one takes about half a second, so more fetches would only hold more
/// messages in memory.
const PARALLEL_FETCHES: usize = 4;

type FetchResult = Result<Vec<u8>, SourceError>;

/// Fetches the messages of one poll. New mail and old mail pay from the quota with different priority.
pub(super) struct ParallelFetcher<'a> {
    pub(super) client: &'a GmailClient,
    /// The client for old mail, which leaves a reserve of the quota to new mail.
    pub(super) backlog_client: &'a GmailClient,
    /// Ids of messages that are old mail.
    pub(super) old_ids: &'a HashSet<String>,
    /// Ids of messages that are taken in only if reading them shows a watched label.
    pub(super) unlabelled: &'a HashSet<String>,
    pub(super) watched: Option<&'a WatchedLabels>,
}

impl ParallelFetcher<'_> {
    /// Passes each message to `each` as it arrives. After an error that concerns the whole mailbox, no further fetch is
    /// begun.
    pub(super) fn read(&self, found: Vec<FoundMessage>, each: &mut dyn FnMut(FoundMessage, FetchResult)) {
        let readers = PARALLEL_FETCHES.min(found.len());
        let queue = Mutex::new(found.into_iter());
        let stop = AtomicBool::new(false);
        // A channel without capacity: a thread waits until its message is taken, which bounds the memory.
        let (send, receive) = mpsc::sync_channel(0);
        thread::scope(|scope| {
            for _ in 0..readers {
                let (send, queue, stop) = (send.clone(), &queue, &stop);
                scope.spawn(move || {
                    while !stop.load(Ordering::Acquire)
                        && let Some(next) = queue.lock().unwrap_or_else(PoisonError::into_inner).next()
                    {
                        let client = if self.old_ids.contains(&next.key) { self.backlog_client } else { self.client };
                        let under = self.watched.filter(|_| self.unlabelled.contains(&next.key));
                        let (next, raw) = failpoint::around("source.fetch", || fetch_message(client, next, under));
                        if raw.as_ref().is_err_and(SourceError::is_mailbox_wide) {
                            stop.store(true, Ordering::Release);
                        }
                        if send.send((next, raw)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(send);
            // The loop owns the receiver: if `each` panics, the receiver is dropped and no thread waits for it forever.
            for (found, raw) in receive {
                each(found, raw);
            }
        });
    }
}

/// Fetches one message. Returns it with what reading it told (direction, arrival, size). With `under`, the message
/// counts as gone unless it has one of these labels.
pub(super) fn fetch_message(
    client: &GmailClient,
    found: FoundMessage,
    under: Option<&WatchedLabels>,
) -> (FoundMessage, FetchResult) {
    let key = found.key.clone();
    let request = async |hub: &Hub, heard: &mut FailureDetails| {
        hub.users().messages_get(ME, &key).format("raw").add_scope(SCOPE).delegate(heard).doit().await
    };
    match client.call(price::READ, request) {
        Ok(message) => interpret_message(found, message, under),
        Err(error) => {
            let error = attribute_failure(client, error, &key);
            (found, Err(error))
        }
    }
}

/// Decides whether a failure concerns one message or the whole mailbox: while the server answers another call, only
/// this message is at fault, and the others can be read.
fn attribute_failure(client: &GmailClient, error: ApiError, key: &str) -> SourceError {
    let alive = async |hub: &Hub, heard: &mut FailureDetails| {
        hub.users().labels_list(ME).add_scope(SCOPE).delegate(heard).doit().await
    };
    match error {
        error @ ApiError::Network { left: true, .. } if client.call_once(price::LABELS, alive).is_ok() => {
            SourceError::Unreadable { key: key.to_owned(), source: io::Error::other(error) }
        }
        error => error.into_source_error(Some(key)),
    }
}

/// Completes the found message by what the API returned, and takes its bytes unless the message is not to be read.
fn interpret_message(
    found: FoundMessage,
    message: Message,
    under: Option<&WatchedLabels>,
) -> (FoundMessage, FetchResult) {
    let labels = message.label_ids.unwrap_or_default();
    let arrived = message.internal_date.and_then(Instant::from_unix_ms);
    let mut raw = message.raw.unwrap_or_default();
    let found = FoundMessage {
        direction: direction_of_labels(&labels),
        arrived_at: arrived.unwrap_or(found.arrived_at),
        size: raw.len() as u64,
        ..found
    };
    // In the bin, a draft, or without a watched label. Should that change, the history reports the message again.
    if is_excluded(&labels) || under.is_some_and(|watched| !watched.has_any(&labels)) {
        let gone = SourceError::Gone { key: found.key.clone() };
        return (found, Err(gone));
    }
    if raw.is_empty() {
        let empty = io::Error::new(io::ErrorKind::UnexpectedEof, "the answer holds no message");
        let unreadable = SourceError::Unreadable { key: found.key.clone(), source: empty };
        return (found, Err(unreadable));
    }
    raw.truncate(usize::try_from(MAX_FETCH_BYTES).unwrap_or(usize::MAX));
    (found, Ok(raw))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::Direction, source::FileNote};

    #[test]
    fn what_came_without_labels_is_ours_only_under_a_watched_one() {
        let at = Instant::EARLIEST;
        let found = || FoundMessage {
            key: "k".into(),
            folder: "f".into(),
            direction: Direction::In,
            arrived_at: at,
            size: 0,
            file: FileNote::default(),
        };
        let read = |labels: &[&str], under: Option<&WatchedLabels>| {
            let label_ids = Some(labels.iter().map(|label| (*label).to_owned()).collect());
            interpret_message(found(), Message { label_ids, raw: Some(b"x".to_vec()), ..Message::default() }, under)
                .1
                .is_ok()
        };
        let inbox = WatchedLabels::of(&["INBOX"]);
        assert!(read(&["INBOX"], Some(&inbox)));
        assert!(!read(&["CATEGORY_FORUMS"], Some(&inbox)));
        assert!(read(&["CATEGORY_FORUMS"], None), "it was ours when it was listed");
        assert!(!read(&["INBOX", "TRASH"], None));
    }
}
