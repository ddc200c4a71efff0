//! Lists of tasks, by page.

use crate::{
    assistant::{
        command::{Command, CommandFields, CommandIntent},
        intent::Intent,
        memory::{Pending, ShownList},
        phrase::fold_case,
        reply::{Sentence, Value, number_tasks},
        tool::{PAGE, TaskTools, ToolCall},
        turn::{Step, Stopped, Turn},
        vocabulary::WordList,
    },
    model::ListedStatus,
};

/// Returns which tasks a clause wants to see: all, unless it says otherwise.
pub(in crate::assistant) fn read_list_status(clause: &str) -> ListedStatus {
    let folded = fold_case(clause);
    // "not done" holds "done", so what is pending goes first.
    if WordList("pending_words").is_in(&folded) {
        ListedStatus::Pending
    } else if WordList("completed_words").is_in(&folded) {
        ListedStatus::Completed
    } else {
        ListedStatus::All
    }
}

impl<T: TaskTools> Turn<'_, T> {
    /// Shows a page of a list.
    pub(in crate::assistant) async fn show_list(&mut self, status: ListedStatus, page: usize) -> Step {
        let (mut tasks, total) = self.listed(ToolCall::ListTasks { status, page }).await?;
        self.reply
            .memory
            .command
            .get_or_insert_with(|| Command::complete(CommandIntent::ListTasks, CommandFields::default(), None));
        if total == 0 {
            return self.say_empty(status).await;
        }
        if status == ListedStatus::All && total as usize <= PAGE {
            // A list of one page keeps all tasks in one order; in a longer one, those that are done come last.
            tasks.sort_by(|one, other| {
                let by_deadline =
                    |task: &crate::assistant::tool::TaskView| (task.deadline.is_none(), task.deadline.clone());
                let urgency = other.priority.cmp(&one.priority);
                urgency.then_with(|| by_deadline(one).cmp(&by_deadline(other))).then(one.task_id.cmp(&other.task_id))
            });
        }
        self.say(
            match status {
                ListedStatus::All => Sentence("list_all"),
                ListedStatus::Pending => Sentence("list_pending"),
                ListedStatus::Completed => Sentence("list_completed"),
            },
            &[],
        );
        let first = page * PAGE + 1;
        let lines = number_tasks(self.language(), &tasks, first, self.request.me.time_zone);
        self.say_lines(&lines);
        let last = first + tasks.len() - 1;
        let has_more = (last as u64) < total;
        if page > 0 || has_more {
            let number = |number: u64| Value::Text(number.to_string());
            let values = [("from", number(first as u64)), ("to", number(last as u64)), ("total", number(total))];
            self.say_below(if has_more { Sentence("list_part") } else { Sentence("list_last_part") }, &values);
        }
        self.reply.mentioned = tasks.first().map(|task| task.task_id);
        let tasks = tasks.iter().map(|task| task.task_id).collect();
        self.reply.memory.list = Some(ShownList { status, page, tasks, has_more });
        Ok(())
    }

    async fn say_empty(&mut self, status: ListedStatus) -> Step {
        let sentence = match status {
            ListedStatus::All => Sentence("empty_all"),
            ListedStatus::Completed => Sentence("empty_completed"),
            ListedStatus::Pending => {
                let completed = ToolCall::ListTasks { status: ListedStatus::Completed, page: 0 };
                let (_, completed) = self.listed(completed).await?;
                if completed > 0 { Sentence("empty_pending_after_work") } else { Sentence("empty_pending") }
            }
        };
        self.say(sentence, &[]);
        Ok(())
    }

    /// Shows the next page of the list that was just shown.
    pub(super) async fn show_more(&mut self) -> Step {
        self.reply.intent = Intent::List;
        match self.request.history.last().list.clone() {
            Some(list) if list.has_more => self.show_list(list.status, list.page + 1).await,
            _ => {
                self.say(Sentence("no_more"), &[]);
                Ok(())
            }
        }
    }

    /// Says that there is no task with this number, and offers the list.
    pub(super) fn say_no_task(&mut self, number: i64) -> Stopped {
        self.say(Sentence("no_task_number"), &[("number", Value::Text(number.to_string()))]);
        self.ask(Pending::OfferList, "task_id");
        Stopped
    }

    /// Says that no title matches, and shows what there is.
    pub(super) async fn say_no_title(&mut self, title: &str) -> Step {
        let (_, total) = self.listed(ToolCall::ListTasks { status: ListedStatus::Pending, page: 0 }).await?;
        self.reply.memory.command = Some(Command::asking(CommandIntent::Clarify, "task_id"));
        let shown = Value::Text(super::act::safe_query(title));
        if total == 0 {
            self.say(Sentence("no_task_title_empty"), &[("title", shown)]);
            return Ok(());
        }
        self.say(Sentence("no_task_title"), &[("title", shown)]);
        let said = std::mem::take(&mut self.reply.text);
        self.show_list(ListedStatus::Pending, 0).await?;
        let list = std::mem::replace(&mut self.reply.text, said);
        // The heading of the list is left out: the sentence before says what follows.
        self.reply.text.join_lines_after_first(&list);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_of_all_tasks_unless_the_clause_says_otherwise() {
        for (clause, expected) in [
            ("Show all tasks", ListedStatus::All),
            ("What's on my list?", ListedStatus::All),
            ("See pending items", ListedStatus::Pending),
            ("tell me what's left", ListedStatus::Pending),
            ("What's left to do?", ListedStatus::Pending),
            ("what is not done", ListedStatus::Pending),
            ("show incomplete tasks", ListedStatus::Pending),
            ("What did I finish?", ListedStatus::Completed),
            ("show completed tasks", ListedStatus::Completed),
            ("מה נשאר לי לעשות?", ListedStatus::Pending),
            ("הצג משימות שהושלמו", ListedStatus::Completed),
            ("הצג את כל המשימות", ListedStatus::All),
        ] {
            assert_eq!(read_list_status(clause), expected, "{clause}");
        }
    }
}
