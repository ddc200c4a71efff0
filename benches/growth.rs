//! Benchmark (d): the rate of the whole path on a database with a thousand stored tasks compared with one with a
//! hundred thousand (a million with `BENCH_LONG=1`).
//!
//! The first thousand tasks are worked by the program itself. The rest are copies of all their rows under new ids,
//! search index and audit chain included, so that every table and index has its real form and size.

mod kit;

use std::{path::Path, time::Instant as Stopwatch};

use adjutant::app::{App, Worker};
use anyhow::{Context as _, ensure};
use kit::{Goal, Table, best, copies, desk, mails::Mix, median};

/// Mails that the program works itself.
const FIRST: u64 = 1_010;
/// New mails per measured round.
const FRESH: u64 = 600;
const ROUNDS: u64 = 3;
/// Share of mails that ask for something, in percent: nearly all, because tasks are what grows here.
const ASKING: u64 = 97;

fn main() -> anyhow::Result<()> {
    let long = std::env::var_os("BENCH_LONG").is_some_and(|value| value == "1");
    let copies = if long { 1_000 } else { 100 };
    let folder = kit::folder()?;
    let (small, large) = (folder.path().join("small"), folder.path().join("large"));
    let (small, large) = (Side::new(&small)?, Side::new(&large)?);
    let watch = Stopwatch::now();
    copies::fill(&large.root.join("data/tasks.db"), copies)?;
    let filled = watch.elapsed().as_secs_f64();
    let mut table = Table::new("(d) growth")?;
    let (few, many) = (small.settle()?, large.settle()?);
    table.value("filling the large database", filled, "s", Goal::None)?;
    let (mut rate_few, mut rate_many) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        rate_few.push(small.rate(round)?);
        rate_many.push(large.rate(round)?);
    }
    let ratios: Vec<f64> = rate_few.iter().zip(&rate_many).map(|(few, many)| many / few).collect();
    table.value(&format!("rate at {few} stored tasks"), best(&rate_few), "mails/s", Goal::None)?;
    let label = format!("rate at {many} stored tasks");
    table.ratio(&label, best(&rate_many), "mails/s", median(&ratios), Goal::AtLeast(0.7))?;
    table.end()
}

/// One home with its worker: the small one or the large one.
struct Side {
    root: std::path::PathBuf,
    runtime: tokio::runtime::Runtime,
    app: std::cell::OnceCell<(App, Worker)>,
}

impl Side {
    /// Creates the home, works the first mails and closes it again.
    fn new(root: &Path) -> anyhow::Result<Self> {
        let side = Self { root: root.to_owned(), runtime: kit::runtime()?, app: std::cell::OnceCell::new() };
        side.runtime.block_on(async {
            let app = desk::open(root).await?;
            desk::deliver(root, 0..FIRST, mix()?)?;
            let worker = desk::worker(&app).await?;
            let report = worker.run_once().await?;
            worker.stop().await;
            ensure!(report.entered as u64 == FIRST, "{} mails were entered", report.entered);
            anyhow::Ok(())
        })?;
        Ok(side)
    }

    /// Opens the home again, checks that its database is consistent, and lets the worker poll once. Returns the number
    /// of tasks.
    fn settle(&self) -> anyhow::Result<u64> {
        self.runtime.block_on(async {
            let app = desk::open(&self.root).await?;
            let (audit, illegal, unaccounted, tasks) = app
                .store
                .read(|reader| {
                    Ok((
                        reader.audit().verify(&[])?,
                        reader.tasks().count_illegal_transitions()?,
                        reader.ledger().count_unaccounted()?,
                        reader.tasks().counts()?,
                    ))
                })
                .await?;
            ensure!(
                audit.problem.is_none() && illegal == 0 && unaccounted.is_empty(),
                "the filled database is not consistent"
            );
            let worker = desk::worker(&app).await?;
            worker.run_once().await?;
            self.app.set((app, worker)).ok().context("settled twice")?;
            Ok(tasks.iter().map(|(_, count)| count).sum())
        })
    }

    /// Returns how many new mails per second are worked.
    fn rate(&self, round: u64) -> anyhow::Result<f64> {
        let (_, worker) = self.app.get().context("not settled")?;
        let start = FIRST + round * FRESH;
        desk::deliver(&self.root, start..start + FRESH, mix()?)?;
        let watch = Stopwatch::now();
        let report = self.runtime.block_on(worker.run_once())?;
        let took = watch.elapsed().as_secs_f64();
        ensure!(report.entered as u64 == FRESH, "{} of {FRESH} mails were entered", report.entered);
        Ok(FRESH as f64 / took)
    }
}

fn mix() -> anyhow::Result<Mix> {
    Ok(Mix { asking: ASKING, now: desk::now()? })
}
