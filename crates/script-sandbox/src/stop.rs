use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// A handle that stops every run that was given it, at once. Clones stop the same runs.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    requested: Mutex<bool>,
    changed: Condvar,
}

/// What ended a [`Stop::wait`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    Finished,
    Stopped,
    TimedOut,
}

impl Stop {
    /// Stops the runs, those that begin later included.
    pub fn request(&self) {
        *self.requested() = true;
        self.0.changed.notify_all();
    }

    /// Waits until the run has finished, is to stop, or has taken too long.
    pub(crate) fn wait(&self, finished: &AtomicBool, at_most: Duration) -> Waited {
        let goes_on = |requested: &mut bool| !*requested && !finished.load(Ordering::Acquire);
        let waited = self.0.changed.wait_timeout_while(self.requested(), at_most, goes_on);
        let (requested, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if finished.load(Ordering::Acquire) {
            Waited::Finished
        } else if *requested {
            Waited::Stopped
        } else {
            Waited::TimedOut
        }
    }

    /// Lets [`Stop::wait`] return, because the run has finished.
    pub(crate) fn finish(&self, finished: &AtomicBool) {
        // Under the lock, so that it cannot happen between the check and the wait.
        let _guard = self.requested();
        finished.store(true, Ordering::Release);
        self.0.changed.notify_all();
    }

    fn requested(&self) -> MutexGuard<'_, bool> {
        self.0.requested.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
