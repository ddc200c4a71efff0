//! Tests that a reminder is done when it was shown at its time or at the next start after it: never before, never lost,
//! never after a cancellation. The oracle is what was asked for and what was printed.

use std::collections::HashMap;

use adjutant::{
    app::{App, NewTask},
    model::{Instant, Recurrence, TaskEditKind, TaskId},
};
use chrono::Duration;

use crate::support::test_home::{Kind, NOW, SeededRandom, TestHome};

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

/// What every door does: print, then mark. With `killed` the process dies in between.
async fn show(app: &App, printed: &mut Vec<(TaskId, Instant, Instant)>, killed: bool) {
    let due = app.tasks().due_reminders().await.unwrap();
    let now = app.clock.now();
    printed.extend(due.iter().map(|row| (row.task_id, row.due_at, now)));
    if !killed {
        app.tasks().mark_reminders_shown(&due).await.unwrap();
    }
}

fn note(home: &TestHome, id: &str, text: &str) {
    home.post(&home.letter(id).from("Alex Green <you@home.example>").body(&format!("{text}\n")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumped_ahead_and_back_does_not_silence_a_recurring_reminder() {
    let home = TestHome::active();
    let app = home.app().await;
    let objective = "remind me to water the plants every day at 9am".into();
    app.tasks().add(NewTask { objective, ..NewTask::default() }).await.unwrap();
    let (mut printed, years) = (Vec::new(), 1500 * 24 * 3600);
    home.clock.advance(years);
    show(&app, &mut printed, false).await;
    home.clock.advance(-years);
    for _ in 0..4 {
        show(&app, &mut printed, false).await;
        home.clock.advance(24 * 3600);
    }
    assert_eq!(printed.len(), 4, "once in the future, once at once, then every day again: {printed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_hour_that_has_passed_today_is_meant_for_tomorrow() {
    let home = TestHome::active();
    note(&home, "pills", "Remind me to take the pills at 06:15.");
    home.once().await;
    let app = home.app().await;
    let objective = "remind me to feed the cat at 6am".into();
    app.tasks().add(NewTask { objective, ..NewTask::default() }).await.unwrap();
    let due = home.sql("SELECT due_at FROM reminder ORDER BY due_at");
    assert_eq!(due, [["2026-11-17T06:00:00Z"], ["2026-11-17T06:15:00Z"]], "now is {NOW}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_to_oneself_is_shown_at_its_time_and_done_then() {
    let home = TestHome::active();
    note(&home, "plumber", "Remind me to call the plumber at 14:30.");
    home.once().await;
    assert_eq!(home.sql("SELECT due_at FROM reminder"), [["2026-11-16T14:30:00Z"]]);
    let open = home.sql("SELECT status, result_summary FROM tasks");
    assert_eq!(open, [["IN_PROGRESS", "Waits for its time: remind."]]);
    let app = home.app().await;
    let mut printed = Vec::new();
    home.clock.advance(6 * 3600);
    show(&app, &mut printed, false).await;
    assert!(printed.is_empty(), "it is 14:00");
    home.clock.advance(30 * 60);
    show(&app, &mut printed, true).await;
    assert_eq!(home.sql("SELECT status FROM tasks"), [["IN_PROGRESS"]], "killed before it was marked");
    show(&app, &mut printed, false).await;
    assert_eq!(printed.len(), 2, "shown again at the next start");
    assert_eq!(home.sql("SELECT status FROM tasks"), [["DONE"]]);
    let history = home.sql("SELECT to_value, who FROM task_history WHERE field = 'status' ORDER BY entry DESC LIMIT 1");
    assert_eq!(history, [["DONE", "reminder"]]);
    show(&app, &mut printed, false).await;
    assert_eq!(printed.len(), 2);
    assert_eq!(app.tasks().recent_reminders().await.unwrap().len(), 1, "a person who was away still sees it");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn typed_reminders_have_their_time_and_come_back() {
    let home = TestHome::active();
    let app = home.app().await;
    let add = async |text: &str| {
        app.tasks().add(NewTask { objective: text.into(), ..NewTask::default() }).await.unwrap().task.task_id
    };
    let plumber = add("Remind me to call the plumber at 14:30").await;
    let plants = add("Remind me every Monday at 9am to water the plants").await;
    let milk = add("Buy milk").await;
    let row =
        |task: TaskId| home.sql(&format!("SELECT due_at, coalesce(every, '') FROM reminder WHERE task_id = '{task}'"));
    assert_eq!(row(plumber), [["2026-11-16T14:30:00Z", ""]]);
    assert_eq!(row(plants)[0][1], "7d");
    assert!(row(milk).is_empty(), "not every task is a reminder");
    assert_eq!(
        home.sql_one(&format!("SELECT objective FROM tasks WHERE task_id = '{plumber}'")),
        "Call the plumber at 14:30"
    );
    let first = at(&row(plants)[0][0]);
    assert!(first > app.clock.now(), "{first}");
    let mut printed = Vec::new();
    for _ in 0..15 {
        home.clock.advance(24 * 3600);
        show(&app, &mut printed, false).await;
    }
    let shown = |task| printed.iter().filter(|(id, ..)| *id == task).count();
    assert_eq!(shown(plumber), 1);
    assert!((2..=3).contains(&shown(plants)), "{printed:?}");
    assert_eq!(
        home.sql_one(&format!("SELECT status FROM tasks WHERE task_id = '{plants}'")),
        "READY",
        "it comes again"
    );
    assert!(at(&row(plants)[0][0]) > app.clock.now());
    app.tasks().edit(&plants.to_string(), TaskEditKind::Cancel, "").await.unwrap();
    let before = printed.len();
    home.clock.advance(30 * 24 * 3600);
    show(&app, &mut printed, false).await;
    assert_eq!(printed.len(), before, "never after a cancel");
}

/// What a person has asked for.
struct Asked {
    due: Instant,
    every: Option<Recurrence>,
    first: Instant,
    snoozed: Option<Instant>,
    open: bool,
}

impl Asked {
    fn counts_from(&self) -> Instant {
        self.snoozed.map_or(self.due, |until| until.max(self.due))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_happens_each_is_shown_at_its_time_and_none_is_lost() {
    let steps = std::env::var("IT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(220);
    let mut dice = SeededRandom::thrown("reminders");
    let home = TestHome::active();
    let mut app = home.app().await;
    let mut asked: HashMap<TaskId, Asked> = HashMap::new();
    let mut ids: Vec<TaskId> = Vec::new();
    let (mut shown, mut again, mut deaths) = (0, 0, 0);
    for step in 0..steps {
        let now = app.clock.now();
        let later = |dice: &mut SeededRandom| now.plus(Duration::minutes(1 + dice.below(2 * 24 * 60) as i64));
        let pick = |dice: &mut SeededRandom, ids: &[TaskId]| ids.get(dice.below(ids.len() as u64) as usize).copied();
        match dice.below(9) {
            0 | 1 => {
                let every = [None, None, Some("every day"), Some("every two weeks")][dice.below(4) as usize];
                let text = format!("Remind me {} to do thing {step}", every.unwrap_or_default());
                let due = later(&mut dice);
                let deadline = Some((due.to_string(), due));
                let row = app.tasks().add(NewTask { objective: text, deadline, ..NewTask::default() }).await.unwrap();
                let every = every.and_then(Recurrence::find_in_text);
                ids.push(row.task.task_id);
                asked.insert(row.task.task_id, Asked { due, every, first: due, snoozed: None, open: true });
            }
            2 => {
                let Some(task) = pick(&mut dice, &ids).filter(|task| asked[task].open) else { continue };
                let due = later(&mut dice);
                let wish = TaskEditKind::Deadline(Some(due.to_string()), Some(due));
                app.tasks().edit(&task.to_string(), wish, "").await.unwrap();
                let known = asked.get_mut(&task).unwrap();
                (known.due, known.first) = (due, due);
            }
            3 => {
                let Some(task) = pick(&mut dice, &ids).filter(|task| asked[task].open) else { continue };
                let until = if dice.below(4) == 0 { None } else { Some(later(&mut dice)) };
                app.tasks().edit(&task.to_string(), TaskEditKind::Snooze(until), "").await.unwrap();
                asked.get_mut(&task).unwrap().snoozed = until;
            }
            4 => {
                let Some(task) = pick(&mut dice, &ids).filter(|task| asked[task].open) else { continue };
                let wish = if dice.below(2) == 0 { TaskEditKind::Cancel } else { TaskEditKind::Done };
                app.tasks().edit(&task.to_string(), wish, "").await.unwrap();
                asked.get_mut(&task).unwrap().open = false;
            }
            5 => home.clock.advance(dice.below(3 * 24 * 3600) as i64),
            6 => home.clock.advance(60 + dice.below(3600) as i64),
            // A start anew.
            7 => app = home.app().await,
            _ => home.clock.advance(1 + dice.below(30) as i64),
        }
        // A door opens; sometimes it dies between printing and marking.
        if dice.below(3) > 0 {
            let now = app.clock.now();
            let killed = dice.below(4) == 0;
            let mut printed = Vec::new();
            show(&app, &mut printed, killed).await;
            for (task, known) in &asked {
                let times = printed.iter().filter(|(id, ..)| id == task).count();
                let expected = usize::from(known.open && known.counts_from() <= now);
                assert_eq!(times, expected, "step {step}: task {task} due {} at {now}", known.counts_from());
            }
            shown += printed.len();
            again += if killed { printed.len() } else { 0 };
            deaths += usize::from(killed);
            if !killed {
                for (task, ..) in &printed {
                    let known = asked.get_mut(task).unwrap();
                    match known.every {
                        Some(every) => known.due = every.next(known.first, now, chrono_tz::UTC).unwrap(),
                        None => known.open = false,
                    }
                }
            }
        }
    }
    for (task, known) in &asked {
        let status = home.sql_one(&format!("SELECT status FROM tasks WHERE task_id = '{task}'"));
        assert_eq!(["DONE", "CANCELLED"].contains(&status.as_str()), !known.open, "{task}: {status}");
    }
    println!("{} reminders, {shown} shown, {again} of them before a kill", asked.len());
    // Every look compares what was printed with what was asked for, so a lost one would have ended this.
    println!("campaign name=reminders asked={steps} run={steps} deaths={deaths} lost=0");
    assert!(shown > 10);
    home.must_be_sound().await;
}

/// The real time and the real binary: what is due stands before the answer of every command, once.
#[test]
fn every_command_says_what_is_due_and_a_program_is_not_told() {
    let home = TestHome::real_time(Kind::Active);
    let commands: &[&[&str]] = &[
        &["tasks"],
        &["hitl", "list"],
        &["digest"],
        &["once"],
        &["mail", "list"],
        &["doctor"],
        &["search", "plumber"],
        &["rules", "history"],
    ];
    for (nth, command) in commands.iter().enumerate() {
        let what = format!("call plumber number {nth}");
        let added = home.run(&["tasks", "add", &format!("Remind me to {what}"), "--due", "tomorrow 9am"]);
        assert_eq!(added.code, 0, "{}", added.err);
        assert!(!home.run(command).err.contains(&what), "{command:?}: not before its time");
        // Its time comes.
        let past = home.clock.now().plus(Duration::seconds(-5));
        home.database().execute("UPDATE reminder SET due_at = ?1 WHERE told_at IS NULL", [past.to_string()]).unwrap();
        let mut json = vec!["--json"];
        json.extend(*command);
        let told = home.run(&json);
        assert!(!told.err.contains(&what), "{command:?}: {}", told.err);
        serde_json::from_str::<serde_json::Value>(&told.out).unwrap();
        let shown = home.run(command);
        let line = format!("Due now: {}", capitalised(&what));
        assert!(shown.err.contains(&line) && shown.code == 0, "{command:?}: {}{}", shown.out, shown.err);
        assert!(!home.run(command).err.contains(&line), "{command:?}: once");
        let done = home.sql("SELECT status FROM tasks ORDER BY task_id DESC LIMIT 1");
        assert_eq!(done, [["DONE"]], "{command:?}");
    }
    // A daemon prints it itself, at its start too.
    let added = home.run(&["tasks", "add", "Remind me to feed the cat", "--due", "tomorrow 9am"]);
    assert_eq!(added.code, 0, "{}", added.err);
    home.database().execute("UPDATE reminder SET due_at = '2026-01-01T00:00:00Z' WHERE told_at IS NULL", []).unwrap();
    let mut daemon = home.daemon();
    daemon.until("Reminder: Feed the cat");
    crate::support::test_home::eventually("it is done", || {
        (home.count("reminder WHERE shown_at IS NULL") == 0).then_some(())
    });
    assert_eq!(daemon.stop("TERM").0, 0);
    assert!(home.run(&["tasks"]).err.contains("Reminded: Feed the cat"), "to a person who was not there");
}

fn capitalised(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

#[test]
fn the_clock_of_these_tests_is_a_monday_morning() {
    assert_eq!(at(NOW).utc().format("%A").to_string(), "Monday");
}
