//! Tests lists by page: every task and every mail is on exactly one page, in order, and what is counted by triggers is
//! what a count of the rows says, whatever a person does.

use std::collections::BTreeSet;

use adjutant::{
    app::{App, NewTask},
    model::{
        AccountId, LedgerPageQuery, MailId, MailState, Priority, TaskEditKind, TaskPosition, TaskRow, TaskStatus,
        TaskView,
    },
};
use chrono::Duration;

use crate::support::test_home::{Kind, SeededRandom, TestHome};

/// How many tasks a home has, and how many random acts follow.
const TASKS: u64 = 60;
const ACTS: u64 = 150;

/// Adds tasks of every priority, with and without a deadline.
async fn add_tasks(app: &App, dice: &mut SeededRandom) {
    for nth in 0..TASKS {
        let priority = Priority::ALL[dice.below(4) as usize];
        // Few days, so that many tasks share a deadline.
        let due = app.clock.now().plus(Duration::days(1 + dice.below(4) as i64));
        let deadline = (dice.below(2) == 0).then(|| (due.to_string(), due));
        let new = NewTask { objective: format!("Task {nth}"), priority: Some(priority), deadline, description: None };
        app.tasks().add(new).await.unwrap();
    }
}

/// Does something that a person does to a random task. What the life cycle refuses is refused.
async fn act(app: &App, dice: &mut SeededRandom) {
    let task = (1 + dice.below(TASKS)).to_string();
    let now = app.clock.now();
    let wish = match dice.below(7) {
        0 => TaskEditKind::Done,
        1 => TaskEditKind::Cancel,
        2 => TaskEditKind::Reopen,
        3 => TaskEditKind::Snooze(Some(now.plus(Duration::hours(1 + dice.below(50) as i64)))),
        4 => TaskEditKind::Snooze(None),
        5 => TaskEditKind::Priority(Priority::ALL[dice.below(4) as usize]),
        _ => TaskEditKind::Deadline(None, Some(now.plus(Duration::days(dice.below(5) as i64)))),
    };
    drop(app.tasks().edit(&task, wish, "").await);
}

/// Returns the tasks of all pages of a list.
async fn all_pages(app: &App, view: TaskView, priority: Option<Priority>, size: usize) -> Vec<TaskRow> {
    let (mut rows, mut after): (Vec<TaskRow>, Option<TaskPosition>) = (Vec::new(), None);
    loop {
        let page = app.task_lists().page(view, priority, after, size).await.unwrap();
        assert!(page.rows.len() <= size);
        rows.extend(page.rows);
        match page.next {
            Some(next) => after = Some(next.to_string().parse().unwrap()),
            None => return rows,
        }
    }
}

fn numbers(rows: &[TaskRow]) -> Vec<i64> {
    rows.iter().map(|row| row.number.unwrap()).collect()
}

#[tokio::test]
async fn every_task_is_on_one_page_of_its_lists_in_order() {
    let mut dice = SeededRandom::thrown("task pages");
    let home = TestHome::active();
    let app = home.app().await;
    add_tasks(&app, &mut dice).await;
    for _ in 0..ACTS {
        act(&app, &mut dice).await;
    }
    // The list of the command line sorts all rows; the pages must come to the same.
    let open = app.tasks().list(false, usize::MAX).await.unwrap();
    assert!(open.len() > 10);
    for size in [1, 7, 1000] {
        assert_eq!(numbers(&all_pages(&app, TaskView::Open, None, size).await), numbers(&open), "{size} a page");
    }
    for priority in Priority::ALL.iter().copied() {
        let of_level: Vec<TaskRow> = open.iter().filter(|row| row.task.priority == priority).cloned().collect();
        assert_eq!(numbers(&all_pages(&app, TaskView::Open, Some(priority), 4).await), numbers(&of_level));
    }
    let now = app.clock.now();
    let all = app.tasks().list(true, usize::MAX).await.unwrap();
    let is_snoozed =
        |row: &&TaskRow| row.snooze_until.is_some_and(|until| until > now) && !row.task.status.is_terminal();
    let set = |rows: Vec<TaskRow>| numbers(&rows).into_iter().collect::<BTreeSet<i64>>();
    for (view, expected) in [
        (TaskView::Snoozed, all.iter().filter(is_snoozed).cloned().collect::<Vec<_>>()),
        (TaskView::Done, all.iter().filter(|row| row.task.status == TaskStatus::Done).cloned().collect()),
        (TaskView::Cancelled, all.iter().filter(|row| row.task.status == TaskStatus::Cancelled).cloned().collect()),
        (TaskView::InProgress, open.iter().filter(|row| row.task.status == TaskStatus::InProgress).cloned().collect()),
    ] {
        let found = all_pages(&app, view, None, 5).await;
        assert_eq!(found.len(), expected.len(), "{view}");
        assert_eq!(set(found), set(expected), "{view}");
    }
    let counts = app.task_lists().counts().await.unwrap();
    assert_eq!(counts.of(TaskView::Open), open.len() as u64);
    let ages = app.task_lists().open_ages().await.unwrap();
    let of_all_ages: u64 = ages.iter().map(|age| age.tasks).sum();
    assert_eq!(of_all_ages, counts.of(TaskView::Open) + counts.snoozed);
    must_be_counted(&home);
}

/// Compares every counter with the rows that it counts.
fn must_be_counted(home: &TestHome) {
    let stage =
        "CASE t.status WHEN 'IN_PROGRESS' THEN 'in_progress' WHEN 'WAITING_HITL' THEN 'waiting' WHEN 'DONE' THEN 'done'
                 WHEN 'CANCELLED' THEN 'cancelled' ELSE 'ready' END";
    let from = "FROM tasks t JOIN task_owner o USING (task_id) WHERE o.number IS NOT NULL";
    for (counted, rows) in [
        (
            "SELECT user_id, stage, tasks FROM task_count WHERE tasks <> 0 ORDER BY 1, 2".to_owned(),
            format!("SELECT o.user_id, {stage}, count(*) {from} GROUP BY 1, 2 ORDER BY 1, 2"),
        ),
        (
            "SELECT hour, tasks FROM task_opened WHERE tasks <> 0 ORDER BY 1".to_owned(),
            format!(
                "SELECT substr(t.created_at, 1, 13), count(*) {from} AND t.status NOT IN ('DONE', 'CANCELLED') GROUP BY 1 ORDER BY 1"
            ),
        ),
        (
            "SELECT task_id, stage FROM task_listing ORDER BY 1".to_owned(),
            format!("SELECT t.task_id, {stage} {from} AND t.status <> 'CANCELLED' ORDER BY 1"),
        ),
        (
            "SELECT task_id, stage FROM task_ended ORDER BY 1".to_owned(),
            format!("SELECT t.task_id, {stage} {from} AND t.status IN ('DONE', 'CANCELLED') ORDER BY 1"),
        ),
        (
            "SELECT account, state, mails FROM mail_count WHERE mails <> 0 ORDER BY 1, 2".to_owned(),
            "SELECT account, state, count(*) FROM ledger GROUP BY 1, 2 ORDER BY 1, 2".to_owned(),
        ),
        (
            "SELECT quarter, state, mails FROM mail_arrived WHERE mails <> 0 ORDER BY 1, 2".to_owned(),
            "SELECT unixepoch(arrived_at) / 900, state, count(*) FROM ledger GROUP BY 1, 2 ORDER BY 1, 2".to_owned(),
        ),
    ] {
        assert_eq!(home.sql(&counted), home.sql(&rows), "{counted}");
    }
}

#[tokio::test]
async fn every_mail_is_on_one_page_and_on_one_day() {
    // The sample mails arrive when they are written, so the clock must go.
    let home = TestHome::real_time(Kind::Samples);
    home.once().await;
    let app = home.app().await;
    let rows = app.mail().list(None, usize::MAX).await.unwrap();
    assert!(rows.len() > 20);
    // Corrections move mails from one outcome to another.
    let first = |state: MailState| rows.iter().find(|row| row.state == state).unwrap().mail_id;
    app.mail().mark_not_a_task(first(MailState::Task), "").await.unwrap();
    app.mail().make_task(first(MailState::NoTask), "").await.unwrap();
    home.once().await;
    must_be_counted(&home);
    let rows = app.mail().list(None, usize::MAX).await.unwrap();
    let samples = AccountId::from("samples");
    for account in [None, Some(samples), Some(AccountId::from("nobody"))] {
        for state in [None, Some(MailState::Task), Some(MailState::NoTask), Some(MailState::Gone)] {
            let expected: Vec<MailId> = rows
                .iter()
                .filter(|row| account.as_ref().is_none_or(|account| row.account == *account))
                .filter(|row| state.is_none_or(|state| row.state == state))
                .map(|row| row.mail_id)
                .collect();
            let (mut found, mut before) = (Vec::new(), None);
            loop {
                let query = LedgerPageQuery { account: account.clone(), state, before, limit: 4 };
                let page = app.mail().page(query).await.unwrap();
                found.extend(page.rows.iter().map(|row| row.mail_id));
                before = page.next;
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(found, expected, "{account:?} {state:?}");
        }
    }
    let days = app.mail().outcomes_by_day(14).await.unwrap();
    assert_eq!(days.len(), 14);
    let counted: u64 = days.iter().flat_map(|day| day.outcomes.values()).sum();
    assert_eq!(counted, rows.len() as u64, "{days:?}");
}

#[tokio::test]
async fn an_older_database_is_counted_when_it_is_migrated() {
    let home = TestHome::samples();
    home.once().await;
    // The same rows as a program without these tables would have left them.
    home.database()
        .execute_batch(
            "DELETE FROM task_count; DELETE FROM task_opened; DELETE FROM task_ended; DELETE FROM mail_count; DELETE FROM mail_arrived;",
        )
        .unwrap();
    let migration = include_str!("../../migrations/0032_listings.sql");
    let fills: Vec<&str> = migration.split(";\n").map(str::trim).filter(|sql| is_fill(sql)).collect();
    assert_eq!(fills.len(), 6, "{fills:?}");
    let connection = home.database();
    // In a migration the triggers are made after the rows, and do not count them a second time.
    connection.execute_batch("DROP TRIGGER task_ended_counted").unwrap();
    for fill in fills {
        connection.execute_batch(fill).unwrap();
    }
    must_be_counted(&home);
}

/// Returns whether a statement of the migration puts rows into a new table.
fn is_fill(sql: &str) -> bool {
    let begins = sql.lines().find(|line| !line.starts_with("--")).is_some_and(|line| line.starts_with("INSERT INTO"));
    // Statements of a trigger name its row.
    begins && !sql.contains("NEW.")
}
