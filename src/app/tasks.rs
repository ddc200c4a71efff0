//! Tasks as a person handles them.

use serde::Serialize;

use super::{App, LOCAL};
use crate::{
    model::{AccountId, Addressed, Context, Facts, Instant, Priority, Status, Subtask, Task, TaskId, UrgencyOrigin},
    store::{
        Receipt, Write,
        value::{
            FollowUp, HistoryRow, InvoiceRow, LedgerRow, OutboxRow, ReminderRow, RunRow, TaskEdit, TaskRow, TaskWish,
        },
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
    /// Later mails about the same, with the evidence.
    pub follow_ups: Vec<FollowUp>,
    /// Runs of it that wait for a cap, the grace, room in the queue or the end of a pause.
    pub waits: Vec<RunRow>,
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
        let now = self.clock.now();
        let detail = self.store.read(move |reader| {
            Ok(TaskDetail {
                facts: reader.task_facts(id)?,
                history: reader.task_history(id)?,
                effects: reader.actions_of_task(id)?,
                follow_ups: reader.follow_ups(id)?,
                waits: reader.set_aside(now)?.into_iter().filter(|run| run.task_id == Some(id)).collect(),
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

    /// A time to come as a person types it: a date, or "90m", "2h", "3d", "1w" from now.
    pub fn until(&self, typed: &str) -> anyhow::Result<Instant> {
        match from_now(typed) {
            Some(wait) => Ok(self.clock.now().plus(wait)),
            None => Ok(self.deadline(typed)?.1),
        }
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

fn from_now(typed: &str) -> Option<chrono::Duration> {
    /// Longer waits are dates, and mistakes.
    const MOST: i64 = 10_000;
    let typed = typed.trim().trim_start_matches("in ").trim();
    let unit = typed.trim_start_matches(|c: char| c.is_ascii_digit());
    let number: i64 = typed.strip_suffix(unit)?.parse().ok().filter(|number| (1..=MOST).contains(number))?;
    match unit.trim() {
        "m" | "min" | "minute" | "minutes" => Some(chrono::Duration::minutes(number)),
        "h" | "hour" | "hours" => Some(chrono::Duration::hours(number)),
        "d" | "day" | "days" => Some(chrono::Duration::days(number)),
        "w" | "week" | "weeks" => Some(chrono::Duration::weeks(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::from_now;

    #[test]
    fn waits_are_numbers_with_a_unit() {
        for (typed, minutes) in [
            ("90m", Some(90)),
            ("2h", Some(120)),
            ("in 2 hours", Some(120)),
            ("3d", Some(3 * 1440)),
            ("1 week", Some(7 * 1440)),
            ("0h", None),
            ("-2h", None),
            ("99999999999999999999h", None),
            ("10001w", None),
            ("2", None),
            ("h", None),
            ("tomorrow 9am", None),
            ("", None),
        ] {
            assert_eq!(from_now(typed).map(|wait| wait.num_minutes()), minutes, "{typed}");
        }
    }
}
