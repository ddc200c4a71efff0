//! A conversation with the assistant, as it is stored. What the messages mean is for [`crate::assistant`].

use serde::{Deserialize, Serialize};

use super::{Instant, TaskId, UserId, text_enum::text_enum};

text_enum! {
    /// How the assistant behaves in a conversation.
    ChatProfile {
        /// Acts at once, finds tasks by parts of their titles, and understands "it".
        Direct = "direct",
        /// Asks for one thing after the other, confirms every deletion and change, and never guesses.
        Guided = "guided",
    }
}

text_enum! {
    /// Who wrote a message of a conversation.
    ChatRole {
        User = "user",
        Assistant = "assistant",
    }
}

/// The name of a conversation. It is unique for its user; two users may use the same name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConversationId(String);

/// A text that cannot be the name of a conversation or of a user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a name; expected 1 to {MOST_NAME_CHARS} letters, digits, dots, hyphens and underscores")]
pub struct BadChatName(String);

/// The most characters in the name of a conversation or of a user.
const MOST_NAME_CHARS: usize = 64;

/// Returns the name if it can be stored and shown anywhere.
pub fn check_chat_name(name: &str) -> Result<&str, BadChatName> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if (1..=MOST_NAME_CHARS).contains(&name.len()) && name.chars().all(is_allowed) {
        Ok(name)
    } else {
        Err(BadChatName(name.chars().take(MOST_NAME_CHARS).collect()))
    }
}

impl ConversationId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ConversationId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl std::str::FromStr for ConversationId {
    type Err = BadChatName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        check_chat_name(name).map(|name| Self(name.to_owned()))
    }
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConversationRow {
    pub conversation: ConversationId,
    pub user: UserId,
    pub profile: ChatProfile,
    pub created_at: Instant,
    pub updated_at: Instant,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatMessageRow {
    pub message: i64,
    pub role: ChatRole,
    /// The text as it was typed, or the reply with its state marker.
    pub text: String,
    /// The task that the message mentioned last; none when it mentioned none.
    pub mentioned: Option<TaskId>,
    /// What the assistant has to know about its own reply, as JSON. Empty for a message of the user.
    #[serde(skip)]
    pub memory: String,
    pub at: Instant,
}

/// A message to be stored. The first one opens its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewChatMessage {
    pub conversation: ConversationId,
    pub user: UserId,
    /// The profile of the conversation from this message on.
    pub profile: ChatProfile,
    pub role: ChatRole,
    pub text: String,
    pub mentioned: Option<TaskId>,
    pub memory: String,
    pub at: Instant,
}

text_enum! {
    /// Which tasks a list holds. Cancelled ones are in none.
    ListedStatus {
        All = "all",
        /// Every task that has not ended.
        Pending = "pending",
        Completed = "completed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_harmless() {
        for name in ["a", "t-1", "01JYD3A8P0WQ5M4T6R2P0N1M4K", "dana.levi_2"] {
            assert_eq!(check_chat_name(name), Ok(name));
        }
        let long = "x".repeat(MOST_NAME_CHARS + 1);
        for name in ["", " ", "a b", "../x", "ש", "a\n", long.as_str()] {
            assert!(check_chat_name(name).is_err(), "{name}");
        }
    }
}
