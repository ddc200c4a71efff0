//! The life cycle of a task. The same pairs stand in `migrations/` as a table that a trigger reads; a test compares them.

use super::text_enum::words;

words! {
    /// Where a task stands.
    Status {
        New = "NEW",
        Ready = "READY",
        InProgress = "IN_PROGRESS",
        WaitingHitl = "WAITING_HITL",
        Done = "DONE",
        Cancelled = "CANCELLED",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a task cannot go from {from} to {to}")]
pub struct IllegalTransition {
    pub from: Status,
    pub to: Status,
}

impl Status {
    /// Every legal move: the diagram of the specification, and CANCELLED from every state that is not terminal.
    pub const ALLOWED_TRANSITIONS: &'static [(Status, Status)] = &[
        (Status::New, Status::Ready),
        (Status::Ready, Status::InProgress),
        (Status::InProgress, Status::WaitingHitl),
        (Status::WaitingHitl, Status::InProgress),
        (Status::InProgress, Status::Done),
        (Status::New, Status::Cancelled),
        (Status::Ready, Status::Cancelled),
        (Status::InProgress, Status::Cancelled),
        (Status::WaitingHitl, Status::Cancelled),
    ];

    pub const fn is_terminal(self) -> bool {
        matches!(self, Status::Done | Status::Cancelled)
    }

    pub fn transition_to(self, to: Status) -> Result<Status, IllegalTransition> {
        if Self::ALLOWED_TRANSITIONS.contains(&(self, to)) { Ok(to) } else { Err(IllegalTransition { from: self, to }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_states_have_no_way_out_and_every_other_can_be_cancelled() {
        for from in Status::ALL.iter().copied() {
            let leaves = Status::ALL.iter().any(|to| from.transition_to(*to).is_ok());
            assert_eq!(leaves, !from.is_terminal(), "{from}");
            assert_eq!(from.transition_to(Status::Cancelled).is_ok(), !from.is_terminal(), "{from}");
        }
    }
}
