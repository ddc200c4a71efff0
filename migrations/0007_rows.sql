-- What a run leaves behind, in the order it was written. A table kept by its key moves every row over a quarter of a page
-- to pages of its own, and half of each was empty.

CREATE TABLE run_input_rows (
    run_id TEXT NOT NULL UNIQUE REFERENCES run,
    state  TEXT NOT NULL
) STRICT;
INSERT INTO run_input_rows SELECT run_id, state FROM run_input;
DROP TABLE run_input;
ALTER TABLE run_input_rows RENAME TO run_input;

CREATE TABLE checkpoint_rows (
    run_id     TEXT NOT NULL REFERENCES run,
    seq        INTEGER NOT NULL,
    node       TEXT NOT NULL,
    move       TEXT NOT NULL, -- JSON: next, again, wait, park, skip or done, with its reason
    next_node  TEXT,          -- null at the end
    changes    TEXT NOT NULL, -- JSON array
    entered_at TEXT NOT NULL, -- the time the node was told
    UNIQUE (run_id, seq)
) STRICT;
INSERT INTO checkpoint_rows SELECT run_id, seq, node, move, next_node, changes, entered_at FROM checkpoint;
DROP TABLE checkpoint;
ALTER TABLE checkpoint_rows RENAME TO checkpoint;

CREATE TABLE reply_rows (
    run_id     TEXT NOT NULL REFERENCES run,
    node       TEXT NOT NULL,
    input_hash TEXT NOT NULL, -- of the question
    ordinal    INTEGER NOT NULL,
    seq        INTEGER NOT NULL, -- the checkpoint it was used for
    reply      TEXT NOT NULL,    -- JSON
    UNIQUE (run_id, node, input_hash, ordinal)
) STRICT;
INSERT INTO reply_rows SELECT run_id, node, input_hash, ordinal, seq, reply FROM reply;
DROP TABLE reply;
ALTER TABLE reply_rows RENAME TO reply;
