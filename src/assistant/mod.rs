//! The chat over tasks: what a message means and what is answered, in English and Hebrew, in two profiles.
//!
//! [`respond`] is a function of the message, the conversation before it and what [`TaskTools`] returns. Nothing here reads a
//! clock or a file, or asks a model; tasks are read and changed through `TaskTools` and nothing else. No reply says that
//! something was done before the call that did it has returned. Nothing that a person types is ever read as a state.

mod command;
mod deadline;
mod direct;
mod extract;
mod guided;
pub mod intent;
mod language;
mod marker;
mod memory;
mod phrase;
mod reference;
mod reply;
mod rewording;
#[cfg(test)]
mod tests;
mod tool;
mod turn;
mod vocabulary;

pub use command::{ChatPriority, ChatStatus, Command, CommandFields, CommandIntent, TaskRef};
pub use language::ChatLanguage;
pub use marker::{FlowState, UpdateField, without_marker};
pub use memory::{CONTEXT_MESSAGES, History, ReplyMemory};
pub use phrase::{MOST_MESSAGE_CHARS, clean_message};
pub use reply::ReplyText;
pub use rewording::is_faithful;
pub use tool::{
    Deadline, PAGE, PriorityReason, TaskChanges, TaskTools, TaskView, ToolCall, ToolFailure, ToolRecord, ToolResult,
    WaitingItem,
};
pub use turn::{ChatReply, ChatRequest};

use crate::model::ChatProfile;
use turn::{Step, Turn};

/// Carries a message out and returns what is answered.
pub async fn respond<T: TaskTools>(request: ChatRequest<'_>, tools: &mut T) -> ChatReply {
    let is_long = request.message.chars().nth(MOST_MESSAGE_CHARS).is_some();
    let head: String = request.message.chars().take(MOST_MESSAGE_CHARS).collect();
    let mut turn = Turn::new(request, clean_message(&head), tools);
    if is_long {
        turn.refuse_long_message();
    } else if !matches!(turn.answer_slash_command().await, Ok(false)) {
        // A command was carried out, or has said why not.
    } else {
        match turn.request.profile {
            ChatProfile::Direct => turn.answer_directly().await,
            ChatProfile::Guided => turn.answer_guided().await,
        }
    }
    turn.reply
}

impl<T: TaskTools> Turn<'_, T> {
    /// Says that the message is too long. Whatever was asked before is still asked.
    fn refuse_long_message(&mut self) {
        let _stopped: Step = Err(direct::say_too_long(self, MOST_MESSAGE_CHARS));
        let last = self.request.history.last();
        self.reply.memory.command = last.command.clone();
        self.reply.memory.pending = last.pending.clone();
        self.reply.memory.options = last.options.clone();
        self.reply.memory.list = last.list.clone();
        if self.request.profile == ChatProfile::Guided {
            self.reply.state = FlowState::of_history(self.request.history.messages());
        }
    }
}
