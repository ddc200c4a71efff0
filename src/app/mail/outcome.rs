//! What became of each mail, as a person reads it at a glance.

use serde::Serialize;

use crate::{
    app::MailUseCases,
    ingest::IntakeCounts,
    model::{
        Instant, LedgerRow, MailId, MailState, Priority, TaskId, TaskRow, TaskStatus, WarningKind, reading::MailWarning,
    },
    store::SkipUnreadable as _,
};

/// A report covers the mails with a greater number than this.
pub(in crate::app) type ReportStart = MailId;

/// The report of one pass over all accounts.
#[derive(Debug, Clone, Serialize)]
pub struct PassReport {
    pub entered: usize,
    pub duplicates: usize,
    pub unreadable: usize,
    /// The number of tasks that these mails opened.
    pub tasks: u64,
    /// What became of the newest of these mails.
    pub outcomes: Vec<MailOutcome>,
    pub waiting_for_you: usize,
    /// The accounts and files that could not be used, and why.
    pub troubles: Vec<String>,
    /// A notice, given once, that search by meaning became unavailable or is available again.
    pub memory: Option<String>,
    /// Why the configured model cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_note: Option<String>,
}

/// What became of one mail.
#[derive(Debug, Clone, Serialize)]
pub struct MailOutcome {
    pub mail_id: MailId,
    pub arrived_at: Instant,
    pub from: String,
    pub subject: String,
    pub state: MailState,
    /// Why there is a task, or none.
    pub reason: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<MailWarning>,
    pub tasks: Vec<TaskLine>,
}

/// A task in one line, as lists show it.
#[derive(Debug, Clone, Serialize)]
pub struct TaskLine {
    pub task_id: TaskId,
    pub number: Option<i64>,
    pub objective: String,
    pub priority: Priority,
    pub rule: String,
    pub status: TaskStatus,
    /// What happens next, and whose turn it is.
    pub next_step: String,
    pub deadline: Option<String>,
    pub warnings: Vec<WarningKind>,
}

impl From<&TaskRow> for TaskLine {
    fn from(row: &TaskRow) -> Self {
        Self {
            task_id: row.task.task_id,
            number: row.number,
            objective: row.task.objective.clone(),
            priority: row.task.priority,
            rule: row.rule.clone(),
            status: row.task.status,
            next_step: next_step(row),
            deadline: row.task.context.deadline.clone(),
            warnings: [WarningKind::Phishing, WarningKind::Injection]
                .into_iter()
                .filter(|kind| row.task.context.has_warning(*kind))
                .collect(),
        }
    }
}

/// Returns what happens next with a task, and whose turn it is.
pub fn next_step(row: &TaskRow) -> String {
    let tried = |step: &str| row.task.tool_output.as_ref().is_some_and(|output| output.contains_key(step));
    let readable = |step: &str| match step {
        "remind" if tried(step) => "nothing; it waits for its time".to_owned(),
        step => step.replace('_', " "),
    };
    match row.task.status {
        TaskStatus::Done => "done".into(),
        TaskStatus::Cancelled => "cancelled".into(),
        TaskStatus::WaitingHitl => "decide: adjutant hitl list".into(),
        _ => {
            let open = row.task.subtasks.iter().find(|subtask| !subtask.done && !tried(&subtask.step));
            open.or_else(|| row.task.subtasks.iter().find(|subtask| !subtask.done))
                .map_or_else(|| "you: say done".into(), |subtask| format!("you: {}", readable(&subtask.step)))
        }
    }
}

impl MailUseCases<'_> {
    /// Returns the number of the newest mail, from which a later report starts.
    pub async fn newest_id(self) -> anyhow::Result<ReportStart> {
        let newest = self.app.store.read(|reader| reader.ledger().list(None, 1)).await?;
        Ok(newest.first().map_or(MailId(0), |row| row.mail_id))
    }

    /// Returns the report about the mails after `since`.
    pub(in crate::app) async fn report_since(
        self,
        since: ReportStart,
        tally: IntakeCounts,
        troubles: Vec<String>,
    ) -> anyhow::Result<PassReport> {
        let outcomes = self.outcomes(since).await?;
        let (items, tasks) = self
            .app
            .store
            .read(move |reader| Ok((reader.approvals().open_items()?, reader.tasks().count_after(since)?)))
            .await?;
        let waiting_for_you = items.len();
        let IntakeCounts { entered, duplicates, unreadable, .. } = tally;
        Ok(PassReport {
            entered,
            duplicates,
            unreadable,
            tasks,
            outcomes,
            waiting_for_you,
            troubles,
            memory: None,
            model_note: self.app.model().warning(),
        })
    }

    /// Returns what became of the mails after `since`, oldest first; at most the newest 500.
    pub async fn outcomes(self, since: ReportStart) -> anyhow::Result<Vec<MailOutcome>> {
        let read = self.app.store.read(move |reader| {
            let rows = reader.ledger().list(None, 500)?;
            let mut outcomes = Vec::new();
            for row in rows.into_iter().rev().filter(|row| row.mail_id > since) {
                let tasks = match row.state {
                    MailState::Task => reader.tasks().of_mail(row.mail_id)?,
                    MailState::Linked => row
                        .task_id
                        .map(|id| reader.tasks().get(id).skip_unreadable())
                        .transpose()?
                        .flatten()
                        .into_iter()
                        .collect(),
                    _ => Vec::new(),
                };
                outcomes.push(outcome(row, &tasks));
            }
            Ok(outcomes)
        });
        Ok(read.await?)
    }
}

/// Returns the outcome of one mail with its tasks in the order of their numbers.
fn outcome(row: LedgerRow, tasks: &[TaskRow]) -> MailOutcome {
    let mut lines: Vec<TaskLine> = tasks.iter().map(TaskLine::from).collect();
    lines.sort_by_key(|line| line.number);
    MailOutcome {
        mail_id: row.mail_id,
        arrived_at: row.arrived_at,
        from: row.sender,
        subject: row.subject,
        state: row.state,
        reason: row.reason,
        warnings: row.warnings,
        tasks: lines,
    }
}
