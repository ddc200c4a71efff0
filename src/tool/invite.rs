//! `send_calendar_invite` and `answer_invitation`: messages with calendar parts as RFC 5545 and RFC 5546 define them.

use chrono::Duration;
use serde_json::{Value, json};

use super::{
    MeetingSpan, Tool, ToolError, ToolInput, ToolOutcome,
    draft_reply::{mail_to_answer, meeting_words, reply_recipients},
    letter::find_tone,
    meeting_time::{format_span, proposed_times},
    message::{
        OutgoingMessage, add_greeting_and_closing, missing_address_outcome, own_domain, reply_subject,
        strip_reply_prefixes,
    },
    propose_time_slots::CALENDAR,
    send::{earlier_draft, instruction, request_send},
};
use crate::{
    date::{check_times_agree, follow_text, names_any_time},
    icalendar::{EventTimes, escape_text, format_utc, quote_parameter, render_calendar},
    model::{
        ActionId, Address, Effect, HeldKind, HeldTime, Instant, InvitationAnswer, Mail, MeetingAnswer, Task,
        action::{Argument, Origin, SendKind},
        mail::Invite,
        task::{ANSWER, PROPOSE_TIME_SLOTS, SEND_REPLY},
    },
    source::{CalendarEvent, CalendarLookup},
};

/// Requests an invitation to the time that `propose_time_slots` found. A person must always approve it. Where that has only
/// found alternatives, nobody is invited: they are offered in a reply.
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
        let (answer, spans) =
            proposed_times(input.task).ok_or_else(|| ToolError("no time was proposed for the meeting".into()))?;
        if !answer.fixes_time() && instruction(input).is_none() {
            return Ok(ToolOutcome::ReplacedBy { steps: &["send_calendar_invite"], step: SEND_REPLY });
        }
        let proposed = *spans.first().ok_or_else(|| ToolError("no time was proposed for the meeting".into()))?;
        let (span, words) = self.time_and_words(input, mail, answer, proposed)?;
        let to = reply_recipients(mail);
        let (subject, title) = subject_and_title(input, mail, span);
        let mut lines = vec![
            format!("UID:{}", uid(input)),
            "SEQUENCE:0".into(),
            format!("DTSTAMP:{}", format_utc(input.now.utc())),
            format!("DTSTART:{}", format_utc(span.start.utc())),
            format!("DTEND:{}", format_utc(span.end.utc())),
            format!("{}:{}", EventTimes::ZONE, input.me.time_zone),
            format!("SUMMARY:{}", escape_text(&title)),
            format!("ORGANIZER;CN={}:mailto:{}", quote_parameter(input.me.default_signature(input.own)), input.own),
        ];
        lines.extend(to.iter().map(|to| {
            format!(
                "ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;CN={}:mailto:{}",
                quote_parameter(to.label()),
                to.addr
            )
        }));
        let outgoing = OutgoingMessage {
            subject,
            body: add_greeting_and_closing(input, mail.from.name.as_deref(), &words),
            to,
            in_reply_to: Some(mail),
            calendar: Some(("REQUEST", render_calendar("REQUEST", &lines))),
            files: Vec::new(),
        };
        let replaces = earlier_draft(input);
        let effect = Effect::Send { kind: SendKind::Invite, message: outgoing.compose(input)?, replaces };
        let mut outcome = request_send(effect, &ARGUMENTS);
        if let ToolOutcome::Effect(requested) = &mut outcome
            && let Some(output) = requested.output.as_object_mut()
        {
            output.insert("event".into(), json!(span));
        }
        Ok(outcome)
    }
}

/// Where the arguments of both tools come from.
const ARGUMENTS: [(&str, Origin); 3] =
    [(Argument::RECIPIENTS, Origin::Mail), ("subject", Origin::Mail), (Argument::TEXT, Origin::Template)];

/// Returns the UID of the event. Where the event will also stand in a Google calendar, it is the one that Google gives
/// it, so that answers to the invitation find the event there.
fn uid(input: &ToolInput<'_>) -> String {
    let proposed = input.task.tool_output.as_ref().and_then(|output| output.get(PROPOSE_TIME_SLOTS));
    let entered = proposed.is_some_and(|proposed| proposed.get(CALENDAR).is_some());
    match input.idempotency_key.parse::<ActionId>() {
        Ok(action) if entered => format!("{}@google.com", action.event_id()),
        _ => format!("{}@{}", input.idempotency_key, own_domain(input)),
    }
}

impl SendCalendarInvite {
    /// Returns when the meeting is, and the words of the invitation. What the person told the agent to write counts: a
    /// time in it moves the meeting, and one that is not certain is refused.
    fn time_and_words(
        &self,
        input: &ToolInput<'_>,
        mail: &Mail,
        answer: MeetingAnswer,
        proposed: MeetingSpan,
    ) -> Result<(MeetingSpan, String), ToolError> {
        let Some(words) = instruction(input) else {
            let tone = find_tone(input, mail.from.name.as_deref());
            let answer = if answer == MeetingAnswer::Offer { MeetingAnswer::Suggest } else { answer };
            return Ok((proposed, meeting_words(input, &tone, answer, &[format_span(input, proposed)])));
        };
        let moved = follow_text("", words, input.me.time_zone, input.now, (proposed.start, proposed.end));
        let moved = moved.map_err(ToolError)?.map(|(start, end)| MeetingSpan { start, end });
        let span = moved.unwrap_or(proposed);
        let names_time = names_any_time(words, input.me.time_zone, input.now);
        let words = if names_time { words.to_owned() } else { format!("{words}\n\n{}", format_span(input, span)) };
        Ok((span, words))
    }
}

/// Returns the subject of the invitation and the title of its event. A subject that names a time is no title, and one that
/// names another time than the event's gives way to the names of those who meet.
fn subject_and_title(input: &ToolInput<'_>, mail: &Mail, span: MeetingSpan) -> (String, String) {
    let zone = input.me.time_zone;
    let title = strip_reply_prefixes(&mail.subject);
    if !names_any_time(title, zone, input.now) {
        return (reply_subject(&mail.subject), title.to_owned());
    }
    let agrees = |text: &str| check_times_agree(text, zone, input.now, (span.start, span.end)).is_ok();
    let own = input.me.default_signature(input.own);
    let people = format!("{} / {own}", mail.from.label());
    // A name is what its bearer says it is.
    let people = if names_any_time(&people, zone, input.now) { own.to_owned() } else { people };
    (if agrees(title) { reply_subject(&mail.subject) } else { people.clone() }, people)
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

    fn needs_held_times(&self, task: &Task, _now: Instant) -> Option<(Instant, Instant)> {
        task.held_times().into_iter().find(|held| held.kind == HeldKind::Invited).map(|held| (held.from, held.to))
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        if let Some(yours) = missing_address_outcome(input) {
            return Ok(yours);
        }
        let mail = mail_to_answer(input)?;
        let invite = mail.invite.as_ref().filter(|invite| invite.method == "REQUEST" && !invite.uid.is_empty());
        let invite = invite.ok_or_else(|| ToolError("the mail holds no invitation to answer".into()))?;
        let conflict = find_conflict(input, invite);
        let (status, word) = choose_answer(input, conflict);
        let organizer = invite.organizer.clone().unwrap_or_else(|| mail.from.addr.clone());
        let name = input.me.default_signature(input.own);
        let mut lines = vec![
            format!("UID:{}", escape_text(&invite.uid)),
            format!("SEQUENCE:{}", invite.sequence),
            format!("DTSTAMP:{}", format_utc(input.now.utc())),
            format!("ORGANIZER:mailto:{organizer}"),
            format!("ATTENDEE;PARTSTAT={status};CN={}:mailto:{}", quote_parameter(name), input.own),
            format!("SUMMARY:{}", escape_text(&invite.summary)),
            format!("{}:{}", EventTimes::ZONE, input.me.time_zone),
        ];
        lines.extend(invite.start.map(|start| format!("DTSTART:{}", format_utc(start.utc()))));
        lines.extend(invite.end.map(|end| format!("DTEND:{}", format_utc(end.utc()))));
        let answer = answer_words(input, invite, word);
        let words = instruction(input).map_or_else(|| answer.clone(), |words| format!("{answer}\n\n{words}"));
        let outgoing = OutgoingMessage {
            to: vec![Address { name: None, addr: organizer.to_ascii_lowercase() }],
            subject: format!("{word}: {}", invite.summary),
            body: add_greeting_and_closing(input, mail.from.name.as_deref(), &words),
            in_reply_to: Some(mail),
            calendar: Some(("REPLY", render_calendar("REPLY", &lines))),
            files: Vec::new(),
        };
        let effect = Effect::Send { kind: SendKind::Answer, message: outgoing.compose(input)?, replaces: None };
        let mut outcome = request_send(effect, &ARGUMENTS);
        if let ToolOutcome::Effect(requested) = &mut outcome
            && let Some(output) = requested.output.as_object_mut()
        {
            output.insert("answer".into(), status.into());
            if let Some(held) = conflict {
                let why = format!("that time is held for “{}” ({})", held.objective, held.kind.describe());
                output.insert("why".into(), why.into());
            }
            output.insert("invitation".into(), invitation_details(invite, &organizer, input.in_calendar));
        }
        Ok(outcome)
    }
}

/// Returns the answer in words, with the time of the event, if it is one.
fn answer_words(input: &ToolInput<'_>, invite: &Invite, word: &str) -> String {
    let answer = format!("{word}: {}", invite.summary);
    // A whole day has no hours, and a series has many days.
    let is_plain = |(start, end): &(Instant, Instant)| start < end && start.hours_until(*end) < 24.0 && !invite.recurs;
    match invite.start.zip(invite.end).filter(is_plain) {
        Some((start, end)) => format!("{answer}\n\n{}", format_span(input, MeetingSpan { start, end })),
        None => answer,
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

/// Returns what the person wrote, or somebody confirmed to them, for the time of the event. Another invitation is no reason to
/// decline this one: only the person knows which they prefer.
fn find_conflict<'a>(input: &ToolInput<'a>, invite: &Invite) -> Option<&'a HeldTime> {
    let start = invite.start?;
    // Of an event without an end it is known when it begins.
    let end = invite.end.unwrap_or_else(|| start.plus(Duration::minutes(1)));
    let organizer = invite.organizer.as_deref().unwrap_or_default();
    let asker = input.mail.map_or("", |mail| mail.from.addr.as_str());
    let is_this = |held: &HeldTime| [organizer, asker].iter().any(|who| held.is_same_meeting(who, start));
    let is_taken = |held: &&HeldTime| matches!(held.kind, HeldKind::Written | HeldKind::Booked) && !is_this(held);
    input.held_times.iter().filter(is_taken).find(|held| held.from < end && start < held.to)
}

/// Returns the status and word of the answer: yes if the time is free, unless the person said otherwise. They are asked
/// before it is sent.
fn choose_answer(input: &ToolInput<'_>, conflict: Option<&HeldTime>) -> (&'static str, &'static str) {
    let chosen = input.task.context.more.get(ANSWER).and_then(Value::as_str).and_then(|answer| answer.parse().ok());
    let usual = if conflict.is_some() { InvitationAnswer::Declined } else { InvitationAnswer::Accepted };
    match chosen.unwrap_or(usual) {
        InvitationAnswer::Accepted => ("ACCEPTED", "Accepted"),
        InvitationAnswer::Tentative => ("TENTATIVE", "Tentatively accepted"),
        InvitationAnswer::Declined => ("DECLINED", "Declined"),
    }
}
