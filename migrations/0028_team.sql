-- Teams: a task manager that divides a request, and the workers that it starts. Everything that an agent knows is in
-- these rows, so that a team that was stopped or killed goes on where it was.

CREATE TABLE team_state (state TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO team_state VALUES ('proposed'), ('requested'), ('running'), ('stopped'), ('answered'), ('cancelled'), ('failed');
CREATE TABLE team_state_pair (
    from_state TEXT NOT NULL REFERENCES team_state,
    to_state   TEXT NOT NULL REFERENCES team_state,
    PRIMARY KEY (from_state, to_state)
) STRICT, WITHOUT ROWID;
INSERT INTO team_state_pair VALUES
    ('proposed', 'requested'), ('proposed', 'cancelled'), ('requested', 'running'), ('requested', 'cancelled'),
    ('running', 'stopped'), ('running', 'answered'), ('running', 'failed'), ('running', 'cancelled'),
    ('stopped', 'running'), ('stopped', 'cancelled'), ('answered', 'running'), ('answered', 'stopped');

CREATE TABLE agent_state (state TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO agent_state VALUES ('queued'), ('working'), ('waiting'), ('stopped'), ('finished'), ('failed'), ('cancelled');
CREATE TABLE agent_state_pair (
    from_state TEXT NOT NULL REFERENCES agent_state,
    to_state   TEXT NOT NULL REFERENCES agent_state,
    PRIMARY KEY (from_state, to_state)
) STRICT, WITHOUT ROWID;
INSERT INTO agent_state_pair VALUES
    ('queued', 'working'), ('queued', 'stopped'), ('working', 'waiting'), ('waiting', 'working'), ('working', 'stopped'),
    ('waiting', 'stopped'), ('stopped', 'queued'), ('stopped', 'working'), ('stopped', 'cancelled'),
    ('working', 'finished'), ('working', 'failed'), ('waiting', 'failed');

CREATE TABLE team (
    team_id    TEXT NOT NULL PRIMARY KEY,
    number     INTEGER NOT NULL UNIQUE,            -- by which a person names it; never given to another team
    user_id    TEXT NOT NULL,
    account    TEXT,                               -- the only account that is read; null: all accounts of the person
    request    TEXT NOT NULL,                      -- as the person typed it, or what the mail asks for
    origin     TEXT NOT NULL,                      -- terminal, chat, web, mail: where it was asked for
    task_id    TEXT REFERENCES tasks,              -- the task of the mail that asks for it; null without a mail
    item_id    TEXT REFERENCES item,               -- the question whether it may start; null when a person started it
    state      TEXT NOT NULL REFERENCES team_state,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX team_open ON team (state) WHERE state IN ('proposed', 'requested', 'running');
CREATE UNIQUE INDEX team_task ON team (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX tasks_for_team ON tasks (task_id) WHERE assigned_agent = 'TaskManager';
CREATE TRIGGER team_legal BEFORE UPDATE OF state ON team
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM team_state_pair WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition of a team'); END;

CREATE TABLE team_agent (
    agent_id        TEXT NOT NULL PRIMARY KEY,
    team_id         TEXT NOT NULL REFERENCES team,
    number          INTEGER NOT NULL,              -- 0: the manager; workers from 1 in the order of their start
    parent_id       TEXT REFERENCES team_agent,    -- the agent that started it; null for the manager
    task            TEXT NOT NULL,                 -- what it is to accomplish
    expected_format TEXT,                          -- the form of the result that its parent wants; null: any
    state           TEXT NOT NULL REFERENCES agent_state,
    item_id         TEXT REFERENCES item,          -- its question in the approval queue; null while it has none
    result          TEXT,                          -- its result, or its error report as JSON; null before its end
    started_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL,
    UNIQUE (team_id, number)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER team_agent_legal BEFORE UPDATE OF state ON team_agent
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM agent_state_pair WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition of an agent'); END;

-- What an agent was told, did and got back. A message is delivered at the start of the agent's next turn, so that no
-- turn seems to have known what came while it was under way.
CREATE TABLE team_message (
    message_id INTEGER PRIMARY KEY,                -- in the order of arrival
    agent_id   TEXT NOT NULL REFERENCES team_agent,
    position   INTEGER,                            -- the place in the conversation, from 1; null: not delivered yet
    content    TEXT NOT NULL,                      -- JSON: who says what
    at         TEXT NOT NULL,
    UNIQUE (agent_id, position)
) STRICT;

-- The manager's todo list, as it wrote it last.
CREATE TABLE team_todo (
    team_id     TEXT NOT NULL REFERENCES team,
    position    INTEGER NOT NULL,                  -- from 1
    content     TEXT NOT NULL,                     -- what is to be done, as an imperative
    active_form TEXT NOT NULL,                     -- the same as what is being done
    status      TEXT NOT NULL,                     -- pending, in_progress, completed
    PRIMARY KEY (team_id, position)
) STRICT, WITHOUT ROWID;

-- What happened, as screens are told.
CREATE TABLE team_event (
    team_id TEXT NOT NULL REFERENCES team,
    seq     INTEGER NOT NULL,                      -- from 1 without gaps
    at      TEXT NOT NULL,
    event   TEXT NOT NULL,                         -- JSON
    PRIMARY KEY (team_id, seq)
) STRICT, WITHOUT ROWID;

-- The people, mails and tasks that agents name by handles, because no address and no id reaches a model.
CREATE TABLE team_handle (
    team_id TEXT NOT NULL REFERENCES team,
    handle  TEXT NOT NULL,                         -- P1, M1, T1 and so on
    target  TEXT NOT NULL,                         -- the address, the number of the mail, the id of the task
    name    TEXT NOT NULL,                         -- the name of a person; empty for others
    PRIMARY KEY (team_id, handle)
) STRICT, WITHOUT ROWID;

-- What a person said to a team, from whichever process; the process that works the team takes it.
CREATE TABLE team_input (
    input_id INTEGER PRIMARY KEY,                  -- in the order of arrival
    team_id  TEXT NOT NULL REFERENCES team,
    input    TEXT NOT NULL,                        -- JSON
    at       TEXT NOT NULL,
    taken    INTEGER NOT NULL DEFAULT 0            -- 1: it has had its effect
) STRICT;
CREATE INDEX team_input_open ON team_input (team_id, input_id) WHERE taken = 0;
