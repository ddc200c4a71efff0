//! The nightly job: reflections and corrections in; tested, versioned edits of rules and guidelines out.
//!
//! Owns what may be learned, from what, and how it is tested. It reads rules, levels, addresses and counts, never the text of
//! a mail; it can write only the closed grammar of [`crate::rules::RulesEdit`] and lines from templates. Never in here:
//! an edit that was not replayed over the past, one that allows the program more than before, or one without the
//! corrections that taught it.

mod candidates;
mod correction_feedback;
mod entry_review;
mod gate;
pub mod guideline_lines;
mod learning;
mod lesson;
mod run_review;
mod schedule;
#[cfg(test)]
mod tests;

pub use candidates::{Candidate, MIN_CORRECTIONS, MIN_DAYS};
pub use correction_feedback::{CorrectionFeedback, explain_correction};
pub use gate::{TrialCase, TrialResult};
pub(crate) use learning::{ApprovedProposal, approved_proposals};
pub use learning::{LearningInput, LearningOutcome, TestedEdit, TrackedEntry, derive_edits};
pub use lesson::{Lesson, LessonTarget, RankBasis, collect_lessons};
pub use run_review::{RuleRecord, RunReview, ToolRecord, UrgencyRecord};
pub use schedule::{NightlyDue, NightlySchedule};

/// Lessons are forgotten after so many days, and so are entries that nothing has matched.
pub const FORGET_AFTER_DAYS: i64 = 60;
/// The length of the past that an edit is tested on.
pub const REPLAY_DAYS: i64 = 30;
