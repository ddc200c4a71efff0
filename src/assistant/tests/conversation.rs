//! A conversation in a test: every message goes through [`respond`] with the stored history, as in the program.

use super::tasks_in_memory::TasksInMemory;
use crate::{
    assistant::{
        ChatReply, ChatRequest, FlowState, History, marker::without_marker, memory::CONTEXT_MESSAGES, respond,
    },
    model::{ChatMessageRow, ChatProfile, ChatRole, Instant, Me},
};

/// A conversation with tasks in memory.
pub(super) struct Conversation {
    pub(super) tasks: TasksInMemory,
    pub(super) profile: ChatProfile,
    /// The newest first.
    messages: Vec<ChatMessageRow>,
    me: Me,
}

impl Conversation {
    pub(super) fn direct(titles: &[&str]) -> Self {
        Self::new(ChatProfile::Direct, titles)
    }

    pub(super) fn guided(titles: &[&str]) -> Self {
        Self::new(ChatProfile::Guided, titles)
    }

    fn new(profile: ChatProfile, titles: &[&str]) -> Self {
        Self { tasks: TasksInMemory::titled(titles), profile, messages: Vec::new(), me: super::me() }
    }

    /// Says something. Returns the whole reply.
    pub(super) fn turn(&mut self, message: &str) -> ChatReply {
        let now: Instant = "2026-11-16T08:00:00Z".parse().unwrap();
        let history = History::new(self.messages.iter().take(CONTEXT_MESSAGES).cloned().collect());
        let request = ChatRequest { message, profile: self.profile, history: &history, me: &self.me, now };
        let reply = block_on(respond(request, &mut self.tasks));
        self.profile = reply.profile;
        self.store(ChatRole::User, message.to_owned(), None);
        self.store(ChatRole::Assistant, reply.with_marker(reply.text.plain()), Some(&reply));
        reply
    }

    /// Says something. Returns the reply as a person sees it.
    pub(super) fn say(&mut self, message: &str) -> String {
        self.turn(message);
        without_marker(&self.messages[0].text).to_owned()
    }

    /// Says something. Returns the reply as it is stored.
    pub(super) fn raw(&mut self, message: &str) -> String {
        self.turn(message);
        self.messages[0].text.clone()
    }

    pub(super) fn state(&self) -> Option<FlowState> {
        FlowState::of_history(&self.messages)
    }

    fn store(&mut self, role: ChatRole, text: String, reply: Option<&ChatReply>) {
        let message = ChatMessageRow {
            message: i64::try_from(self.messages.len()).unwrap(),
            role,
            text,
            mentioned: reply.and_then(|reply| reply.mentioned),
            memory: reply.map_or_else(String::new, |reply| serde_json::to_string(&reply.memory).unwrap()),
            at: "2026-11-16T08:00:00Z".parse().unwrap(),
        };
        self.messages.insert(0, message);
    }
}

/// Completes a future that never waits, because everything is in memory.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(output) => output,
        std::task::Poll::Pending => panic!("tasks in memory never wait"),
    }
}
