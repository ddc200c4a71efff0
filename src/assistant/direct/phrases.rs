//! Whole messages that need no intent: cancelling, undoing, the next page, what waits, why, and putting off.

use crate::{
    assistant::{
        direct::answer::intent_of,
        direct::{act_on, answer::cancel_pending, list::show_more, undo::undo},
        intent::Intent,
        memory::ChatAction,
        phrase::{fold, trim_punctuation},
        reference::{self, Reference},
        reply::{ReplySentence, ReplyText},
        tool::{TaskCall, TaskTools, ToolResult},
        turn::{ChatTurn, Step},
        vocabulary::PhraseList,
        wanted_update,
    },
    model::{ChatProfile, ListedStatus},
    reading,
};

/// Answers a message that is one of the fixed phrases. Returns whether it was.
pub(in crate::assistant) async fn answer_phrase<T: TaskTools>(turn: &mut ChatTurn<'_, T>) -> Step<bool> {
    let message = turn.message.clone();
    if PhraseList("cancel").is(&message) {
        cancel_pending(turn);
        return Ok(true);
    }
    if answer_common_phrase(turn).await? {
        return Ok(true);
    }
    let wish = read_not_a_task(&message).map(|reference| (ChatAction::NotATask, reference));
    let wish = wish.or_else(|| read_snooze(turn, &message));
    if let Some((action, reference)) = wish {
        return act_on_phrase(turn, action, reference).await;
    }
    Ok(false)
}

/// Answers a phrase that means the same in both profiles. Returns whether it was one.
pub(in crate::assistant) async fn answer_common_phrase<T: TaskTools>(turn: &mut ChatTurn<'_, T>) -> Step<bool> {
    let message = turn.message.clone();
    if PhraseList("more").is(&message) && turn.request.history.last().list.is_some() {
        show_more(turn).await?;
    } else if PhraseList("undo").is(&message) || PhraseList("undo_lead").is(&message) {
        undo(turn).await?;
    } else if PhraseList("waiting").is(&message) {
        show_waiting(turn).await?;
    } else if let Some(reference) = read_why(&message) {
        turn.reply.intent = Intent::List;
        act_on(turn, ChatAction::Explain, reference, &[]).await?;
    } else if is_approval(&message) {
        turn.say(ReplySentence("cannot_approve"), &[]);
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// Carries out a command such as `/undo` or `/profile guided`. Returns whether the message is one.
pub(in crate::assistant) async fn answer_slash_command<T: TaskTools>(turn: &mut ChatTurn<'_, T>) -> Step<bool> {
    let message = fold(&turn.message);
    if message == "/undo" {
        undo(turn).await?;
    } else if message == "/help" {
        turn.reply.intent = Intent::Help;
        turn.say(ReplySentence("help"), &[]);
    } else if let Some(name) = PhraseList("profile_lead").strip_start(&message) {
        match name.trim().parse::<ChatProfile>() {
            Ok(profile) => {
                turn.reply.profile = profile;
                let said = match profile {
                    ChatProfile::Direct => ReplySentence("profile_direct"),
                    ChatProfile::Guided => ReplySentence("profile_guided"),
                };
                turn.say(said, &[]);
            }
            Err(_) => turn.say(ReplySentence("profile_unknown"), &[]),
        }
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// Acts on a task that a fixed phrase names. "Remind me about the dentist" is a new task if there is no such task.
async fn act_on_phrase<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    action: ChatAction,
    reference: Reference,
) -> Step<bool> {
    if let (ChatAction::Snooze(_), Reference::Title(title)) = (&action, &reference)
        && turn.find_by_title(title, ListedStatus::Pending).await?.is_empty()
    {
        return Ok(false);
    }
    turn.reply.intent = intent_of(&action);
    act_on(turn, action, reference, &[]).await.map(|()| true)
}

/// Reads "remind me about task 3 on Sunday" and "snooze it until tomorrow".
fn read_snooze<T: TaskTools>(turn: &ChatTurn<'_, T>, message: &str) -> Option<(ChatAction, Reference)> {
    let message = PhraseList("courtesy").strip_start(message).unwrap_or(message);
    let rest =
        PhraseList("snooze_about").strip_start(message).or_else(|| PhraseList("snooze_lead").strip_start(message))?;
    let rest = trim_punctuation(rest);
    let (me, now) = (turn.request.me, turn.request.now);
    // The time is the longest end of the sentence that is a time and nothing else. "Task 3 on Sunday" is not at three.
    let named = reference::explicit_place(rest).map_or(0, |place| place.end);
    for (at, _) in rest.match_indices(' ').filter(|(at, _)| *at >= named) {
        let (target, when) = (rest.get(..at)?, rest.get(at + 1..)?);
        let bare = PhraseList("until").strip_start(when).unwrap_or(when);
        let is_time = [when, bare].iter().any(|text| reading::moment(text, me, now).is_some());
        if !is_time && !is_span(bare) {
            continue;
        }
        let until = wanted_update::read_time(when, me, now).or_else(|| wanted_update::read_time(bare, me, now));
        if until.is_some() {
            let target = PhraseList("until").strip_end(target).unwrap_or(target);
            return Some((ChatAction::Snooze(until), Reference::parse(target)));
        }
    }
    Some((ChatAction::Snooze(None), Reference::parse(rest)))
}

/// Shows what waits for a person's decision. It cannot be decided here.
async fn show_waiting<T: TaskTools>(turn: &mut ChatTurn<'_, T>) -> Step {
    turn.reply.intent = Intent::List;
    let items = match turn.call(TaskCall::ListApprovals).await {
        Ok(ToolResult::Waiting { items }) => items,
        _ => return Err(turn.give_up()),
    };
    if items.is_empty() {
        turn.say(ReplySentence("waiting_none"), &[]);
        return Ok(());
    }
    turn.say(ReplySentence("waiting_list"), &[]);
    for item in &items {
        let mut line = ReplyText::default();
        line.push(&format!("{}. ", item.number));
        line.push_title(&item.summary);
        turn.say_lines(&line);
    }
    turn.say_below(ReplySentence("waiting_how"), &[]);
    Ok(())
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
    if PhraseList("not_a_task_alone").is(message) {
        return Some(Reference::Pronoun);
    }
    let target = PhraseList("not_a_task").strip_end(message)?;
    (!target.is_empty()).then(|| Reference::parse(target))
}

/// Reads "why is task 3 high?".
fn read_why(message: &str) -> Option<Reference> {
    let rest = PhraseList("why_lead").strip_start(message)?;
    let target = PhraseList("why_tail").strip_end(rest).unwrap_or(rest);
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
    let rest = PhraseList("approve_lead").strip_start(message.trim());
    rest.is_some_and(|rest| !matches!(Reference::parse(rest), Reference::Title(_)) || fold(rest).starts_with("item"))
}
