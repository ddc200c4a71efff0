//! The use cases of conversations: one message in, one reply out. Everything that a reply depends on is read from the
//! database, and the reply is stored with what it leaves for the next message, so that no process remembers anything.

mod rewording;
mod tools;

use serde::{Deserialize, Serialize};

use crate::{
    app::{App, BadInput},
    assistant::{
        CONTEXT_MESSAGES, ChatCommand, ChatReply, ChatRequest, History, MOST_MESSAGE_CHARS, MadeCall, intent::Intent,
        respond, without_marker,
    },
    model::{
        ChatMessageRow, ChatProfile, ChatRole, ConversationId, ConversationRow, NewChatMessage, UserId, check_chat_name,
    },
    store::Write,
};
use tools::AppTools;

/// A message to the assistant.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatInput {
    pub text: String,
    /// The conversation that goes on; none begins a new one.
    #[serde(default)]
    pub conversation_id: Option<String>,
    /// Whose tasks are talked about; none means the person of the home.
    #[serde(default)]
    pub user_id: Option<String>,
    /// The profile from this message on; none keeps the one of the conversation, and begins with the direct one.
    #[serde(default)]
    pub profile: Option<ChatProfile>,
}

/// The reply of the assistant.
#[derive(Debug, Clone, Serialize)]
pub struct ChatOutput {
    pub conversation_id: String,
    /// The reply as a person sees it.
    pub reply: String,
    /// The reply as it is stored, with its state marker.
    pub raw: String,
    pub intent: Intent,
    pub command: Option<ChatCommand>,
    /// What a guided flow waits for, such as "CREATE:ASK_TITLE".
    pub state: Option<&'static str>,
    pub language: String,
    /// The profile from the next message on.
    pub profile: ChatProfile,
    /// The calls that were made, with their results.
    pub tools: Vec<MadeCall>,
    /// The reply for a screen, with titles set apart from text of the other direction.
    #[serde(skip)]
    pub screen: String,
}

/// The use cases of conversations.
#[derive(Clone, Copy)]
pub struct ConversationUseCases<'a> {
    pub(super) app: &'a App,
}

impl ConversationUseCases<'_> {
    /// Answers a message. Fails only when the message names no conversation or user, or the database cannot be read;
    /// everything else is said in the reply.
    pub async fn say(self, input: ChatInput) -> anyhow::Result<ChatOutput> {
        let user = self.user(input.user_id.as_deref())?;
        let conversation = match input.conversation_id.as_deref() {
            Some(name) => name.parse().map_err(|error| BadInput(format!("conversation_id: {error}")))?,
            None => new_conversation_id()?,
        };
        self.index_titles().await?;
        let (row, messages) = self.load(&user, &conversation, CONTEXT_MESSAGES - 1).await?;
        let profile = input.profile.or(row.map(|row| row.profile)).unwrap_or(ChatProfile::Direct);
        let history = History::new(messages);
        // The message is on the disk before anything is done about it.
        let typed: String = input.text.chars().take(MOST_MESSAGE_CHARS).collect();
        self.store(&user, &conversation, profile, ChatRole::User, typed, None).await?;
        let mut tools = AppTools::new(self.app, user.clone(), conversation.clone());
        let now = self.app.clock.now();
        let request = ChatRequest { message: &input.text, profile, history: &history, me: &self.app.config.me, now };
        let reply = respond(request, &mut tools).await;
        let text = self.reword(&reply).await;
        let raw = reply.with_marker(&text);
        let stored =
            self.store(&user, &conversation, reply.profile, ChatRole::Assistant, raw.clone(), Some(&reply)).await;
        if let Err(error) = stored {
            // What was done is done and in the history of the tasks; only the conversation has lost its last reply.
            tracing::error!(error = format!("{error:#}"), "a reply of the assistant could not be stored");
        }
        let screen = if text == reply.text.plain() { reply.text.isolated() } else { text.clone() };
        Ok(ChatOutput {
            conversation_id: conversation.to_string(),
            reply: text,
            raw,
            intent: reply.intent,
            command: reply.command().cloned(),
            state: reply.state.map(|state| state.name()),
            language: reply.language.to_string(),
            profile: reply.profile,
            tools: reply.tools,
            screen,
        })
    }

    /// Returns the conversation in which the user said something last, with its last messages, the newest first. Replies
    /// are as a person sees them.
    pub async fn newest(
        self,
        user: Option<&str>,
        limit: usize,
    ) -> anyhow::Result<Option<(ConversationRow, Vec<ChatMessageRow>)>> {
        let user = self.user(user)?;
        let of = user.clone();
        let Some(row) = self.app.store.read(move |reader| reader.conversations().newest(&of)).await? else {
            return Ok(None);
        };
        let (_, messages) = self.load(&user, &row.conversation, limit).await?;
        Ok(Some((row, messages.into_iter().map(as_shown).collect())))
    }

    /// Returns the conversations of the person of the home, each with how it began, the newest first.
    pub async fn list(self, skipped: usize, limit: usize) -> anyhow::Result<Vec<(ConversationRow, String)>> {
        let user = self.app.user.clone();
        Ok(self.app.store.read(move |reader| reader.conversations().list(&user, skipped, limit)).await?)
    }

    /// Returns a conversation of the person of the home with its last messages, the newest first. The replies are as a
    /// person sees them. None when nothing was said in it yet.
    pub async fn find(
        self,
        name: &str,
        limit: usize,
    ) -> anyhow::Result<Option<(ConversationRow, Vec<ChatMessageRow>)>> {
        let name = name.parse().map_err(|error| BadInput(format!("conversation: {error}")))?;
        let (row, messages) = self.load(&self.app.user, &name, limit).await?;
        Ok(row.map(|row| (row, messages.into_iter().map(as_shown).collect())))
    }

    /// Returns the user that a message names, or the person of the home.
    fn user(self, name: Option<&str>) -> Result<UserId, BadInput> {
        let Some(name) = name else { return Ok(self.app.user.clone()) };
        check_chat_name(name).map(UserId::from).map_err(|error| BadInput(format!("user_id: {error}")))
    }

    async fn load(
        self,
        user: &UserId,
        conversation: &ConversationId,
        limit: usize,
    ) -> anyhow::Result<(Option<ConversationRow>, Vec<ChatMessageRow>)> {
        let (user, conversation) = (user.clone(), conversation.clone());
        let read = self.app.store.read(move |reader| {
            let row = reader.conversations().get(&user, &conversation)?;
            Ok((row, reader.conversations().last_messages(&user, &conversation, limit)?))
        });
        Ok(read.await?)
    }

    /// Stores a message; a reply with what it leaves for the next message.
    async fn store(
        self,
        user: &UserId,
        conversation: &ConversationId,
        profile: ChatProfile,
        role: ChatRole,
        text: String,
        reply: Option<&ChatReply>,
    ) -> anyhow::Result<()> {
        let memory = reply.map(|reply| serde_json::to_string(&reply.memory)).transpose()?.unwrap_or_default();
        let new = NewChatMessage {
            conversation: conversation.clone(),
            user: user.clone(),
            profile,
            role,
            text,
            mentioned: reply.and_then(|reply| reply.mentioned),
            memory,
            at: self.app.clock.now(),
        };
        self.app.store.write(Write::RecordChatMessage(Box::new(new))).await?;
        Ok(())
    }

    /// Stores the titles of tasks that an older program has opened, once.
    async fn index_titles(self) -> anyhow::Result<()> {
        if !self.app.store.read_blocking(|reader| reader.task_lists().are_titles_indexed())? {
            self.app.store.write(Write::IndexTitles).await?;
        }
        Ok(())
    }
}

/// Returns a message as a person sees it: without the marker of the state.
fn as_shown(message: ChatMessageRow) -> ChatMessageRow {
    match message.role {
        ChatRole::Assistant => ChatMessageRow { text: without_marker(&message.text).to_owned(), ..message },
        ChatRole::User => message,
    }
}

/// Returns a name for a new conversation.
pub fn new_conversation_id() -> anyhow::Result<ConversationId> {
    Ok(ulid::Ulid::generate().to_string().parse()?)
}
