//! What a person is asked, and what their decision or their edit of a task means.
//!
//! Every function in here is pure: it takes rows that were read before and returns changes as values. The store reads
//! the rows in the transaction that applies the changes, so a decision and all that follows from it commit together.
//!
//! No SQL, no clock, no file, and no effect: an approval only allows the outbox to begin one.

mod action_item;
mod change;
mod decision;
mod decision_run;
mod task_edit;
#[cfg(test)]
mod tests;

pub use action_item::{bind_approval_terms, new_approval_item};
pub use change::{ApprovalGrant, DecisionChange, DecisionError, TaskChange};
pub use decision::{
    DecisionSubject, approve_action, confirm_sent, decide_mail, decide_proposal, decide_question, decide_step,
    manual_step_name, redo_step, refuse_revocation, reject_action, reject_by_person, replace_action, revoke_approval,
};
pub use decision_run::{DecisionRunInput, new_decision_run};
pub use task_edit::{
    EDITED, FieldChange, FieldCorrection, TaskEditOutcome, plan_task_edit, reopen_task, rerank_task,
    status_after_reopening, status_path,
};
