//! The time this process and its threads have spent on a processor, from /proc.

use std::{fs, time::Duration};

use anyhow::Context as _;

/// USER_HZ: fixed at 100 on every Linux that a program can see.
const TICK: Duration = Duration::from_millis(10);

/// User and system time of all threads, also of those that have ended.
pub(crate) fn process() -> anyhow::Result<Duration> {
    ticks(13).and_then(|user| Ok(user + ticks(14)?))
}

/// User and system time of all children that were waited for.
pub(crate) fn children() -> anyhow::Result<Duration> {
    ticks(15).and_then(|user| Ok(user + ticks(16)?))
}

/// Fields of `/proc/self/stat`, counted from 0.
fn ticks(field: usize) -> anyhow::Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").context("reading the times of this process")?;
    // The second field is a name in brackets that may hold blanks.
    let (_, rest) = stat.rsplit_once(')').context("a stat line")?;
    let count: u32 = rest.split_whitespace().nth(field - 2).context("a stat field")?.parse()?;
    Ok(TICK * count)
}

/// Of the living threads of that name, to the nanosecond.
pub(crate) fn threads_named(name: &str) -> anyhow::Result<Duration> {
    let mut total = Duration::ZERO;
    for task in fs::read_dir("/proc/self/task")? {
        let folder = task?.path();
        // A thread may end between being listed and being read.
        let Ok(named) = fs::read_to_string(folder.join("comm")) else { continue };
        if named.trim_end() == name {
            let stat = fs::read_to_string(folder.join("schedstat"))?;
            total += Duration::from_nanos(stat.split(' ').next().context("a schedstat field")?.parse()?);
        }
    }
    Ok(total)
}
