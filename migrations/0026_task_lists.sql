-- Lists of tasks by page, and titles by their words: what a conversation looks up must not depend on how many tasks
-- there are. Both repeat what other tables say, and can be made again from them.

CREATE TABLE task_listing (
    task_id      TEXT NOT NULL PRIMARY KEY REFERENCES tasks,
    user_id      TEXT NOT NULL,    -- whose list it is in
    state        TEXT NOT NULL,    -- pending or completed; a cancelled task is in no list
    rank         INTEGER NOT NULL, -- of its priority; the highest comes first
    no_due       INTEGER NOT NULL, -- 1: it has no deadline, and comes after those that have one
    due_at       TEXT,             -- null: it has no deadline
    snooze_until TEXT              -- null: not snoozed
) STRICT, WITHOUT ROWID;
CREATE INDEX task_listing_order ON task_listing (user_id, state DESC, rank DESC, no_due, due_at, task_id);

CREATE TRIGGER task_listing_opened AFTER INSERT ON task_owner BEGIN
    INSERT INTO task_listing (task_id, user_id, state, rank, no_due, due_at, snooze_until)
    SELECT t.task_id, NEW.user_id, 'pending', p.rank, 1, NULL, NEW.snooze_until
    FROM tasks t JOIN priority p ON p.level = t.priority WHERE t.task_id = NEW.task_id AND NEW.number IS NOT NULL;
END;
CREATE TRIGGER task_listing_handed_over AFTER UPDATE OF number ON task_owner WHEN NEW.number IS NULL BEGIN
    DELETE FROM task_listing WHERE task_id = NEW.task_id;
END;
CREATE TRIGGER task_listing_snoozed AFTER UPDATE OF snooze_until ON task_owner BEGIN
    UPDATE task_listing SET snooze_until = NEW.snooze_until WHERE task_id = NEW.task_id;
END;
CREATE TRIGGER task_listing_done AFTER UPDATE OF status ON tasks WHEN NEW.status = 'DONE' BEGIN
    UPDATE task_listing SET state = 'completed' WHERE task_id = NEW.task_id;
END;
CREATE TRIGGER task_listing_cancelled AFTER UPDATE OF status ON tasks WHEN NEW.status = 'CANCELLED' BEGIN
    DELETE FROM task_listing WHERE task_id = NEW.task_id;
END;
CREATE TRIGGER task_listing_ranked AFTER UPDATE OF priority ON tasks WHEN NEW.priority <> OLD.priority BEGIN
    UPDATE task_listing SET rank = (SELECT rank FROM priority WHERE level = NEW.priority) WHERE task_id = NEW.task_id;
END;
CREATE TRIGGER task_listing_due AFTER INSERT ON task_facts WHEN NEW.due_at IS NOT NULL BEGIN
    UPDATE task_listing SET due_at = NEW.due_at, no_due = 0 WHERE task_id = NEW.task_id;
END;
CREATE TRIGGER task_listing_due_moved AFTER UPDATE OF due_at ON task_facts BEGIN
    UPDATE task_listing SET due_at = NEW.due_at, no_due = NEW.due_at IS NULL WHERE task_id = NEW.task_id;
END;

INSERT INTO task_listing (task_id, user_id, state, rank, no_due, due_at, snooze_until)
SELECT t.task_id, o.user_id, CASE t.status WHEN 'DONE' THEN 'completed' ELSE 'pending' END, p.rank, f.due_at IS NULL, f.due_at,
       o.snooze_until
FROM tasks t JOIN task_owner o USING (task_id) JOIN priority p ON p.level = t.priority LEFT JOIN task_facts f USING (task_id)
WHERE t.status <> 'CANCELLED' AND o.number IS NOT NULL;

-- Both are written by the program, which folds the words. Titles of an older program are added when they are first needed.
CREATE TABLE task_title (
    task_id   TEXT NOT NULL PRIMARY KEY REFERENCES tasks,
    user_id   TEXT NOT NULL, -- who may refer to it
    title_key TEXT NOT NULL  -- the title in lower case with single blanks
) STRICT, WITHOUT ROWID;
CREATE INDEX task_title_whole ON task_title (user_id, title_key);
CREATE TABLE task_word (
    user_id TEXT NOT NULL, -- who may refer to it
    word    TEXT NOT NULL, -- a folded word of the title
    task_id TEXT NOT NULL REFERENCES tasks,
    PRIMARY KEY (user_id, word, task_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_word_task ON task_word (task_id);
