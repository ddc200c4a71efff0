//! The guided profile: flows that ask for one thing after the other and confirm before they delete or change.
//!
//! The marker in the last reply is the state. What was collected so far is in the command that was stored with that reply.
//! A task is never guessed: it is named by its id, its number with "#" or its exact title, or chosen from a list.

mod create;
mod identify;
mod modify;
mod start;

use super::{
    command::{Command, CommandIntent},
    direct::is_agreement,
    intent::Intent,
    marker::FlowState,
    phrase::{fold, words},
    reply::{Sentence, Value},
    tool::TaskTools,
    turn::{Step, Stopped, Turn},
    vocabulary::WordList,
};

/// What an answer to "are you sure?" means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Confirmation {
    Confirmed,
    /// The whole message is "no": the flow ends.
    Refused,
    /// Anything else: what was collected stays, and the question is asked again.
    Unclear,
}

/// Reads an answer to a confirmation. A yes beside a negation or among other words is none.
fn read_confirmation(message: &str) -> Confirmation {
    let folded = fold(message);
    if WordList("no").is(&folded) {
        return Confirmation::Refused;
    }
    let has_yes = words(&folded).any(|word| WordList("yes").is(word));
    if has_yes && !WordList("negation").is_in(&folded) && is_agreement(message) {
        Confirmation::Confirmed
    } else {
        Confirmation::Unclear
    }
}

impl<T: TaskTools> Turn<'_, T> {
    /// Continues the active flow, or begins one.
    pub(super) async fn answer_guided(&mut self) {
        // A step that stopped has said why.
        let _stopped: Step = self.try_answer_guided().await;
    }

    async fn try_answer_guided(&mut self) -> Step {
        let state = FlowState::of_history(self.request.history.messages());
        // A state without its command cannot go on; then the message is taken as a new one.
        let Some((state, command)) = state.zip(self.request.history.last().command.clone()) else {
            return self.begin_flow().await;
        };
        self.reply.intent = intent_of(state, &command);
        if WordList("cancel").is(&self.message) {
            self.say(Sentence("cancelled"), &[]);
            self.reply.memory.command = Some(reset(state));
            return Ok(());
        }
        match state {
            FlowState::CreateTitle => self.take_title(command),
            FlowState::CreatePriority => self.take_priority(command),
            FlowState::CreateDeadline => return self.take_deadline(command).await,
            FlowState::DeleteSelect | FlowState::UpdateSelect => return self.take_selection(state, command).await,
            FlowState::DeleteConfirm | FlowState::UpdateConfirm => return self.take_confirmation(state, command).await,
            FlowState::UpdateWhichField => self.take_field(command),
            FlowState::UpdateValue(field) => return self.take_value(field, command).await,
        }
        Ok(())
    }

    /// Asks something, and waits for the answer in this state.
    fn wait_in(&mut self, state: FlowState, command: Command, question: Sentence, values: &[(&str, Value<'_>)]) {
        self.say(question, values);
        self.reply.state = Some(state);
        self.reply.memory.command = Some(command);
    }

    async fn take_confirmation(&mut self, state: FlowState, command: Command) -> Step {
        match read_confirmation(&self.message) {
            Confirmation::Refused => {
                self.say(Sentence("guided_refused"), &[]);
                self.reply.memory.command = Some(reset(state));
                Ok(())
            }
            Confirmation::Unclear => {
                let options = self.request.history.last().options.clone();
                self.reply.memory.options = options;
                self.wait_in(state, command.clarifying("confirmation"), Sentence("guided_confirm_again"), &[]);
                Ok(())
            }
            Confirmation::Confirmed => {
                let intent = if state == FlowState::DeleteConfirm {
                    CommandIntent::DeleteTask
                } else {
                    CommandIntent::UpdateTask
                };
                let command = command.into_ready(intent);
                self.reply.memory.command = Some(command.clone());
                self.execute(&command).await
            }
        }
    }

    /// Carries a command out, if it is ready.
    async fn execute(&mut self, command: &Command) -> Step {
        if !command.is_executable() {
            return Err(Stopped);
        }
        match command.intent {
            CommandIntent::AddTask => self.add_collected(command).await,
            CommandIntent::DeleteTask | CommandIntent::UpdateTask => self.change_collected(command).await,
            CommandIntent::CompleteTask | CommandIntent::ListTasks | CommandIntent::Clarify => Err(Stopped),
        }
    }
}

/// Returns the command of a flow that has ended without doing anything: whatever it had collected is missing again.
fn reset(state: FlowState) -> Command {
    match state {
        FlowState::CreateTitle | FlowState::CreatePriority | FlowState::CreateDeadline => {
            Command::asking(CommandIntent::AddTask, "title")
        }
        FlowState::DeleteSelect | FlowState::DeleteConfirm => {
            Command::asking(CommandIntent::DeleteTask, "task_selection")
        }
        _ => Command::asking(CommandIntent::UpdateTask, "task_selection"),
    }
}

/// Returns the intent that a flow carries out.
fn intent_of(state: FlowState, command: &Command) -> Intent {
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
        use Confirmation::{Confirmed, Refused, Unclear};
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
