//! Lists of tasks, by page.

use crate::{
    assistant::{
        command::{ChatCommand, CommandFields, CommandIntent},
        direct::act::ask,
        intent::Intent,
        memory::{Pending, ShownList},
        phrase::fold_case,
        reply::{ReplySentence, Value, number_tasks},
        tool::{ChatTask, PAGE, TaskCall, TaskTools},
        turn::{ChatTurn, Step, Stopped},
        vocabulary::PhraseList,
    },
    model::ListedStatus,
};

/// Returns which tasks a clause wants to see: all, unless it says otherwise.
pub(in crate::assistant) fn read_list_status(clause: &str) -> ListedStatus {
    let folded = fold_case(clause);
    // "not done" holds "done", so what is pending goes first.
    if PhraseList("pending_words").is_in(&folded) {
        ListedStatus::Pending
    } else if PhraseList("completed_words").is_in(&folded) {
        ListedStatus::Completed
    } else {
        ListedStatus::All
    }
}

/// Shows a page of a list.
pub(in crate::assistant) async fn show_list<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    status: ListedStatus,
    page: usize,
) -> Step {
    let (tasks, total) = turn.listed(TaskCall::ListTasks { status, page }).await?;
    turn.reply
        .memory
        .command
        .get_or_insert_with(|| ChatCommand::complete(CommandIntent::ListTasks, CommandFields::default(), None));
    if total == 0 {
        return say_empty(turn, status).await;
    }
    say_list(turn, (status, page), tasks, total);
    Ok(())
}

/// Says these tasks, a page of a list that has `total` of them.
fn say_list<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    (status, page): (ListedStatus, usize),
    mut tasks: Vec<ChatTask>,
    total: u64,
) {
    if status == ListedStatus::All && total as usize <= PAGE {
        // A list of one page keeps all tasks in one order; in a longer one, those that are done come last.
        tasks.sort_by(|one, other| {
            let by_deadline = |task: &ChatTask| (task.deadline.is_none(), task.deadline.clone());
            let urgency = other.priority.cmp(&one.priority);
            urgency.then_with(|| by_deadline(one).cmp(&by_deadline(other))).then(one.task_id.cmp(&other.task_id))
        });
    }
    turn.say(
        match status {
            ListedStatus::All => ReplySentence("list_all"),
            ListedStatus::Pending => ReplySentence("list_pending"),
            ListedStatus::Completed => ReplySentence("list_completed"),
        },
        &[],
    );
    let first = page * PAGE + 1;
    let lines = number_tasks(turn.language(), &tasks, first, turn.request.me.time_zone);
    turn.say_lines(&lines);
    let last = first + tasks.len() - 1;
    let has_more = (last as u64) < total;
    if page > 0 || has_more {
        let number = |number: u64| Value::Text(number.to_string());
        let values = [("from", number(first as u64)), ("to", number(last as u64)), ("total", number(total))];
        turn.say_below(if has_more { ReplySentence("list_part") } else { ReplySentence("list_last_part") }, &values);
    }
    turn.reply.mentioned = tasks.first().map(|task| task.task_id);
    let tasks = tasks.iter().map(|task| task.task_id).collect();
    turn.reply.memory.list = Some(ShownList { status, page, tasks, has_more });
}

async fn say_empty<T: TaskTools>(turn: &mut ChatTurn<'_, T>, status: ListedStatus) -> Step {
    let sentence = match status {
        ListedStatus::All => ReplySentence("empty_all"),
        ListedStatus::Completed => ReplySentence("empty_completed"),
        ListedStatus::Pending => {
            let completed = TaskCall::ListTasks { status: ListedStatus::Completed, page: 0 };
            let (_, completed) = turn.listed(completed).await?;
            if completed > 0 { ReplySentence("empty_pending_after_work") } else { ReplySentence("empty_pending") }
        }
    };
    turn.say(sentence, &[]);
    Ok(())
}

/// Shows the next page of the list that was just shown.
pub(in crate::assistant) async fn show_more<T: TaskTools>(turn: &mut ChatTurn<'_, T>) -> Step {
    turn.reply.intent = Intent::List;
    match turn.request.history.last().list.clone() {
        Some(list) if list.has_more => show_list(turn, list.status, list.page + 1).await,
        _ => {
            turn.say(ReplySentence("no_more"), &[]);
            Ok(())
        }
    }
}

/// Says that there is no task with this number, and offers the list.
pub(in crate::assistant) fn say_no_task<T: TaskTools>(turn: &mut ChatTurn<'_, T>, number: i64) -> Stopped {
    turn.say(ReplySentence("no_task_number"), &[("number", Value::Text(number.to_string()))]);
    ask(turn, Pending::OfferList, "task_id");
    Stopped
}

/// Says that no title matches, and shows what there is.
pub(in crate::assistant) async fn say_no_title<T: TaskTools>(turn: &mut ChatTurn<'_, T>, title: &str) -> Step {
    let (tasks, total) = turn.listed(TaskCall::ListTasks { status: ListedStatus::Pending, page: 0 }).await?;
    turn.reply.memory.command = Some(ChatCommand::asking(CommandIntent::Clarify, "task_id"));
    let shown = Value::Text(super::act::safe_query(title));
    if total == 0 {
        turn.say(ReplySentence("no_task_title_empty"), &[("title", shown)]);
        return Ok(());
    }
    turn.say(ReplySentence("no_task_title"), &[("title", shown)]);
    let said = std::mem::take(&mut turn.reply.text);
    say_list(turn, (ListedStatus::Pending, 0), tasks, total);
    let list = std::mem::replace(&mut turn.reply.text, said);
    // The heading of the list is left out: the sentence before says what follows.
    turn.reply.text.join_lines_after_first(&list);
    Ok(())
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
