//! Effects in a Maildir: archive is a move, a draft is a file. A label is a row of the store and never comes here.

use super::{ARCHIVE, Maildir};
use crate::{
    model::{Action, Effect},
    policy::ApprovedAction,
    source::{Applied, Mailbox, SourceError},
};

const DRAFTS: &str = ".Drafts";

impl Mailbox for Maildir {
    fn apply(&self, approved: &ApprovedAction) -> Result<Applied, SourceError> {
        let action = approved.action();
        match &action.effect {
            Effect::Archive => {
                let key = key(action)?;
                self.archive(key)?;
                Ok(Applied { handle: key.to_owned(), result: format!("moved to {ARCHIVE}") })
            }
            Effect::Draft { message } => {
                let handle = self.deliver(DRAFTS, &action.action_id.to_string(), message.mime.as_bytes())?;
                Ok(Applied { handle, result: format!("draft in {DRAFTS}, not sent") })
            }
            _ => Err(SourceError::Unsupported { what: action.tool.clone() }),
        }
    }

    fn probe(&self, approved: &ApprovedAction) -> Result<Option<Applied>, SourceError> {
        let action = approved.action();
        match &action.effect {
            Effect::Archive if self.holds(ARCHIVE, key(action)?)? => {
                Ok(Some(Applied { handle: key(action)?.to_owned(), result: format!("is in {ARCHIVE}") }))
            }
            Effect::Draft { .. } => {
                let handle = format!("{DRAFTS}/{}", action.action_id);
                let there = self.holds(DRAFTS, &handle)?;
                Ok(there.then(|| Applied { handle, result: format!("draft in {DRAFTS}, not sent") }))
            }
            _ => Ok(None),
        }
    }
}

fn key(action: &Action) -> Result<&str, SourceError> {
    action.mail_key.as_deref().ok_or_else(|| SourceError::Unsupported { what: "act on no mail".into() })
}
