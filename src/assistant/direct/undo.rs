//! Taking back what the last reply with a change has done.

use crate::{
    assistant::{
        intent::Intent,
        memory::MadeChange,
        reply::{ReplyText, Sentence, Value},
        tool::{TaskTools, TaskView, ToolCall, ToolFailure, ToolResult},
        turn::{Step, Turn},
    },
    model::TaskId,
};

/// How many tasks are named when several changes are taken back.
const MOST_NAMED: usize = 3;

impl<T: TaskTools> Turn<'_, T> {
    /// Takes back the newest changes that were not taken back yet. The conversation before the last messages is not
    /// looked at.
    pub(super) async fn undo(&mut self) -> Step {
        self.reply.intent = Intent::Update;
        let Some((reply, changes)) = self.request.history.last_changes() else {
            self.say(Sentence("nothing_to_undo"), &[]);
            return Ok(());
        };
        let mut said = Vec::new();
        // The last change first, so that two changes of one task come back to the first.
        for change in changes.iter().rev() {
            match self.undo_change(change).await? {
                Some(what) => said.push(what),
                None => return Ok(()),
            }
        }
        self.reply.memory.undone = Some(reply);
        let mut what = ReplyText::default();
        said.iter().take(MOST_NAMED).for_each(|one| what.join(", ", one));
        if said.len() > MOST_NAMED {
            what.push(", …");
        }
        let frame = Sentence("undone").say(self.language(), &[("what", Value::Text("\u{1}".into()))]);
        let (before, after) = frame.plain().split_once('\u{1}').unwrap_or((frame.plain(), ""));
        let mut whole = ReplyText::default();
        whole.push(before);
        whole.join("", &what);
        whole.push(after);
        self.reply.text.join(" ", &whole);
        Ok(())
    }

    /// Takes one change back. Returns what to say of it; none if it cannot be, which was said.
    async fn undo_change(&mut self, change: &MadeChange) -> Step<Option<ReplyText>> {
        let (task_id, sentence) = match change {
            MadeChange::Added(task_id) => (*task_id, Sentence("undone_added")),
            MadeChange::Ended(task_id) => (*task_id, Sentence("undone_ended")),
            MadeChange::Updated { task_id, .. } | MadeChange::Begun(task_id) => (*task_id, Sentence("undone_updated")),
            MadeChange::Snoozed { task_id, .. } => (*task_id, Sentence("undone_snoozed")),
        };
        let call = match change {
            MadeChange::Added(_) => ToolCall::DeleteTask { task_id },
            MadeChange::Ended(_) => ToolCall::ReopenTask { task_id },
            MadeChange::Updated { before, .. } => ToolCall::UpdateTask { task_id, changes: before.0.clone() },
            MadeChange::Snoozed { before, .. } => ToolCall::SnoozeTask { task_id, until: *before },
            // The life cycle has no way back from a task that was begun.
            MadeChange::Begun(_) => return self.say_cannot_undo(task_id).await,
        };
        match self.call(call).await {
            Ok(ToolResult::Changed { task, .. }) => {
                self.reply.mentioned = Some(task.task_id);
                Ok(Some(sentence.say(self.language(), &[("title", Value::Title(&task.title))])))
            }
            Err(ToolFailure::Refused | ToolFailure::NotFound) => self.say_cannot_undo(task_id).await,
            Ok(_) | Err(ToolFailure::Unavailable) => Err(self.give_up()),
        }
    }

    async fn say_cannot_undo(&mut self, task_id: TaskId) -> Step<Option<ReplyText>> {
        let task: Option<TaskView> = self.task_by_id(task_id).await?;
        let title = task.map_or_else(|| task_id.to_string(), |task| task.title);
        self.say(Sentence("cannot_undo"), &[("title", Value::Title(&title))]);
        Ok(None)
    }
}
