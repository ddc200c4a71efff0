-- Questions to a language model: what it said and what that cost, in one row that is on the disk before it is used.

CREATE TABLE model_call (
    call_id     INTEGER PRIMARY KEY,
    run_id      TEXT REFERENCES run,  -- null: a question of our own (doctor), or one that a crash swallowed
    node        TEXT NOT NULL,        -- who asked
    input_hash  TEXT NOT NULL,        -- of the question
    ordinal     INTEGER NOT NULL,     -- which asking of the same question
    seq         INTEGER NOT NULL,     -- the checkpoint it was for
    reply       TEXT NOT NULL,        -- JSON, as the node hears it
    about       TEXT NOT NULL,        -- whose budget: a task, or the run that read a mail
    day         TEXT NOT NULL,        -- local date, for the daily budget
    at          TEXT NOT NULL,
    provider    TEXT NOT NULL,
    model       TEXT NOT NULL,
    prompt      TEXT NOT NULL,        -- the name of its file
    version     TEXT NOT NULL,        -- of the prompt's text and schema
    guidelines  TEXT NOT NULL,        -- version of guidelines.txt; empty without
    outcome     TEXT NOT NULL,
    note        TEXT NOT NULL,        -- what was wrong, in our own words
    requests    INTEGER NOT NULL,
    tokens_in   INTEGER NOT NULL,
    tokens_out  INTEGER NOT NULL,
    cost_micros INTEGER NOT NULL,     -- millionths of the currency of the prices
    took_ms     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX model_call_asked ON model_call (run_id, node, input_hash, ordinal) WHERE run_id IS NOT NULL;
CREATE INDEX model_call_day ON model_call (day);
CREATE INDEX model_call_about ON model_call (about);

-- What the person wrote, for the style of a draft.
CREATE INDEX mail_out ON mail (account, mail_id) WHERE direction = 'out';
