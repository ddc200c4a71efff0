//! Tasks as a person handles them.

use serde::Serialize;

use super::{App, LOCAL};
use crate::{
    model::{AccountId, Addressed, Context, Facts, Instant, Priority, Status, Subtask, Task, TaskId, UrgencyOrigin},
    store::{
        Receipt, Write,
        value::{HistoryRow, InvoiceRow, LedgerRow, OutboxRow, ReminderRow, TaskEdit, TaskRow, TaskWish},
    },
};

/// Everything about one task.
#[derive(Debug, Serialize)]
pub struct TaskDetail {
    #[serde(flatten)]
    pub row: TaskRow,
    pub facts: Option<Facts>,
    pub history: Vec<HistoryRow>,
    pub effects: Vec<OutboxRow>,
    pub mail: Option<LedgerRow>,
}

/// A task typed in by hand.
#[derive(Debug, Clone, Default)]
pub struct NewTask {
    pub objective: String,
    pub priority: Option<Priority>,
    /// As typed and as an instant.
    pub deadline: Option<(String, Instant)>,
}

impl App {
    pub async fn tasks(&self, all: bool, limit: usize) -> anyhow::Result<Vec<TaskRow>> {
        let now = self.clock.now();
        let mut rows = self.store.read(move |reader| reader.tasks(all, limit)).await?;
        if !all {
            rows.retain(|row| row.snooze_until.is_none_or(|until| until <= now));
        }
        Ok(rows)
    }

    pub async fn task_detail(&self, reference: &str) -> anyhow::Result<TaskDetail> {
        let row = self.task_named(reference).await?;
        let (id, mail_id) = (row.task.task_id, row.mail_id);
        let detail = self.store.read(move |reader| {
            Ok(TaskDetail {
                facts: reader.task_facts(id)?,
                history: reader.task_history(id)?,
                effects: reader.actions_of_task(id)?,
                mail: mail_id.map(|mail_id| reader.ledger_entry(mail_id)).transpose()?.flatten(),
                row,
            })
        });
        Ok(detail.await?)
    }

    /// Does what the person wishes; the task after it.
    pub async fn edit_task(&self, reference: &str, wish: TaskWish, why: &str) -> anyhow::Result<TaskRow> {
        let row = self.task_named(reference).await?;
        self.apply_edit(row.task.task_id, row.account, wish, why).await
    }

    async fn apply_edit(
        &self,
        task_id: TaskId,
        account: AccountId,
        wish: TaskWish,
        why: &str,
    ) -> anyhow::Result<TaskRow> {
        let edit =
            TaskEdit { task_id, account, user: self.user.clone(), wish, why: why.to_owned(), at: self.clock.now() };
        let receipt = self.store.write(Write::EditTask(Box::new(edit))).await?;
        let changed = if let Receipt::Task(changed) = receipt { changed } else { task_id };
        self.task_named(&changed.to_string()).await
    }

    pub async fn add_task(&self, new: NewTask) -> anyhow::Result<TaskRow> {
        let now = self.clock.now();
        let objective = new.objective.trim().to_owned();
        anyhow::ensure!(!objective.is_empty(), "a task needs an objective: adjutant tasks add \"Buy milk\"");
        // Two tasks typed in the same second are two tasks.
        let token = ulid::Ulid::generate().to_string();
        let task_id = TaskId::derive(now, &[LOCAL, &objective, &token]);
        let facts = self.facts_by_hand(&objective, new.deadline.as_ref().map(|(_, at)| *at));
        let level = new.priority.unwrap_or_else(|| self.rules().rules.judge(&facts, now).level);
        let task = Task {
            task_id,
            created_at: now,
            source: format!("chat:{LOCAL}"),
            objective: objective.clone(),
            context: Context { deadline: new.deadline.map(|(text, _)| text), ..Context::default() },
            priority: level,
            status: Status::New,
            subtasks: vec![Subtask { step: "do_the_work".into(), done: false }],
            assigned_agent: None,
            last_updated: now,
            tool_output: None,
            result_summary: None,
        };
        let wish = TaskWish::Add { task: Box::new(task), facts: Box::new(facts) };
        let row = self.apply_edit(task_id, AccountId::from(LOCAL), wish, "added by hand").await?;
        match new.priority {
            Some(level) => self.apply_edit(task_id, row.account, TaskWish::Priority(level), "set when added").await,
            None => Ok(row),
        }
    }

    fn facts_by_hand(&self, objective: &str, due_at: Option<Instant>) -> Facts {
        let own = self.config.me.addresses.first().cloned().unwrap_or_default();
        Facts {
            sender_domain: own.rsplit_once('@').map_or(String::new(), |(_, domain)| domain.to_owned()),
            sender: own,
            sender_verified: true,
            known_contact: true,
            addressed: Addressed::To,
            list_id: None,
            subject: objective.to_owned(),
            objective: objective.to_owned(),
            kind: "request".into(),
            language: if objective.chars().any(|c| ('א'..='ת').contains(&c)) { "he" } else { "en" }.into(),
            amount: None,
            due_at,
            urgency: 0.0,
            urgency_origin: UrgencyOrigin::BuiltIn,
            attachment: false,
            thread_mine: false,
            account: LOCAL.into(),
        }
    }

    /// A date as a person types it.
    pub fn deadline(&self, typed: &str) -> anyhow::Result<(String, Instant)> {
        let when = crate::planner::when(typed, &self.config.me, self.clock.now());
        when.ok_or_else(|| {
            anyhow::anyhow!(
                "'{typed}' is no time to come that I understand; try 2026-11-20, \"2026-11-20 17:00\" or \"friday 5pm\""
            )
        })
    }

    pub async fn invoices(&self) -> anyhow::Result<Vec<InvoiceRow>> {
        Ok(self.store.read(|reader| reader.invoices()).await?)
    }

    /// What is due now: shown once in every door.
    pub async fn due_reminders(&self) -> anyhow::Result<Vec<ReminderRow>> {
        let now = self.clock.now();
        Ok(self.store.read(move |reader| reader.due_reminders(now)).await?)
    }

    /// What came due in the last day, whichever door showed it first.
    pub async fn recent_reminders(&self) -> anyhow::Result<Vec<ReminderRow>> {
        let now = self.clock.now();
        let since = now.plus(-chrono::Duration::hours(24));
        Ok(self.store.read(move |reader| reader.recent_reminders(since, now)).await?)
    }

    pub async fn reminders_shown(&self, reminders: &[ReminderRow]) -> anyhow::Result<()> {
        let actions = reminders.iter().map(|reminder| reminder.action_id).collect();
        self.store.write(Write::RemindersShown { actions, at: self.clock.now() }).await?;
        Ok(())
    }
}
