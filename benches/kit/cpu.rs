//! CPU times: of this process and its threads from /proc, and of tracing spans from the clocks of their threads.

use std::{
    cell::Cell,
    fs,
    hint::black_box,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, anyhow, ensure};
use rustix::time::{ClockId, clock_gettime};
use tracing::{Event, Metadata, Subscriber, span};

/// One tick of /proc (USER_HZ), which is a hundredth of a second on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// Returns the user and system time of all threads of this process, including those that have ended.
pub(crate) fn process() -> anyhow::Result<Duration> {
    ticks(13).and_then(|user| Ok(user + ticks(14)?))
}

/// Returns the user and system time of all child processes that have been waited for.
pub(crate) fn children() -> anyhow::Result<Duration> {
    ticks(15).and_then(|user| Ok(user + ticks(16)?))
}

/// Returns a time from `/proc/self/stat`; fields are counted from 0.
fn ticks(field: usize) -> anyhow::Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").context("reading the times of this process")?;
    // The second field is a name in brackets that may contain blanks.
    let (_, rest) = stat.rsplit_once(')').context("a stat line")?;
    let count: u32 = rest.split_whitespace().nth(field - 2).context("a stat field")?.parse()?;
    Ok(TICK * count)
}

/// Returns the CPU time of the living threads of that name, in nanoseconds.
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

/// A tracing subscriber that counts the CPU time spent inside spans of some names. These spans must not nest.
pub(crate) struct Spans(&'static [&'static str]);

/// The time spent inside the spans of one name, and their number.
struct Sum {
    nanos: AtomicU64,
    spans: AtomicU64,
}

/// How many names can be counted at once.
const MOST_NAMES: usize = 4;
static SUMS: [Sum; MOST_NAMES] = [const { Sum { nanos: AtomicU64::new(0), spans: AtomicU64::new(0) } }; MOST_NAMES];

/// The cost of reading a thread's clock, which is a system call.
static PRICE: OnceLock<Duration> = OnceLock::new();

thread_local! {
    /// The thread's CPU time when it entered its span.
    static ENTERED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

impl Spans {
    /// Starts counting, for the whole process. Measures first what the counting itself costs.
    pub(crate) fn count(names: &'static [&'static str]) -> anyhow::Result<()> {
        ensure!(names.len() <= MOST_NAMES, "at most {MOST_NAMES} names can be counted");
        const CALLS: u32 = 10_000;
        let begun = thread();
        (0..CALLS).for_each(|_| {
            black_box(thread());
        });
        PRICE.set((thread() - begun) / CALLS).map_err(|_| anyhow!("spans are counted already"))?;
        tracing::subscriber::set_global_default(Self(names)).context("counting spans")
    }

    /// Returns the time that all threads have spent so far in the spans of the `nth` name.
    pub(crate) fn time(nth: usize) -> Duration {
        SUMS.get(nth).map_or(Duration::ZERO, |sum| Duration::from_nanos(sum.nanos.load(Ordering::Relaxed)))
    }

    /// Returns what the counting itself has cost so far outside the counted time: a span reads the clock twice, and
    /// half of each reading falls outside.
    pub(crate) fn toll() -> Duration {
        let spans: u64 = SUMS.iter().map(|sum| sum.spans.load(Ordering::Relaxed)).sum();
        PRICE.get().map_or(Duration::ZERO, |price| price.mul_f64(spans as f64))
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && self.0.contains(&metadata.name())
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        let nth = self.0.iter().position(|name| *name == span.metadata().name()).unwrap_or_default();
        span::Id::from_u64(nth as u64 + 1)
    }

    fn enter(&self, _: &span::Id) {
        ENTERED.set(thread());
    }

    fn exit(&self, span: &span::Id) {
        let nanos = (thread() - ENTERED.get()).as_nanos();
        if let Some(sum) = usize::try_from(span.into_u64() - 1).ok().and_then(|nth| SUMS.get(nth)) {
            sum.nanos.fetch_add(u64::try_from(nanos).unwrap_or(u64::MAX), Ordering::Relaxed);
            sum.spans.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &Event<'_>) {}
}

/// Returns the CPU time of this thread, in nanoseconds.
pub(crate) fn thread() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}
