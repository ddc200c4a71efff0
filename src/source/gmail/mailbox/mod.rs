//! Effects in Gmail: labels under `Adjutant/`, archiving, drafts among Gmail's own drafts, and sending one of those.
//!
//! Only [`draft::Drafts::send`] lets a message leave, by the id of its draft. A draft that was sent no longer exists,
//! so a second attempt finds nothing to send. Nothing is deleted for good; what is taken back goes to Gmail's bin.

mod draft;
mod handle;
mod label;
mod sent;

use std::time::Duration;

use super::GmailClient;
use crate::{
    model::{
        Action, ActionId, Effect, Instant,
        action::{ComposedMessage, ReplacedDraft, SendKind},
        ids::sha256_hex,
    },
    policy::ApprovedAction,
    source::{
        AppliedEffect, Busy, CalendarEvent, Mailbox, MessageProbeResult, SendError, SendReceipt, SourceError,
        calendar::Calendar, google::ApiError,
    },
};
use draft::{Drafts, StoredDraft};
use handle::DraftHandle;
use label::Labels;
use sent::GmailSentSearch;

/// Retry delay after a network error.
const NETWORK_RETRY_AFTER: Duration = Duration::from_secs(5);
/// Retry delay while nobody is signed in.
const SIGN_IN_RETRY_AFTER: Duration = Duration::from_secs(60);
const INBOX: &str = "INBOX";
const DRAFTED: &str = "draft in Gmail, not sent";
const ACCEPTED: &str = "accepted by Gmail";

/// One account's mailbox, with its calendar if that is enabled.
pub struct GmailMailbox {
    labels: Labels,
    drafts: Drafts,
    sent: GmailSentSearch,
    calendar: Option<Calendar>,
}

impl GmailMailbox {
    /// Creates the mailbox. Without a calendar, nobody's busy times are known and no event is entered.
    pub fn new(client: GmailClient, calendar: Option<Calendar>) -> Self {
        Self {
            labels: Labels::new(client.clone()),
            drafts: Drafts::new(client.clone()),
            sent: GmailSentSearch::new(client),
            calendar,
        }
    }

    /// Returns whether a draft still exists and still holds this message.
    fn is_draft_unchanged(&self, handle: &DraftHandle, message: &ComposedMessage) -> Result<bool, ApiError> {
        Ok(match self.drafts.read(&handle.draft)? {
            Some(found) => found.matches_handle(handle) && found.matches_message(message.mime.as_bytes()),
            None => false,
        })
    }

    /// Returns the draft that an earlier attempt stored, if nobody has changed it. If it has vanished meanwhile, the
    /// person may have sent it, so the caller must try again and look into the sent mail first.
    fn find_earlier_draft(&self, action: &Action, message: &ComposedMessage) -> Result<Option<DraftHandle>, SendError> {
        let Some(known) = self.drafts.find_by_action(action.action_id, None).map_err(not_sent)? else {
            return Ok(None);
        };
        match self.drafts.read(&known.draft).map_err(not_sent)? {
            Some(found) if found.matches_handle(&known) && found.matches_message(message.mime.as_bytes()) => {
                Ok(Some(known))
            }
            Some(_) => Err(SendError::DraftEdited),
            None => Err(SendError::RetryLater {
                why: "its draft is gone".into(),
                after: NETWORK_RETRY_AFTER,
                may_have_draft: true,
            }),
        }
    }

    /// Refuses to send a message that is among the sent mail already. It may have left before the database was restored
    /// from an older backup, or the person may have sent by hand the draft that it replaces. Reading the conversation
    /// answers both questions with one call; without one, a search for mail to the same recipient is cheapest.
    fn ensure_not_sent(&self, action: &Action, thread: Option<&str>) -> Result<(), SendError> {
        let replaced = action.effect.replaced_draft().map(|replaced| replaced.action_id);
        let (left, theirs) = match (thread, replaced) {
            (Some(thread), Some(replaced)) => {
                let sent = self.sent.actions_sent_in_thread(thread).map_err(not_sent)?;
                let same = |other: ActionId| sent.iter().any(|sent| sent.step_key() == other.step_key());
                (same(action.action_id), same(replaced))
            }
            (_, replaced) => {
                let has = |wanted: ActionId| self.sent.was_sent(wanted, action).map_err(not_sent);
                (has(action.action_id)?, replaced.map(has).transpose()?.unwrap_or(false))
            }
        };
        if left {
            return Err(SendError::OutcomeUnknown("it is among the sent mails".into()));
        }
        if theirs { Err(SendError::DoneByPerson("you have sent the draft yourself".into())) } else { Ok(()) }
    }

    /// Trashes the draft that a sent message has replaced, unless somebody has changed it.
    fn trash_replaced_draft(&self, action: &Action, replaced: &ReplacedDraft) -> Result<(), ApiError> {
        let Some(message) = action.effect.message() else { return Ok(()) };
        let thread = self.drafts.thread_of(action.mail_key.as_deref(), message)?;
        let Some(handle) = self.drafts.find_by_action(replaced.action_id, thread.as_deref())? else { return Ok(()) };
        // Gmail may have rewritten the headers of the draft. Then it must have the text that was sent.
        let is_spent = |found: &StoredDraft| {
            sha256_hex(&found.bytes) == replaced.sha256 || found.has_same_text(message.mime.as_bytes())
        };
        match self.drafts.read(&handle.draft)? {
            Some(found) if is_spent(&found) => self.drafts.discard(&found.message),
            _ => Ok(()),
        }
    }
}

impl Mailbox for GmailMailbox {
    fn stores_labels(&self) -> bool {
        true
    }

    fn apply(&self, approved: &ApprovedAction) -> Result<AppliedEffect, SourceError> {
        let action = approved.action();
        match &action.effect {
            Effect::Label { label } => {
                let key = key(action)?;
                let id = self.labels.find_or_create(label).map_err(|error| into_retryable_error(error, None))?;
                self.labels.add_to_message(key, &id).map_err(|error| into_retryable_error(error, Some(key)))?;
                Ok(applied_label(id, label))
            }
            Effect::Archive => {
                let key = key(action)?;
                self.labels.remove_from_message(key, INBOX).map_err(|error| into_retryable_error(error, Some(key)))?;
                Ok(AppliedEffect { handle: key.to_owned(), result: "archived in Gmail".into() })
            }
            Effect::Draft { message } => {
                let thread = self
                    .drafts
                    .thread_of(action.mail_key.as_deref(), message)
                    .map_err(|error| into_retryable_error(error, None))?;
                let made = self.drafts.create(message, thread).map_err(|error| into_retryable_error(error, None))?;
                Ok(AppliedEffect { handle: made.to_string(), result: DRAFTED.into() })
            }
            _ => Err(SourceError::Unsupported { what: action.tool.clone() }),
        }
    }

    fn probe(&self, approved: &ApprovedAction) -> Result<Option<AppliedEffect>, SourceError> {
        let action = approved.action();
        match &action.effect {
            Effect::Label { label } => {
                let key = key(action)?;
                let id = self.labels.find_or_create(label).map_err(|error| into_retryable_error(error, None))?;
                let there = self.labels.ids_of_message(key).map_err(|error| into_retryable_error(error, Some(key)))?;
                Ok(there.contains(&id).then(|| applied_label(id, label)))
            }
            Effect::Archive => {
                let key = key(action)?;
                let there = self.labels.ids_of_message(key).map_err(|error| into_retryable_error(error, Some(key)))?;
                let out = !there.iter().any(|label| label == INBOX);
                Ok(out.then(|| AppliedEffect { handle: key.to_owned(), result: "is archived in Gmail".into() }))
            }
            Effect::Draft { message } => {
                let thread = self.drafts.thread_of(action.mail_key.as_deref(), message);
                let thread = thread.map_err(|error| into_retryable_error(error, None))?;
                let found = self.drafts.find_by_action(action.action_id, thread.as_deref());
                let found = found.map_err(|error| into_retryable_error(error, None))?;
                Ok(found.map(|handle| AppliedEffect { handle: handle.to_string(), result: DRAFTED.into() }))
            }
            _ => Ok(None),
        }
    }

    fn draft(&self, approved: &ApprovedAction, tried: bool) -> Result<AppliedEffect, SendError> {
        let (action, message) = outgoing_message(approved)?;
        let thread = self.drafts.thread_of(action.mail_key.as_deref(), message).map_err(not_sent)?;
        self.ensure_not_sent(action, thread.as_deref())?;
        let known = if tried { self.find_earlier_draft(action, message)? } else { None };
        let handle = known.map_or_else(|| self.drafts.create(message, thread).map_err(not_sent), Ok)?;
        Ok(AppliedEffect { handle: handle.to_string(), result: "draft in Gmail".into() })
    }

    fn send_draft(&self, approved: &ApprovedAction, draft: &str) -> Result<SendReceipt, SendError> {
        let (action, message) = outgoing_message(approved)?;
        let handle =
            DraftHandle::parse(draft).ok_or_else(|| SendError::OutcomeUnknown("its draft has no id".into()))?;
        let found = self.drafts.read(&handle.draft).map_err(not_sent)?;
        let Some(found) = found else {
            // The draft was sent or trashed, by hand or by another program. What was sent may be visible only later.
            let gone = self.sent.find_sent(action, Some(&handle)).map_err(outcome_unknown_error)?;
            return gone.map(accepted_receipt).ok_or_else(|| SendError::OutcomeUnknown("its draft is gone".into()));
        };
        if !found.matches_handle(&handle) || !found.matches_message(message.mime.as_bytes()) {
            return Err(SendError::DraftEdited);
        }
        match self.drafts.send(&handle, message) {
            Ok(id) => Ok(accepted_receipt(id)),
            // The draft was sent or changed since it was read.
            Err(error @ (ApiError::Gone | ApiError::Conflict)) => Err(outcome_unknown_error(error)),
            Err(error) if error.is_certainly_not_done() => Err(not_sent(error)),
            Err(error) => Err(outcome_unknown_error(error)),
        }
    }

    fn find(&self, action: &Action, draft: &str) -> Result<MessageProbeResult, SourceError> {
        let handle = DraftHandle::parse(draft);
        // The sent mail is searched first: a message that is there has left, whatever the drafts still show.
        if let Some(id) = self.sent.find_sent(action, handle.as_ref()).map_err(|error| error.into_source_error(None))? {
            return Ok(MessageProbeResult::SentOrSaved(accepted_receipt(id)));
        }
        let still = |handle: &DraftHandle| AppliedEffect {
            handle: handle.to_string(),
            result: "still a draft in Gmail".into(),
        };
        match handle {
            Some(handle) => match self.drafts.read(&handle.draft).map_err(|error| error.into_source_error(None))? {
                Some(StoredDraft { binned: false, .. }) => Ok(MessageProbeResult::Draft(still(&handle))),
                _ => Ok(MessageProbeResult::OutcomeUnknown(
                    "it is neither among the drafts nor among the sent mails".into(),
                )),
            },
            None => {
                // The draft may be in any conversation.
                let found = self.drafts.find_by_action(action.action_id, None);
                let found = found.map_err(|error| error.into_source_error(None))?;
                Ok(found.map_or(MessageProbeResult::Absent, |handle| MessageProbeResult::Draft(still(&handle))))
            }
        }
    }

    fn complete_send(&self, approved: &ApprovedAction) -> Result<Option<String>, SourceError> {
        let action = approved.action();
        let Effect::Send { kind, message, replaces } = &action.effect else { return Ok(None) };
        let told = match (&self.calendar, kind) {
            (Some(calendar), SendKind::Invite) => calendar.add_event(action.action_id, message).map(Some),
            (Some(calendar), SendKind::Answer) => calendar.answer(message).map(Some),
            _ => Ok(None),
        };
        // The draft is trashed even if the calendar failed.
        let retired = replaces.as_ref().map_or(Ok(()), |replaced| self.trash_replaced_draft(action, replaced));
        match retired.map_err(into_completion_error) {
            Err(later @ (SourceError::RateLimited { .. } | SourceError::RetryLater { .. })) => return Err(later),
            // The draft stays, which does no harm.
            Err(error) => tracing::warn!(%error, "the draft that was replaced could not be thrown away"),
            Ok(()) => {}
        }
        told.map_err(into_completion_error)
    }

    fn discard_draft(&self, action: &Action, draft: &str) -> Result<(), SourceError> {
        // A draft whose id was never received is found by the action it was made for.
        let unheard =
            || self.drafts.find_by_action(action.action_id, None).map_err(|error| error.into_source_error(None));
        let handle = if draft.is_empty() { unheard()? } else { DraftHandle::parse(draft) };
        let (Some(handle), Some(message)) = (handle, action.effect.message()) else { return Ok(()) };
        let ours = self.is_draft_unchanged(&handle, message).map_err(|error| error.into_source_error(None))?;
        if ours { self.drafts.discard(&handle.message).map_err(|error| error.into_source_error(None)) } else { Ok(()) }
    }

    fn busy(&self, from: Instant, to: Instant) -> Result<Option<Vec<Busy>>, SourceError> {
        let busy = self.calendar.as_ref().map(|calendar| calendar.busy(from, to)).transpose();
        busy.map_err(|error| into_retryable_error(error, None))
    }

    fn invited(&self, uid: &str) -> Result<Option<Vec<CalendarEvent>>, SourceError> {
        let events = self.calendar.as_ref().map(|calendar| calendar.invited(uid)).transpose();
        events.map_err(|error| into_retryable_error(error, None))
    }

    fn undo(&self, approved: &ApprovedAction, handle: &str) -> Result<String, SourceError> {
        let action = approved.action();
        match &action.effect {
            Effect::Label { label } => {
                let key = key(action)?;
                self.labels.remove_from_message(key, handle).map_err(|error| error.into_source_error(Some(key)))?;
                Ok(format!("the label {label} is off again"))
            }
            Effect::Archive => {
                let key = key(action)?;
                self.labels.add_to_message(key, INBOX).map_err(|error| error.into_source_error(Some(key)))?;
                Ok("it is in the inbox again".into())
            }
            Effect::Draft { message } => {
                let gone = || SourceError::Gone { key: handle.to_owned() };
                let handle = DraftHandle::parse(handle).ok_or_else(gone)?;
                if self.drafts.read(&handle.draft).map_err(|error| error.into_source_error(None))?.is_none() {
                    return Err(gone());
                }
                if !self.is_draft_unchanged(&handle, message).map_err(|error| error.into_source_error(None))? {
                    return Err(SourceError::Unsupported { what: "take back a draft you have changed".into() });
                }
                self.drafts.discard(&handle.message).map_err(|error| error.into_source_error(None))?;
                Ok("the draft is in Gmail's bin".into())
            }
            _ => Err(SourceError::Unsupported { what: format!("take back {}", action.tool) }),
        }
    }
}

/// Converts an error of a call that may be repeated: after a network error it is tried again later.
fn into_retryable_error(error: ApiError, key: Option<&str>) -> SourceError {
    match error {
        ApiError::Network { .. } => SourceError::RetryLater { problem: error.to_string(), after: NETWORK_RETRY_AFTER },
        error => error.into_source_error(key),
    }
}

/// Converts an error of what follows a send: it is tried again after the person has signed in.
fn into_completion_error(error: ApiError) -> SourceError {
    match error {
        ApiError::Auth(_) | ApiError::TokenRejected => {
            SourceError::RetryLater { problem: error.to_string(), after: SIGN_IN_RETRY_AFTER }
        }
        error => into_retryable_error(error, None),
    }
}

/// Converts an error of a call by which nothing can have been sent. A draft that may have been stored is found at the
/// next attempt.
fn not_sent(error: ApiError) -> SendError {
    let after = match error {
        ApiError::Refused { .. } | ApiError::Conflict | ApiError::Gone => return SendError::Refused(error.to_string()),
        ApiError::RateLimited { after } | ApiError::Overloaded { after } => after,
        ApiError::Auth(_) | ApiError::MissingScope(_) => SIGN_IN_RETRY_AFTER,
        ApiError::TokenRejected | ApiError::Network { .. } => NETWORK_RETRY_AFTER,
    };
    SendError::RetryLater { why: error.to_string(), after, may_have_draft: !error.is_certainly_not_done() }
}

/// Converts an error after which the message may have been sent.
#[expect(clippy::needless_pass_by_value, reason = "the shape map_err asks for")]
fn outcome_unknown_error(error: ApiError) -> SendError {
    SendError::OutcomeUnknown(error.to_string())
}

fn applied_label(handle: String, label: &str) -> AppliedEffect {
    AppliedEffect { handle, result: format!("labelled {}", label::full_label_name(label)) }
}

fn accepted_receipt(handle: String) -> SendReceipt {
    SendReceipt::Sent(AppliedEffect { handle, result: ACCEPTED.into() })
}

/// Returns the message of a send; an error for every other effect.
fn outgoing_message(approved: &ApprovedAction) -> Result<(&Action, &ComposedMessage), SendError> {
    let action = approved.action();
    match &action.effect {
        Effect::Send { message, .. } => Ok((action, message)),
        _ => Err(SendError::Refused(format!("{} sends nothing", action.tool))),
    }
}

/// Returns the key of the mail that an action is about; an error for an action without one.
fn key(action: &Action) -> Result<&str, SourceError> {
    action.mail_key.as_deref().ok_or_else(|| SourceError::Unsupported { what: "act on no mail".into() })
}
