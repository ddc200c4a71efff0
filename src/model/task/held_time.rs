//! The times that a task holds: of meetings that were proposed, agreed on or invited to.

use chrono::{DateTime, Duration};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{PROPOSE_TIME_SLOTS, SEND_REPLY, Task, TaskContext};
use crate::model::{Instant, TaskKind, text_enum::text_enum};

text_enum! {
    /// Why a time is held.
    HeldKind {
        /// The person proposed it to somebody, or will when they approve it.
        Proposed = "proposed",
        /// Somebody has invited the person to it.
        Invited = "invited",
        /// The person wrote in a mail of their own that they are taken then.
        Written = "written",
        /// A mail confirms an appointment at that time.
        Booked = "booked",
        /// A mail calls an appointment off; it holds nothing, and frees what earlier mails hold from that minute on.
        Released = "released",
    }
}

impl HeldKind {
    /// Returns the reason for a person.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Proposed => "you proposed it",
            Self::Invited => "you are invited",
            Self::Written => "you wrote it",
            Self::Booked => "a mail confirms it",
            Self::Released => "it was called off",
        }
    }
}

/// A time that is held for a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldTime {
    pub from: Instant,
    pub to: Instant,
    pub kind: HeldKind,
    /// What the task is about, or the sentence of a mail that opened none.
    pub objective: String,
    /// The addresses in the mail that says so; empty for the time of a task.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub people: String,
}

impl HeldTime {
    /// Returns whether this may be the very meeting that somebody asks for at this time: the person and they have agreed on it
    /// in another mail.
    pub fn is_same_meeting(&self, asker: &str, start: Instant) -> bool {
        let names = |people: &str| people.split(|c: char| c.is_whitespace() || c == '"').any(|addr| addr == asker);
        self.from == start && !asker.is_empty() && names(&self.people)
    }
}

/// A time that is taken because of a mail, whether or not the mail opened a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Appointment {
    pub from: Instant,
    pub to: Instant,
    pub kind: HeldKind,
    /// The sentence that says so.
    pub words: String,
}

/// The length of an invited event whose length is not known.
const DEFAULT_LENGTH: Duration = Duration::minutes(30);

impl Task {
    /// Returns the times that the task holds, as far as its context and its outputs tell.
    pub fn held_times(&self) -> Vec<HeldTime> {
        let held =
            |from, to, kind| HeldTime { from, to, kind, objective: self.objective.clone(), people: String::new() };
        let proposed = self.proposed_spans().into_iter().map(|(from, to)| held(from, to, HeldKind::Proposed));
        let invited = self.invited_span().into_iter().map(|(from, to)| held(from, to, HeldKind::Invited));
        proposed.chain(invited).collect()
    }

    /// Notes other times that the mail of the task asks for. The steps that answer are open again; what is left of a draft
    /// is only by which it is found and replaced.
    pub fn ask_for_times(&mut self, asked: Value) {
        const INVITE: &str = "send_calendar_invite";
        let answers = [PROPOSE_TIME_SLOTS, INVITE, SEND_REPLY];
        self.context.more.insert(TaskContext::ASKED_TIMES.to_owned(), asked);
        let has_invite = self.subtasks.iter().any(|subtask| subtask.step == INVITE);
        for subtask in self.subtasks.iter_mut().filter(|subtask| answers.contains(&subtask.step.as_str())) {
            subtask.done = false;
            // Where only alternatives were offered, there may be somebody to invite now.
            if subtask.step == SEND_REPLY && !has_invite {
                INVITE.clone_into(&mut subtask.step);
            }
        }
        if let Some(outputs) = &mut self.tool_output {
            outputs.retain(|step, _| !answers.contains(&step.as_str()));
            if let Some(draft) = outputs.get_mut("draft_reply").and_then(Value::as_object_mut) {
                draft.remove("draft");
            }
        }
    }

    fn proposed_spans(&self) -> Vec<(Instant, Instant)> {
        let slots =
            self.tool_output.as_ref().and_then(|output| output.get(PROPOSE_TIME_SLOTS)?.get("slots")?.as_array());
        let time = |slot: &Value, key: &str| {
            Instant::new(DateTime::parse_from_rfc3339(slot.get(key)?.as_str()?).ok()?.to_utc())
        };
        let span = |slot: &Value| Some((time(slot, "start")?, time(slot, "end")?));
        slots.into_iter().flatten().filter_map(span).collect()
    }

    /// The time of the event that somebody invites to, unless the answer is no.
    fn invited_span(&self) -> Option<(Instant, Instant)> {
        let text = |key: &str| self.context.more.get(key)?.as_str();
        let is_invitation = text("kind") == Some(TaskKind::Invitation.as_str());
        let answer =
            self.tool_output.as_ref().and_then(|output| output.get("answer_invitation")?.get("answer")?.as_str());
        if !is_invitation || answer == Some("DECLINED") {
            return None;
        }
        let to: Instant = text(TaskContext::HAPPENS_AT)?.parse().ok()?;
        let length = self.context.meeting_minutes().map(Duration::minutes);
        // Without a length, what is known is when it begins.
        Some(length.map_or((to, to.plus(DEFAULT_LENGTH)), |length| (to.plus(-length), to)))
    }
}

impl TaskContext {
    /// Returns the length of the meeting in minutes, from `30m`, `1h` or `1h30m`; none for anything else or out of range.
    pub fn meeting_minutes(&self) -> Option<i64> {
        Self::parse_minutes(self.meeting_duration.as_deref()?)
    }

    /// Returns the minutes of a length such as `1h30m`; none for anything else or out of range.
    pub fn parse_minutes(text: &str) -> Option<i64> {
        let (hours, minutes) = match text.split_once('h') {
            Some((hours, minutes)) => (hours.parse::<i64>().ok()?, minutes),
            None => (0, text),
        };
        let minutes =
            if minutes.is_empty() && hours > 0 { 0 } else { minutes.strip_suffix('m')?.parse::<i64>().ok()? };
        hours.checked_mul(60)?.checked_add(minutes).filter(|minutes| (5..=480).contains(minutes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(context: Value, output: Value) -> Task {
        serde_json::from_value(serde_json::json!({
            "task_id": "01JYD3A8P0WQ5M4T6R2P0N1M4K", "created_at": "2026-06-16T03:15:00Z", "source": "email:1", "objective": "Meet",
            "priority": "low", "status": "READY", "last_updated": "2026-06-16T03:15:00Z", "context": context, "tool_output": output,
        }))
        .unwrap()
    }

    #[test]
    fn durations_are_read_and_bounded() {
        for (text, expected) in [
            (Some("30m"), Some(30)),
            (Some("1h"), Some(60)),
            (Some("1h30m"), Some(90)),
            (Some("99h"), None),
            (Some("h"), None),
            (Some("é"), None),
            (Some(""), None),
            (None, None),
        ] {
            let context = TaskContext { meeting_duration: text.map(str::to_owned), ..TaskContext::default() };
            assert_eq!(context.meeting_minutes(), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_proposed_and_what_was_not_declined_is_held() {
        let slots = serde_json::json!({PROPOSE_TIME_SLOTS: {"slots": [{"start": "2026-06-18T15:00:00+02:00", "end": "2026-06-18T16:00:00+02:00"}, {"start": "?"}]}});
        let held = task(Value::Object(serde_json::Map::new()), slots).held_times();
        assert_eq!(held.len(), 1);
        assert_eq!((held[0].from.to_string().as_str(), held[0].kind), ("2026-06-18T13:00:00Z", HeldKind::Proposed));
        let invited = serde_json::json!({"kind": "invitation", "happens_at": "2026-06-18T15:00:00Z", "meeting_duration": "1h30m"});
        let held = task(invited.clone(), Value::Null).held_times();
        assert_eq!((held[0].from.to_string().as_str(), held[0].kind), ("2026-06-18T13:30:00Z", HeldKind::Invited));
        assert_eq!(task(invited, serde_json::json!({"answer_invitation": {"answer": "DECLINED"}})).held_times(), []);
    }
}
