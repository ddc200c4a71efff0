//! Reading messages, a few at a time.

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

/// The quota lets five messages a second through, and one takes about half a second to come. More would only hold more
/// of them in memory.
const PARALLEL_FETCHES: usize = 4;

type FetchResult = Result<Vec<u8>, SourceError>;

pub(super) struct ParallelFetcher<'a> {
    pub(super) client: &'a GmailClient,
    /// For old mail.
    pub(super) backlog_client: &'a GmailClient,
    pub(super) old_ids: &'a HashSet<String>,
    /// Those that must show a watched label when they are read.
    pub(super) unlabelled: &'a HashSet<String>,
    pub(super) watched: Option<&'a WatchedLabels>,
}

impl ParallelFetcher<'_> {
    /// Hands each over as it comes. After one that says nothing can be had now, no other is begun.
    pub(super) fn read(&self, found: Vec<FoundMessage>, each: &mut dyn FnMut(FoundMessage, FetchResult)) {
        let readers = PARALLEL_FETCHES.min(found.len());
        let queue = Mutex::new(found.into_iter());
        let stop = AtomicBool::new(false);
        // No room: a reader waits until what it read was taken.
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
            // Owned in here: should `each` panic, no reader is left waiting for it.
            for (found, raw) in receive {
                each(found, raw);
            }
        });
    }
}

/// One message, and what reading it told about it. `under`: it counts only under one of these labels.
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

/// Whether a failure is this message's or everybody's: a server that answers anything else has trouble with this one.
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
    // Thrown away, a draft, or elsewhere: it was never put before us, and comes back when it is.
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
