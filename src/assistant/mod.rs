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
mod wanted_update;

pub use command::{ChatCommand, ChatPriority, ChatStatus, CommandFields, CommandIntent, TaskRef};
pub use language::ChatLanguage;
pub use marker::{FlowState, UpdateField, without_marker};
pub use memory::{CONTEXT_MESSAGES, History, ReplyMemory};
pub use phrase::{MOST_MESSAGE_CHARS, clean_message};
pub use reply::ReplyText;
pub use rewording::is_faithful;
pub use tool::{
    ChatTask, Deadline, MadeCall, OfferedPlan, PAGE, PriorityReason, TaskCall, TaskChanges, TaskTools, ToolFailure,
    ToolResult, WaitingItem,
};
pub use turn::{ChatReply, ChatRequest};

use crate::model::ChatProfile;
use reply::{ReplySentence, Value};
use turn::ChatTurn;

/// Carries a message out and returns what is answered.
pub async fn respond<T: TaskTools>(request: ChatRequest<'_>, tools: &mut T) -> ChatReply {
    let is_long = request.message.chars().nth(MOST_MESSAGE_CHARS).is_some();
    let head: String = request.message.chars().take(MOST_MESSAGE_CHARS).collect();
    let mut turn = ChatTurn::new(request, clean_message(&head), tools);
    if is_long {
        refuse_long_message(&mut turn);
    } else if !matches!(direct::phrases::answer_slash_command(&mut turn).await, Ok(false)) {
        // A command was carried out, or has said why not.
    } else {
        match turn.request.profile {
            ChatProfile::Direct => direct::answer_directly(&mut turn).await,
            ChatProfile::Guided => guided::answer_guided(&mut turn).await,
        }
    }
    turn.reply
}

/// Says that the message is too long. Whatever was asked before is still asked.
fn refuse_long_message<T: TaskTools>(turn: &mut ChatTurn<'_, T>) {
    turn.say(ReplySentence("message_too_long"), &[("count", Value::Text(MOST_MESSAGE_CHARS.to_string()))]);
    let last = turn.request.history.last();
    turn.reply.memory.command = last.command.clone();
    turn.reply.memory.pending = last.pending.clone();
    turn.reply.memory.options = last.options.clone();
    turn.reply.memory.list = last.list.clone();
    if turn.request.profile == ChatProfile::Guided {
        let state = FlowState::of_history(turn.request.history.messages());
        if matches!(state, Some(FlowState::DeleteConfirm | FlowState::UpdateConfirm)) {
            let asked = turn.reply.memory.command.take();
            turn.reply.memory.command = asked.map(|command| command.clarifying("confirmation"));
        }
        turn.reply.state = state;
    }
}
