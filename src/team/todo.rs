//! The manager's todo list: `todo_write` replaces it whole, `todo_read` returns it with a summary.

use serde_json::{Value, json};

use crate::{
    llm::prompt::team_turn::WrittenTodo,
    model::{TodoItem, TodoStatus},
};

/// The most entries of a todo list. A person does not read a longer one.
const MOST_TODOS: usize = 50;
/// The longest entry, in characters.
const LONGEST_TODO: usize = 300;

/// Checks a todo list as the model wrote it. Refuses a list with an entry that lacks one of its two forms, or with more
/// than one entry in progress.
pub(super) fn check_todos(written: &[WrittenTodo]) -> Result<Vec<TodoItem>, String> {
    if written.len() > MOST_TODOS {
        return Err(format!("A todo list has at most {MOST_TODOS} entries"));
    }
    let todos = written.iter().map(check_todo).collect::<Result<Vec<_>, _>>()?;
    if count(&todos, TodoStatus::InProgress) > 1 {
        return Err("Only one task should be 'in_progress' at a time".into());
    }
    Ok(todos)
}

fn check_todo(written: &WrittenTodo) -> Result<TodoItem, String> {
    let (content, active_form) = (written.content.trim(), written.active_form.trim());
    if content.is_empty() || active_form.is_empty() {
        return Err("Every todo needs both forms: content (imperative) and activeForm (present continuous)".into());
    }
    let status = written.status.parse().map_err(|error| format!("status: {error}"))?;
    let cut = |text: &str| text.chars().take(LONGEST_TODO).collect();
    Ok(TodoItem { content: cut(content), active_form: cut(active_form), status })
}

/// Returns how many entries have this status.
pub(super) fn count(todos: &[TodoItem], status: TodoStatus) -> usize {
    todos.iter().filter(|todo| todo.status == status).count()
}

/// Returns the list with its summary, as `todo_read` answers.
pub(super) fn read_todos(todos: &[TodoItem]) -> Value {
    json!({
        "todos": todos,
        "summary": {
            "total": todos.len(),
            "pending": count(todos, TodoStatus::Pending),
            "in_progress": count(todos, TodoStatus::InProgress),
            "completed": count(todos, TodoStatus::Completed),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn todo(content: &str, active: &str, status: &str) -> WrittenTodo {
        WrittenTodo { content: content.into(), active_form: active.into(), status: status.into() }
    }

    #[test]
    fn the_rules_of_the_list_are_kept() {
        let good = [todo("List invoices", "Listing invoices", "in_progress"), todo("Sum", "Summing", "pending")];
        let list = check_todos(&good).unwrap();
        let read = read_todos(&list);
        assert_eq!(read["summary"], json!({ "total": 2, "pending": 1, "in_progress": 1, "completed": 0 }));
        assert_eq!(read["todos"][0]["activeForm"], "Listing invoices");
        for (bad, why) in [
            (vec![todo("A", "", "pending")], "both forms"),
            (vec![todo(" ", "Doing", "pending")], "both forms"),
            (vec![todo("A", "B", "done")], "status"),
            (vec![todo("A", "B", "in_progress"), todo("C", "D", "in_progress")], "Only one"),
            (vec![todo("A", "B", "pending"); MOST_TODOS + 1], "at most"),
        ] {
            assert!(check_todos(&bad).unwrap_err().contains(why), "{why}");
        }
        assert_eq!(check_todos(&[]), Ok(Vec::new()));
    }
}
