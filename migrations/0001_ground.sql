-- The ground: everything the path of a mail needs, and what later work builds on.
-- House rules: strict tables, explicit columns, instants as UTC text, a set of states is a table with its allowed pairs.

-- People and mailboxes --------------------------------------------------------------------------------------------

CREATE TABLE setting (
    name  TEXT NOT NULL PRIMARY KEY, -- what it is: rules_version, ranked_on, …
    value TEXT NOT NULL              -- its value
) STRICT, WITHOUT ROWID;

CREATE TABLE user (
    user_id    TEXT NOT NULL PRIMARY KEY, -- a short name
    created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE account_mode (mode TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO account_mode VALUES ('observe'), ('active'), ('retired');
CREATE TABLE account_mode_pair (
    from_mode TEXT NOT NULL REFERENCES account_mode,
    to_mode   TEXT NOT NULL REFERENCES account_mode,
    PRIMARY KEY (from_mode, to_mode)
) STRICT, WITHOUT ROWID;
INSERT INTO account_mode_pair VALUES
    ('observe', 'active'), ('active', 'observe'), ('observe', 'retired'), ('active', 'retired');

CREATE TABLE account (
    account    TEXT NOT NULL PRIMARY KEY,                -- the name the person gave it
    user_id    TEXT NOT NULL REFERENCES user,
    kind       TEXT NOT NULL,                            -- maildir, import, local
    mode       TEXT NOT NULL REFERENCES account_mode,    -- observe: nothing is touched
    cursor     TEXT,                                     -- where the last poll ended; null before the first
    created_at TEXT NOT NULL,
    polled_at  TEXT                                      -- null before the first poll
) STRICT, WITHOUT ROWID;
CREATE TRIGGER account_mode_legal BEFORE UPDATE OF mode ON account
WHEN NEW.mode <> OLD.mode AND NOT EXISTS (SELECT 1 FROM account_mode_pair WHERE from_mode = OLD.mode AND to_mode = NEW.mode)
BEGIN SELECT RAISE(ABORT, 'illegal transition: account ' || OLD.account || ' from ' || OLD.mode || ' to ' || NEW.mode); END;

-- Mail --------------------------------------------------------------------------------------------------------------

CREATE TABLE mail_state (state TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO mail_state VALUES
    ('pending'), ('task'), ('linked'), ('no_task'), ('duplicate'), ('parked'), ('failed'), ('gone');
CREATE TABLE mail_state_pair (
    from_state TEXT NOT NULL REFERENCES mail_state,
    to_state   TEXT NOT NULL REFERENCES mail_state,
    PRIMARY KEY (from_state, to_state)
) STRICT, WITHOUT ROWID;
INSERT INTO mail_state_pair VALUES
    ('pending', 'task'), ('pending', 'linked'), ('pending', 'no_task'), ('pending', 'duplicate'), ('pending', 'parked'),
    ('pending', 'failed'), ('pending', 'gone'),
    ('failed', 'pending'), ('failed', 'parked'), ('failed', 'gone'),  -- tried again, given up, taken away meanwhile
    ('parked', 'pending'), ('parked', 'no_task'), ('parked', 'gone'), -- a person looked, or it was mended
    ('gone', 'pending'),                                              -- it came back
    ('task', 'no_task'), ('linked', 'no_task'),                       -- "not a task"
    ('no_task', 'task');                                              -- "should have been a task"

-- The ledger: every message id ever seen.
CREATE TABLE ledger (
    mail_id    INTEGER PRIMARY KEY,                   -- the number a person types
    account    TEXT NOT NULL REFERENCES account,
    source_key TEXT NOT NULL,                         -- the source's own id
    folder     TEXT NOT NULL,
    direction  TEXT NOT NULL,                         -- in, out
    arrived_at TEXT NOT NULL,
    size       INTEGER NOT NULL,                      -- bytes, to notice a file that was still being written
    state      TEXT NOT NULL REFERENCES mail_state,
    reason     TEXT NOT NULL,                         -- why it is in that state, for a person
    task_id    TEXT,                                  -- the task it opened or was linked to; null otherwise
    retries    INTEGER NOT NULL DEFAULT 0,
    updated_at TEXT NOT NULL,
    UNIQUE (account, source_key)
) STRICT;
CREATE INDEX ledger_open ON ledger (state) WHERE state IN ('pending', 'failed', 'parked');
CREATE INDEX ledger_task ON ledger (task_id) WHERE task_id IS NOT NULL;
CREATE TRIGGER ledger_legal BEFORE UPDATE OF state ON ledger
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM mail_state_pair WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition: mail ' || OLD.mail_id || ' from ' || OLD.state || ' to ' || NEW.state); END;
CREATE TRIGGER ledger_kept BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger forgets nothing'); END;

-- What was read in a mail. The original stays in the mailbox.
CREATE TABLE mail (
    mail_id        INTEGER PRIMARY KEY REFERENCES ledger,
    account        TEXT NOT NULL,
    message_id     TEXT NOT NULL,  -- empty when the mail had none
    thread         TEXT NOT NULL,  -- the first message of the conversation
    sender         TEXT NOT NULL,  -- lower-case address
    subject        TEXT NOT NULL,
    sent_at        TEXT NOT NULL,  -- the Date header, else the arrival
    content_sha256 TEXT NOT NULL,  -- over what a sender writes
    direction      TEXT NOT NULL,
    body           TEXT NOT NULL   -- the cleaned mail as JSON
) STRICT;
CREATE INDEX mail_message ON mail (account, message_id);
CREATE INDEX mail_thread ON mail (account, thread);
CREATE INDEX mail_sender ON mail (account, sender, mail_id);

-- Facts: exactly what rules may ask. due_in is due_at minus the moment of ranking.
CREATE TABLE mail_facts (
    mail_id         INTEGER PRIMARY KEY REFERENCES ledger,
    sender          TEXT NOT NULL,
    sender_domain   TEXT NOT NULL,
    sender_verified INTEGER NOT NULL, -- whether sender and sender_domain count
    known_contact   INTEGER NOT NULL,
    addressed       TEXT NOT NULL,    -- to, cc, list
    list_id         TEXT,             -- null: not from a list
    subject         TEXT NOT NULL,
    objective       TEXT NOT NULL,
    kind            TEXT NOT NULL,
    language        TEXT NOT NULL,
    amount          REAL,             -- null: names none
    due_at          TEXT,             -- null: names none
    urgency         REAL NOT NULL,
    urgency_origin  TEXT NOT NULL,    -- built_in, model
    attachment      INTEGER NOT NULL,
    thread_mine     INTEGER NOT NULL,
    account         TEXT NOT NULL
) STRICT;

-- Someone the person has written to.
CREATE TABLE contact (
    account    TEXT NOT NULL,
    address    TEXT NOT NULL, -- lower case
    first_sent TEXT NOT NULL,
    PRIMARY KEY (account, address)
) STRICT, WITHOUT ROWID;

-- A sender a person muted: no task from it.
CREATE TABLE muted (
    account TEXT NOT NULL,
    address TEXT NOT NULL,
    at      TEXT NOT NULL,
    PRIMARY KEY (account, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE label (
    mail_id INTEGER NOT NULL REFERENCES ledger,
    label   TEXT NOT NULL,
    at      TEXT NOT NULL,
    PRIMARY KEY (mail_id, label)
) STRICT, WITHOUT ROWID;

-- Tasks -------------------------------------------------------------------------------------------------------------

CREATE TABLE priority (level TEXT NOT NULL PRIMARY KEY, rank INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO priority VALUES ('low', 0), ('med', 1), ('high', 2), ('critical', 3);

CREATE TABLE task_status (status TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO task_status VALUES ('NEW'), ('READY'), ('IN_PROGRESS'), ('WAITING_HITL'), ('DONE'), ('CANCELLED');
CREATE TABLE task_status_pair (
    from_status TEXT NOT NULL REFERENCES task_status,
    to_status   TEXT NOT NULL REFERENCES task_status,
    PRIMARY KEY (from_status, to_status)
) STRICT, WITHOUT ROWID;
INSERT INTO task_status_pair VALUES
    ('NEW', 'READY'), ('READY', 'IN_PROGRESS'), ('IN_PROGRESS', 'WAITING_HITL'), ('WAITING_HITL', 'IN_PROGRESS'),
    ('IN_PROGRESS', 'DONE'), ('NEW', 'CANCELLED'), ('READY', 'CANCELLED'), ('IN_PROGRESS', 'CANCELLED'),
    ('WAITING_HITL', 'CANCELLED');

-- The task of the specification: its twelve fields and nothing else.
CREATE TABLE tasks (
    task_id        TEXT NOT NULL PRIMARY KEY,
    created_at     TEXT NOT NULL,
    source         TEXT NOT NULL,
    objective      TEXT NOT NULL,
    context        TEXT NOT NULL,                        -- JSON object
    priority       TEXT NOT NULL REFERENCES priority,
    status         TEXT NOT NULL REFERENCES task_status,
    subtasks       TEXT NOT NULL,                        -- JSON array of {step, done}
    assigned_agent TEXT,                                 -- null: only a person can
    last_updated   TEXT NOT NULL,
    tool_output    TEXT,                                 -- JSON object by step; null before the first
    result_summary TEXT                                  -- null before the end
) STRICT, WITHOUT ROWID;
CREATE INDEX tasks_open ON tasks (status, priority) WHERE status NOT IN ('DONE', 'CANCELLED');
CREATE TRIGGER tasks_start BEFORE INSERT ON tasks WHEN NEW.status <> 'NEW'
BEGIN SELECT RAISE(ABORT, 'illegal transition: a task starts NEW, not ' || NEW.status); END;
CREATE TRIGGER tasks_legal BEFORE UPDATE OF status ON tasks
WHEN NEW.status <> OLD.status AND NOT EXISTS (SELECT 1 FROM task_status_pair WHERE from_status = OLD.status AND to_status = NEW.status)
BEGIN SELECT RAISE(ABORT, 'illegal transition: task ' || OLD.task_id || ' from ' || OLD.status || ' to ' || NEW.status); END;
CREATE TRIGGER tasks_kept BEFORE DELETE ON tasks
BEGIN SELECT RAISE(ABORT, 'tasks are cancelled, never deleted'); END;

CREATE TABLE task_owner (
    task_id      TEXT NOT NULL PRIMARY KEY REFERENCES tasks,
    account      TEXT NOT NULL REFERENCES account,
    user_id      TEXT NOT NULL REFERENCES user,
    number       INTEGER,                    -- "task 3", counted per user; null when a successor took it over
    mail_id      INTEGER REFERENCES ledger,  -- the mail it came from; null from chat
    revision     INTEGER NOT NULL DEFAULT 1, -- grows with every change; a run that read an older one starts over
    rule         TEXT NOT NULL DEFAULT '',   -- the rule that decided the priority
    hand_ranked  INTEGER NOT NULL DEFAULT 0, -- a person set the priority: it stands
    snooze_until TEXT,                       -- null: not snoozed
    UNIQUE (user_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_owner_mail ON task_owner (mail_id) WHERE mail_id IS NOT NULL;

CREATE TABLE task_facts (
    task_id         TEXT NOT NULL PRIMARY KEY REFERENCES tasks,
    sender          TEXT NOT NULL,
    sender_domain   TEXT NOT NULL,
    sender_verified INTEGER NOT NULL,
    known_contact   INTEGER NOT NULL,
    addressed       TEXT NOT NULL,
    list_id         TEXT,
    subject         TEXT NOT NULL,
    objective       TEXT NOT NULL,
    kind            TEXT NOT NULL,
    language        TEXT NOT NULL,
    amount          REAL,
    due_at          TEXT,
    urgency         REAL NOT NULL,
    urgency_origin  TEXT NOT NULL,
    attachment      INTEGER NOT NULL,
    thread_mine     INTEGER NOT NULL,
    account         TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The threads a task belongs to, so that a follow-up finds it.
CREATE TABLE task_thread (
    account TEXT NOT NULL,
    thread  TEXT NOT NULL,
    task_id TEXT NOT NULL REFERENCES tasks,
    PRIMARY KEY (account, thread, task_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_history (
    entry       INTEGER PRIMARY KEY,
    task_id     TEXT NOT NULL REFERENCES tasks,
    field       TEXT NOT NULL, -- status, priority, objective, step, …
    from_value  TEXT NOT NULL, -- empty at the start
    to_value    TEXT NOT NULL,
    who         TEXT NOT NULL, -- a node, the person, a follow-up
    why         TEXT NOT NULL,
    at          TEXT NOT NULL
) STRICT;
CREATE INDEX task_history_task ON task_history (task_id);

-- What a person said was wrong. Learned from, at night.
CREATE TABLE correction (
    correction INTEGER PRIMARY KEY,
    account    TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    kind       TEXT NOT NULL, -- priority, not_a_task, make_task, mute, …
    task_id    TEXT,          -- null when it concerns a mail without a task
    mail_id    INTEGER,       -- null when it concerns a task from chat
    from_value TEXT NOT NULL,
    to_value   TEXT NOT NULL,
    why        TEXT NOT NULL,
    at         TEXT NOT NULL
) STRICT;

CREATE TABLE reminder (
    action_id TEXT NOT NULL PRIMARY KEY,
    task_id   TEXT NOT NULL REFERENCES tasks,
    account   TEXT NOT NULL,
    user_id   TEXT NOT NULL,
    due_at    TEXT NOT NULL,
    text      TEXT NOT NULL,
    shown_at  TEXT           -- null: not yet due or not yet shown
) STRICT, WITHOUT ROWID;
CREATE INDEX reminder_due ON reminder (due_at);

CREATE TABLE invoice (
    action_id  TEXT NOT NULL PRIMARY KEY,
    task_id    TEXT NOT NULL REFERENCES tasks,
    account    TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    payee      TEXT NOT NULL,
    amount     REAL,          -- null: not named in the mail
    currency   TEXT,
    due        TEXT,
    number     TEXT,
    recorded_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Runs --------------------------------------------------------------------------------------------------------------

CREATE TABLE run_status (status TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO run_status VALUES ('running'), ('parked'), ('skipped'), ('done'), ('overtaken');
CREATE TABLE run_status_pair (
    from_status TEXT NOT NULL REFERENCES run_status,
    to_status   TEXT NOT NULL REFERENCES run_status,
    PRIMARY KEY (from_status, to_status)
) STRICT, WITHOUT ROWID;
INSERT INTO run_status_pair VALUES
    ('running', 'parked'), ('running', 'skipped'), ('running', 'done'), ('running', 'overtaken');

CREATE TABLE run (
    run_id     TEXT NOT NULL PRIMARY KEY,
    account    TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    kind       TEXT NOT NULL,                          -- mail, task, rank, decision
    mail_id    INTEGER,                                -- the mail it is about; null for a task from chat
    task_id    TEXT,                                   -- the task it works; null for the run of a mail
    parent_run TEXT,                                   -- the run that started it
    fork_of    TEXT,                                   -- the run it repeats; null for an original
    fork_seq   INTEGER,                                -- up to which checkpoint it reads its parent's replies
    schema     INTEGER NOT NULL,                       -- of its state and changes
    status     TEXT NOT NULL REFERENCES run_status,
    reason     TEXT NOT NULL,                          -- why it ended; empty while it runs
    node       TEXT NOT NULL,                          -- where it goes on
    seq        INTEGER NOT NULL,                       -- checkpoints so far
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX run_running ON run (status) WHERE status = 'running';
CREATE INDEX run_task ON run (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX run_mail ON run (mail_id) WHERE task_id IS NULL;
CREATE TRIGGER run_legal BEFORE UPDATE OF status ON run
WHEN NEW.status <> OLD.status AND NOT EXISTS (SELECT 1 FROM run_status_pair WHERE from_status = OLD.status AND to_status = NEW.status)
BEGIN SELECT RAISE(ABORT, 'illegal transition: run ' || OLD.run_id || ' from ' || OLD.status || ' to ' || NEW.status); END;

-- The state on arrival; afterwards only changes are stored. Apart from run, whose row is rewritten at every checkpoint.
CREATE TABLE run_input (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES run,
    state  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoint (
    run_id     TEXT NOT NULL REFERENCES run,
    seq        INTEGER NOT NULL,
    node       TEXT NOT NULL,
    move       TEXT NOT NULL, -- JSON: next, again, wait, park, skip or done, with its reason
    next_node  TEXT,          -- null at the end
    changes    TEXT NOT NULL, -- JSON array
    entered_at TEXT NOT NULL, -- the time the node was told
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

-- What the engine was answered when it asked on behalf of a node.
CREATE TABLE reply (
    run_id     TEXT NOT NULL REFERENCES run,
    node       TEXT NOT NULL,
    input_hash TEXT NOT NULL, -- of the question
    ordinal    INTEGER NOT NULL,
    seq        INTEGER NOT NULL, -- the checkpoint it was used for
    reply      TEXT NOT NULL,    -- JSON
    PRIMARY KEY (run_id, node, input_hash, ordinal)
) STRICT, WITHOUT ROWID;

-- Reflections, mirrored line by line in data/reflections.
CREATE TABLE reflection (
    entry  INTEGER PRIMARY KEY,
    day    TEXT NOT NULL, -- local date: the file
    run_id TEXT NOT NULL UNIQUE,
    line   TEXT NOT NULL  -- JSON
) STRICT;
CREATE INDEX reflection_day ON reflection (day);

-- Effects -----------------------------------------------------------------------------------------------------------

CREATE TABLE outbox_state (state TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO outbox_state VALUES
    ('planned'), ('parked'), ('ready'), ('held'), ('drafting'), ('drafted'), ('sending'), ('sent'), ('unknown'), ('probe'),
    ('needs_human'), ('applied'), ('saved'), ('withheld'), ('void'), ('failed');
CREATE TABLE outbox_state_pair (
    from_state TEXT NOT NULL REFERENCES outbox_state,
    to_state   TEXT NOT NULL REFERENCES outbox_state,
    PRIMARY KEY (from_state, to_state)
) STRICT, WITHOUT ROWID;
INSERT INTO outbox_state_pair VALUES
    ('planned', 'parked'), ('planned', 'ready'), ('planned', 'withheld'), ('planned', 'void'),
    ('parked', 'ready'), ('parked', 'held'), ('parked', 'void'),
    ('held', 'ready'), ('held', 'parked'), ('held', 'void'),
    ('ready', 'drafting'), ('ready', 'applied'), ('ready', 'failed'), ('ready', 'void'), ('ready', 'parked'), ('ready', 'withheld'),
    ('ready', 'unknown'),
    ('drafting', 'drafted'), ('drafting', 'unknown'), ('drafting', 'failed'),
    ('drafted', 'sending'), ('drafted', 'void'), ('drafted', 'unknown'),
    ('sending', 'sent'), ('sending', 'saved'), ('sending', 'unknown'), ('sending', 'failed'),
    ('unknown', 'probe'), ('probe', 'sent'), ('probe', 'drafted'), ('probe', 'needs_human'), ('probe', 'unknown'),
    ('probe', 'applied'), ('probe', 'ready'),
    ('needs_human', 'sent'), ('needs_human', 'void'), ('needs_human', 'ready'),
    ('failed', 'ready'), ('failed', 'void');

CREATE TABLE outbox (
    action_id  TEXT NOT NULL PRIMARY KEY,
    task_id    TEXT NOT NULL REFERENCES tasks,
    step       TEXT NOT NULL,
    generation INTEGER NOT NULL,
    run_id     TEXT NOT NULL,                              -- the run that wished for it
    account    TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    class      TEXT NOT NULL,                              -- R0..R4, as judged when it was made
    action     TEXT NOT NULL,                              -- JSON; judged again whenever it is read
    sha256     TEXT NOT NULL,                              -- of the action
    state      TEXT NOT NULL REFERENCES outbox_state,
    result     TEXT NOT NULL,                              -- what came of it, or why it waits
    handle     TEXT NOT NULL DEFAULT '',                   -- the other side's id of it; empty before there is one
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (task_id, step, generation)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_open ON outbox (state) WHERE state NOT IN ('applied', 'saved', 'sent', 'withheld', 'void', 'failed');
CREATE TRIGGER outbox_legal BEFORE UPDATE OF state ON outbox
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM outbox_state_pair WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition: action ' || OLD.action_id || ' from ' || OLD.state || ' to ' || NEW.state); END;

-- Effects wished for by a fork: shown, never run.
CREATE TABLE fork_effect (
    run_id TEXT NOT NULL REFERENCES run,
    seq    INTEGER NOT NULL,
    class  TEXT NOT NULL,
    action TEXT NOT NULL,
    state  TEXT NOT NULL REFERENCES outbox_state, -- void, always
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

-- Items for people --------------------------------------------------------------------------------------------------

CREATE TABLE item_kind (kind TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO item_kind VALUES ('action'), ('failed_step'), ('rule_proposal'), ('question');
CREATE TABLE item_state (state TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO item_state VALUES ('open'), ('decided'), ('void'), ('expired');
CREATE TABLE item_state_pair (
    from_state TEXT NOT NULL REFERENCES item_state,
    to_state   TEXT NOT NULL REFERENCES item_state,
    PRIMARY KEY (from_state, to_state)
) STRICT, WITHOUT ROWID;
INSERT INTO item_state_pair VALUES ('open', 'decided'), ('open', 'void'), ('open', 'expired');

CREATE TABLE item (
    item_id    TEXT NOT NULL PRIMARY KEY,
    kind       TEXT NOT NULL REFERENCES item_kind,
    account    TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    task_id    TEXT REFERENCES tasks,                  -- null when it concerns no task
    mail_id    INTEGER REFERENCES ledger,              -- null when it concerns no mail
    run_id     TEXT,                                   -- the run that parked; null when none did
    action_id  TEXT REFERENCES outbox,                 -- the effect to approve; null for other kinds
    title      TEXT NOT NULL,
    body       TEXT NOT NULL,                          -- JSON: node, step, error …
    state      TEXT NOT NULL REFERENCES item_state,
    decision   TEXT NOT NULL DEFAULT '',               -- retry, skip, cancel …
    decided_by TEXT NOT NULL DEFAULT '',
    reason     TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    expires_at TEXT                                    -- null: does not expire
) STRICT, WITHOUT ROWID;
CREATE INDEX item_open ON item (state) WHERE state = 'open';
CREATE INDEX item_task ON item (task_id) WHERE task_id IS NOT NULL;
CREATE TRIGGER item_legal BEFORE UPDATE OF state ON item
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM item_state_pair WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition: item ' || OLD.item_id || ' from ' || OLD.state || ' to ' || NEW.state); END;

-- Requests from other commands to the daemon: once, reflect, memory rebuild.
CREATE TABLE request_state (state TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO request_state VALUES ('asked'), ('working'), ('answered');
CREATE TABLE request_state_pair (
    from_state TEXT NOT NULL REFERENCES request_state,
    to_state   TEXT NOT NULL REFERENCES request_state,
    PRIMARY KEY (from_state, to_state)
) STRICT, WITHOUT ROWID;
INSERT INTO request_state_pair VALUES ('asked', 'working'), ('working', 'answered'), ('working', 'asked'), ('asked', 'answered');
CREATE TABLE request (
    request  INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL,
    state    TEXT NOT NULL REFERENCES request_state,
    answer   TEXT NOT NULL DEFAULT '',  -- JSON once answered
    asked_at TEXT NOT NULL
) STRICT;
CREATE TRIGGER request_legal BEFORE UPDATE OF state ON request
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM request_state_pair WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition: request ' || OLD.request || ' from ' || OLD.state || ' to ' || NEW.state); END;

-- Audit -------------------------------------------------------------------------------------------------------------

CREATE TABLE audit (
    seq     INTEGER PRIMARY KEY,
    at      TEXT NOT NULL,
    account TEXT NOT NULL,
    who     TEXT NOT NULL,
    act     TEXT NOT NULL,
    subject TEXT NOT NULL, -- what it was done to
    detail  TEXT NOT NULL,
    hash    TEXT NOT NULL  -- over this line and the hash before it
) STRICT;
CREATE TRIGGER audit_unedited BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit chain is append-only'); END;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit chain is append-only'); END;

-- Search ------------------------------------------------------------------------------------------------------------

CREATE TABLE search_doc (
    doc_id  INTEGER PRIMARY KEY,
    doc     TEXT NOT NULL UNIQUE, -- task:<ulid>, mail:<n>
    account TEXT NOT NULL,
    title   TEXT NOT NULL,
    at      TEXT NOT NULL
) STRICT;
-- Our own normalised tokens, made in Rust; rebuilt from mail and tasks at any time.
CREATE VIRTUAL TABLE search USING fts5(tokens, content='', contentless_delete=1, tokenize='ascii');
