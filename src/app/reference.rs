//! How people refer to things: "3", "#3", a whole id, or the beginning or end of one.

use crate::{
    app::{ApprovalUseCases, RunUseCases, TaskUseCases},
    model::{ItemId, MailId, RunId, TaskId, TaskRow},
};

/// The command was right, but what it names does not exist. It has an exit code of its own for scripts.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotFound(pub String);

/// What a person typed cannot be understood. It has the exit code of a wrong command line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(pub String);

/// The shortest part of an id that is accepted; shorter ones would match by chance.
const SHORTEST_ID_PART: usize = 6;

impl TaskUseCases<'_> {
    /// Returns the task with this number or id.
    pub async fn find(self, reference: &str) -> anyhow::Result<TaskRow> {
        // `search` names documents as "task:ID".
        let text = reference.trim().trim_start_matches("task:").trim_start_matches('#').to_uppercase();
        let found = if let Ok(number) = text.parse::<i64>() {
            let user = self.app.user.clone();
            self.app.store.read(move |reader| reader.task_lists().of_user_by_number(&user, number)).await?
        } else if let Ok(id) = text.parse::<TaskId>() {
            self.app.store.read(move |reader| reader.tasks().get(id)).await?
        } else {
            let rows = self.app.store.read(|reader| reader.tasks().list(None, usize::MAX)).await?;
            find_unique_by_id_part(rows, &text, |row| row.task.task_id.to_string())?
        };
        found.ok_or_else(|| {
            NotFound(format!("there is no task '{reference}'; `adjutant tasks list --all` shows all")).into()
        })
    }
}

impl RunUseCases<'_> {
    /// Returns the id of the run that the reference names. A whole id is not looked up.
    pub async fn find_id(self, reference: &str) -> anyhow::Result<RunId> {
        let text = reference.trim().to_uppercase();
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let rows = self.app.store.read(|reader| reader.runs().list(None, usize::MAX)).await?;
        let found = find_unique_by_id_part(rows, &text, |row| row.run_id.to_string())?;
        found
            .map(|row| row.run_id)
            .ok_or_else(|| NotFound(format!("there is no run '{reference}'; `adjutant runs list` shows them")).into())
    }
}

impl ApprovalUseCases<'_> {
    /// Returns the id of the item with this number or id. A number is never used for a second item.
    pub async fn find_id(self, reference: &str) -> anyhow::Result<ItemId> {
        let text = reference.trim().trim_start_matches('#').to_uppercase();
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let found = if let Ok(number) = text.parse::<i64>() {
            self.app.store.read(move |reader| reader.approvals().item_by_number(number)).await?
        } else {
            find_unique_by_id_part(self.list_with_snoozed().await?, &text, |row| row.item_id.to_string())?
        };
        found
            .map(|row| row.item_id)
            .ok_or_else(|| NotFound(format!("there is no item '{reference}'; `adjutant hitl list` shows them")).into())
    }
}

/// Returns the number of a mail that a person typed.
pub fn parse_mail_id(reference: &str) -> anyhow::Result<MailId> {
    let number = reference.trim().trim_start_matches('#').trim_start_matches("mail:");
    let id = number.parse().map(MailId);
    id.map_err(|_| {
        NotFound(format!("'{reference}' is not the number of a mail; `adjutant mail list` shows them")).into()
    })
}

/// Returns the only row whose id begins or ends with `part`. Ids made in the same second begin alike, so that people
/// often type the end.
fn find_unique_by_id_part<T>(rows: Vec<T>, part: &str, id: impl Fn(&T) -> String) -> Result<Option<T>, NotFound> {
    if part.len() < SHORTEST_ID_PART {
        return Ok(None);
    }
    let mut matching: Vec<T> =
        rows.into_iter().filter(|row| id(row).starts_with(part) || id(row).ends_with(part)).collect();
    if matching.len() > 1 {
        return Err(NotFound(format!("'{part}' matches {} ids; type more of it", matching.len())));
    }
    Ok(matching.pop())
}
