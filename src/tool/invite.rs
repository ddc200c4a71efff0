//! `send_calendar_invite` and `answer_invitation`: messages with calendar parts as RFC 5545 and RFC 5546 define them.

use chrono::{DateTime, Duration, Utc};
use serde_json::{Value, json};

use super::{
    Tool, ToolError, ToolInput, ToolOutcome,
    draft_reply::{mail_to_answer, reply_recipients},
    message::{
        OutgoingMessage, add_greeting_and_closing, format_time_span, missing_address_outcome, own_domain,
        reply_subject, strip_reply_prefixes,
    },
    propose_time_slots::CALENDAR,
    send::{earlier_draft, instruction, request_send},
};
use crate::{
    icalendar::{escape_text, format_utc, quote_parameter, render_calendar},
    model::{
        ActionId, Address, Effect, InvitationAnswer,
        action::{Argument, Origin, SendKind},
        mail::Invite,
        task::ANSWER,
    },
    source::{CalendarEvent, CalendarLookup},
};

/// Requests an invitation to the first time that `propose_time_slots` found. A person must always approve it.
pub(super) struct SendCalendarInvite;

impl Tool for SendCalendarInvite {
    fn name(&self) -> &'static str {
        "send_calendar_invite"
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        if let Some(yours) = missing_address_outcome(input) {
            return Ok(yours);
        }
        let mail = mail_to_answer(input)?;
        let (start, end) =
            first_proposed_slot(input).ok_or_else(|| ToolError("no time was proposed for the meeting".into()))?;
        let to = reply_recipients(mail);
        let mut lines = vec![
            format!("UID:{}", uid(input)),
            "SEQUENCE:0".into(),
            format!("DTSTAMP:{}", format_utc(input.now.utc())),
            format!("DTSTART:{}", format_utc(start)),
            format!("DTEND:{}", format_utc(end)),
            format!("SUMMARY:{}", escape_text(strip_reply_prefixes(&mail.subject))),
            format!("ORGANIZER;CN={}:mailto:{}", quote_parameter(input.me.default_signature(input.own)), input.own),
        ];
        lines.extend(to.iter().map(|to| {
            format!(
                "ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;CN={}:mailto:{}",
                quote_parameter(to.label()),
                to.addr
            )
        }));
        let zone = input.me.time_zone;
        let time = format_time_span(input, &start.with_timezone(&zone), &end.with_timezone(&zone));
        let words = instruction(input)
            .map_or_else(|| format!("{}\n{time}", strip_reply_prefixes(&mail.subject)), str::to_owned);
        let outgoing = OutgoingMessage {
            subject: reply_subject(&mail.subject),
            body: add_greeting_and_closing(input, mail.from.name.as_deref(), &words),
            to,
            in_reply_to: Some(mail),
            calendar: Some(("REQUEST", render_calendar("REQUEST", &lines))),
        };
        let replaces = earlier_draft(input);
        let effect = Effect::Send { kind: SendKind::Invite, message: outgoing.compose(input)?, replaces };
        Ok(request_send(effect, &ARGUMENTS))
    }
}

/// Where the arguments of both tools come from.
const ARGUMENTS: [(&str, Origin); 3] =
    [(Argument::RECIPIENTS, Origin::Mail), ("subject", Origin::Mail), (Argument::TEXT, Origin::Template)];

/// Returns the UID of the event. Where the event will also stand in a Google calendar, it is the one that Google gives
/// it, so that answers to the invitation find the event there.
fn uid(input: &ToolInput<'_>) -> String {
    let proposed = input.task.tool_output.as_ref().and_then(|output| output.get("propose_time_slots"));
    let entered = proposed.is_some_and(|proposed| proposed.get(CALENDAR).is_some());
    match input.idempotency_key.parse::<ActionId>() {
        Ok(action) if entered => format!("{}@google.com", action.event_id()),
        _ => format!("{}@{}", input.idempotency_key, own_domain(input)),
    }
}

/// Returns the first time that an earlier step found.
fn first_proposed_slot(input: &ToolInput<'_>) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let output = input.task.tool_output.as_ref()?.get("propose_time_slots")?;
    let first = output.get("slots")?.as_array()?.first()?;
    let time = |key: &str| Some(DateTime::parse_from_rfc3339(first.get(key)?.as_str()?).ok()?.to_utc());
    let start = time("start")?;
    Some((start, time("end").unwrap_or(start + Duration::minutes(30))))
}

/// Requests the answer to the invitation in the mail, addressed to its organizer.
pub(super) struct AnswerInvitation;

impl Tool for AnswerInvitation {
    fn name(&self) -> &'static str {
        "answer_invitation"
    }

    fn reads_invited_events(&self) -> bool {
        true
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        if let Some(yours) = missing_address_outcome(input) {
            return Ok(yours);
        }
        let mail = mail_to_answer(input)?;
        let invite = mail.invite.as_ref().filter(|invite| invite.method == "REQUEST" && !invite.uid.is_empty());
        let invite = invite.ok_or_else(|| ToolError("the mail holds no invitation to answer".into()))?;
        let (status, word) = choose_answer(input);
        let organizer = invite.organizer.clone().unwrap_or_else(|| mail.from.addr.clone());
        let name = input.me.default_signature(input.own);
        let mut lines = vec![
            format!("UID:{}", escape_text(&invite.uid)),
            format!("SEQUENCE:{}", invite.sequence),
            format!("DTSTAMP:{}", format_utc(input.now.utc())),
            format!("ORGANIZER:mailto:{organizer}"),
            format!("ATTENDEE;PARTSTAT={status};CN={}:mailto:{}", quote_parameter(name), input.own),
            format!("SUMMARY:{}", escape_text(&invite.summary)),
        ];
        lines.extend(invite.start.map(|start| format!("DTSTART:{}", format_utc(start.utc()))));
        lines.extend(invite.end.map(|end| format!("DTEND:{}", format_utc(end.utc()))));
        let words = match instruction(input) {
            Some(words) => format!("{word}: {}\n\n{words}", invite.summary),
            None => format!("{word}: {}", invite.summary),
        };
        let outgoing = OutgoingMessage {
            to: vec![Address { name: None, addr: organizer.to_ascii_lowercase() }],
            subject: format!("{word}: {}", invite.summary),
            body: add_greeting_and_closing(input, mail.from.name.as_deref(), &words),
            in_reply_to: Some(mail),
            calendar: Some(("REPLY", render_calendar("REPLY", &lines))),
        };
        let effect = Effect::Send { kind: SendKind::Answer, message: outgoing.compose(input)?, replaces: None };
        let mut outcome = request_send(effect, &ARGUMENTS);
        if let ToolOutcome::Effect(requested) = &mut outcome
            && let Some(output) = requested.output.as_object_mut()
        {
            output.insert("invitation".into(), invitation_details(invite, &organizer, input.in_calendar));
        }
        Ok(outcome)
    }
}

/// Returns which event is answered, and what the calendar holds under its UID. The person sees both, because the UID is
/// whatever the inviter wrote.
fn invitation_details(invite: &Invite, organizer: &str, in_calendar: &CalendarLookup) -> Value {
    let invited = CalendarEvent {
        summary: invite.summary.clone(),
        start: invite.start,
        end: invite.end,
        organizer: organizer.to_lowercase(),
        sequence: invite.sequence,
    };
    let known = match in_calendar {
        CalendarLookup::NoCalendar => Value::Null,
        CalendarLookup::Silent { why } => json!({ "not_asked": why }),
        CalendarLookup::Known { events } => {
            let same = events.iter().find(|event| event.difference(&invited).is_none());
            match same.or(events.first()) {
                None => json!({ "holds": "nothing" }),
                Some(event) => json!({ "holds": event, "difference": event.difference(&invited) }),
            }
        }
    };
    json!({ "event": invited, "in_calendar": known })
}

/// Returns the status and word of the answer: yes, unless the person said otherwise. They are asked before it is sent.
fn choose_answer(input: &ToolInput<'_>) -> (&'static str, &'static str) {
    let chosen = input.task.context.more.get(ANSWER).and_then(Value::as_str).and_then(|answer| answer.parse().ok());
    match chosen.unwrap_or(InvitationAnswer::Accepted) {
        InvitationAnswer::Accepted => ("ACCEPTED", "Accepted"),
        InvitationAnswer::Tentative => ("TENTATIVE", "Tentatively accepted"),
        InvitationAnswer::Declined => ("DECLINED", "Declined"),
    }
}
