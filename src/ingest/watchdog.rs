//! Reading under guard: a mail that the reader panics over, or takes too long for, is told from its neighbours.
//!
//! A thread cannot be stopped from outside. One that is over its budget is given up: whatever it still does counts no
//! more, and another goes on with the rest. What it costs is the thread, until it comes back by itself.

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

/// CPU time that reading one mail may take: what the largest one takes on a slow machine, several times over.
const CPU_BUDGET: Duration = Duration::from_secs(10);
/// Time on the wall after which a thread is given up that gets no CPU time, or whose CPU time is not told.
const WALL_CLOCK_LIMIT: Duration = Duration::from_secs(60);
/// How often a thread that is not done is looked at.
const MAX_CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// In which Linux tells the CPU time of a thread, whatever the kernel counts in.
const TICK: Duration = Duration::from_millis(10);

/// How a mail is read, and how long that may take.
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

/// Why a mail could not be read although there is nothing wrong with its form. The text of a panic may hold the mail's
/// words, so it is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseAborted {
    #[error("reading it failed inside the program, which is a fault of the program; the mail is where it was")]
    Panicked,
    #[error("reading it took longer than any mail should; the mail is where it was")]
    OverBudget,
}

impl GuardedParser {
    /// Does some work over a mail on a thread of its own, and gives it up when it takes too long.
    pub fn run_within_budget<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ParseAborted> {
        let place = Arc::new(OnceLock::new());
        let mut gauge = StepBudget::new(Arc::clone(&place), self.budget);
        let (tell, told) = mpsc::channel();
        let job = move || {
            record_stat_path(&place);
            // Nobody listens any more when it was given up.
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

/// Does some work over a mail on this thread. A panic is an error.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, ParseAborted> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| ParseAborted::Panicked)
}

/// What a thread that reads one mail after the other is at.
pub struct StepTracker<T>(Mutex<TrackedStep<T>>);

struct TrackedStep<T> {
    number: u64,
    item: Option<T>,
    is_abandoned: bool,
}

impl<T> StepTracker<T> {
    /// Says what is read from here on. A thread that was given up ends here.
    pub fn begin_step(&self, about: T) {
        let mut step = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if step.is_abandoned {
            drop(step);
            resume_unwind(Box::new("given up"));
        }
        step.number += 1;
        step.item = Some(about);
    }

    /// Returns what was read, unless it was given up meanwhile.
    pub fn finish_step(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).item.take()
    }

    fn current_step_number(&self) -> Option<u64> {
        let step = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        step.item.is_some().then_some(step.number)
    }

    fn abandon_step(&self, number: u64) -> Option<T> {
        let mut step = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let about = if step.number == number { step.item.take() } else { None };
        step.is_abandoned |= about.is_some();
        about
    }
}

/// Does a job on a thread of its own and watches the steps it takes. Returns what the step was about that took too long:
/// then the rest of the job was not done. None when all of it was.
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
        // Nobody listens any more when it was given up.
        tell.send(catch_unwind(AssertUnwindSafe(|| job(&taken))).is_ok()).ok();
    };
    thread::Builder::new().name("mail".into()).spawn(work)?;
    loop {
        if let Ok(done) = tokio::time::timeout(gauge.check_interval(), &mut told).await {
            anyhow::ensure!(done.is_ok_and(|whole| whole), "a fault of the program stopped the reading");
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

/// How much of its budget a step has used, from when it was first seen.
struct StepBudget {
    stat_path: Arc<OnceLock<PathBuf>>,
    budget: Duration,
    started: Option<StepStart>,
}

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

/// Notes where the system tells about this thread. Nowhere but on Linux.
fn record_stat_path(place: &OnceLock<PathBuf>) {
    if let Ok(this) = fs::read_link("/proc/thread-self") {
        place.get_or_init(|| Path::new("/proc").join(this).join("stat"));
    }
}

/// The CPU time of a thread so far (proc_pid_stat(5): utime and stime).
fn read_cpu_time(stat: &Path) -> Option<Duration> {
    let text = fs::read_to_string(stat).ok()?;
    // Its name may hold anything, also brackets.
    let (_, fields) = text.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<u32>);
    Some(TICK * times.next()?.ok()?.saturating_add(times.next()?.ok()?))
}
