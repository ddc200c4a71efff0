//! Drafts that this program stores in Gmail: creates them, finds them again by the action header, compares, sends and
//! trashes them.

use std::{
    collections::HashMap,
    io::Cursor,
    sync::{Mutex, MutexGuard, PoisonError},
};

use google_gmail1::{
    Error,
    api::{Draft, Message},
};
use mail_parser::MessageParser;

use super::handle::DraftHandle;
use crate::{
    model::{ActionId, action::ComposedMessage},
    source::{
        gmail::client::{GmailClient, ME, SCOPE, price},
        google::ApiError,
        own_message::{ACTION_HEADER, extract_action_ids, extract_visible_text},
    },
};

/// How many drafts are searched for one whose id was never received. The newest come first.
const MOST_DRAFTS: u32 = 50;
/// How many messages that belong to other actions are remembered.
const MOST_OTHERS: usize = 2_000;
/// Seconds by which Google's clock may be behind ours.
const CLOCK_SKEW_SECONDS: u64 = 60;
const BIN: &str = "TRASH";
/// The error if the constant MIME type could not be parsed, which cannot happen.
const NO_TYPE: Error = Error::FieldClash("the type of a message");

/// The drafts of one account.
pub(super) struct Drafts {
    client: GmailClient,
    /// By message id, the action a message was made for; none for mail of others. Only messages that did not match a
    /// search are kept, so that the next search does not read them again.
    others: Mutex<HashMap<String, Option<ActionId>>>,
}

/// A draft as it is stored in Gmail.
pub(super) struct StoredDraft {
    /// Gmail's id of the message inside the draft.
    pub(super) message: String,
    pub(super) bytes: Vec<u8>,
    /// Whether the draft is in the bin.
    pub(super) binned: bool,
}

impl StoredDraft {
    /// Returns whether the draft is the one we stored. Gmail gives the message of a changed draft a new id.
    pub(super) fn matches_handle(&self, handle: &DraftHandle) -> bool {
        !self.binned && self.message == handle.message
    }

    /// Returns whether the draft holds our message, apart from what Gmail itself may add or rewrite: ids, dates, the
    /// form of the sender.
    pub(super) fn matches_message(&self, ours: &[u8]) -> bool {
        self.bytes == ours || (self.has_same_text(ours) && extract_action_ids(&self.bytes) == extract_action_ids(ours))
    }

    /// Returns whether the draft says the same to the same people, whichever action it belongs to.
    pub(super) fn has_same_text(&self, ours: &[u8]) -> bool {
        extract_visible_text(&self.bytes).is_some_and(|theirs| extract_visible_text(ours) == Some(theirs))
    }
}

impl Drafts {
    pub(super) fn new(client: GmailClient) -> Self {
        Self { client, others: Mutex::default() }
    }

    /// Returns the conversation (Gmail's thread) that a message belongs to: that of the mail it answers, if that mail
    /// still exists. A message that answers nothing begins its own.
    pub(super) fn thread_of(&self, key: Option<&str>, message: &ComposedMessage) -> Result<Option<String>, ApiError> {
        let Some(key) = key.filter(|_| answers(message)) else { return Ok(None) };
        let found = self.client.call(price::READ, async |hub, heard| {
            let call = hub.users().messages_get(ME, key).format("minimal");
            call.add_scope(SCOPE).delegate(heard).doit().await
        });
        match found {
            Ok(message) => Ok(message.thread_id),
            Err(ApiError::Gone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores a draft. The call is made once; if its answer is lost, [`Self::find_by_action`] finds the draft.
    pub(super) fn create(&self, message: &ComposedMessage, thread: Option<String>) -> Result<DraftHandle, ApiError> {
        let history = self.history()?;
        let draft = Draft { id: None, message: Some(Message { thread_id: thread, ..Message::default() }) };
        let made = self.client.call_once(price::DRAFT, async |hub, heard| {
            let call = hub.users().drafts_create(draft, ME).add_scope(SCOPE).delegate(heard);
            call.upload(Cursor::new(message.mime.as_bytes()), rfc822().ok_or(NO_TYPE)?).await
        })?;
        handle(made, history)
            .ok_or_else(|| ApiError::Network { what: "a draft came back without an id".into(), left: true })
    }

    /// Finds the draft of an action when the draft's id was never received. With `thread`, only drafts of that
    /// conversation count.
    pub(super) fn find_by_action(
        &self,
        action_id: ActionId,
        thread: Option<&str>,
    ) -> Result<Option<DraftHandle>, ApiError> {
        let since = since(action_id);
        let history = self.history()?;
        let listed = self.client.call(price::LIST, async |hub, heard| {
            let call = hub.users().drafts_list(ME).q(&since).max_results(MOST_DRAFTS);
            call.add_scope(SCOPE).delegate(heard).doit().await
        })?;
        for draft in listed.drafts.unwrap_or_default() {
            let Some(handle) = handle(draft, history) else { continue };
            let elsewhere = thread.is_some_and(|thread| thread != handle.thread);
            if !elsewhere && self.is_for(&handle.message, |made_for| made_for == action_id)? == Some(false) {
                return Ok(Some(handle));
            }
        }
        Ok(None)
    }

    /// Returns whether a message was made for a wanted action and, if so, whether it is in the bin. The action of a
    /// message never changes, so messages of other actions are read only once: a search that the quota cuts short
    /// continues where it ended.
    pub(super) fn is_for(&self, message: &str, wanted: impl Fn(ActionId) -> bool) -> Result<Option<bool>, ApiError> {
        if self.others().get(message).is_some_and(|made_for| !made_for.is_some_and(&wanted)) {
            return Ok(None);
        }
        let read = self.client.call(price::READ, async |hub, heard| {
            let call = hub.users().messages_get(ME, message).format("metadata").add_metadata_headers(ACTION_HEADER);
            call.add_scope(SCOPE).delegate(heard).doit().await
        });
        let read = match read {
            Ok(read) => read,
            Err(ApiError::Gone) => return Ok(None),
            Err(error) => return Err(error),
        };
        let made_for = action_named(&read);
        if made_for.is_some_and(wanted) {
            return Ok(Some(is_binned(&read)));
        }
        let mut others = self.others();
        if others.len() >= MOST_OTHERS {
            others.clear();
        }
        others.insert(message.to_owned(), made_for);
        Ok(None)
    }

    fn others(&self) -> MutexGuard<'_, HashMap<String, Option<ActionId>>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a draft with its bytes; none when it no longer exists.
    pub(super) fn read(&self, draft: &str) -> Result<Option<StoredDraft>, ApiError> {
        let read = self.client.call(price::READ_DRAFT, async |hub, heard| {
            hub.users().drafts_get(ME, draft).format("raw").add_scope(SCOPE).delegate(heard).doit().await
        });
        match read {
            Ok(Draft { message: Some(message), .. }) => Ok(Some(StoredDraft {
                binned: is_binned(&message),
                message: message.id.unwrap_or_default(),
                bytes: message.raw.unwrap_or_default(),
            })),
            Ok(_) | Err(ApiError::Gone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends a draft with exactly these bytes. The call is made once, whatever its outcome. Returns the id of the sent
    /// message.
    pub(super) fn send(&self, handle: &DraftHandle, message: &ComposedMessage) -> Result<String, ApiError> {
        let thread = Message { thread_id: Some(handle.thread.clone()), ..Message::default() };
        let draft = Draft { id: Some(handle.draft.clone()), message: Some(thread) };
        let sent = self.client.call_once(price::SEND, async |hub, heard| {
            let call = hub.users().drafts_send(draft, ME).add_scope(SCOPE).delegate(heard);
            call.upload(Cursor::new(message.mime.as_bytes()), rfc822().ok_or(NO_TYPE)?).await
        })?;
        Ok(sent.id.unwrap_or_default())
    }

    /// Moves a draft to the bin, from which the person can restore it.
    pub(super) fn discard(&self, message: &str) -> Result<(), ApiError> {
        let binned = self.client.call(price::MODIFY, async |hub, heard| {
            hub.users().messages_trash(ME, message).add_scope(SCOPE).delegate(heard).doit().await
        });
        binned.map(drop)
    }

    /// Returns the newest history id of the mailbox.
    fn history(&self) -> Result<u64, ApiError> {
        let profile = self.client.call(price::PROFILE, async |hub, heard| {
            hub.users().get_profile(ME).add_scope(SCOPE).delegate(heard).doit().await
        })?;
        Ok(profile.history_id.unwrap_or_default())
    }
}

/// Returns the search term for mail since shortly before an action was created.
pub(super) fn since(action_id: ActionId) -> String {
    after(action_id.0.timestamp_ms())
}

/// Returns the search term for mail since shortly before a time in milliseconds.
pub(super) fn after(time: u64) -> String {
    format!("after:{}", (time / 1000).saturating_sub(CLOCK_SKEW_SECONDS))
}

fn handle(draft: Draft, history: u64) -> Option<DraftHandle> {
    let message = draft.message?;
    Some(DraftHandle { draft: draft.id?, message: message.id?, thread: message.thread_id.unwrap_or_default(), history })
}

/// Returns the action that the headers of a message name.
pub(super) fn action_named(message: &Message) -> Option<ActionId> {
    let mut headers = message.payload.as_ref()?.headers.iter().flatten();
    let named =
        headers.find(|header| header.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(ACTION_HEADER)));
    named?.value.as_deref()?.trim().parse().ok()
}

/// Returns whether a message answers another.
fn answers(message: &ComposedMessage) -> bool {
    let parsed = MessageParser::default().parse_headers(message.mime.as_bytes());
    parsed.is_some_and(|parsed| parsed.header_raw("In-Reply-To").is_some())
}

fn is_binned(message: &Message) -> bool {
    is_in(message, BIN)
}

/// Returns whether a message has a label.
pub(super) fn is_in(message: &Message, label: &str) -> bool {
    message.label_ids.iter().flatten().any(|other| other == label)
}

fn rfc822<T: std::str::FromStr>() -> Option<T> {
    "message/rfc822".parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "From: a@b.example\r\nTo: c@d.example\r\nSubject: Re: x\r\nX-Adjutant-Action: 01\r\nMessage-ID: <1@b>\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nHello,\r\nFriday.\r\n";

    fn found(bytes: &str) -> StoredDraft {
        StoredDraft { message: "m".into(), bytes: bytes.as_bytes().to_vec(), binned: false }
    }

    #[test]
    fn what_gmail_adds_is_no_change_and_what_a_person_writes_is() {
        let with = |from: &str, to: &str| found(&OURS.replace(from, to)).matches_message(OURS.as_bytes());
        assert!(with("", ""));
        assert!(with("Message-ID: <1@b>", "Message-ID: <CAF@mail.gmail.com>\r\nDate: Mon, 16 Nov 2026 08:00:00 +0000"));
        assert!(with("Friday.\r\n", "Friday."));
        assert!(!with("Friday.", "Saturday."));
        assert!(!with("Re: x", "Re: y"));
        assert!(!with("c@d.example", "eve@d.example"));
        assert!(!with("Subject", "Bcc: eve@d.example\r\nSubject"));
        assert!(!with("Action: 01", "Action: 02"));
        assert!(!with("X-Adjutant-Action: 01\r\n", ""));
    }

    #[test]
    fn a_header_in_another_encoding_is_no_change() {
        let ours = OURS.replace("Re: x", "=?utf-8?B?UsOpdW5pb24=?=").replace("c@d.example", "Zoé <c@d.example>");
        let theirs = ours
            .replace("=?utf-8?B?UsOpdW5pb24=?=", "=?UTF-8?Q?R=C3=A9union?=")
            .replace("Zoé <c@d.example>", "=?UTF-8?Q?Zo=C3=A9?=\r\n <c@d.example>");
        assert!(found(&theirs).matches_message(ours.as_bytes()));
        assert!(!found(&theirs.replace("R=C3=A9union", "Reunion")).matches_message(ours.as_bytes()));
        assert!(!found(&theirs.replace("To: ", "To: eve@d.example\r\nTo: ")).matches_message(ours.as_bytes()));
    }

    #[test]
    fn another_message_under_the_same_draft_is_a_change() {
        let handle =
            |message: &str| DraftHandle { draft: "d".into(), message: message.into(), thread: "t".into(), history: 1 };
        assert!(found(OURS).matches_handle(&handle("m")));
        assert!(!found(OURS).matches_handle(&handle("n")));
        assert!(!StoredDraft { binned: true, ..found(OURS) }.matches_handle(&handle("m")));
    }
}
