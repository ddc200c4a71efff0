//! What a person was shown of a task, so that a change is made to that and nothing else.

use crate::{app::BadInput, model::TaskRow, web::page::PageChange};

/// Returns what stands for the task as it is shown: its id and its revision, which grows with every change.
pub(super) fn seen_revision(row: &TaskRow) -> String {
    format!("{}@{}", row.task.task_id, row.revision)
}

/// Returns the task of a change. Refuses one that was changed after it was shown.
pub(super) async fn find_unchanged(change: &PageChange, task: &str) -> anyhow::Result<TaskRow> {
    let row = change.visit.app().tasks().find(task).await?;
    if seen_revision(&row) == change.form.seen() {
        return Ok(row);
    }
    Err(BadInput("Nothing was changed: the task has changed since it was shown. This is how it is now.".into()).into())
}
