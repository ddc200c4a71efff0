//! The life cycle of a task. The same transitions stand in `migrations/` as a table that a trigger reads; a test
//! compares them.

use crate::model::text_enum::text_enum;

text_enum! {
    /// Where a task stands.
    TaskStatus {
        /// The task was opened and has no priority yet.
        New = "NEW",
        /// The task has its priority and waits to be worked.
        Ready = "READY",
        /// A run works the task, or its remaining steps are the person's.
        InProgress = "IN_PROGRESS",
        /// The task waits for a person's answer ("human in the loop").
        WaitingHitl = "WAITING_HITL",
        Done = "DONE",
        Cancelled = "CANCELLED",
    }
}

/// A transition that the life cycle does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a task cannot go from {from} to {to}")]
pub struct IllegalTransition {
    pub from: TaskStatus,
    pub to: TaskStatus,
}

impl TaskStatus {
    /// Every legal transition: the diagram of the specification, and CANCELLED from every status that is not final.
    pub const ALLOWED_TRANSITIONS: &'static [(TaskStatus, TaskStatus)] = &[
        (TaskStatus::New, TaskStatus::Ready),
        (TaskStatus::Ready, TaskStatus::InProgress),
        (TaskStatus::InProgress, TaskStatus::WaitingHitl),
        (TaskStatus::WaitingHitl, TaskStatus::InProgress),
        (TaskStatus::InProgress, TaskStatus::Done),
        (TaskStatus::New, TaskStatus::Cancelled),
        (TaskStatus::Ready, TaskStatus::Cancelled),
        (TaskStatus::InProgress, TaskStatus::Cancelled),
        (TaskStatus::WaitingHitl, TaskStatus::Cancelled),
    ];

    /// Returns whether the status is final. A final status is never left, not even by a person.
    pub const fn is_terminal(self) -> bool {
        matches!(self, TaskStatus::Done | TaskStatus::Cancelled)
    }

    /// Returns the new status, or an error when the life cycle does not allow it.
    pub fn transition_to(self, to: TaskStatus) -> Result<TaskStatus, IllegalTransition> {
        if Self::ALLOWED_TRANSITIONS.contains(&(self, to)) { Ok(to) } else { Err(IllegalTransition { from: self, to }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_states_have_no_way_out_and_every_other_can_be_cancelled() {
        for from in TaskStatus::ALL.iter().copied() {
            let leaves = TaskStatus::ALL.iter().any(|to| from.transition_to(*to).is_ok());
            assert_eq!(leaves, !from.is_terminal(), "{from}");
            assert_eq!(from.transition_to(TaskStatus::Cancelled).is_ok(), !from.is_terminal(), "{from}");
        }
    }
}
