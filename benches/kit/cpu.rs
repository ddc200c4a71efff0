//! The time this process and its threads have spent on a processor, from /proc, and that of spans, from their threads' clocks.

use std::{
    cell::Cell,
    fs,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use anyhow::Context as _;
use rustix::time::{ClockId, clock_gettime};
use tracing::{Event, Metadata, Subscriber, span};

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

/// Counts the time that threads spend inside the spans of a name. They do not nest.
pub(crate) struct Spans(&'static str);

static IN_SPANS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static ENTERED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

impl Spans {
    /// From now on, for the whole process.
    pub(crate) fn count(name: &'static str) -> anyhow::Result<()> {
        tracing::subscriber::set_global_default(Self(name)).context("counting spans")
    }

    /// So far, of all threads.
    pub(crate) fn time() -> Duration {
        Duration::from_nanos(IN_SPANS.load(Ordering::Relaxed))
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.name() == self.0
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn enter(&self, _: &span::Id) {
        ENTERED.set(thread());
    }

    fn exit(&self, _: &span::Id) {
        let nanos = (thread() - ENTERED.get()).as_nanos();
        IN_SPANS.fetch_add(u64::try_from(nanos).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &Event<'_>) {}
}

/// Of this thread, to the nanosecond.
fn thread() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}
