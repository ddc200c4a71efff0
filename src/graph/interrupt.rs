//! Why a run does not go on to its next node.

use super::call_handler::{CallError, RunDeferred};
use crate::store::StoreError;

/// Everything that a step of a run can lead to other than the next step.
pub(super) enum Interrupt {
    /// There is nothing more to do for the run in this process: it has ended, somebody else goes on with it, or the
    /// process stops.
    Stop,
    /// The task changed under the run, which is read anew from the store.
    Reload,
    /// Nothing is wrong, but the run cannot go on before a certain time.
    Defer(RunDeferred),
    /// The run cannot go on. A person is told.
    Fail(anyhow::Error),
}

/// The outcome of a step: its value, and the run goes on; or why it does not.
pub(super) type Advance<T = ()> = Result<T, Interrupt>;

impl From<anyhow::Error> for Interrupt {
    fn from(error: anyhow::Error) -> Self {
        Self::Fail(error)
    }
}

impl From<StoreError> for Interrupt {
    fn from(error: StoreError) -> Self {
        match error {
            // The process is ending: nothing is wrong with the run, which goes on at the next start.
            StoreError::Stopped | StoreError::RunTakenOver(_) => Self::Stop,
            StoreError::Conflict(_) => Self::Reload,
            error => Self::Fail(error.into()),
        }
    }
}

impl From<CallError> for Interrupt {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Deferred(deferred) => Self::Defer(deferred),
            CallError::Store(StoreError::Stopped) => Self::Stop,
            CallError::Store(error) => Self::Fail(error.into()),
            CallError::Failed(error) => Self::Fail(error),
        }
    }
}
