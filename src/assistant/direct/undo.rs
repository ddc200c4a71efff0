//! Taking back what the last reply with a change has done.

use crate::{
    assistant::{
        intent::Intent,
        memory::MadeChange,
        reply::{ReplySentence, ReplyText, Value},
        tool::{ChatTask, TaskCall, TaskTools, ToolFailure, ToolResult},
        turn::{ChatTurn, Step},
    },
    model::TaskId,
};

/// How many tasks are named when several changes are taken back.
const MOST_NAMED: usize = 3;

/// Takes back the newest changes that were not taken back yet. The conversation before the last messages is not
/// looked at.
pub(in crate::assistant) async fn undo<T: TaskTools>(turn: &mut ChatTurn<'_, T>) -> Step {
    turn.reply.intent = Intent::Update;
    let Some((reply, changes)) = turn.request.history.last_changes() else {
        turn.say(ReplySentence("nothing_to_undo"), &[]);
        return Ok(());
    };
    let mut said = Vec::new();
    // The last change first, so that two changes of one task come back to the first.
    for change in changes.iter().rev() {
        said.extend(undo_change(turn, change).await?);
    }
    // Also where something could not be taken back, which was said: the next undo is about the change before.
    turn.reply.memory.undone = Some(reply);
    if said.is_empty() {
        return Ok(());
    }
    let mut what = ReplyText::default();
    said.iter().take(MOST_NAMED).for_each(|one| what.join(", ", one));
    if said.len() > MOST_NAMED {
        what.push(", …");
    }
    let frame = ReplySentence("undone").say(turn.language(), &[("what", Value::Text("\u{1}".into()))]);
    let (before, after) = frame.plain().split_once('\u{1}').unwrap_or((frame.plain(), ""));
    let mut whole = ReplyText::default();
    whole.push(before);
    whole.join("", &what);
    whole.push(after);
    turn.reply.text.join(" ", &whole);
    Ok(())
}

/// Takes one change back. Returns what to say of it; none if it cannot be, which was said.
async fn undo_change<T: TaskTools>(turn: &mut ChatTurn<'_, T>, change: &MadeChange) -> Step<Option<ReplyText>> {
    let (task_id, sentence) = match change {
        MadeChange::Added(task_id) => (*task_id, ReplySentence("undone_added")),
        MadeChange::Ended(task_id) => (*task_id, ReplySentence("undone_ended")),
        MadeChange::Updated { task_id, .. } | MadeChange::Begun(task_id) => (*task_id, ReplySentence("undone_updated")),
        MadeChange::Snoozed { task_id, .. } => (*task_id, ReplySentence("undone_snoozed")),
    };
    let call = match change {
        MadeChange::Added(_) => TaskCall::DeleteTask { task_id },
        MadeChange::Ended(_) => TaskCall::ReopenTask { task_id },
        MadeChange::Updated { before, .. } => TaskCall::UpdateTask { task_id, changes: before.0.clone() },
        MadeChange::Snoozed { before, .. } => TaskCall::SnoozeTask { task_id, until: *before },
        // The life cycle has no way back from a task that was begun.
        MadeChange::Begun(_) => return say_cannot_undo(turn, task_id).await,
    };
    match turn.call(call).await {
        Ok(ToolResult::Changed { task, .. }) => {
            turn.reply.mentioned = Some(task.task_id);
            Ok(Some(sentence.say(turn.language(), &[("title", Value::Title(&task.title))])))
        }
        Err(ToolFailure::Refused | ToolFailure::NotFound) => say_cannot_undo(turn, task_id).await,
        Ok(_) | Err(ToolFailure::Unavailable) => Err(turn.give_up()),
    }
}

async fn say_cannot_undo<T: TaskTools>(turn: &mut ChatTurn<'_, T>, task_id: TaskId) -> Step<Option<ReplyText>> {
    let task: Option<ChatTask> = turn.task_by_id(task_id).await?;
    let title = task.map_or_else(|| task_id.to_string(), |task| task.title);
    turn.say(ReplySentence("cannot_undo"), &[("title", Value::Title(&title))]);
    Ok(None)
}
