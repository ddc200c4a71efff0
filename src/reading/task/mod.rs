//! The tasks that a reading yields: their kind, wording, amounts, steps, urgency and facts.
//!
//! Whether there is a task was decided before; nothing here adds or drops one, except where a person asked for it
//! (`forced_task`) or wrote the mail (`own_mail`).

pub(super) mod asked;
mod english_act;
pub(super) mod facts;
pub(super) mod forced_task;
pub(super) mod meeting_times;
pub(super) mod money;
mod note;
pub(super) mod objective;
pub(super) mod own_mail;
pub(super) mod plan;
mod promise;
mod referent;
mod request_time;
pub(super) mod shorten;
mod task_kind;
mod template;
mod third_person;
pub(super) mod topic;
pub(super) mod urgency;
pub(super) mod wording;
