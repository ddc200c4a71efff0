//! Parses mails under a watchdog: one over which the parser panics or takes too long is set aside without affecting the
//! others.
//!
//! A thread cannot be stopped from outside. One that exceeds its budget is abandoned: whatever it still does no longer
//! counts, and another thread continues with the rest. The cost is one thread until it returns by itself.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::{MailParseError, TrustedServers, parse_mail};
use crate::model::Mail;

/// CPU time that parsing one mail may take: several times what the largest one takes on a slow machine.
const CPU_BUDGET: Duration = Duration::from_secs(10);
/// Wall-clock time after which a thread is abandoned even if it gets no CPU time, or if its CPU time is not known.
const WALL_CLOCK_LIMIT: Duration = Duration::from_secs(60);
/// Longest interval between two checks of a thread.
const MAX_CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// The unit in which Linux reports the CPU time of a thread, independent of the kernel's timer.
const TICK: Duration = Duration::from_millis(10);

/// The parser and its time budget. Tests replace the parser by one that panics or hangs.
#[derive(Debug, Clone, Copy)]
pub struct GuardedParser {
    pub read: fn(&[u8], &TrustedServers) -> Result<Mail, MailParseError>,
    pub budget: Duration,
}

impl Default for GuardedParser {
    fn default() -> Self {
        Self { read: parse_mail, budget: CPU_BUDGET }
    }
}

/// Why parsing was aborted although the mail may be well-formed. The text of a panic may contain words of the mail, so
/// it is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseAborted {
    #[error("reading it failed inside the program, which is a fault of the program; the mail is where it was")]
    Panicked,
    #[error("reading it took longer than any mail should; the mail is where it was")]
    OverBudget,
}

impl GuardedParser {
    /// Runs some work over a mail on a thread of its own, and abandons it when it exceeds the budget.
    pub fn run_within_budget<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ParseAborted> {
        let place = Arc::new(OnceLock::new());
        let mut gauge = StepBudget::new(Arc::clone(&place), self.budget);
        let (tell, told) = mpsc::channel();
        let job = move || {
            record_stat_path(&place);
            // Nobody receives the result of an abandoned thread.
            tell.send(catch_panic(work)).ok();
        };
        thread::Builder::new().name("mail".into()).spawn(job).map_err(|_| ParseAborted::Panicked)?;
        loop {
            match told.recv_timeout(gauge.check_interval()) {
                Ok(outcome) => return outcome,
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(ParseAborted::Panicked),
                Err(mpsc::RecvTimeoutError::Timeout) if gauge.is_exceeded(0) => return Err(ParseAborted::OverBudget),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Runs some work over a mail on this thread. A panic becomes an error.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, ParseAborted> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| ParseAborted::Panicked)
}

/// Which mail a thread that parses one after the other is working on.
pub struct StepTracker<T>(Mutex<TrackedStep<T>>);

/// The current step. Abandoning it takes the item away, so that it is reported exactly once.
struct TrackedStep<T> {
    number: u64,
    item: Option<T>,
    is_abandoned: bool,
}

impl<T> StepTracker<T> {
    /// Begins a step over an item. A thread that was abandoned ends here, by unwinding.
    pub fn begin_step(&self, about: T) {
        let mut step = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if step.is_abandoned {
            drop(step);
            resume_unwind(Box::new("given up"));
        }
        step.number += 1;
        step.item = Some(about);
    }

    /// Ends the step. Returns its item; none if the step was abandoned meanwhile.
    pub fn finish_step(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).item.take()
    }

    /// Returns the number of the step in progress.
    fn current_step_number(&self) -> Option<u64> {
        let step = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        step.item.is_some().then_some(step.number)
    }

    /// Abandons a step, unless it has ended meanwhile. Returns its item.
    fn abandon_step(&self, number: u64) -> Option<T> {
        let mut step = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let about = if step.number == number { step.item.take() } else { None };
        step.is_abandoned |= about.is_some();
        about
    }
}

/// Runs a job on a thread of its own and watches its steps. Returns the item of the first step that exceeded the
/// budget; then the rest of the job was not done. Returns none when the whole job was done.
pub async fn run_watched<T: Send + 'static>(
    budget: Duration,
    job: impl FnOnce(&StepTracker<T>) + Send + 'static,
) -> anyhow::Result<Option<T>> {
    let steps = Arc::new(StepTracker(Mutex::new(TrackedStep { number: 0, item: None, is_abandoned: false })));
    let place = Arc::new(OnceLock::new());
    let mut gauge = StepBudget::new(Arc::clone(&place), budget);
    let (tell, mut told) = oneshot::channel();
    let taken = Arc::clone(&steps);
    let work = move || {
        record_stat_path(&place);
        // Nobody receives the result of an abandoned thread.
        tell.send(catch_unwind(AssertUnwindSafe(|| job(&taken))).is_ok()).ok();
    };
    thread::Builder::new().name("mail".into()).spawn(work)?;
    loop {
        if let Ok(done) = tokio::time::timeout(gauge.check_interval(), &mut told).await {
            anyhow::ensure!(
                done.is_ok_and(|whole| whole),
                "the program failed while reading mail; the mail is where it was"
            );
            return Ok(None);
        }
        if let Some(number) = steps.current_step_number()
            && gauge.is_exceeded(number)
            && let Some(about) = steps.abandon_step(number)
        {
            return Ok(Some(about));
        }
    }
}

/// How much of its budget a step has used, counted from when the step was first seen.
struct StepBudget {
    stat_path: Arc<OnceLock<PathBuf>>,
    budget: Duration,
    started: Option<StepStart>,
}

/// When a step was first seen, and the CPU time of its thread then.
struct StepStart {
    number: u64,
    at: Instant,
    cpu: Option<Duration>,
}

impl StepBudget {
    const fn new(stat_path: Arc<OnceLock<PathBuf>>, budget: Duration) -> Self {
        Self { stat_path, budget, started: None }
    }

    fn check_interval(&self) -> Duration {
        (self.budget / 4).min(MAX_CHECK_INTERVAL)
    }

    /// Returns whether a step has exceeded its budget. The first call for a step only starts its clock.
    fn is_exceeded(&mut self, number: u64) -> bool {
        let cpu = self.stat_path.get().and_then(|place| read_cpu_time(place));
        match self.started.as_ref().filter(|seen| seen.number == number) {
            Some(seen) => {
                let used = cpu.zip(seen.cpu).map(|(now, then)| now.saturating_sub(then));
                used.is_some_and(|used| used >= self.budget) || seen.at.elapsed() >= WALL_CLOCK_LIMIT
            }
            None => {
                self.started = Some(StepStart { number, at: Instant::now(), cpu });
                false
            }
        }
    }
}

/// Records the path of the kernel's statistics about this thread. They exist only on Linux.
fn record_stat_path(place: &OnceLock<PathBuf>) {
    if let Ok(this) = fs::read_link("/proc/thread-self") {
        place.get_or_init(|| Path::new("/proc").join(this).join("stat"));
    }
}

/// Returns the CPU time of a thread so far (proc_pid_stat(5): utime and stime).
fn read_cpu_time(stat: &Path) -> Option<Duration> {
    let text = fs::read_to_string(stat).ok()?;
    // The name of the thread may contain anything, brackets included.
    let (_, fields) = text.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<u32>);
    Some(TICK * times.next()?.ok()?.saturating_add(times.next()?.ok()?))
}
