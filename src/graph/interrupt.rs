//! Why a run does not go on to its next node, as values instead of errors that a caller would have to inspect.

use super::call_handler::{CallError, RunDeferred};
use crate::store::StoreError;

/// Everything that a step of a run can lead to except the next step.
pub(super) enum Interrupt {
    /// There is nothing more to do for the run here: it has ended, somebody else has ended or advanced it, or the
    /// process stops.
    Stop,
    /// The task was changed while the run worked on it. The run is read again from the store.
    Reload,
    /// Nothing is wrong, but the run cannot go on before a certain time.
    Defer(RunDeferred),
    /// The run cannot go on. It is parked, and a person is told.
    Fail(anyhow::Error),
}

/// The result of a step: a value if the run goes on, otherwise why it does not.
pub(super) type Advance<T = ()> = Result<T, Interrupt>;

impl From<anyhow::Error> for Interrupt {
    fn from(error: anyhow::Error) -> Self {
        Self::Fail(error)
    }
}

impl From<StoreError> for Interrupt {
    fn from(error: StoreError) -> Self {
        match error {
            // Nothing is wrong with the run: the process is stopping, or somebody else has ended or advanced the run.
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
