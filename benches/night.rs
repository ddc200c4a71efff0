//! Benchmark: the cost of `what-if`, which ranks 100,000 stored tasks by another rules file, compared with ranking each
//! of them once.

mod kit;

use std::time::Instant as Stopwatch;

use adjutant::{
    app::App,
    clock::Clock,
    config::{Config, Home},
    rules::{BUILT_IN, RuleSet},
};
use anyhow::ensure;
use kit::{Goal, Table, desk};
use rusqlite::Connection;

const TASKS: i64 = 100_000;

fn main() -> anyhow::Result<()> {
    let folder = kit::folder()?;
    App::init_home(folder.path())?;
    let home = Home::at(folder.path().to_owned());
    let runtime = kit::runtime()?;
    let now = desk::now()?;
    let config = Config { state_folder: Some(folder.path().join("state")), ..Config::load(&home)? };
    let open = || App::open(home.clone(), config.clone(), Clock::stopped_at(now));
    drop(runtime.block_on(open())?);
    fill(&Connection::open(home.database())?)?;
    let other = folder.path().join("other.yml");
    std::fs::write(&other, BUILT_IN.replace("default: low", "default: med"))?;
    let app = runtime.block_on(open())?;
    let mut times = Vec::new();
    for _ in 0..3 {
        let watch = Stopwatch::now();
        let answer = runtime.block_on(app.rules().what_if(&other))?;
        times.push(watch.elapsed().as_secs_f64());
        ensure!(
            answer.past == TASKS as usize && answer.raised > 0,
            "{} looked at, {} raised",
            answer.past,
            answer.raised
        );
    }
    let once = judged(&app, now)?;
    let mut table = Table::new("night")?;
    table.value("what-if over 100,000 tasks", kit::median(&times), "s", Goal::AtMost(2.0))?;
    table.ratio("the same against judging each once, one core", once, "s", kit::median(&times) / once, Goal::None)?;
    table.end()
}

/// Returns the seconds it takes to read every task and rank it once.
fn judged(app: &App, now: adjutant::model::Instant) -> anyhow::Result<f64> {
    let rules = RuleSet::parse("built in", BUILT_IN)?;
    let watch = Stopwatch::now();
    let past = app.store.read_blocking(|reader| reader.nightly().past_tasks(None))?;
    let high = past.iter().filter(|task| rules.rank(&task.facts, now).level >= adjutant::model::Priority::Med).count();
    ensure!(high > 0, "nothing is of importance");
    Ok(watch.elapsed().as_secs_f64())
}

/// Fills the database with tasks as the program stores them.
fn fill(connection: &Connection) -> anyhow::Result<()> {
    connection.execute_batch("PRAGMA foreign_keys = OFF; BEGIN")?;
    let kinds = ["question", "request", "invoice", "alert", "meeting", "deadline"];
    let subjects = [
        "When will you be back?",
        "Invoice 4711",
        "The site is down",
        "Lunch on Friday",
        "Offer ends tonight",
        "Re: the figures",
    ];
    for nth in 0..TASKS {
        let id = ulid::Ulid::from_parts(1_760_000_000_000 + u64::try_from(nth)? * 1000, u128::from(nth.unsigned_abs()))
            .to_string();
        let pick = |all: &[&'static str], at: i64| all.get(usize::try_from(at % 6).unwrap_or_default()).copied();
        let (kind, subject) = (pick(&kinds, nth).unwrap_or_default(), pick(&subjects, nth / 6).unwrap_or_default());
        connection.prepare_cached("INSERT INTO tasks VALUES (?1, '2025-10-09T08:53:20Z', 'email:x', ?2, '{}', 'low', 'NEW', '[]', NULL, '2025-10-09T08:53:20Z', NULL, NULL)")?
            .execute((&id, format!("Answer {subject} from somebody, number {nth}")))?;
        connection.prepare_cached("UPDATE tasks SET status = 'READY' WHERE task_id = ?1")?.execute([&id])?;
        connection
            .prepare_cached(
                "INSERT INTO task_owner (task_id, account, user_id, number) VALUES (?1, 'local', 'me', ?2)",
            )?
            .execute((&id, nth + 1))?;
        connection.prepare_cached("INSERT INTO task_facts VALUES (?1, ?2, ?3, ?4, 0, 'to', NULL, ?5, ?6, ?7, 'en', NULL, ?8, 0.2, 'built_in', 0, 0, 'local')")?
            .execute((&id, format!("p{}@d{}.example", nth % 500, nth % 90), format!("d{}.example", nth % 90), nth % 3 != 0, subject,
                format!("Answer {subject} from somebody"), kind, (nth % 7 == 0).then_some("2025-10-10T08:00:00Z")))?;
    }
    connection.execute_batch("COMMIT")?;
    Ok(())
}
