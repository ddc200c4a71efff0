//! What a reply leaves for the messages after it. It is stored with the reply, because no process remembers anything.

use serde::{Deserialize, Serialize};

use super::{
    ChatLanguage,
    command::ChatCommand,
    tool::{OfferedPlan, TaskChanges},
};
use crate::model::{ChatMessageRow, ChatRole, Instant, ListedStatus, TaskId};

/// How many messages a request takes into account, its own included.
pub const CONTEXT_MESSAGES: usize = 50;

/// What is done with a task once it is known which one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ChatAction {
    Complete,
    Delete,
    Update(TaskChanges),
    /// Put off until then; none asks until when.
    Snooze(Option<Instant>),
    Explain,
    NotATask,
}

/// What the assistant has asked in the direct profile, and what it does with the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Pending {
    /// Which task: one of the options, if there are any.
    WhichTask { action: ChatAction, query: String, options: Vec<TaskId> },
    /// What to change in this task.
    WhatToChange { task_id: TaskId },
    /// What the new task is called.
    WhatTitle,
    /// Until when to put off this task.
    UntilWhen { task_id: TaskId },
    /// Whether to show the tasks.
    OfferList,
    /// Whether to do all of this.
    ConfirmMany { work: Vec<(ChatAction, TaskId)> },
    /// Whether to carry out this plan.
    StartPlan { plan: OfferedPlan },
}

/// A change that a reply has reported, as far as it takes to undo it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum MadeChange {
    Added(TaskId),
    /// Completed or deleted: opened again by an undo.
    Ended(TaskId),
    /// The fields that were changed, as they were before.
    Updated {
        task_id: TaskId,
        before: FieldsBefore,
    },
    Snoozed {
        task_id: TaskId,
        before: Option<Instant>,
    },
    /// The person has begun the task, which cannot be taken back.
    Begun(TaskId),
}

/// The fields that a change replaced. A status is not among them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FieldsBefore(pub(super) TaskChanges);

/// The list that a reply has shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ShownList {
    pub(super) status: ListedStatus,
    pub(super) page: usize,
    pub(super) tasks: Vec<TaskId>,
    pub(super) has_more: bool,
}

/// Counts by which the wording of replies varies and remarks are made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Tally {
    pub(super) created: usize,
    pub(super) completed: usize,
    pub(super) deleted: usize,
    /// Tasks created since the last one was completed.
    pub(super) created_since_completion: usize,
    /// Messages that were not understood.
    pub(super) unclear: usize,
}

/// What a reply leaves for the messages after it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplyMemory {
    pub(super) language: Option<ChatLanguage>,
    /// The command so far. In a guided flow, what it has collected.
    pub(super) command: Option<ChatCommand>,
    pub(super) pending: Option<Pending>,
    /// The tasks among which a guided flow lets the person choose.
    pub(super) options: Vec<TaskId>,
    pub(super) list: Option<ShownList>,
    pub(super) changes: Vec<MadeChange>,
    /// The reply whose changes this reply has undone.
    pub(super) undone: Option<i64>,
    pub(super) tally: Tally,
}

/// The conversation before a message, as far as it is taken into account.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The newest first.
    messages: Vec<ChatMessageRow>,
    /// What the most recent reply left; nothing if it cannot be read.
    last: ReplyMemory,
}

impl History {
    /// Reads the last messages of a conversation, the newest first. More than are taken into account are left out.
    pub fn new(mut messages: Vec<ChatMessageRow>) -> Self {
        messages.truncate(CONTEXT_MESSAGES - 1);
        let last = messages.iter().find(|message| message.role == ChatRole::Assistant);
        let last = last.and_then(read_memory).unwrap_or_default();
        Self { messages, last }
    }

    /// Returns the messages, the newest first.
    pub(super) fn messages(&self) -> &[ChatMessageRow] {
        &self.messages
    }

    pub(super) const fn last(&self) -> &ReplyMemory {
        &self.last
    }

    /// Returns the language of the last message; English before the first.
    pub fn language(&self) -> ChatLanguage {
        self.last.language.unwrap_or(ChatLanguage::English)
    }

    /// Returns the task that was mentioned last.
    pub(super) fn last_mentioned(&self) -> Option<TaskId> {
        self.messages.iter().find_map(|message| message.mentioned)
    }

    /// Returns the newest changes that were not undone yet, with the reply that reported them.
    pub(super) fn last_changes(&self) -> Option<(i64, Vec<MadeChange>)> {
        let replies = self.messages.iter().filter(|message| message.role == ChatRole::Assistant);
        let memories: Vec<(i64, ReplyMemory)> =
            replies.filter_map(|message| Some((message.message, read_memory(message)?))).collect();
        let is_undone = |id: i64| memories.iter().any(|(_, memory)| memory.undone == Some(id));
        let newest = memories.iter().find(|(id, memory)| !memory.changes.is_empty() && !is_undone(*id));
        newest.map(|(id, memory)| (*id, memory.changes.clone()))
    }
}

fn read_memory(message: &ChatMessageRow) -> Option<ReplyMemory> {
    serde_json::from_str(&message.memory).ok()
}
