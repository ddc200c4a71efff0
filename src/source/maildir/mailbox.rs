//! Effects in a Maildir. Archiving is a move, a draft is a file, and sending is a move to `.Sent` after the transport,
//! if there is one, has accepted the message. A label is a keyword where Dovecot serves the Maildir; elsewhere it is only
//! a row in the store and never reaches this module.

use std::{fs, path::PathBuf};

use super::{ARCHIVE, Maildir, SENT, keywords::MaildirKeywords, name};
use crate::{
    failpoint,
    model::{
        Action, Effect,
        action::{ComposedMessage, ReplacedDraft},
        ids::sha256_hex,
    },
    policy::ApprovedAction,
    source::{AppliedEffect, Mailbox, MessageProbeResult, SendError, SendReceipt, SourceError},
};

pub(super) const DRAFTS: &str = ".Drafts";
const TRASH: &str = ".Trash";
const NOT_TRANSMITTED: &str = "saved in Sent, not transmitted";

impl Mailbox for Maildir {
    fn stores_labels(&self) -> bool {
        MaildirKeywords(self).are_shown()
    }

    fn apply(&self, approved: &ApprovedAction) -> Result<AppliedEffect, SourceError> {
        let action = approved.action();
        match &action.effect {
            Effect::Archive => {
                let key = mail_key(action)?;
                self.archive(key)?;
                Ok(AppliedEffect { handle: key.to_owned(), result: format!("moved to {ARCHIVE}") })
            }
            Effect::Label { label } => {
                let key = mail_key(action)?;
                MaildirKeywords(self).set(key, label, true)?;
                Ok(AppliedEffect { handle: key.to_owned(), result: format!("labelled {label}") })
            }
            Effect::Draft { message } => {
                let handle = self.store_new_message(DRAFTS, &action.action_id.to_string(), message.mime.as_bytes())?;
                Ok(AppliedEffect { handle, result: format!("draft in {DRAFTS}, not sent") })
            }
            _ => Err(SourceError::Unsupported { what: action.tool.clone() }),
        }
    }

    fn probe(&self, approved: &ApprovedAction) -> Result<Option<AppliedEffect>, SourceError> {
        let action = approved.action();
        match &action.effect {
            Effect::Archive if self.is_in_folder(ARCHIVE, mail_key(action)?)? => {
                Ok(Some(AppliedEffect { handle: mail_key(action)?.to_owned(), result: format!("is in {ARCHIVE}") }))
            }
            Effect::Label { label } if MaildirKeywords(self).has(mail_key(action)?, label)? => {
                Ok(Some(AppliedEffect { handle: mail_key(action)?.to_owned(), result: format!("labelled {label}") }))
            }
            Effect::Draft { .. } => {
                let handle = name::make_key(DRAFTS, action.action_id.to_string().as_ref());
                let there = self.is_in_folder(DRAFTS, &handle)?;
                Ok(there.then(|| AppliedEffect { handle, result: format!("draft in {DRAFTS}, not sent") }))
            }
            _ => Ok(None),
        }
    }

    fn draft(&self, approved: &ApprovedAction, _tried: bool) -> Result<AppliedEffect, SendError> {
        let (action, message) = outgoing_message(approved)?;
        if let Some(departed) = self.find_sent(action).map_err(refused)? {
            return Err(SendError::OutcomeUnknown(format!("it is in {}", departed.folder())));
        }
        let handle = self.deliver(DRAFTS, &action.action_id.to_string(), message.mime.as_bytes()).map_err(refused)?;
        Ok(AppliedEffect { handle, result: format!("draft in {DRAFTS}") })
    }

    fn send_draft(&self, approved: &ApprovedAction, draft: &str) -> Result<SendReceipt, SendError> {
        let (action, message) = outgoing_message(approved)?;
        let path = self.find_in_folder(DRAFTS, draft).map_err(refused)?.ok_or(SendError::DraftEdited)?;
        let stored = fs::read(&path).map_err(|error| SendError::Refused(error.to_string()))?;
        if stored != message.mime.as_bytes() {
            return Err(SendError::DraftEdited);
        }
        if self.is_in_sent_folder(action).map_err(refused)? {
            return Err(SendError::OutcomeUnknown(format!("it is in {SENT}")));
        }
        if let Some(sendmail) = &self.sendmail {
            failpoint::around("transport.transmit", || sendmail.transmit(&stored))?;
        }
        // The transport has accepted the message, so where its copy lies changes nothing. Without a transport, the move
        // is the send.
        let moved = failpoint::around("sent.rename", || self.folders.rename_into(&path, SENT));
        self.lock().listings.invalidate_all();
        match (&self.sendmail, moved) {
            (Some(sendmail), moved) => {
                let copy = if moved.is_ok() { "" } else { "; no copy could be kept in Sent" };
                let result = format!("accepted by {}{copy}", sendmail.name());
                self.trash_replaced_draft(&action.effect);
                Ok(SendReceipt::Sent(AppliedEffect { handle: sent_key(action), result }))
            }
            (None, Ok(())) => {
                self.trash_replaced_draft(&action.effect);
                Ok(SendReceipt::Saved(AppliedEffect { handle: sent_key(action), result: NOT_TRANSMITTED.into() }))
            }
            (None, Err(error)) => Err(SendError::OutcomeUnknown(format!("the move to {SENT} failed: {error}"))),
        }
    }

    fn find(&self, action: &Action, draft: &str) -> Result<MessageProbeResult, SourceError> {
        let sent = sent_key(action);
        if let Some(departed) = self.find_sent(action)? {
            if !action.effect.message().is_some_and(|message| departed.has_same_text(message)) {
                return Ok(MessageProbeResult::OutcomeUnknown(format!(
                    "another message of this step is in {}",
                    departed.folder()
                )));
            }
            let left = |result: &str| AppliedEffect { handle: sent.clone(), result: result.to_owned() };
            return Ok(MessageProbeResult::SentOrSaved(match &self.sendmail {
                Some(sendmail) => SendReceipt::Sent(left(&format!("accepted by {}", sendmail.name()))),
                None => SendReceipt::Saved(left(NOT_TRANSMITTED)),
            }));
        }
        if self.sendmail.is_some() {
            // The draft is moved only after the transport has accepted it, and the transport cannot be asked.
            return Ok(MessageProbeResult::OutcomeUnknowable);
        }
        let draft = draft_key(action, draft);
        Ok(match self.find_in_folder(DRAFTS, &draft)? {
            Some(_) => {
                MessageProbeResult::Draft(AppliedEffect { handle: draft, result: format!("still a draft in {DRAFTS}") })
            }
            None => MessageProbeResult::Absent,
        })
    }

    fn discard_draft(&self, action: &Action, draft: &str) -> Result<(), SourceError> {
        let message = action.effect.message();
        message.map_or(Ok(()), |message| self.trash_unchanged_draft(&draft_key(action, draft), message).map(drop))
    }

    fn undo(&self, approved: &ApprovedAction, handle: &str) -> Result<String, SourceError> {
        let action = approved.action();
        match &action.effect {
            Effect::Archive => self.unarchive(mail_key(action)?).map(|()| "it is in the inbox again".into()),
            Effect::Label { label } => MaildirKeywords(self)
                .set(mail_key(action)?, label, false)
                .map(|()| format!("the label {label} is off again")),
            Effect::Draft { message } => {
                if self.find_in_folder(DRAFTS, handle)?.is_none() {
                    return Err(SourceError::Gone { key: handle.to_owned() });
                }
                if !self.trash_unchanged_draft(handle, message)? {
                    return Err(SourceError::Unsupported { what: "take back a draft you have changed".into() });
                }
                Ok(format!("the draft is in {TRASH}"))
            }
            _ => Err(SourceError::Unsupported { what: format!("take back {}", action.tool) }),
        }
    }
}

impl Maildir {
    /// Returns the path of the file in a folder that has the name of a key.
    fn find_in_folder(&self, folder: &str, key: &str) -> Result<Option<PathBuf>, SourceError> {
        self.folders.find_file(folder, key).map_err(|error| self.unavailable(error))
    }

    /// Moves a draft to the trash if it still holds this message. Returns whether it did.
    fn trash_unchanged_draft(&self, handle: &str, message: &ComposedMessage) -> Result<bool, SourceError> {
        let Some(path) = self.find_in_folder(DRAFTS, handle)? else { return Ok(false) };
        if !fs::read(&path).is_ok_and(|stored| stored == message.mime.as_bytes()) {
            return Ok(false);
        }
        failpoint::around("trash.rename", || self.folders.rename_into(&path, TRASH))
            .map_err(|error| self.unavailable(error))?;
        self.lock().listings.invalidate_all();
        Ok(true)
    }

    /// Moves the draft that a sent message has replaced to the trash, unless somebody has changed it. If that fails, it
    /// stays.
    fn trash_replaced_draft(&self, effect: &Effect) {
        let Effect::Send { replaces: Some(ReplacedDraft { action_id, sha256 }), .. } = effect else { return };
        let key = name::make_key(DRAFTS, action_id.to_string().as_ref());
        if let Ok(Some(path)) = self.find_in_folder(DRAFTS, &key)
            && fs::read(&path).is_ok_and(|bytes| sha256_hex(&bytes) == *sha256)
            && failpoint::around("trash.rename", || self.folders.rename_into(&path, TRASH)).is_ok()
        {
            self.lock().listings.invalidate_all();
        }
    }
}

/// Returns the key of an action's draft, also where the outbox has not recorded it: the name is the action's id.
fn draft_key(action: &Action, draft: &str) -> String {
    if draft.is_empty() { name::make_key(DRAFTS, action.action_id.to_string().as_ref()) } else { draft.to_owned() }
}

/// Returns the key of an action's message in `.Sent`.
fn sent_key(action: &Action) -> String {
    name::make_key(SENT, action.action_id.to_string().as_ref())
}

/// Returns the message of a send; an error for every other effect.
fn outgoing_message(approved: &ApprovedAction) -> Result<(&Action, &ComposedMessage), SendError> {
    let action = approved.action();
    match &action.effect {
        Effect::Send { message, .. } => Ok((action, message)),
        _ => Err(SendError::Refused(format!("{} sends nothing", action.tool))),
    }
}

/// Converts an error from before the transport was called, when certainly nothing was sent.
#[expect(clippy::needless_pass_by_value, reason = "the shape map_err asks for")]
fn refused(error: SourceError) -> SendError {
    let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
    SendError::Refused(format!("{error}{cause}"))
}

/// Returns the key of the mail that an action is about; an error for an action without one.
fn mail_key(action: &Action) -> Result<&str, SourceError> {
    action.mail_key.as_deref().ok_or_else(|| SourceError::Unsupported { what: "act on no mail".into() })
}
