//! Holds back the runs that look for the time of a meeting until the mail at hand has been read: what the person has
//! agreed to in another mail takes a time that must not be offered again.

use std::{
    collections::HashSet,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::active_run::ActiveRun;
use crate::model::RunId;

#[derive(Default)]
struct GateState {
    /// The runs of mails that are not read yet.
    mail_runs: HashSet<RunId>,
    /// How many passes may still bring mail.
    intakes: usize,
    waiting: Vec<ActiveRun>,
}

/// Knows whether there is mail to be read, and the runs that wait for it.
#[derive(Default)]
pub(super) struct MeetingGate(Mutex<GateState>);

impl MeetingGate {
    /// Returns the run if it may be driven now. Otherwise it waits.
    pub(super) fn pass_or_hold(&self, run: ActiveRun) -> Option<ActiveRun> {
        let mut state = self.lock();
        if run.reads_mail() {
            state.mail_runs.insert(run.run_id());
        } else if run.looks_for_time() && !state.is_open() {
            state.waiting.push(run);
            return None;
        }
        Some(run)
    }

    /// Notes that a run has ended. Returns the runs that need not wait any longer.
    pub(super) fn finish_run(&self, run_id: RunId) -> Vec<ActiveRun> {
        let mut state = self.lock();
        state.mail_runs.remove(&run_id);
        state.release()
    }

    /// Notes that a pass begins, which may bring mail.
    pub(super) fn begin_intake(&self) {
        self.lock().intakes += 1;
    }

    /// Notes that a pass has ended. Returns the runs that need not wait any longer.
    pub(super) fn end_intake(&self) -> Vec<ActiveRun> {
        let mut state = self.lock();
        state.intakes = state.intakes.saturating_sub(1);
        state.release()
    }

    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GateState {
    fn is_open(&self) -> bool {
        self.mail_runs.is_empty() && self.intakes == 0
    }

    /// Whoever names an hour comes before those who leave it open, and of these the first who asked.
    fn release(&mut self) -> Vec<ActiveRun> {
        if !self.is_open() {
            return Vec::new();
        }
        let mut released = mem::take(&mut self.waiting);
        released.sort_by_key(ActiveRun::meeting_order);
        released
    }
}
