//! Whole messages that need no intent: cancelling, undoing, the next page, what waits, why, and putting off.

use crate::{
    assistant::{
        direct::answer::intent_of,
        extract,
        intent::Intent,
        memory::Action,
        phrase::{fold, trim_punctuation},
        reference::Reference,
        reply::{ReplyText, Sentence, Value},
        tool::{TaskTools, ToolCall, ToolResult},
        turn::{Step, Stopped, Turn},
        vocabulary::WordList,
    },
    model::{ChatProfile, ListedStatus},
    reading,
};

impl<T: TaskTools> Turn<'_, T> {
    /// Answers a message that is one of the fixed phrases. Returns whether it was.
    pub(super) async fn answer_phrase(&mut self) -> Step<bool> {
        let message = self.message.clone();
        if WordList("cancel").is(&message) {
            self.cancel_pending();
            return Ok(true);
        }
        if self.answer_common_phrase().await? {
            return Ok(true);
        }
        let wish = read_not_a_task(&message).map(|reference| (Action::NotATask, reference));
        let wish = wish.or_else(|| self.read_snooze(&message));
        if let Some((action, reference)) = wish {
            return self.act_on_phrase(action, reference).await;
        }
        Ok(false)
    }

    /// Answers a phrase that means the same in both profiles. Returns whether it was one.
    pub(in crate::assistant) async fn answer_common_phrase(&mut self) -> Step<bool> {
        let message = self.message.clone();
        if WordList("more").is(&message) && self.request.history.last().list.is_some() {
            self.show_more().await?;
        } else if WordList("undo").is(&message) || WordList("undo_lead").is(&message) {
            self.undo().await?;
        } else if WordList("waiting").is(&message) {
            self.show_waiting().await?;
        } else if let Some(reference) = read_why(&message) {
            self.reply.intent = Intent::List;
            self.act_on(Action::Explain, reference, &[]).await?;
        } else if is_approval(&message) {
            self.say(Sentence("cannot_approve"), &[]);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Carries out a command such as `/undo` or `/profile guided`. Returns whether the message is one.
    pub(in crate::assistant) async fn answer_slash_command(&mut self) -> Step<bool> {
        let message = fold(&self.message);
        if message == "/undo" {
            self.undo().await?;
        } else if message == "/help" {
            self.reply.intent = Intent::Help;
            self.say(Sentence("help"), &[]);
        } else if let Some(name) = WordList("profile_lead").strip_start(&message) {
            match name.trim().parse::<ChatProfile>() {
                Ok(profile) => {
                    self.reply.profile = profile;
                    let said = match profile {
                        ChatProfile::Direct => Sentence("profile_direct"),
                        ChatProfile::Guided => Sentence("profile_guided"),
                    };
                    self.say(said, &[]);
                }
                Err(_) => self.say(Sentence("profile_unknown"), &[]),
            }
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Acts on a task that a fixed phrase names. "Remind me about the dentist" is a new task if there is no such task.
    async fn act_on_phrase(&mut self, action: Action, reference: Reference) -> Step<bool> {
        if let (Action::Snooze(_), Reference::Title(title)) = (&action, &reference)
            && self.find_by_title(title, ListedStatus::Pending).await?.is_empty()
        {
            return Ok(false);
        }
        self.reply.intent = intent_of(&action);
        self.act_on(action, reference, &[]).await.map(|()| true)
    }

    /// Reads "remind me about task 3 on Sunday" and "snooze it until tomorrow".
    fn read_snooze(&self, message: &str) -> Option<(Action, Reference)> {
        let message = WordList("courtesy").strip_start(message).unwrap_or(message);
        let rest =
            WordList("snooze_about").strip_start(message).or_else(|| WordList("snooze_lead").strip_start(message))?;
        let rest = trim_punctuation(rest);
        let (me, now) = (self.request.me, self.request.now);
        // The time is the longest end of the sentence that is a time and nothing else.
        for (at, _) in rest.match_indices(' ') {
            let (target, when) = (rest.get(..at)?, rest.get(at + 1..)?);
            let bare = WordList("until").strip_start(when).unwrap_or(when);
            let is_time = [when, bare].iter().any(|text| reading::moment(text, me, now).is_some());
            if !is_time && !is_span(bare) {
                continue;
            }
            let until = extract::read_time(when, me, now).or_else(|| extract::read_time(bare, me, now));
            if until.is_some() {
                let target = WordList("until").strip_end(target).unwrap_or(target);
                return Some((Action::Snooze(until), Reference::parse(target)));
            }
        }
        Some((Action::Snooze(None), Reference::parse(rest)))
    }

    /// Shows what waits for a person's decision. It cannot be decided here.
    async fn show_waiting(&mut self) -> Step {
        self.reply.intent = Intent::List;
        let items = match self.call(ToolCall::ListApprovals).await {
            Ok(ToolResult::Waiting { items }) => items,
            _ => return Err(self.give_up()),
        };
        if items.is_empty() {
            self.say(Sentence("waiting_none"), &[]);
            return Ok(());
        }
        self.say(Sentence("waiting_list"), &[]);
        for item in &items {
            let mut line = ReplyText::default();
            line.push(&format!("{}. ", item.number));
            line.push_title(&item.summary);
            self.say_lines(&line);
        }
        self.say_below(Sentence("waiting_how"), &[]);
        Ok(())
    }
}

/// Returns whether a text is a span of time: "2h", "for 3 days".
fn is_span(text: &str) -> bool {
    let text = text.trim_start_matches("for ").trim_start_matches("in ");
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let units = ["m", "min", "minutes", "h", "hour", "hours", "d", "day", "days", "w", "week", "weeks"];
    unit.len() < text.len() && units.contains(&unit.trim())
}

/// Reads "task 3 is not a task".
fn read_not_a_task(message: &str) -> Option<Reference> {
    if WordList("not_a_task_alone").is(message) {
        return Some(Reference::Pronoun);
    }
    let target = WordList("not_a_task").strip_end(message)?;
    (!target.is_empty()).then(|| Reference::parse(target))
}

/// Reads "why is task 3 high?".
fn read_why(message: &str) -> Option<Reference> {
    let rest = WordList("why_lead").strip_start(message)?;
    let target = WordList("why_tail").strip_end(rest).unwrap_or(rest);
    let is_about_priority = target.len() < trim_punctuation(rest).len();
    match Reference::parse(trim_punctuation(target)) {
        Reference::Nothing => None,
        // "Why is the sky blue?" is about no task.
        Reference::Title(_) if !is_about_priority => None,
        reference => Some(reference),
    }
}

/// Returns whether a message wants to approve something, which nobody can do in a conversation.
fn is_approval(message: &str) -> bool {
    let rest = WordList("approve_lead").strip_start(message.trim());
    rest.is_some_and(|rest| !matches!(Reference::parse(rest), Reference::Title(_)) || fold(rest).starts_with("item"))
}

/// Says that a message is too long to be understood.
pub(in crate::assistant) fn say_too_long<T: TaskTools>(turn: &mut Turn<'_, T>, most: usize) -> Stopped {
    turn.say(Sentence("message_too_long"), &[("count", Value::Text(most.to_string()))]);
    Stopped
}
