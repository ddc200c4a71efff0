//! Queues of runs that must not overtake each other, one per conversation. A waiting run holds no permit.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use super::active_run::ActiveRun;

/// The queues by key. A key that is present means that one of its runs is being driven.
#[derive(Default)]
pub(super) struct ThreadQueues(Mutex<HashMap<String, VecDeque<ActiveRun>>>);

impl ThreadQueues {
    /// Returns the run if its queue is free, and takes the queue. Otherwise the run waits in the queue.
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

    /// Returns the next run of a queue. When there is none, the queue becomes free.
    pub(super) fn dequeue_next(&self, key: &str) -> Option<ActiveRun> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = queues.get_mut(key).and_then(VecDeque::pop_front);
        if next.is_none() {
            queues.remove(key);
        }
        next
    }
}
