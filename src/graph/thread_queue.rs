//! Queues of runs that must not overtake each other. A run waits in its queue without holding a place in flight.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use super::active_run::ActiveRun;

#[derive(Default)]
pub(super) struct ThreadQueues(Mutex<HashMap<String, VecDeque<ActiveRun>>>);

impl ThreadQueues {
    /// Returns the run if its queue is free, which is taken then; otherwise the run waits in it.
    pub(super) fn admit_or_enqueue(&self, run: ActiveRun) -> Option<ActiveRun> {
        let Some(key) = run.queue_key() else { return Some(run) };
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match queues.get_mut(&key) {
            Some(waiting) => {
                waiting.push_back(run);
                None
            }
            None => {
                queues.insert(key, VecDeque::new());
                Some(run)
            }
        }
    }

    /// Returns the next run of a queue; without one, the queue is free.
    pub(super) fn dequeue_next(&self, key: &str) -> Option<ActiveRun> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = queues.get_mut(key).and_then(VecDeque::pop_front);
        if next.is_none() {
            queues.remove(key);
        }
        next
    }
}
