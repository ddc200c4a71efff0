-- Effects that a person's rules ask for: of a mail, without a task. Their key is (mail, step, generation).
-- SQLite can drop NOT NULL from a column only in the text of the schema; the stored rows stay as they are.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'task_id    TEXT NOT NULL REFERENCES tasks', 'task_id    TEXT REFERENCES tasks')
 WHERE type = 'table' AND name = 'outbox';
PRAGMA writable_schema = RESET;
ALTER TABLE outbox ADD COLUMN mail_id INTEGER; -- the mail that a rule acts on; null for an effect of a task
CREATE UNIQUE INDEX outbox_mail ON outbox (mail_id, step, generation) WHERE task_id IS NULL;
