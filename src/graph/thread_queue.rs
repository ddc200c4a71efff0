//! Lanes: runs that must not overtake each other wait in line, without holding a place in flight.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use super::active_run::ActiveRun;

#[derive(Default)]
pub(super) struct ThreadQueues(Mutex<HashMap<String, VecDeque<ActiveRun>>>);

impl ThreadQueues {
    /// Gives the ticket back if its lane is free, and takes the lane; otherwise keeps it in line.
    pub(super) fn admit_or_enqueue(&self, ticket: ActiveRun) -> Option<ActiveRun> {
        let Some(lane) = ticket.queue_key() else { return Some(ticket) };
        let mut lanes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match lanes.get_mut(&lane) {
            Some(line) => {
                line.push_back(ticket);
                None
            }
            None => {
                lanes.insert(lane, VecDeque::new());
                Some(ticket)
            }
        }
    }

    /// Frees the lane; the next in line, if any.
    pub(super) fn dequeue_next(&self, lane: &str) -> Option<ActiveRun> {
        let mut lanes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = lanes.get_mut(lane).and_then(VecDeque::pop_front);
        if next.is_none() {
            lanes.remove(lane);
        }
        next
    }
}
