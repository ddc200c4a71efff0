-- Closed sets are tables of their words, and a row with any other word is refused. Triggers and not references: a row of
-- an older version with an unknown word stays as it is, is unreadable, and `doctor` names it.

-- The nightly job has one name: in the configuration, in the code and here.
ALTER TABLE night_state RENAME TO nightly_state;
ALTER TABLE night_state_pair RENAME TO nightly_state_pair;
ALTER TABLE night RENAME TO nightly;
DROP TRIGGER night_legal;
CREATE TRIGGER nightly_legal BEFORE UPDATE OF state ON nightly
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM nightly_state_pair WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition of the nightly job'); END;
UPDATE setting SET name = 'nightly_seen' WHERE name = 'night_seen';

-- What a command can ask of the daemon. Requests are answered within a minute: one of another kind is nobody's any more.
CREATE TABLE request_kind (kind TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO request_kind VALUES ('once'), ('reflect'), ('memory_rebuild');
DELETE FROM request WHERE kind NOT IN (SELECT kind FROM request_kind);
CREATE TRIGGER request_kind_known BEFORE INSERT ON request WHEN NEW.kind NOT IN (SELECT kind FROM request_kind)
BEGIN SELECT RAISE(ABORT, 'unknown kind of request'); END;
CREATE TRIGGER request_kind_stays_known BEFORE UPDATE OF kind ON request WHEN NEW.kind NOT IN (SELECT kind FROM request_kind)
BEGIN SELECT RAISE(ABORT, 'unknown kind of request'); END;

-- What kind of mailbox an account stands for.
CREATE TABLE mailbox_kind (kind TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO mailbox_kind VALUES ('maildir'), ('gmail'), ('import'), ('local');
CREATE TRIGGER account_kind_known BEFORE INSERT ON account WHEN NEW.kind NOT IN (SELECT kind FROM mailbox_kind)
BEGIN SELECT RAISE(ABORT, 'unknown kind of account'); END;
CREATE TRIGGER account_kind_stays_known BEFORE UPDATE OF kind ON account WHEN NEW.kind NOT IN (SELECT kind FROM mailbox_kind)
BEGIN SELECT RAISE(ABORT, 'unknown kind of account'); END;
