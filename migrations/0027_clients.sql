-- A client of the MCP server acts under its own name, 'mcp:' and the name that it gives itself. It may act on tasks only:
-- the tables of approvals, of decisions and of versions of the rules refuse it as they refuse any unknown word.

DROP TRIGGER task_history_who_known;
CREATE TRIGGER task_history_who_known BEFORE INSERT ON task_history
WHEN NEW.who NOT IN (SELECT who FROM actor) AND NEW.who NOT GLOB 'mcp:[a-z0-9]*'
BEGIN SELECT RAISE(ABORT, 'unknown actor in the history of a task'); END;
DROP TRIGGER task_history_who_stays_known;
CREATE TRIGGER task_history_who_stays_known BEFORE UPDATE OF who ON task_history
WHEN NEW.who NOT IN (SELECT who FROM actor) AND NEW.who NOT GLOB 'mcp:[a-z0-9]*'
BEGIN SELECT RAISE(ABORT, 'unknown actor in the history of a task'); END;
DROP TRIGGER audit_who_known;
CREATE TRIGGER audit_who_known BEFORE INSERT ON audit
WHEN NEW.who NOT IN (SELECT who FROM actor) AND NEW.who NOT GLOB 'mcp:[a-z0-9]*'
BEGIN SELECT RAISE(ABORT, 'unknown actor in the audit chain'); END;

-- A client asks often, for one task or for a page of many; each is found without looking at all of them.
CREATE INDEX task_owner_number ON task_owner (number) WHERE number IS NOT NULL;
CREATE INDEX task_owner_successor ON task_owner (task_id) WHERE number IS NULL;
CREATE INDEX tasks_listed ON tasks (priority, task_id, status);
CREATE INDEX task_facts_due ON task_facts (due_at, task_id) WHERE due_at IS NOT NULL;
