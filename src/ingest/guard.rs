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

use super::{Trust, Unreadable, read_mail};
use crate::model::Mail;

/// CPU time that reading one mail may take: what the largest one takes on a slow machine, several times over.
const BUDGET: Duration = Duration::from_secs(10);
/// Time on the wall after which a thread is given up that gets no CPU time, or whose CPU time is not told.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a thread that is not done is looked at.
const PULSE: Duration = Duration::from_millis(250);
/// In which Linux tells the CPU time of a thread, whatever the kernel counts in.
const TICK: Duration = Duration::from_millis(10);

/// How a mail is read, and how long that may take.
#[derive(Debug, Clone, Copy)]
pub struct Reader {
    pub read: fn(&[u8], &Trust) -> Result<Mail, Unreadable>,
    pub budget: Duration,
}

impl Default for Reader {
    fn default() -> Self {
        Self { read: read_mail, budget: BUDGET }
    }
}

/// Why a mail could not be read although there is nothing wrong with its form. The text of a panic may hold the mail's
/// words, so it is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Halted {
    #[error("reading it failed inside the program, which is a fault of the program; the mail is where it was")]
    Panicked,
    #[error("reading it took longer than any mail should; the mail is where it was")]
    OverBudget,
}

impl Reader {
    /// Does some work over a mail on a thread of its own, and gives it up when it takes too long.
    pub fn within_budget<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Halted> {
        let place = Arc::new(OnceLock::new());
        let mut gauge = Gauge::new(Arc::clone(&place), self.budget);
        let (tell, told) = mpsc::channel();
        let job = move || {
            mark_place(&place);
            // Nobody listens any more when it was given up.
            tell.send(without_panic(work)).ok();
        };
        thread::Builder::new().name("mail".into()).spawn(job).map_err(|_| Halted::Panicked)?;
        loop {
            match told.recv_timeout(gauge.pulse()) {
                Ok(outcome) => return outcome,
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(Halted::Panicked),
                Err(mpsc::RecvTimeoutError::Timeout) if gauge.is_over(0) => return Err(Halted::OverBudget),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Does some work over a mail on this thread. A panic is an error.
pub(super) fn without_panic<T>(work: impl FnOnce() -> T) -> Result<T, Halted> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Halted::Panicked)
}

/// What a thread that reads one mail after the other is at.
pub struct Steps<T>(Mutex<Step<T>>);

struct Step<T> {
    number: u64,
    about: Option<T>,
    given_up: bool,
}

impl<T> Steps<T> {
    /// Says what is read from here on. A thread that was given up ends here.
    pub fn begin(&self, about: T) {
        let mut step = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if step.given_up {
            drop(step);
            resume_unwind(Box::new("given up"));
        }
        step.number += 1;
        step.about = Some(about);
    }

    /// Returns what was read, unless it was given up meanwhile.
    pub fn end(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).about.take()
    }

    fn number(&self) -> Option<u64> {
        let step = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        step.about.is_some().then_some(step.number)
    }

    fn give_up(&self, number: u64) -> Option<T> {
        let mut step = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let about = if step.number == number { step.about.take() } else { None };
        step.given_up |= about.is_some();
        about
    }
}

/// Does a job on a thread of its own and watches the steps it takes. Returns what the step was about that took too long:
/// then the rest of the job was not done. None when all of it was.
pub async fn watched<T: Send + 'static>(
    budget: Duration,
    job: impl FnOnce(&Steps<T>) + Send + 'static,
) -> anyhow::Result<Option<T>> {
    let steps = Arc::new(Steps(Mutex::new(Step { number: 0, about: None, given_up: false })));
    let place = Arc::new(OnceLock::new());
    let mut gauge = Gauge::new(Arc::clone(&place), budget);
    let (tell, mut told) = oneshot::channel();
    let taken = Arc::clone(&steps);
    let work = move || {
        mark_place(&place);
        // Nobody listens any more when it was given up.
        tell.send(catch_unwind(AssertUnwindSafe(|| job(&taken))).is_ok()).ok();
    };
    thread::Builder::new().name("mail".into()).spawn(work)?;
    loop {
        if let Ok(done) = tokio::time::timeout(gauge.pulse(), &mut told).await {
            anyhow::ensure!(done.is_ok_and(|whole| whole), "a fault of the program stopped the reading");
            return Ok(None);
        }
        if let Some(number) = steps.number()
            && gauge.is_over(number)
            && let Some(about) = steps.give_up(number)
        {
            return Ok(Some(about));
        }
    }
}

/// How much of its budget a step has used, from when it was first seen.
struct Gauge {
    place: Arc<OnceLock<PathBuf>>,
    budget: Duration,
    seen: Option<Seen>,
}

struct Seen {
    number: u64,
    at: Instant,
    cpu: Option<Duration>,
}

impl Gauge {
    const fn new(place: Arc<OnceLock<PathBuf>>, budget: Duration) -> Self {
        Self { place, budget, seen: None }
    }

    fn pulse(&self) -> Duration {
        (self.budget / 4).min(PULSE)
    }

    fn is_over(&mut self, number: u64) -> bool {
        let cpu = self.place.get().and_then(|place| cpu_time(place));
        match self.seen.as_ref().filter(|seen| seen.number == number) {
            Some(seen) => {
                let used = cpu.zip(seen.cpu).map(|(now, then)| now.saturating_sub(then));
                used.is_some_and(|used| used >= self.budget) || seen.at.elapsed() >= PATIENCE
            }
            None => {
                self.seen = Some(Seen { number, at: Instant::now(), cpu });
                false
            }
        }
    }
}

/// Notes where the system tells about this thread. Nowhere but on Linux.
fn mark_place(place: &OnceLock<PathBuf>) {
    if let Ok(this) = fs::read_link("/proc/thread-self") {
        place.get_or_init(|| Path::new("/proc").join(this).join("stat"));
    }
}

/// The CPU time of a thread so far (proc_pid_stat(5): utime and stime).
fn cpu_time(stat: &Path) -> Option<Duration> {
    let text = fs::read_to_string(stat).ok()?;
    // Its name may hold anything, also brackets.
    let (_, fields) = text.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<u32>);
    Some(TICK * times.next()?.ok()?.saturating_add(times.next()?.ok()?))
}
