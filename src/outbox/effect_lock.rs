//! One carrier per effect: to a second one, an effect that is being sent would look like one that was interrupted.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use crate::model::ActionId;

/// The effects that somebody is carrying out right now.
#[derive(Clone, Default)]
pub(super) struct EffectLocks(Arc<Mutex<HashSet<ActionId>>>);

/// Unlocks its effect on drop.
pub(super) struct EffectLock<'a> {
    locks: &'a EffectLocks,
    action_id: ActionId,
}

impl EffectLocks {
    /// Returns none while somebody else has the lock.
    pub(super) fn try_lock(&self, action_id: ActionId) -> Option<EffectLock<'_>> {
        let free = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(action_id);
        free.then(|| EffectLock { locks: self, action_id })
    }
}

impl Drop for EffectLock<'_> {
    fn drop(&mut self) {
        self.locks.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.action_id);
    }
}
