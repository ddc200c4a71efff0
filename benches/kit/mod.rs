//! What the benchmarks share: the table they print, a folder on a real disk, CPU times, and generated mail.

#![allow(dead_code, reason = "each bench uses its part")]

pub(crate) mod copies;
pub(crate) mod cpu;
pub(crate) mod desk;
pub(crate) mod disk;
pub(crate) mod mails;

use std::io::{self, Write as _};

use anyhow::Context as _;

/// Creates a folder on the disk that holds the build. The system's folder for temporary files may be in memory, where
/// an fsync costs nothing.
pub(crate) fn folder() -> anyhow::Result<tempfile::TempDir> {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).context("making a folder for the bench")
}

/// Creates a runtime with as many threads as the program itself uses.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
    tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build().context("a runtime")
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// Returns the largest value.
pub(crate) fn best(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// The value that a figure should reach.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    None,
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    fn holds(self, value: f64) -> bool {
        match self {
            Goal::None => true,
            Goal::AtLeast(least) => value >= least,
            Goal::AtMost(most) => value <= most,
        }
    }
}

/// Prints one line per figure: name, value, unit, ratio, goal, and `ok` or `MISS`.
pub(crate) struct Table {
    title: &'static str,
    figures: usize,
    missed: usize,
}

impl Table {
    pub(crate) fn new(title: &'static str) -> anyhow::Result<Self> {
        line(&format!("{:<46} {:>10} {:<9} {:>6} {:>9}", title, "value", "unit", "ratio", "goal"))?;
        Ok(Self { title, figures: 0, missed: 0 })
    }

    /// Prints a figure whose value is compared with the goal.
    pub(crate) fn value(&mut self, name: &str, value: f64, unit: &str, goal: Goal) -> anyhow::Result<()> {
        self.row(name, value, unit, None, goal)
    }

    /// Prints a figure whose ratio, not its value, is compared with the goal.
    pub(crate) fn ratio(&mut self, name: &str, value: f64, unit: &str, ratio: f64, goal: Goal) -> anyhow::Result<()> {
        self.row(name, value, unit, Some(ratio), goal)
    }

    fn row(&mut self, name: &str, value: f64, unit: &str, ratio: Option<f64>, goal: Goal) -> anyhow::Result<()> {
        let held = goal.holds(ratio.unwrap_or(value));
        let (goal, verdict) = match goal {
            Goal::None => (String::new(), ""),
            Goal::AtLeast(least) => (format!(">= {least}"), if held { "ok" } else { "MISS" }),
            Goal::AtMost(most) => (format!("<= {most}"), if held { "ok" } else { "MISS" }),
        };
        self.figures += 1;
        self.missed += usize::from(!held);
        let ratio = ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        let digits = if value.abs() < 100.0 { 1 } else { 0 };
        line(&format!("{name:<46} {value:>10.digits$} {unit:<9} {ratio:>6} {goal:>9} {verdict}"))
    }

    /// Prints how many goals were missed. A missed goal does not fail the benchmark: machines differ.
    pub(crate) fn end(self) -> anyhow::Result<()> {
        let Self { title, figures, missed } = self;
        line(&format!("{title}: {figures} figures, {missed} missed their goal\n"))
    }
}

fn line(text: &str) -> anyhow::Result<()> {
    writeln!(io::stdout().lock(), "{}", text.trim_end()).context("printing")
}
