//! Queues of runs that must not overtake each other, one per conversation and one per subject of a person. A waiting run
//! holds no permit.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use super::active_run::ActiveRun;

/// A run that waits, with the number of its keys that it has or waits for.
struct WaitingRun {
    run: ActiveRun,
    keys: usize,
}

/// The queues by key. A key that is present means that a run has it. Every run takes its keys in the same order, that of
/// its conversation first, so that no two runs wait for each other.
#[derive(Default)]
pub(super) struct ThreadQueues(Mutex<HashMap<String, VecDeque<WaitingRun>>>);

impl ThreadQueues {
    /// Returns the run if its queues are free, and takes them. Otherwise the run waits in the first that is taken.
    pub(super) fn admit_or_enqueue(&self, run: ActiveRun) -> Option<ActiveRun> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        admit(&mut queues, WaitingRun { run, keys: 0 })
    }

    /// Frees the keys of a run that has ended. Returns the runs that may be driven now.
    pub(super) fn release(&self, keys: &[String]) -> Vec<ActiveRun> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut admitted = Vec::new();
        for key in keys {
            match queues.get_mut(key).and_then(VecDeque::pop_front) {
                Some(next) => admitted.extend(admit(&mut queues, next)),
                None => drop(queues.remove(key)),
            }
        }
        admitted
    }
}

/// Takes the keys that the run does not have yet. Returns the run when it has all of them.
fn admit(queues: &mut HashMap<String, VecDeque<WaitingRun>>, mut waiting: WaitingRun) -> Option<ActiveRun> {
    for key in waiting.run.queue_keys().into_iter().skip(waiting.keys) {
        waiting.keys += 1;
        if let Some(queue) = queues.get_mut(&key) {
            queue.push_back(waiting);
            return None;
        }
        queues.insert(key, VecDeque::new());
    }
    Some(waiting.run)
}
