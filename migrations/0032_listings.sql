-- What a page lists and counts is found without looking at everything there is. All of this repeats what other tables
-- say, is kept by triggers, and can be made again from them.

-- Open tasks by where they stand.
ALTER TABLE task_listing ADD COLUMN stage TEXT NOT NULL DEFAULT 'ready'; -- ready, in_progress, waiting; done when it is completed
UPDATE task_listing SET stage = (
    SELECT CASE t.status WHEN 'IN_PROGRESS' THEN 'in_progress' WHEN 'WAITING_HITL' THEN 'waiting' WHEN 'DONE' THEN 'done' ELSE 'ready' END
    FROM tasks t WHERE t.task_id = task_listing.task_id);
CREATE INDEX task_listing_stage ON task_listing (user_id, stage, rank, no_due, due_at, task_id);
CREATE INDEX task_listing_snooze ON task_listing (user_id, snooze_until, task_id) WHERE snooze_until IS NOT NULL AND state = 'pending';
CREATE TRIGGER task_listing_moved AFTER UPDATE OF status ON tasks WHEN NEW.status <> OLD.status AND NEW.status IN ('IN_PROGRESS', 'WAITING_HITL', 'DONE') BEGIN
    UPDATE task_listing SET stage = CASE NEW.status WHEN 'IN_PROGRESS' THEN 'in_progress' WHEN 'WAITING_HITL' THEN 'waiting' ELSE 'done' END
    WHERE task_id = NEW.task_id;
END;

-- Tasks that have ended and still have their number, by when they ended.
CREATE TABLE task_ended (
    task_id  TEXT NOT NULL PRIMARY KEY REFERENCES tasks,
    user_id  TEXT NOT NULL, -- whose list it is in
    stage    TEXT NOT NULL, -- done or cancelled
    ended_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX task_ended_newest ON task_ended (user_id, stage, ended_at, task_id);
INSERT INTO task_ended (task_id, user_id, stage, ended_at)
SELECT t.task_id, o.user_id, lower(t.status), t.last_updated FROM tasks t JOIN task_owner o USING (task_id)
WHERE t.status IN ('DONE', 'CANCELLED') AND o.number IS NOT NULL;

-- How many tasks of a person are at each stage.
CREATE TABLE task_count (
    user_id TEXT NOT NULL,
    stage   TEXT NOT NULL,    -- ready, in_progress, waiting, done, cancelled
    tasks   INTEGER NOT NULL,
    PRIMARY KEY (user_id, stage)
) STRICT, WITHOUT ROWID;
INSERT INTO task_count (user_id, stage, tasks) SELECT user_id, stage, count(*) FROM task_listing WHERE state = 'pending' GROUP BY user_id, stage;
INSERT INTO task_count (user_id, stage, tasks) SELECT user_id, stage, count(*) FROM task_ended GROUP BY user_id, stage;

-- How many open tasks of a person were opened in each hour.
CREATE TABLE task_opened (
    user_id TEXT NOT NULL,
    hour    TEXT NOT NULL,    -- UTC, as in 2026-11-16T08
    tasks   INTEGER NOT NULL, -- of those that are open still
    PRIMARY KEY (user_id, hour)
) STRICT, WITHOUT ROWID;
INSERT INTO task_opened (user_id, hour, tasks)
SELECT l.user_id, substr(t.created_at, 1, 13), count(*) FROM task_listing l JOIN tasks t USING (task_id) WHERE l.state = 'pending' GROUP BY 1, 2;

CREATE TRIGGER task_count_listed AFTER INSERT ON task_listing WHEN NEW.state = 'pending' BEGIN
    INSERT INTO task_count (user_id, stage, tasks) VALUES (NEW.user_id, NEW.stage, 1) ON CONFLICT DO UPDATE SET tasks = tasks + 1;
    INSERT INTO task_opened (user_id, hour, tasks) SELECT NEW.user_id, substr(created_at, 1, 13), 1 FROM tasks WHERE task_id = NEW.task_id
    ON CONFLICT DO UPDATE SET tasks = tasks + 1;
END;
CREATE TRIGGER task_count_unlisted AFTER DELETE ON task_listing WHEN OLD.state = 'pending' BEGIN
    UPDATE task_count SET tasks = tasks - 1 WHERE user_id = OLD.user_id AND stage = OLD.stage;
    UPDATE task_opened SET tasks = tasks - 1 WHERE user_id = OLD.user_id AND hour = (SELECT substr(created_at, 1, 13) FROM tasks WHERE task_id = OLD.task_id);
END;
CREATE TRIGGER task_count_moved AFTER UPDATE OF stage ON task_listing WHEN NEW.stage <> OLD.stage AND OLD.state = 'pending' BEGIN
    UPDATE task_count SET tasks = tasks - 1 WHERE user_id = OLD.user_id AND stage = OLD.stage;
    INSERT INTO task_count (user_id, stage, tasks) SELECT NEW.user_id, NEW.stage, 1 WHERE NEW.stage <> 'done' ON CONFLICT DO UPDATE SET tasks = tasks + 1;
END;
-- A task that is done moves its stage and its state.
DROP TRIGGER task_listing_done;
CREATE TRIGGER task_listing_done AFTER UPDATE OF stage ON task_listing WHEN NEW.stage = 'done' AND NEW.state = 'pending' BEGIN
    UPDATE task_listing SET state = 'completed' WHERE task_id = NEW.task_id;
    UPDATE task_opened SET tasks = tasks - 1 WHERE user_id = NEW.user_id AND hour = (SELECT substr(created_at, 1, 13) FROM tasks WHERE task_id = NEW.task_id);
END;

CREATE TRIGGER task_ended_now AFTER UPDATE OF status ON tasks WHEN NEW.status <> OLD.status AND NEW.status IN ('DONE', 'CANCELLED') BEGIN
    INSERT INTO task_ended (task_id, user_id, stage, ended_at)
    SELECT NEW.task_id, user_id, lower(NEW.status), NEW.last_updated FROM task_owner WHERE task_id = NEW.task_id AND number IS NOT NULL;
END;
CREATE TRIGGER task_ended_counted AFTER INSERT ON task_ended BEGIN
    INSERT INTO task_count (user_id, stage, tasks) VALUES (NEW.user_id, NEW.stage, 1) ON CONFLICT DO UPDATE SET tasks = tasks + 1;
END;
CREATE TRIGGER task_ended_handed_over AFTER UPDATE OF number ON task_owner WHEN NEW.number IS NULL BEGIN
    DELETE FROM task_ended WHERE task_id = NEW.task_id;
END;
CREATE TRIGGER task_ended_uncounted AFTER DELETE ON task_ended BEGIN
    UPDATE task_count SET tasks = tasks - 1 WHERE user_id = OLD.user_id AND stage = OLD.stage;
END;

-- Mails by what became of them.
CREATE INDEX ledger_outcome ON ledger (account, state);
CREATE TABLE mail_count (
    account TEXT NOT NULL,
    state   TEXT NOT NULL REFERENCES mail_state,
    mails   INTEGER NOT NULL,
    PRIMARY KEY (account, state)
) STRICT, WITHOUT ROWID;
INSERT INTO mail_count (account, state, mails) SELECT account, state, count(*) FROM ledger GROUP BY account, state;

-- Mails by the quarter of an hour in which they arrived: the days of every time zone are made of whole ones.
CREATE TABLE mail_arrived (
    quarter INTEGER NOT NULL, -- quarters of an hour since the start of 1970
    state   TEXT NOT NULL REFERENCES mail_state,
    mails   INTEGER NOT NULL,
    PRIMARY KEY (quarter, state)
) STRICT, WITHOUT ROWID;
INSERT INTO mail_arrived (quarter, state, mails) SELECT unixepoch(arrived_at) / 900, state, count(*) FROM ledger
WHERE unixepoch(arrived_at) IS NOT NULL GROUP BY 1, 2;

CREATE TRIGGER mail_counted AFTER INSERT ON ledger BEGIN
    INSERT INTO mail_count (account, state, mails) VALUES (NEW.account, NEW.state, 1) ON CONFLICT DO UPDATE SET mails = mails + 1;
    INSERT INTO mail_arrived (quarter, state, mails) SELECT unixepoch(NEW.arrived_at) / 900, NEW.state, 1 WHERE unixepoch(NEW.arrived_at) IS NOT NULL
    ON CONFLICT DO UPDATE SET mails = mails + 1;
END;
CREATE TRIGGER mail_recounted AFTER UPDATE OF state ON ledger WHEN NEW.state <> OLD.state BEGIN
    UPDATE mail_count SET mails = mails - 1 WHERE account = OLD.account AND state = OLD.state;
    INSERT INTO mail_count (account, state, mails) VALUES (NEW.account, NEW.state, 1) ON CONFLICT DO UPDATE SET mails = mails + 1;
    UPDATE mail_arrived SET mails = mails - 1 WHERE quarter = unixepoch(OLD.arrived_at) / 900 AND state = OLD.state;
    INSERT INTO mail_arrived (quarter, state, mails) SELECT unixepoch(NEW.arrived_at) / 900, NEW.state, 1 WHERE unixepoch(NEW.arrived_at) IS NOT NULL
    ON CONFLICT DO UPDATE SET mails = mails + 1;
END;

-- Runs by status, the newest first; the lines of the audit chain about one thing.
CREATE INDEX run_newest ON run (status, run_id);
CREATE INDEX audit_subject ON audit (subject);
