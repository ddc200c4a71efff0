-- The night: what was learned, from what, how it was tested, and how to take it back.

CREATE INDEX correction_at ON correction (at);

CREATE TABLE night_state (state TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO night_state VALUES ('running'), ('done'), ('caught_up');
CREATE TABLE night_state_pair (
    from_state TEXT NOT NULL REFERENCES night_state,
    to_state   TEXT NOT NULL REFERENCES night_state,
    PRIMARY KEY (from_state, to_state)
) STRICT, WITHOUT ROWID;
INSERT INTO night_state_pair VALUES ('running', 'done');

-- One row per date: there is no second run of a date, whatever happens to the first.
CREATE TABLE night (
    date         TEXT NOT NULL PRIMARY KEY, -- in the person's time zone
    scheduled_at TEXT NOT NULL,             -- the instant it was due
    run_id       TEXT NOT NULL,             -- of the run that did it; several missed dates share one
    state        TEXT NOT NULL REFERENCES night_state, -- caught_up: missed, and made up for by a later one
    begun_at     TEXT NOT NULL,
    ended_at     TEXT,                      -- null while it runs, or after a crash in it
    report       TEXT NOT NULL DEFAULT ''   -- JSON: edits, proposals, duplicates, how each was tested
) STRICT, WITHOUT ROWID;
CREATE TRIGGER night_legal BEFORE UPDATE OF state ON night
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM night_state_pair WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition: night ' || OLD.date || ' from ' || OLD.state || ' to ' || NEW.state); END;

-- The last versions of both files, whole. Intended before the file is replaced, live after it.
CREATE TABLE rules_version (
    version    INTEGER PRIMARY KEY AUTOINCREMENT, -- numbers are not used again
    at         TEXT NOT NULL,
    who        TEXT NOT NULL,                     -- night, person, approval, rollback
    run_id     TEXT NOT NULL,                     -- of the night; empty otherwise
    why        TEXT NOT NULL,                     -- for a person
    rules      TEXT NOT NULL,                     -- every byte of rules/priority.yml
    guidelines TEXT NOT NULL,                     -- every byte of guidelines.txt
    edits      TEXT NOT NULL,                     -- JSON: what was changed, with its evidence and its test
    live       INTEGER NOT NULL DEFAULT 0         -- 1: it is or was the file
) STRICT;

-- Where each learned entry comes from.
CREATE TABLE learned_entry (
    name     TEXT NOT NULL PRIMARY KEY,
    entry    TEXT NOT NULL,   -- JSON: reach and act
    run_id   TEXT NOT NULL,
    evidence TEXT NOT NULL,   -- JSON array of corrections
    made_at  TEXT NOT NULL,
    hits     INTEGER NOT NULL DEFAULT 0, -- tasks and mails of the past it matched, as of the last night
    last_hit TEXT             -- null: none yet
) STRICT, WITHOUT ROWID;

-- What a person took back or turned down: learned again only from newer corrections.
CREATE TABLE unlearned (
    reach TEXT NOT NULL PRIMARY KEY,
    at    TEXT NOT NULL,
    why   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Entries that are asked for. The item has the person's word.
CREATE TABLE proposal (
    item_id    TEXT NOT NULL PRIMARY KEY REFERENCES item,
    edit       TEXT NOT NULL,  -- JSON
    run_id     TEXT NOT NULL,
    evidence   TEXT NOT NULL,  -- JSON array of corrections
    settled_at TEXT,           -- null: not yet acted on
    outcome    TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
