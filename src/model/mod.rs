//! The values of the program with their invariants, and no I/O.
//!
//! What several modules exchange and what is stored is defined here, so that the database could be replaced without
//! touching a node. Nothing in here reads a clock, a file or the environment.

pub mod account;
pub mod action;
mod actor;
pub mod approval;
pub mod audit;
mod conversation;
pub mod facts;
mod fingerprint;
pub mod ids;
pub mod instant;
pub mod llm;
pub mod mail;
pub mod me;
pub mod memory;
pub mod nightly;
pub mod plan;
pub mod priority;
pub mod reading;
pub mod reflection;
pub mod reply;
pub mod request;
pub mod run;
pub mod secret;
pub mod since;
pub mod task;
mod team;
pub mod text_enum;
mod unreadable_row;

pub use account::{Account, AccountCondition, AccountMode, MailboxKind};
pub use action::{
    Action, ActionMove, ApprovalUse, Effect, JournalRow, MatchedAct, NewAction, OutboxRow, OutboxState,
    PlannedRuleEffect, ReevaluatedAction, RiskClass, RuleAct,
};
pub use actor::{Actor, BadClientName, ClientName};
pub use approval::{
    ActionEdit, Approval, Decision, DecisionChannel, DecisionKind, DeclinedPeriod, InvitationAnswer, ItemKind, ItemRow,
    ItemState, NamedMoment, NewItem, QueueLimits, ResponseWish, StepInstruction,
};
pub use audit::{AuditChain, AuditHead, AuditVerification, DetectedRestore, WitnessKept};
pub use conversation::{
    BadChatName, ChatMessageRow, ChatProfile, ChatRole, ConversationId, ConversationRow, ListedStatus, NewChatMessage,
    check_chat_name,
};
pub use facts::{Addressed, Facts, FactsKind, UrgencyOrigin};
pub use fingerprint::{Fingerprint, FingerprintKind};
pub use ids::{AccountId, ActionId, AgentId, ItemId, MailId, RunId, TaskId, TeamId, UserId};
pub use instant::Instant;
pub use llm::{CostRow, ModelCallRow, NewModelCall};
pub use mail::{
    Address, Arrival, ArrivalContent, ArrivalFile, ArrivalReceipt, Arrivals, AskedTime, AskedTimes, Attachment,
    Direction, FollowUp, LedgerFileRow, LedgerPage, LedgerPageQuery, LedgerRow, Mail, MailContext, MailDay, MailEdit,
    MailEditKind, MailState, MeetingAnswer, MutedSender, NamedZone, PromisedDate, RelatedTask, TaskRelation, Turn,
    UnchangedFile,
};
pub use me::Me;
pub use plan::{
    Complexity, ComplexityReason, PlanOrigin, PlanPerson, PlanRow, PlanStatus, PlanStepRow, PlanStepStatus,
    PlannedStep, StepOutput, TaskPlan, ToolCall,
};
pub use priority::Priority;
pub use reading::{ExtractedTask, Reading, TaskKind, WarningKind};
pub use reflection::{MessageFate, MessageOutcome, Reflection, ReflectionKind, RunFeedback};
pub use reply::ReplyJson;
pub use request::RequestKind;
pub use run::{
    Change, Checkpoint, CheckpointRow, ContextDoc, ConversationEnd, EventChange, Move, MovedDeadline, NewRun, NodeName,
    RecordedReply, RunKind, RunRecord, RunRow, RunState, RunStatus, TaskNote, TaskUpdate, WrittenField,
};
pub use secret::Secret;
pub use sentence_encoder::SentenceScores;
pub use since::Since;
pub use task::{
    Appointment, HeldKind, HeldTime, HistoryRow, InvoiceRow, NamedMessage, NewReminder, NewRequest, RankableTask,
    Recurrence, ReminderRow, Rerank, ShownReminder, Subtask, Task, TaskContext, TaskCounts, TaskEdit, TaskEditKind,
    TaskPage, TaskPageQuery, TaskPosition, TaskRow, TaskStatus, TaskView,
};
pub use team::{
    AgentRow, AgentState, AgentType, NewTeam, TeamChange, TeamHandle, TeamOrigin, TeamRow, TeamState, TeamUpdate,
    TeamWrite, TodoItem, TodoStatus,
};
pub use text_enum::UnknownVariant;
pub use unreadable_row::{UnreadableRow, UnreadableRows};
