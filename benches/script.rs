//! Benchmark: one script in the sandbox, its process included.

mod kit;

use std::{path::PathBuf, time::Instant as Stopwatch};

use anyhow::{Context as _, ensure};
use kit::{Goal, Table};
use script_sandbox::{Host, HostError, Limits, Sandbox, Stop};
use serde_json::{Value, json};

const ROUNDS: usize = 200;
/// A script as a worker writes it: some questions, a loop, a table.
const USUAL: &str = "const rows = [];\n\
    for (let page = 0; page < 10; page++) rows.push(...tasks({ page }).filter(task => task.open));\n\
    console.log(rows.length, 'rows');\n\
    return rows.map(task => ({ number: task.number, objective: task.objective.toUpperCase() }));";

/// Answers with twenty tasks.
struct Tasks;

impl Host for Tasks {
    fn functions(&self) -> Vec<&'static str> {
        vec!["tasks"]
    }

    fn call(&mut self, _: &str, _: Vec<Value>) -> Result<Value, HostError> {
        let task = |number: usize| json!({ "number": number, "objective": "pay the invoice", "open": number.is_multiple_of(2) });
        Ok((0..20).map(task).collect())
    }
}

fn main() -> anyhow::Result<()> {
    let mut table = Table::new("script")?;
    let sandbox = Sandbox::of_program(PathBuf::from(env!("CARGO_BIN_EXE_adjutant")), Limits::default());
    for (name, script) in
        [("a script of one expression, with its process", "6 * 7"), ("one that asks ten times", USUAL)]
    {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let watch = Stopwatch::now();
            let outcome = sandbox.run(script, &mut Tasks, &Stop::default());
            times.push(watch.elapsed().as_secs_f64() * 1e3);
            ensure!(outcome.result.is_ok(), "the script of the benchmark failed: {:?}", outcome.result);
        }
        table.value(name, kit::median(&times), "ms", Goal::AtMost(15.0))?;
        times.sort_by(f64::total_cmp);
        let slow = times.get(ROUNDS * 95 / 100).context("enough rounds")?;
        table.value("  one in twenty takes longer than", *slow, "ms", Goal::None)?;
    }
    table.end()
}
