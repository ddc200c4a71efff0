//! The guided profile: flows that ask for one thing after the other and confirm before they delete or change.
//!
//! The marker in the last reply is the state. What was collected so far is in the command that was stored with that reply.
//! A task is never guessed: it is named by its id, its number with "#" or its exact title, or chosen from a list.

mod create;
mod identify;
mod modify;
mod start;

use super::{
    command::{ChatCommand, CommandIntent},
    direct::is_agreement,
    intent::Intent,
    marker::FlowState,
    phrase::{fold, words},
    reply::{ReplySentence, Value},
    tool::TaskTools,
    turn::{ChatTurn, Step, Stopped},
    vocabulary::PhraseList,
};
use crate::assistant::guided::{
    create::{add_collected, take_deadline, take_priority, take_title},
    identify::take_selection,
    modify::{change_collected, take_field, take_value},
    start::begin_flow,
};

/// What an answer to "are you sure?" means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConfirmationAnswer {
    Confirmed,
    /// The whole message is "no": the flow ends.
    Refused,
    /// Anything else: what was collected stays, and the question is asked again.
    Unclear,
}

/// Reads an answer to a confirmation. A yes beside a negation or among other words is none.
fn read_confirmation(message: &str) -> ConfirmationAnswer {
    let folded = fold(message);
    if PhraseList("no").is(&folded) {
        return ConfirmationAnswer::Refused;
    }
    let has_yes = words(&folded).any(|word| PhraseList("yes").is(word));
    if has_yes && !PhraseList("negation").is_in(&folded) && is_agreement(message) {
        ConfirmationAnswer::Confirmed
    } else {
        ConfirmationAnswer::Unclear
    }
}

/// Continues the active flow, or begins one.
pub(in crate::assistant) async fn answer_guided<T: TaskTools>(turn: &mut ChatTurn<'_, T>) {
    // A step that stopped has said why.
    let _stopped: Step = try_answer_guided(turn).await;
}

async fn try_answer_guided<T: TaskTools>(turn: &mut ChatTurn<'_, T>) -> Step {
    let state = FlowState::of_history(turn.request.history.messages());
    // A state without its command cannot go on; then the message is taken as a new one.
    let Some((state, command)) = state.zip(turn.request.history.last().command.clone()) else {
        return begin_flow(turn).await;
    };
    turn.reply.intent = intent_of(state, &command);
    if PhraseList("cancel").is(&turn.message) {
        turn.say(ReplySentence("cancelled"), &[]);
        turn.reply.memory.command = Some(reset(state));
        return Ok(());
    }
    match state {
        FlowState::CreateTitle => take_title(turn, command),
        FlowState::CreatePriority => take_priority(turn, command),
        FlowState::CreateDeadline => return take_deadline(turn, command).await,
        FlowState::DeleteSelect | FlowState::UpdateSelect => return take_selection(turn, state, command).await,
        FlowState::DeleteConfirm | FlowState::UpdateConfirm => return take_confirmation(turn, state, command).await,
        FlowState::UpdateWhichField => take_field(turn, command),
        FlowState::UpdateValue(field) => return take_value(turn, field, command).await,
    }
    Ok(())
}

/// Asks something, and waits for the answer in this state.
pub(in crate::assistant) fn wait_in<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    state: FlowState,
    command: ChatCommand,
    question: ReplySentence,
    values: &[(&str, Value<'_>)],
) {
    turn.say(question, values);
    turn.reply.state = Some(state);
    turn.reply.memory.command = Some(command);
}

async fn take_confirmation<T: TaskTools>(turn: &mut ChatTurn<'_, T>, state: FlowState, command: ChatCommand) -> Step {
    match read_confirmation(&turn.message) {
        ConfirmationAnswer::Refused => {
            turn.say(ReplySentence("guided_refused"), &[]);
            turn.reply.memory.command = Some(reset(state));
            Ok(())
        }
        ConfirmationAnswer::Unclear => {
            let options = turn.request.history.last().options.clone();
            turn.reply.memory.options = options;
            wait_in(turn, state, command.clarifying("confirmation"), ReplySentence("guided_confirm_again"), &[]);
            Ok(())
        }
        ConfirmationAnswer::Confirmed => {
            let intent =
                if state == FlowState::DeleteConfirm { CommandIntent::DeleteTask } else { CommandIntent::UpdateTask };
            let command = command.into_ready(intent);
            turn.reply.memory.command = Some(command.clone());
            execute(turn, &command).await
        }
    }
}

/// Carries a command out, if it is ready.
pub(in crate::assistant) async fn execute<T: TaskTools>(turn: &mut ChatTurn<'_, T>, command: &ChatCommand) -> Step {
    if !command.is_executable() {
        return Err(Stopped);
    }
    match command.intent {
        CommandIntent::AddTask => add_collected(turn, command).await,
        CommandIntent::DeleteTask | CommandIntent::UpdateTask => change_collected(turn, command).await,
        CommandIntent::CompleteTask | CommandIntent::ListTasks | CommandIntent::Clarify => Err(Stopped),
    }
}

/// Returns the command of a flow that has ended without doing anything: whatever it had collected is missing again.
fn reset(state: FlowState) -> ChatCommand {
    match state {
        FlowState::CreateTitle | FlowState::CreatePriority | FlowState::CreateDeadline => {
            ChatCommand::asking(CommandIntent::AddTask, "title")
        }
        FlowState::DeleteSelect | FlowState::DeleteConfirm => {
            ChatCommand::asking(CommandIntent::DeleteTask, "task_selection")
        }
        _ => ChatCommand::asking(CommandIntent::UpdateTask, "task_selection"),
    }
}

/// Returns the intent that a flow carries out.
fn intent_of(state: FlowState, command: &ChatCommand) -> Intent {
    match state {
        FlowState::CreateTitle | FlowState::CreatePriority | FlowState::CreateDeadline => Intent::Create,
        FlowState::DeleteSelect | FlowState::DeleteConfirm => Intent::Delete,
        _ if command.fields.status == Some(super::command::ChatStatus::Done) => Intent::Complete,
        _ => Intent::Update,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_confirms() {
        use ConfirmationAnswer::{Confirmed, Refused, Unclear};
        for (message, expected) in [
            ("yes", Confirmed),
            ("OK", Confirmed),
            ("okay!", Confirmed),
            ("Confirm", Confirmed),
            ("yes please", Confirmed),
            ("yes, delete it", Confirmed),
            ("כן", Confirmed),
            ("אוקיי", Confirmed),
            ("אישור", Confirmed),
            ("כן בבקשה", Confirmed),
            ("no", Refused),
            ("No.", Refused),
            ("לא", Refused),
            ("not ok", Unclear),
            ("לא אוקיי", Unclear),
            ("yes no", Unclear),
            ("no, yes", Unclear),
            ("ok, never", Unclear),
            ("I don't confirm", Unclear),
            ("אל תמחק, כן?", Unclear),
            ("ok?", Unclear),
            ("okay but change the title first", Unclear),
            ("wait", Unclear),
            ("what?", Unclear),
            ("מה?", Unclear),
            ("change something else", Unclear),
            ("sure", Unclear),
            ("", Unclear),
        ] {
            assert_eq!(read_confirmation(message), expected, "{message}");
        }
    }
}
