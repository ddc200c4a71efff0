-- Approvals: what a person allowed, bound to exact bytes, used once.

-- A run that cannot go on now (a cap is reached, effects are paused, a grace runs) is left and taken up again then.
ALTER TABLE run ADD COLUMN wait_until TEXT;      -- null: at once
ALTER TABLE run ADD COLUMN waits_for TEXT NOT NULL DEFAULT ''; -- in words, for every door

ALTER TABLE outbox ADD COLUMN release_at TEXT;   -- the end of the grace; null outside it
ALTER TABLE outbox ADD COLUMN doubt_since TEXT;  -- the first time nobody knew whether it happened; null without doubt
ALTER TABLE outbox ADD COLUMN sender TEXT NOT NULL DEFAULT ''; -- who wrote the mail that caused it, for the caps
CREATE INDEX outbox_task ON outbox (task_id);
CREATE INDEX outbox_ended ON outbox (updated_at) WHERE state IN ('applied', 'sent', 'saved');
INSERT INTO outbox_state_pair VALUES
    ('drafting', 'void'), ('drafting', 'ready'), ('probe', 'saved'), ('probe', 'void'), ('probe', 'failed'),
    ('needs_human', 'saved'), ('needs_human', 'drafted'), ('planned', 'unknown'), ('parked', 'unknown'), ('held', 'unknown'),
    ('applied', 'void'), ('sending', 'void'), ('parked', 'withheld'), ('held', 'withheld');

ALTER TABLE item ADD COLUMN snooze_until TEXT;   -- null: shown
ALTER TABLE item ADD COLUMN reminded_at TEXT;    -- null: its coming expiry was not yet told
ALTER TABLE item ADD COLUMN sender TEXT NOT NULL DEFAULT ''; -- who wrote the mail that caused it, for the caps
-- Taken back within the grace.
INSERT INTO item_state_pair VALUES ('decided', 'open');

CREATE TABLE approval (
    action_id  TEXT NOT NULL PRIMARY KEY REFERENCES outbox,
    item_id    TEXT NOT NULL REFERENCES item,
    sha256     TEXT NOT NULL, -- of the action: every field, the message's bytes, policy, expiry and nonce
    epoch      INTEGER NOT NULL, -- of the data folder: a restored backup is another one
    door       TEXT NOT NULL,
    who        TEXT NOT NULL,
    granted_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_at    TEXT           -- null: not yet
) STRICT, WITHOUT ROWID;

-- Decision files that were used, so that none counts twice.
CREATE TABLE consumed (
    sha256 TEXT NOT NULL PRIMARY KEY, -- of the file's bytes and its item
    at     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What R1 effects did, so that a person can take it back.
CREATE TABLE journal (
    action_id TEXT NOT NULL PRIMARY KEY REFERENCES outbox,
    handle    TEXT NOT NULL,
    done_at   TEXT NOT NULL,
    undone_at TEXT            -- null: stands
) STRICT, WITHOUT ROWID;

-- Whether the person wrote in a conversation is read from the index alone.
DROP INDEX mail_thread;
CREATE INDEX mail_thread ON mail (account, thread, direction);
