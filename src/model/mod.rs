//! The words of the program: values with their rules, and no I/O.
//!
//! Everything that crosses a module border or reaches the disk is defined here, so that `store` can be replaced by
//! another engine without touching a node. Nothing in here reads a clock, a file or the environment.

pub mod account;
pub mod action;
pub mod approval;
pub mod audit;
pub mod facts;
pub mod fingerprint;
pub mod ids;
pub mod instant;
pub mod item;
pub mod ledger;
pub mod lifecycle;
pub mod llm;
pub mod mail;
pub mod me;
pub mod memory;
pub mod priority;
pub mod reading;
pub mod recurrence;
pub mod reflection;
pub mod reply;
pub mod run;
pub mod secret;
pub mod since;
pub mod snippet;
pub mod task;
pub mod text_enum;
pub mod vector;

pub use account::{AccountCondition, AccountMode};
pub use action::{Action, Effect, OutboxState, RiskClass};
pub use approval::{Approval, Door};
pub use facts::{Addressed, Facts, UrgencyOrigin};
pub use ids::{AccountId, ActionId, ItemId, MailId, RunId, TaskId, UserId};
pub use instant::Instant;
pub use item::{ItemKind, ItemState};
pub use ledger::MailState;
pub use lifecycle::Status;
pub use mail::{Address, Attachment, Direction, Mail};
pub use me::Me;
pub use priority::Priority;
pub use reading::{ExtractedTask, Reading, TaskKind};
pub use recurrence::Recurrence;
pub use reflection::{Reflection, RunFeedback};
pub use reply::ReplyJson;
pub use run::{Change, ContextDoc, EventChange, Move, NodeName, RunKind, RunState, RunStatus};
pub use secret::Secret;
pub use since::Since;
pub use task::{Subtask, Task, TaskContext};
