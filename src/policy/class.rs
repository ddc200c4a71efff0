//! The risk class of a resolved action, with the reason that a person reads. An error is a denial, which no approval
//! overrides.

use super::{
    PolicyContext, agreement,
    recipient::{self, Standing},
};
use crate::model::{
    Action, Effect, Mail, RiskClass,
    action::{Argument, ComposedMessage, Origin, SendKind},
};

/// The most recipients of a reply; a message to more people is a mailing.
const MOST_RECIPIENTS: usize = 5;
/// The longest name of a folder, which every file system accepts.
const LONGEST_FOLDER_NAME: usize = 100;
/// The content type of a calendar part. Invitations and their answers carry one, so it does not count as an attachment.
const CALENDAR: &str = "text/calendar";

/// Returns the risk class of an action and its reason, or why the action is denied.
pub fn classify(action: &Action, situation: &PolicyContext<'_>) -> Result<(RiskClass, String), String> {
    check_tool(action)?;
    check_argument_names(action)?;
    check_argument_origins(action)?;
    match &action.effect {
        Effect::Remind { .. } | Effect::RecordInvoice { .. } => Ok((RiskClass::R0, "a row of our own".into())),
        Effect::CreateFolder { name } => classify_folder(name),
        Effect::Label { label } => {
            triggering_mail(action, situation)?;
            if situation.labels.contains(label) {
                Ok((RiskClass::R1, "a configured label on the triggering mail".into()))
            } else if is_of_rule(action) {
                Ok((RiskClass::R1, "a label that a rule of the person names".into()))
            } else {
                Err(format!("'{label}' is not among the configured labels"))
            }
        }
        Effect::Archive => {
            triggering_mail(action, situation)?;
            Ok((RiskClass::R1, "moves the triggering mail to the archive".into()))
        }
        Effect::Draft { message } => {
            let mail = triggering_mail(action, situation)?;
            // A draft is not sent. While the configuration names no address, it is from the address that the mail was
            // written to.
            let assumed: Vec<String> = mail.only_recipient().map(|one| one.addr.clone()).into_iter().collect();
            check_message(message, if situation.own.is_empty() { &assumed } else { situation.own })?;
            check_no_calendar_part(message)?;
            Ok(match find_risk(message, mail, situation) {
                Some(reason) => (RiskClass::R3, reason),
                None => (RiskClass::R1, "a draft to people already in the conversation".into()),
            })
        }
        Effect::Send { kind, message, .. } => classify_send(action, *kind, message, situation),
    }
}

/// Denies what no tool of the program asks for: an unknown tool, or a tool with an effect that is not its own. A person
/// is shown the tool's name, so it must be true.
fn check_tool(action: &Action) -> Result<(), String> {
    let own = match &action.effect {
        Effect::Label { .. } => "label",
        Effect::Archive => "archive",
        Effect::Draft { .. } => "draft_reply",
        Effect::Remind { .. } => "remind",
        Effect::RecordInvoice { .. } => "record_invoice",
        Effect::CreateFolder { .. } => "create_folder",
        Effect::Send { kind: SendKind::Reply, .. } => "send_reply",
        Effect::Send { kind: SendKind::New, .. } => "send_mail",
        Effect::Send { kind: SendKind::Forward, .. } => "forward",
        Effect::Send { kind: SendKind::Invite, .. } => "send_calendar_invite",
        Effect::Send { kind: SendKind::Answer, .. } => "answer_invitation",
    };
    if action.tool == own {
        return Ok(());
    }
    Err(format!("'{}' is not the tool for this effect, which is {own}", action.tool.escape_debug()))
}

/// Returns whether a hand-written rule asks for the effect: it is for no task, and the person named its argument.
fn is_of_rule(action: &Action) -> bool {
    let is_named = |argument: &Argument| argument.name == "label" && argument.origin == Origin::Person;
    action.task_id.is_none() && action.arguments.iter().any(is_named)
}

/// Denies an argument that no tool has.
fn check_argument_names(action: &Action) -> Result<(), String> {
    match action.arguments.iter().find(|argument| !Argument::NAMES.contains(&argument.name.as_str())) {
        Some(unknown) => Err(format!("it has an unknown argument '{}'", unknown.name.escape_debug())),
        None => Ok(()),
    }
}

/// Denies recipients that a model supplied, and arguments that were taken from another mail than the one at hand.
fn check_argument_origins(action: &Action) -> Result<(), String> {
    for argument in &action.arguments {
        if argument.origin == Origin::Model && argument.name == Argument::RECIPIENTS {
            return Err("a model named the recipients".into());
        }
        if argument.mail_id.is_some() && argument.mail_id != action.mail_id {
            return Err(format!("its {} come from another message", argument.name));
        }
    }
    Ok(())
}

/// Returns the mail that caused the action. Without one there is nothing to label, archive or answer.
fn triggering_mail<'a>(action: &Action, situation: &PolicyContext<'a>) -> Result<&'a Mail, String> {
    match situation.mail {
        Some(mail) if action.mail_id.is_some() => Ok(mail),
        _ => Err("there is no triggering mail to act on".into()),
    }
}

/// Accepts names of a single folder directly under `data/files`.
fn classify_folder(name: &str) -> Result<(RiskClass, String), String> {
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

/// Denies a message without recipients, with a malformed address, or whose bytes say something else than its fields.
fn check_message(message: &ComposedMessage, own: &[String]) -> Result<(), String> {
    if message.recipients().next().is_none() {
        return Err("the message has no recipient".into());
    }
    if let Some(odd) = message.recipients().find(|address| recipient::normalise_address(&address.addr).is_none()) {
        return Err(format!("'{}' is not a mail address", odd.addr.escape_debug()));
    }
    agreement::check(message, own)
}

/// Denies a calendar part in a plain message, because some mail programs act on calendar parts on their own.
fn check_no_calendar_part(message: &ComposedMessage) -> Result<(), String> {
    let any = message.attachments.iter().any(|attachment| attachment.content_type == CALENDAR);
    if any { Err("a plain message carries a calendar part".into()) } else { Ok(()) }
}

/// Returns why a message is more than an answer inside the conversation; none when it is just that.
fn find_risk(message: &ComposedMessage, mail: &Mail, situation: &PolicyContext<'_>) -> Option<String> {
    if message.attachments.iter().any(|attachment| attachment.content_type != CALENDAR) {
        return Some("it carries an attachment".into());
    }
    if mail.reply_to_differs() {
        return Some("its Reply-To is not its From".into());
    }
    if message.recipients().count() > MOST_RECIPIENTS {
        return Some(format!("it has more than {MOST_RECIPIENTS} recipients"));
    }
    let stranger = |address| recipient::recipient_role(address, Some(mail), situation.own) == Some(Standing::New);
    message.recipients().any(stranger).then(|| "a recipient is not part of the conversation".into())
}

/// Classifies a message that is sent. A forward, an invitation or a new conversation is always R3.
fn classify_send(
    action: &Action,
    kind: SendKind,
    message: &ComposedMessage,
    situation: &PolicyContext<'_>,
) -> Result<(RiskClass, String), String> {
    check_message(message, situation.own)?;
    let always = match kind {
        SendKind::Forward => Some("it forwards a mail"),
        SendKind::Invite => Some("it invites people to a meeting"),
        SendKind::New => Some("it opens a new conversation"),
        SendKind::Reply | SendKind::Answer => None,
    };
    if let Some(reason) = always {
        return Ok((RiskClass::R3, reason.into()));
    }
    let mail = triggering_mail(action, situation)?;
    if kind == SendKind::Reply {
        check_no_calendar_part(message)?;
    }
    Ok(match find_risk(message, mail, situation) {
        Some(reason) => (RiskClass::R3, reason),
        None if kind == SendKind::Answer => (RiskClass::R2, "it answers an invitation".into()),
        None => (RiskClass::R2, "it sends a reply to people already in the conversation".into()),
    })
}
