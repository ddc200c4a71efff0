//! What keeps an effect from being begun, whatever the verdict on it: a pause, a broken policy, or a data folder that was
//! replaced.

use std::time::Duration;

use super::{Outbox, PendingEffect};
use crate::{
    model::RiskClass,
    policy::EffectPolicy,
    source::{SendError, SourceError},
};

/// A data folder that was replaced does not come back; the process is about to stop.
const AFTER_REPLACED: Duration = Duration::from_secs(60);

impl Outbox {
    /// Returns why nothing may be begun for this effect now; none when something may.
    pub(super) fn hold_reason(&self, row: &PendingEffect) -> Option<String> {
        if let Err(replaced) = self.settings.open_files.check() {
            return Some(replaced.to_string());
        }
        if row.paused {
            return Some("effects are paused".to_owned());
        }
        (row.class != RiskClass::R0 && self.policy().is_broken).then(|| EffectPolicy::BROKEN.to_owned())
    }

    /// Checks, right before something is done outside the database, that the database is still the one of this home:
    /// what is done under a deleted one would be in no ledger.
    pub(super) fn check_data_folder(&self) -> Result<(), SourceError> {
        let replaced = self.settings.open_files.check();
        replaced.map_err(|replaced| SourceError::RetryLater { problem: replaced.to_string(), after: AFTER_REPLACED })
    }

    /// The same for a message: nothing has left.
    pub(super) fn check_data_folder_before_send(&self) -> Result<(), SendError> {
        let replaced = self.settings.open_files.check();
        replaced.map_err(|replaced| SendError::RetryLater {
            why: replaced.to_string(),
            after: AFTER_REPLACED,
            may_have_draft: false,
        })
    }
}
