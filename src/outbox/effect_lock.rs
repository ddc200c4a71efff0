//! A lock per effect within this process. Without it, a second caller would take an effect that is being sent for one
//! whose sending was interrupted.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use crate::model::ActionId;

/// The effects that are being carried out right now.
#[derive(Clone, Default)]
pub(super) struct EffectLocks(Arc<Mutex<HashSet<ActionId>>>);

/// Unlocks its effect when it is dropped.
pub(super) struct EffectLock<'a> {
    locks: &'a EffectLocks,
    action_id: ActionId,
}

impl EffectLocks {
    /// Locks the effect. Returns none while somebody else carries it out.
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
