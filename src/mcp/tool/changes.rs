//! The tools that change tasks. Each change is one write, recorded under the name of the client.

use crate::{
    app::NewTask,
    mcp::{
        arguments::{AddTaskArguments, TaskArguments, TaskReference, UpdateTaskArguments},
        failure::Failure,
        server::McpServer,
        tool::McpTool,
        view::ChangedTaskView,
    },
    model::{ClientName, TaskEditKind, TaskRow, TaskStatus},
};

impl McpServer {
    pub(super) async fn add_task(
        &self,
        arguments: AddTaskArguments,
        client: ClientName,
    ) -> Result<ChangedTaskView, Failure> {
        let (title, description) = arguments.check().map_err(|refusal| refusal.about(McpTool::AddTask))?;
        self.check_data_folder()?;
        let new = NewTask { objective: title, description, ..NewTask::default() };
        let row = self.app().tasks_for(client).add(new).await?;
        self.note_change();
        let said = format!("I've added '{}' to your list.", row.task.objective);
        Ok(ChangedTaskView::new(&row, true, said, self.shows_mail_text()))
    }

    pub(super) async fn complete_task(
        &self,
        arguments: &TaskArguments,
        client: ClientName,
    ) -> Result<ChangedTaskView, Failure> {
        self.end_task(&arguments.task_id, TaskStatus::Done, client).await
    }

    pub(super) async fn delete_task(
        &self,
        arguments: &TaskArguments,
        client: ClientName,
    ) -> Result<ChangedTaskView, Failure> {
        self.end_task(&arguments.task_id, TaskStatus::Cancelled, client).await
    }

    /// Completes or deletes a task. Doing it again changes nothing and is no error.
    async fn end_task(
        &self,
        task: &TaskReference,
        end: TaskStatus,
        client: ClientName,
    ) -> Result<ChangedTaskView, Failure> {
        let (wish, why, verb) = match end {
            TaskStatus::Done => (TaskEditKind::Done, "said done", "marked as complete"),
            _ => (TaskEditKind::Cancel, "deleted", "deleted"),
        };
        self.check_data_folder()?;
        let before = self.find_task(task).await?;
        if !before.task.status.is_terminal() {
            match self.app().tasks_for(client).edit(&before.task.task_id.to_string(), wish, why).await {
                Ok(row) => {
                    self.note_change();
                    let said = format!("I've {verb}: '{}'.", row.task.objective);
                    return Ok(ChangedTaskView::new(&row, true, said, self.shows_mail_text()));
                }
                // Somebody else may have ended it meanwhile.
                Err(error) if Failure::is_refused_edit(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let row = self.find_task(task).await?;
        if row.task.status == end {
            let said = format!("'{}' was {verb} already.", row.task.objective);
            return Ok(ChangedTaskView::new(&row, false, said, self.shows_mail_text()));
        }
        Err(refuse_change(&row))
    }

    /// Changes title and description together, or neither.
    pub(super) async fn update_task(
        &self,
        arguments: &UpdateTaskArguments,
        client: ClientName,
    ) -> Result<ChangedTaskView, Failure> {
        let (title, description) = arguments.check().map_err(|refusal| refusal.about(McpTool::UpdateTask))?;
        self.check_data_folder()?;
        let row = self.find_task(&arguments.task_id).await?;
        if row.task.status.is_terminal() {
            return Err(refuse_change(&row));
        }
        let mut wishes = Vec::new();
        wishes.extend(title.filter(|title| *title != row.task.objective).map(TaskEditKind::Objective));
        wishes.extend(description.filter(|text| *text != row.task.context.description).map(TaskEditKind::Description));
        if wishes.is_empty() {
            let said = format!("'{}' says that already.", row.task.objective);
            return Ok(ChangedTaskView::new(&row, false, said, self.shows_mail_text()));
        }
        let id = row.task.task_id.to_string();
        match self.app().tasks_for(client).edit_all(&id, wishes, "changed").await {
            Ok(row) => {
                self.note_change();
                let said = format!("I've updated '{}'.", row.task.objective);
                Ok(ChangedTaskView::new(&row, true, said, self.shows_mail_text()))
            }
            Err(error) if Failure::is_refused_edit(&error) => {
                Err(refuse_change(&self.find_task(&arguments.task_id).await?))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn find_task(&self, task: &TaskReference) -> Result<TaskRow, Failure> {
        let found = self.app().tasks().find(task.as_str()).await;
        found.map_err(|error| match error.downcast_ref() {
            Some(crate::app::NotFound(_)) => Failure::no_task(task.as_str()),
            None => Failure::Internal(error),
        })
    }
}

/// Says why a task that is as it is cannot be changed.
fn refuse_change(row: &TaskRow) -> Failure {
    let name = row.number.map_or_else(|| row.task.task_id.to_string(), |number| number.to_string());
    Failure::refused(match row.task.status {
        TaskStatus::Done => format!(
            "Task {name} is completed and stays as it is. The person can open it again with `adjutant tasks undo {name}`."
        ),
        TaskStatus::Cancelled => {
            format!("Task {name} was deleted. The person can open it again with `adjutant tasks undo {name}`.")
        }
        _ => format!(
            "Task {name} was changed by somebody else at the same moment. Nothing was changed here; look at it again."
        ),
    })
}
