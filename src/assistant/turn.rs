//! One message and its reply while it is being made.

use super::{
    ChatLanguage,
    command::ChatCommand,
    intent::Intent,
    marker::FlowState,
    memory::{History, ReplyMemory},
    reply::{ReplySentence, ReplyText, Value},
    tool::{ChatTask, MadeCall, TaskCall, TaskTools, ToolFailure, ToolResult},
};
use crate::model::{ChatProfile, Instant, ListedStatus, Me, TaskId};

/// A message with everything that the reply depends on, apart from the tasks.
#[derive(Debug, Clone, Copy)]
pub struct ChatRequest<'a> {
    /// The message as it was typed.
    pub message: &'a str,
    pub profile: ChatProfile,
    pub history: &'a History,
    pub me: &'a Me,
    pub now: Instant,
}

/// What is answered, and what is stored with it.
#[derive(Debug, Clone)]
pub struct ChatReply {
    pub text: ReplyText,
    /// What a guided flow waits for; none outside a flow.
    pub state: Option<FlowState>,
    pub intent: Intent,
    pub tools: Vec<MadeCall>,
    pub memory: ReplyMemory,
    /// The task that "it" means from now on; none leaves the one before.
    pub mentioned: Option<TaskId>,
    pub language: ChatLanguage,
    /// The profile of the conversation from the next message on.
    pub profile: ChatProfile,
}

impl ChatReply {
    pub fn command(&self) -> Option<&ChatCommand> {
        self.memory.command.as_ref()
    }

    /// Returns a reply text as it is stored: with its marker as the last line, if a flow waits for something.
    pub fn with_marker(&self, text: &str) -> String {
        self.state.map_or_else(|| text.to_owned(), |state| format!("{text}\n{}", state.marker()))
    }
}

/// The reply so far.
pub(super) struct ChatTurn<'a, T> {
    pub(super) request: ChatRequest<'a>,
    /// The message without what cannot be seen.
    pub(super) message: String,
    tools: &'a mut T,
    pub(super) reply: ChatReply,
}

/// Why a message is not carried out any further: something failed or was asked. The reply says what.
pub(super) struct Stopped;

pub(super) type Step<V = ()> = Result<V, Stopped>;

impl<'a, T: TaskTools> ChatTurn<'a, T> {
    pub(super) fn new(request: ChatRequest<'a>, message: String, tools: &'a mut T) -> Self {
        let language = ChatLanguage::detect(&message, request.history.language());
        let memory =
            ReplyMemory { language: Some(language), tally: request.history.last().tally, ..ReplyMemory::default() };
        let reply = ChatReply {
            text: ReplyText::default(),
            state: None,
            intent: Intent::Unclear,
            tools: Vec::new(),
            memory,
            mentioned: None,
            language,
            profile: request.profile,
        };
        Self { request, message, tools, reply }
    }

    pub(super) const fn language(&self) -> ChatLanguage {
        self.reply.language
    }

    /// Adds a sentence to the reply.
    pub(super) fn say(&mut self, sentence: ReplySentence, values: &[(&str, Value<'_>)]) {
        let said = sentence.say(self.reply.language, values);
        self.reply.text.join(" ", &said);
    }

    /// Adds a variation of a sentence to the reply.
    pub(super) fn vary(&mut self, sentence: ReplySentence, variation: usize, values: &[(&str, Value<'_>)]) {
        let said = sentence.vary(self.reply.language, variation, values);
        self.reply.text.join(" ", &said);
    }

    /// Adds lines to the reply.
    pub(super) fn say_lines(&mut self, lines: &ReplyText) {
        self.reply.text.join("\n", lines);
    }

    /// Adds a sentence on a line of its own.
    pub(super) fn say_below(&mut self, sentence: ReplySentence, values: &[(&str, Value<'_>)]) {
        let said = sentence.say(self.reply.language, values);
        self.reply.text.join("\n", &said);
    }

    /// Makes a call and records it.
    pub(super) async fn call(&mut self, call: TaskCall) -> Result<ToolResult, ToolFailure> {
        self.call_all(vec![call]).await.pop().unwrap_or(Err(ToolFailure::Unavailable))
    }

    /// Makes calls that do not depend on each other, and records them.
    pub(super) async fn call_all(&mut self, calls: Vec<TaskCall>) -> Vec<Result<ToolResult, ToolFailure>> {
        let outcomes = self.tools.call_all(calls.clone()).await;
        for (call, outcome) in calls.into_iter().zip(&outcomes) {
            let (result, error) = (outcome.as_ref().ok().cloned(), outcome.as_ref().err().cloned());
            self.reply.tools.push(MadeCall { call, result, error });
        }
        outcomes
    }

    /// Says that something failed, without any detail.
    pub(super) fn give_up(&mut self) -> Stopped {
        self.say(ReplySentence("trouble"), &[]);
        Stopped
    }

    /// Returns the task with this number, unless it was deleted.
    pub(super) async fn task_by_number(&mut self, number: i64) -> Step<Option<ChatTask>> {
        self.get_task(TaskCall::GetTask { number }).await
    }

    /// Returns the task with this id, unless it was deleted.
    pub(super) async fn task_by_id(&mut self, task_id: TaskId) -> Step<Option<ChatTask>> {
        self.get_task(TaskCall::GetTaskById { task_id }).await
    }

    async fn get_task(&mut self, call: TaskCall) -> Step<Option<ChatTask>> {
        match self.call(call).await {
            Ok(ToolResult::Found { task }) => {
                Ok(task.filter(|task| task.status != crate::model::TaskStatus::Cancelled))
            }
            _ => Err(self.give_up()),
        }
    }

    /// Returns the tasks whose titles the text names best.
    pub(super) async fn find_by_title(&mut self, title: &str, status: ListedStatus) -> Step<Vec<ChatTask>> {
        self.listed(TaskCall::FindTasks { status, title: title.to_owned() }).await.map(|(tasks, _)| tasks)
    }

    /// Returns tasks of a list, and how many the whole list has.
    pub(super) async fn listed(&mut self, call: TaskCall) -> Step<(Vec<ChatTask>, u64)> {
        match self.call(call).await {
            Ok(ToolResult::Listed { tasks, total }) => Ok((tasks, total)),
            _ => Err(self.give_up()),
        }
    }

    /// Returns how many tasks are pending.
    pub(super) async fn count_pending(&mut self) -> Step<u64> {
        self.listed(TaskCall::ListTasks { status: ListedStatus::Pending, page: 0 }).await.map(|(_, total)| total)
    }
}
