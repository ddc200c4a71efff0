//! Benchmark (c): the CPU time of starting the program, and the memory of an idle daemon.

mod kit;

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, ensure};
use kit::{Goal, Table, cpu};

const PROGRAM: &str = env!("CARGO_BIN_EXE_adjutant");
/// Number of starts. Times come in ticks of 10 ms, which over this many starts is half a percent of the goal.
const STARTS: u32 = 60;
/// How long the daemon is left alone before its memory is measured.
const SETTLED: Duration = Duration::from_secs(3);

fn main() -> anyhow::Result<()> {
    let folder = kit::folder()?;
    let home = folder.path();
    ensure!(adjutant(home, &["init"]).status()?.success(), "the home could not be made");
    let mut table = Table::new("(c) start and rest")?;
    // The first daemon works the samples, some of whose sentences are in doubt. The second finds nothing to work.
    let after = rest(home)?;
    let before = rest(home)?;
    table.value("CPU to start: tasks --json on the samples", start(home)?, "ms", Goal::AtMost(30.0))?;
    table.value("memory of an idle daemon (RssAnon)", before.own, "MB", Goal::AtMost(15.0))?;
    table.value("the same after the second reader's first use", after.own, "MB", Goal::AtMost(60.0))?;
    table.value("both with pages of files (VmRSS): before", before.resident, "MB", Goal::None)?;
    table.value("both with pages of files (VmRSS): after", after.resident, "MB", Goal::None)?;
    table.end()
}

/// Returns a command of the built program over a home.
fn adjutant(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .env("XDG_STATE_HOME", home.join("state"))
        .arg("--home")
        .arg(home)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// Returns the milliseconds of user and system time of one start.
fn start(home: &Path) -> anyhow::Result<f64> {
    let before = cpu::children()?;
    for _ in 0..STARTS {
        ensure!(adjutant(home, &["tasks", "--json"]).status()?.success(), "tasks failed");
    }
    Ok((cpu::children()? - before).as_secs_f64() * 1e3 / f64::from(STARTS))
}

/// The megabytes that a process holds.
struct Memory {
    /// What it does not share with a file.
    own: f64,
    /// That and the pages of its files, which the system takes back when it needs them.
    resident: f64,
}

/// Returns the memory of the daemon once all mail is worked and it waits.
fn rest(home: &Path) -> anyhow::Result<Memory> {
    let mut daemon = adjutant(home, &["run"]).stdout(Stdio::piped()).spawn()?;
    let measured = settled(&mut daemon);
    let asked = Command::new("kill").arg("-TERM").arg(daemon.id().to_string()).status();
    let ended = daemon.wait()?;
    ensure!(asked?.success() && ended.success(), "the daemon did not stop cleanly: {ended}");
    measured
}

/// Waits until the daemon is idle and measures its memory.
fn settled(daemon: &mut Child) -> anyhow::Result<Memory> {
    let output = BufReader::new(daemon.stdout.take().context("the daemon's output")?);
    let waiting = output.lines().map_while(Result::ok).any(|line| line.starts_with("Waiting for mail"));
    ensure!(waiting, "the daemon ended before it waited for mail");
    std::thread::sleep(SETTLED);
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.id()))?;
    Ok(Memory { own: megabytes(&status, "RssAnon:")?, resident: megabytes(&status, "VmRSS:")? })
}

/// Returns a field of the process's status.
fn megabytes(status: &str, field: &'static str) -> anyhow::Result<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field)).context(field)?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes / 1024.0)
}
