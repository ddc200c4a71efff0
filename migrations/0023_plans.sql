-- Plans of requests with several steps. What a plan consists of lives in the context of its task; these rows mirror it
-- and say where it stands, in the transaction that changes the task.

CREATE TABLE plan (
    task_id           TEXT NOT NULL PRIMARY KEY REFERENCES tasks,
    original_request  TEXT NOT NULL,
    origin            TEXT NOT NULL,    -- words, model, person: who divided the request
    score             INTEGER NOT NULL, -- the complexity, 0 to 100
    reasons           TEXT NOT NULL,    -- JSON array: why the request counts as complex
    status            TEXT NOT NULL,    -- pending, in_progress, completed, cancelled, failed
    execution_summary TEXT,             -- null before the end
    updated_at        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX plan_open ON plan (status) WHERE status NOT IN ('completed', 'cancelled');

CREATE TABLE plan_step (
    task_id       TEXT NOT NULL REFERENCES plan,
    step_number   INTEGER NOT NULL,
    description   TEXT NOT NULL, -- short, for a person
    instruction   TEXT NOT NULL, -- in full
    tool          TEXT,          -- null: the person's, or a model was not asked yet
    arguments     TEXT NOT NULL, -- JSON object of the tool
    after         TEXT NOT NULL, -- JSON array of step numbers that come before
    status        TEXT NOT NULL, -- pending, in_progress, completed, skipped, failed
    result        TEXT,          -- JSON: the whole output; null before there is one
    error_message TEXT,          -- null unless it failed or was not done
    PRIMARY KEY (task_id, step_number)
) STRICT, WITHOUT ROWID;
