//! What a person changes in a task. A change is made to the task as it was shown, or not at all.

use axum::extract::Path;

use super::{
    add::chosen_priority,
    line::task_path,
    seen::{find_unchanged, seen_revision},
};
use crate::{
    app::App,
    model::{TaskEditKind, TaskRow, nightly::CorrectionKind},
    web::page::{PageAnswer, PageChange, PageNote},
    wording::description::format_moment,
};

/// Marks a task as done.
pub(super) async fn finish(Path(task): Path<String>, change: PageChange) -> PageAnswer {
    let outcome = edit_task(&change, &task, vec![TaskEditKind::Done], "said done").await;
    answer_with_undo(&change, &task, outcome, "Done")
}

/// Marks a step as done.
pub(super) async fn finish_step(Path(task): Path<String>, change: PageChange) -> PageAnswer {
    let step = change.form.get("step").to_owned();
    let outcome = edit_task(&change, &task, vec![TaskEditKind::StepDone(step)], "said done").await;
    let outcome = outcome.map(|_| PageNote::done("The step is done."));
    change.visit.redirect_after(&back(&change, &task), outcome)
}

/// Cancels a task.
pub(super) async fn cancel(Path(task): Path<String>, change: PageChange) -> PageAnswer {
    let outcome = edit_task(&change, &task, vec![TaskEditKind::Cancel], change.form.get("reason")).await;
    answer_with_undo(&change, &task, outcome, "Cancelled")
}

/// Opens a task again that was done or cancelled.
pub(super) async fn reopen(Path(task): Path<String>, change: PageChange) -> PageAnswer {
    let app = change.visit.app();
    let outcome = async {
        edit_task(&change, &task, vec![TaskEditKind::Reopen], "taken back").await?;
        let taught =
            app.rules().log_and_explain_correction(|correction| correction.kind == CorrectionKind::Undo).await?;
        Ok(PageNote::done(with_lesson("It is open again.", taught)))
    };
    let outcome = outcome.await;
    change.visit.redirect_after(&format!("/tasks/{task}"), outcome)
}

/// Changes the wording, the priority, the deadline or the description.
pub(super) async fn edit(Path(task): Path<String>, change: PageChange) -> PageAnswer {
    let app = change.visit.app();
    let outcome = async {
        let row = find_unchanged(&change, &task).await?;
        let wishes = read_wishes(app, &change, &row)?;
        if wishes.is_empty() {
            return Ok(PageNote::done("Nothing was changed."));
        }
        let row = app.tasks().edit_all(&task, wishes, change.form.get("reason")).await?;
        let id = row.task.task_id;
        let taught = app.rules().log_and_explain_correction(move |known| known.task_id == Some(id)).await?;
        Ok(PageNote::done(with_lesson("Changed.", taught)))
    };
    let outcome = outcome.await;
    change.visit.redirect_after(&format!("/tasks/{task}"), outcome)
}

/// Returns what the fields of the form say otherwise than the task.
fn read_wishes(app: &App, change: &PageChange, row: &TaskRow) -> anyhow::Result<Vec<TaskEditKind>> {
    let text = |name: &str| change.form.get(name).trim().to_owned();
    let mut wishes = Vec::new();
    // Choosing the same priority says that it is right, and then it stays.
    wishes.extend(chosen_priority(change.form.get("priority"))?.map(TaskEditKind::Priority));
    let objective = text("objective");
    if !objective.is_empty() && objective != row.task.objective {
        wishes.push(TaskEditKind::Objective(objective));
    }
    let description = Some(text("description")).filter(|text| !text.is_empty());
    // A browser sends other line breaks than those that are stored.
    let description = description.map(|text| text.replace("\r\n", "\n"));
    if description != row.task.context.description {
        wishes.push(TaskEditKind::Description(description));
    }
    match text("due").as_str() {
        "" => {}
        "none" => wishes.push(TaskEditKind::Deadline(None, None)),
        due => {
            let (typed, at) = app.tasks().parse_deadline(due)?;
            wishes.push(TaskEditKind::Deadline(Some(typed), Some(at)));
        }
    }
    Ok(wishes)
}

/// Hides a task until a time, or shows it again.
pub(super) async fn snooze(Path(task): Path<String>, change: PageChange) -> PageAnswer {
    let app = change.visit.app();
    let outcome = async {
        let until = match change.form.get("until").trim() {
            "" => None,
            typed => Some(app.tasks().parse_future_time(typed)?),
        };
        edit_task(&change, &task, vec![TaskEditKind::Snooze(until)], "").await?;
        let told = until.map_or_else(
            || "It is shown again.".to_owned(),
            |until| format!("Hidden until {}.", format_moment(until, app.config.me.time_zone)),
        );
        Ok(PageNote::done(told))
    };
    let outcome = outcome.await;
    change.visit.redirect_after(&format!("/tasks/{task}"), outcome)
}

/// Makes changes to a task as it was shown. Returns the task after them.
pub(super) async fn edit_task(
    change: &PageChange,
    task: &str,
    wishes: Vec<TaskEditKind>,
    why: &str,
) -> anyhow::Result<TaskRow> {
    let row = find_unchanged(change, task).await?;
    change.visit.app().tasks().edit_all(&row.task.task_id.to_string(), wishes, why).await
}

/// Answers the end of a task with a way back.
fn answer_with_undo(change: &PageChange, task: &str, outcome: anyhow::Result<TaskRow>, verb: &str) -> PageAnswer {
    let note = outcome.map(|row| {
        let number = row.number.map(|number| format!(": task {number}")).unwrap_or_default();
        PageNote::done(format!("{verb}{number}.")).with_undo(&format!("{}/undo", task_path(&row)), &seen_revision(&row))
    });
    change.visit.redirect_after(&back(change, task), note)
}

/// Returns the page from which a change was made: a list, or the task itself.
fn back(change: &PageChange, task: &str) -> String {
    let named = change.form.get("back");
    let is_list = named.starts_with("/tasks?view=") && named.bytes().all(|byte| byte.is_ascii_graphic());
    if is_list { named.to_owned() } else { format!("/tasks/{task}") }
}

/// Adds to a sentence what a change teaches.
fn with_lesson(told: &str, taught: Option<String>) -> String {
    taught.map_or_else(|| told.to_owned(), |lesson| format!("{told} {lesson}"))
}
