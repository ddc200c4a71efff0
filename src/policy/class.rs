//! The risk class of a resolved action, with the reason a person reads. An error is a denial.

use crate::model::{Action, Effect, RiskClass, action::Composed};

use super::Situation;

/// A message to more people than this is a mailing, not a reply.
const MOST_RECIPIENTS: usize = 5;
/// A file name everywhere.
const LONGEST_FOLDER_NAME: usize = 100;

pub fn classify(action: &Action, situation: &Situation<'_>) -> Result<(RiskClass, String), String> {
    match &action.effect {
        Effect::Remind { .. } | Effect::RecordInvoice { .. } => Ok((RiskClass::R0, "a row of our own".into())),
        Effect::CreateFolder { name } => folder(name),
        Effect::Label { label } => {
            triggered(action, situation)?;
            if situation.labels.contains(label) {
                Ok((RiskClass::R1, "a configured label on the triggering mail".into()))
            } else {
                Err(format!("'{label}' is not among the configured labels"))
            }
        }
        Effect::Archive => {
            triggered(action, situation)?;
            Ok((RiskClass::R1, "moves the triggering mail to the archive".into()))
        }
        Effect::Draft { message } => draft(action, message, situation),
    }
}

fn triggered(action: &Action, situation: &Situation<'_>) -> Result<(), String> {
    if action.mail_id.is_some() && situation.mail.is_some() {
        Ok(())
    } else {
        Err("there is no triggering mail to act on".into())
    }
}

fn folder(name: &str) -> Result<(RiskClass, String), String> {
    let plain = !name.is_empty()
        && name.len() <= LONGEST_FOLDER_NAME
        && !name.starts_with('.')
        && name.trim() == name
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '(' | ')'));
    if plain {
        Ok((RiskClass::R0, "a folder under data/files".into()))
    } else {
        Err(format!("'{}' is not a plain folder name", name.escape_debug()))
    }
}

fn draft(action: &Action, message: &Composed, situation: &Situation<'_>) -> Result<(RiskClass, String), String> {
    triggered(action, situation)?;
    let Some(mail) = situation.mail else { return Err("there is no triggering mail to answer".into()) };
    let recipients = || message.to.iter().chain(&message.cc);
    if recipients().next().is_none() {
        return Err("the draft has no recipient".into());
    }
    if mail.reply_to_differs() {
        return Ok((RiskClass::R3, "its Reply-To is not its From".into()));
    }
    if recipients().count() > MOST_RECIPIENTS {
        return Ok((RiskClass::R3, format!("it has more than {MOST_RECIPIENTS} recipients")));
    }
    match recipients().find(|address| !mail.people().any(|known| known.addr == address.addr)) {
        Some(_) => Ok((RiskClass::R3, "a recipient is not part of the conversation".into())),
        None => Ok((RiskClass::R1, "a draft to people already in the conversation".into())),
    }
}
