//! Conversations and their messages. Messages are only added.

use rusqlite::{Connection, Row};

use super::{execute, parse_column, parse_optional_column, query_first_readable, query_optional, query_readable};
use crate::{
    model::{ChatMessageRow, ConversationId, ConversationRow, NewChatMessage, UserId},
    store::{Receipt, error::Result, session::Session},
};

/// Adds a message. The first message of a conversation opens it, and the first conversation of a user adds the user.
pub(in crate::store) fn record_message(session: &Session, new: &NewChatMessage) -> Result<Receipt> {
    let at = new.at.to_string();
    let (user, conversation) = (new.user.as_str(), new.conversation.as_str());
    let sql = "INSERT INTO user (user_id, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    execute(session, sql, (user, &at), "adding a user")?;
    let sql = "INSERT INTO conversations (conversation_id, user_id, profile, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)
               ON CONFLICT DO UPDATE SET profile = excluded.profile, updated_at = excluded.updated_at";
    execute(session, sql, (conversation, user, new.profile.as_str(), &at), "opening a conversation")?;
    let sql = "INSERT INTO chat_messages (user_id, conversation_id, role, content, task_id, memory, created_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mentioned = new.mentioned.map(|task| task.to_string());
    let values = (user, conversation, new.role.as_str(), &new.text, mentioned, &new.memory, &at);
    execute(session, sql, values, "adding a message")?;
    Ok(Receipt::Number(session.last_insert_rowid()))
}

const CONVERSATION_COLUMNS: &str =
    "SELECT conversation_id, user_id, profile, created_at, updated_at FROM conversations";

fn conversation_row(row: &Row<'_>) -> rusqlite::Result<ConversationRow> {
    Ok(ConversationRow {
        conversation: parse_column(row, 0)?,
        user: UserId(row.get(1)?),
        profile: parse_column(row, 2)?,
        created_at: parse_column(row, 3)?,
        updated_at: parse_column(row, 4)?,
    })
}

/// Queries of conversations. Each is of one user.
#[derive(Clone, Copy)]
pub struct ConversationReader<'a>(pub(in crate::store) &'a Connection);

impl ConversationReader<'_> {
    /// Returns the conversation of this name; none when it has no message yet.
    pub fn get(self, user: &UserId, conversation: &ConversationId) -> Result<Option<ConversationRow>> {
        let sql = format!("{CONVERSATION_COLUMNS} WHERE user_id = ?1 AND conversation_id = ?2");
        let values = (user.as_str(), conversation.as_str());
        query_optional(self.0, &sql, values, "reading a conversation", conversation_row)
    }

    /// Returns the conversation of the user in which something was said last.
    pub fn newest(self, user: &UserId) -> Result<Option<ConversationRow>> {
        let sql = format!("{CONVERSATION_COLUMNS} WHERE user_id = ?1 ORDER BY updated_at DESC LIMIT 20");
        query_first_readable(self.0, &sql, [user.as_str()], "finding the last conversation", conversation_row)
    }

    /// Returns the conversations of the user, each with the beginning of its first message, the one in which something
    /// was said last on top.
    pub fn list(self, user: &UserId, skipped: usize, limit: usize) -> Result<Vec<(ConversationRow, String)>> {
        let sql = "SELECT conversation_id, user_id, profile, created_at, updated_at,
                          coalesce((SELECT substr(content, 1, 120) FROM chat_messages m
                                    WHERE m.user_id = c.user_id AND m.conversation_id = c.conversation_id
                                    ORDER BY message_id LIMIT 1), '')
                   FROM conversations c WHERE user_id = ?1 ORDER BY updated_at DESC, conversation_id LIMIT ?2 OFFSET ?3";
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let values = (user.as_str(), number(limit), number(skipped));
        query_readable(self.0, sql, values, "listing conversations", |row| Ok((conversation_row(row)?, row.get(5)?)))
    }

    /// Returns the last messages of a conversation, the newest first.
    pub fn last_messages(
        self,
        user: &UserId,
        conversation: &ConversationId,
        limit: usize,
    ) -> Result<Vec<ChatMessageRow>> {
        let sql = "SELECT message_id, role, content, task_id, memory, created_at FROM chat_messages
                   WHERE user_id = ?1 AND conversation_id = ?2 ORDER BY message_id DESC LIMIT ?3";
        let values = (user.as_str(), conversation.as_str(), i64::try_from(limit).unwrap_or(i64::MAX));
        query_readable(self.0, sql, values, "reading messages", |row| {
            Ok(ChatMessageRow {
                message: row.get(0)?,
                role: parse_column(row, 1)?,
                text: row.get(2)?,
                mentioned: parse_optional_column(row, 3)?,
                memory: row.get(4)?,
                at: parse_column(row, 5)?,
            })
        })
    }
}
