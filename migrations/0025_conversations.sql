-- Conversations with the assistant. Everything that a request needs is read from here; no process remembers anything.

CREATE TABLE chat_profile (profile TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO chat_profile VALUES ('direct'), ('guided');
CREATE TABLE chat_role (role TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO chat_role VALUES ('user'), ('assistant');

CREATE TABLE conversations (
    conversation_id TEXT NOT NULL,                         -- a name; two users may use the same
    user_id         TEXT NOT NULL REFERENCES user,         -- whose tasks are talked about
    profile         TEXT NOT NULL REFERENCES chat_profile, -- how the assistant behaves from the next message on
    created_at      TEXT NOT NULL,                         -- when the first message came
    updated_at      TEXT NOT NULL,                         -- when the last message was stored
    PRIMARY KEY (user_id, conversation_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX conversations_newest ON conversations (user_id, updated_at);

CREATE TABLE chat_messages (
    message_id      INTEGER PRIMARY KEY,                -- in the order of the messages
    user_id         TEXT NOT NULL,                      -- the user of the conversation
    conversation_id TEXT NOT NULL,                      -- the conversation
    role            TEXT NOT NULL REFERENCES chat_role, -- who wrote it
    content         TEXT NOT NULL,                      -- as typed; a reply ends with its state marker, if it has one
    task_id         TEXT,                               -- the task that was mentioned last; null when none was
    memory          TEXT NOT NULL,                      -- JSON: what the assistant must know about its reply; empty for a user's message
    created_at      TEXT NOT NULL,                      -- when it was stored
    FOREIGN KEY (user_id, conversation_id) REFERENCES conversations
) STRICT;
CREATE INDEX chat_messages_newest ON chat_messages (user_id, conversation_id, message_id);
