//! The use cases of tasks: listing, showing, adding, editing, reminders and invoices. Every change is one write of the
//! store, which checks the life cycle and records the history.

mod letter;
mod listing;
mod priority;
mod ranking;

pub use letter::name_recipients;
pub use listing::{OpenAge, TaskListUseCases};
pub use priority::PriorityExplanation;
use serde::Serialize;

use crate::{
    app::{App, BadInput, LOCAL_ACCOUNT},
    model::{
        AccountId, Actor, ContextDoc, ConversationId, Facts, FactsKind, FollowUp, HistoryRow, Instant, InvoiceRow,
        LedgerRow, NewReminder, OutboxRow, Priority, Recurrence, ReminderRow, RunRow, ShownReminder, Subtask, Task,
        TaskContext, TaskEdit, TaskEditKind, TaskId, TaskKind, TaskRow, TaskStatus,
    },
    reading::{self, facts_of_typed_task},
    store::{Receipt, SkipUnreadable as _, Write},
    tool::{
        remind::{ReminderRequest, is_reminder, reminder_time},
        say_when,
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
    /// The later mails about the same, each with the evidence.
    pub follow_ups: Vec<FollowUp>,
    /// What retrieve_context found for the task, the best first, each with its reasons.
    pub documents: Vec<ContextDoc>,
    /// The task's runs that wait for a rate limit, a grace, room in the queue or the end of a pause.
    pub waits: Vec<RunRow>,
}

/// A task that a person typed in.
#[derive(Debug, Clone, Default)]
pub struct NewTask {
    pub objective: String,
    /// The priority that the person chose; without one, the rules decide.
    pub priority: Option<Priority>,
    /// The deadline as it was typed, and as an instant.
    pub deadline: Option<(String, Instant)>,
    /// What is said about the task beside its objective.
    pub description: Option<String>,
}

/// Where a task comes from that a person asked for in a conversation. Its date was read by the assistant.
#[derive(Debug, Clone)]
pub(in crate::app) struct ChatOrigin {
    pub(in crate::app) conversation: ConversationId,
    /// The words that asked for a reminder; none for a task that is more than a reminder.
    pub(in crate::app) remind: Option<String>,
}

/// The use cases of tasks.
#[derive(Clone, Copy)]
pub struct TaskUseCases<'a> {
    pub(super) app: &'a App,
    /// Who changes tasks by this handle.
    pub(super) who: Actor,
}

impl TaskUseCases<'_> {
    /// Returns the open tasks that are not snoozed, the most urgent first; with `all`, every task.
    pub async fn list(self, all: bool, limit: usize) -> anyhow::Result<Vec<TaskRow>> {
        let open_at = (!all).then(|| self.app.clock.now());
        Ok(self.app.store.read(move |reader| reader.tasks().list(open_at, limit)).await?)
    }

    /// Returns how many tasks [`Self::list`] would return without a limit.
    pub async fn count(self, all: bool) -> anyhow::Result<u64> {
        let open_at = (!all).then(|| self.app.clock.now());
        Ok(self.app.store.read(move |reader| reader.tasks().count_listed(open_at)).await?)
    }

    /// Returns everything about a task. Facts or a mail that cannot be read are left out instead of failing the whole.
    pub async fn detail(self, reference: &str) -> anyhow::Result<TaskDetail> {
        let row = self.find(reference).await?;
        let (id, mail_id) = (row.task.task_id, row.mail_id);
        let now = self.app.clock.now();
        let detail = self.app.store.read(move |reader| {
            Ok(TaskDetail {
                facts: reader.tasks().facts(id).skip_unreadable()?,
                history: reader.tasks().history(id)?,
                effects: reader.outbox().of_task(id)?,
                follow_ups: reader.tasks().follow_ups(id)?,
                documents: reader.runs().documents_of_task(id)?,
                waits: reader.runs().deferred_of_task(id, now)?,
                mail: mail_id.map(|mail_id| reader.ledger().get(mail_id).skip_unreadable()).transpose()?.flatten(),
                row,
            })
        });
        Ok(detail.await?)
    }

    /// Applies an edit to a task. Returns the task after the edit.
    pub async fn edit(self, reference: &str, wish: TaskEditKind, why: &str) -> anyhow::Result<TaskRow> {
        self.edit_all(reference, vec![wish], why).await
    }

    /// Applies edits to a task, all of them or none. Returns the task after the edits.
    pub async fn edit_all(self, reference: &str, wishes: Vec<TaskEditKind>, why: &str) -> anyhow::Result<TaskRow> {
        let row = self.find(reference).await?;
        self.apply_edits(row.task.task_id, &row.account, wishes, why).await
    }

    /// Stores edits, and moves the task's reminder if its deadline changed. Returns the task after the edits.
    async fn apply_edits(
        self,
        task_id: TaskId,
        account: &AccountId,
        wishes: Vec<TaskEditKind>,
        why: &str,
    ) -> anyhow::Result<TaskRow> {
        let mut edits = Vec::with_capacity(wishes.len());
        for kind in wishes {
            let remind_at = reminder_time_after_edit(self.app, task_id, &kind).await?;
            let (user, why, at) = (self.app.user.clone(), why.to_owned(), self.app.clock.now());
            edits.push(TaskEdit { task_id, account: account.clone(), user, who: self.who, kind, why, at, remind_at });
        }
        let receipt = self.app.store.write(Write::EditTask(edits)).await?;
        let changed = if let Receipt::Task(changed) = receipt { changed } else { task_id };
        self.find(&changed.to_string()).await
    }

    /// Adds a typed task. "Remind me …" makes a reminder with its time and recurrence, anything else a step for the
    /// person.
    pub async fn add(self, new: NewTask) -> anyhow::Result<TaskRow> {
        self.add_to(new, AccountId::from(LOCAL_ACCOUNT), &["do_the_work"], None).await
    }

    /// Adds a typed task to an account, with these steps unless it is a reminder.
    pub(in crate::app) async fn add_to(
        self,
        mut new: NewTask,
        account: AccountId,
        steps: &[&str],
        origin: Option<ChatOrigin>,
    ) -> anyhow::Result<TaskRow> {
        let now = self.app.clock.now();
        let said = new.objective.trim().to_owned();
        if said.is_empty() {
            return Err(BadInput("a task needs an objective: adjutant tasks add \"Buy milk\"".into()).into());
        }
        let typed = origin.is_none();
        let asked = typed.then(|| reading::parse_reminder_request(&said, &self.app.config.me, now)).flatten();
        let found = match &asked {
            Some(asked) => asked.deadline.clone().zip(asked.due_at),
            None if typed => reading::parse_typed_date(&said, &self.app.config.me, now),
            None => None,
        };
        new.deadline = new.deadline.or(found);
        let objective = asked.as_ref().map_or(&said, |asked| &asked.objective).clone();
        // The random token keeps two equal tasks typed in the same second apart.
        let token = ulid::Ulid::generate().to_string();
        let task_id = TaskId::derive(now, &[LOCAL_ACCOUNT, &objective, &token]);
        // The words that asked for the reminder also say how often it comes.
        let remind = match &origin {
            Some(origin) => origin.remind.clone(),
            None => asked.is_some().then(|| said.clone()),
        };
        let kind = if remind.is_some() { TaskKind::Reminder } else { TaskKind::Request };
        let due = new.deadline.as_ref().map(|(_, at)| *at);
        let facts = facts_of_typed_task(&self.app.config.me, &objective, kind, due);
        let remind = remind.map(|words| {
            let deadline = new.deadline.as_ref().map(|(text, _)| text.as_str());
            let asked = ReminderRequest { kind: FactsKind::Task(kind), due, deadline, me: &self.app.config.me, now };
            NewReminder { at: reminder_time(&asked), every: Recurrence::find_in_text(&words) }
        });
        let steps = if remind.is_some() { &["remind"][..] } else { steps };
        // A priority that the person chose is also recorded as theirs below, so that no rule changes it later.
        let level = new.priority.unwrap_or_else(|| self.app.rules().load().rules.rank(&facts, now).level);
        let task = Task {
            task_id,
            created_at: now,
            source: source_of_typed_task(origin.as_ref(), self.who),
            objective: objective.clone(),
            context: TaskContext {
                deadline: new.deadline.map(|(text, _)| text),
                description: new.description,
                ..TaskContext::default()
            },
            priority: level,
            status: TaskStatus::New,
            subtasks: steps.iter().map(|step| Subtask { step: (*step).to_owned(), done: false }).collect(),
            assigned_agent: None,
            last_updated: now,
            tool_output: remind.as_ref().map(reminder_output),
            result_summary: None,
        };
        let mut wishes = vec![TaskEditKind::Add { task: Box::new(task), facts: Box::new(facts), remind }];
        wishes.extend(new.priority.map(TaskEditKind::Priority));
        self.apply_edits(task_id, &account, wishes, "added by hand").await
    }

    /// Parses a date that a person typed. Returns it as typed and as an instant.
    pub fn parse_deadline(self, typed: &str) -> anyhow::Result<(String, Instant)> {
        let when = crate::reading::parse_typed_date(typed, &self.app.config.me, self.app.clock.now());
        when.filter(|(_, at)| !has_misread_number(typed, at.utc().with_timezone(&self.app.config.me.time_zone)))
            .ok_or_else(|| {
                BadInput(format!(
                "'{typed}' is no time to come that I understand; try 2026-11-20, \"2026-11-20 17:00\" or \"friday 5pm\""
            ))
            .into()
            })
    }

    /// Parses a future time that a person typed: a date, or "90m", "2h", "3d", "1w" from now.
    pub fn parse_future_time(self, typed: &str) -> anyhow::Result<Instant> {
        match parse_duration(typed) {
            Some(wait) => Ok(self.app.clock.now().plus(wait)),
            None => Ok(self.parse_deadline(typed)?.1),
        }
    }

    /// Returns a sentence that says by when the task will be done.
    pub async fn say_when(self, reference: &str) -> anyhow::Result<String> {
        let row = self.find(reference).await?;
        let id = row.task.task_id;
        let facts = self.app.store.read(move |reader| reader.tasks().facts(id)).await?;
        let (me, now) = (&self.app.config.me, self.app.clock.now());
        let said = facts.and_then(|facts| say_when(&row.task, &facts, me, now));
        said.ok_or_else(|| {
            BadInput(format!(
                "task {reference} has no date to come: set one with `adjutant tasks set {reference} --due …`"
            ))
            .into()
        })
    }

    /// Returns the text by which the person declines.
    pub fn decline_text(self) -> anyhow::Result<String> {
        let text = self.app.config.me.decline.trim();
        if text.is_empty() {
            return Err(
                BadInput("no text to decline with is known; set decline of [me] in adjutant.toml".into()).into()
            );
        }
        Ok(text.to_owned())
    }

    pub async fn list_invoices(self) -> anyhow::Result<Vec<InvoiceRow>> {
        Ok(self.app.store.read(|reader| reader.tasks().invoices()).await?)
    }

    /// Returns the reminders that are due and were not shown yet.
    pub async fn due_reminders(self) -> anyhow::Result<Vec<ReminderRow>> {
        let now = self.app.clock.now();
        Ok(self.app.store.read(move |reader| reader.tasks().due_reminders(now)).await?)
    }

    /// Returns the reminders that were shown in the last day, for a person who was away from that terminal.
    pub async fn recent_reminders(self) -> anyhow::Result<Vec<ReminderRow>> {
        let now = self.app.clock.now();
        let since = now.plus(-chrono::Duration::hours(24));
        Ok(self.app.store.read(move |reader| reader.tasks().reminders_shown_since(since, now)).await?)
    }

    /// Marks reminders as shown. Must be called after they were printed, never before: a crash in between shows a
    /// reminder twice, and loses none.
    pub async fn mark_reminders_shown(self, reminders: &[ReminderRow]) -> anyhow::Result<()> {
        let (now, zone) = (self.app.clock.now(), self.app.config.me.time_zone);
        let shown = |row: &ReminderRow| ShownReminder {
            action_id: row.action_id,
            due_at: row.due_at,
            next: row.every.and_then(|every| every.next(row.first_at, now, zone)),
        };
        let shown = reminders.iter().map(shown).collect();
        self.app.store.write(Write::MarkRemindersShown { shown, at: now }).await?;
        Ok(())
    }
}

/// Returns where a typed task comes from: a conversation, a client, or the command line.
fn source_of_typed_task(origin: Option<&ChatOrigin>, who: Actor) -> String {
    match (origin, who) {
        (Some(origin), _) => format!("chat:{}", origin.conversation.as_str()),
        (None, Actor::Client(name)) => name.to_string(),
        (None, _) => format!("chat:{LOCAL_ACCOUNT}"),
    }
}

/// Returns when the task's reminder comes after its deadline was changed; none when the edit changes no deadline.
async fn reminder_time_after_edit(app: &App, task_id: TaskId, wish: &TaskEditKind) -> anyhow::Result<Option<Instant>> {
    let TaskEditKind::Deadline(deadline, due) = wish else { return Ok(None) };
    let facts = app.store.read(move |reader| reader.tasks().facts(task_id)).await?;
    let kind = facts.map(|facts| facts.kind).unwrap_or_default();
    let (me, now) = (&app.config.me, app.clock.now());
    let time = || reminder_time(&ReminderRequest { kind, due: *due, deadline: deadline.as_deref(), me, now });
    Ok((due.is_some() || is_reminder(kind)).then(time))
    // A task without a date needs no reminder, unless the task itself is a reminder.
}

/// Returns the output that the remind step of a typed reminder has from the beginning.
fn reminder_output(remind: &NewReminder) -> serde_json::Map<String, serde_json::Value> {
    let value = serde_json::json!({ "remind_at": remind.at, "every": remind.every });
    serde_json::Map::from_iter([("remind".to_owned(), value)])
}

/// Returns whether a typed number is neither the year nor the time that was understood, as in "1 Jan 99999".
fn has_misread_number(typed: &str, at: chrono::DateTime<chrono_tz::Tz>) -> bool {
    let understood = [at.format("%Y").to_string(), at.format("%H%M").to_string()];
    let mut numbers = typed.split(|c: char| !c.is_ascii_digit()).filter(|number| number.len() >= 4);
    numbers.any(|number| !understood.iter().any(|known| known == number))
}

/// Parses "90m", "2 hours", "3d" or "1 week". Returns none for anything else.
fn parse_duration(typed: &str) -> Option<chrono::Duration> {
    /// The largest number that is accepted; more is a mistake, or better typed as a date.
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
    use super::parse_duration;

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
            assert_eq!(parse_duration(typed).map(|wait| wait.num_minutes()), minutes, "{typed}");
        }
    }
}
