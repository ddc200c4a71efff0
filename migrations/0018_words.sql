-- More closed sets as tables of their words, as in 0017: triggers refuse any other word, rows of an older version stay.

-- Whether something about the mail is odd: its Message-ID is another mail's, or a part of it was left out. The reason
-- says what, and a later reason is written behind it. Before, only the words 'flagged: ' told.
ALTER TABLE ledger ADD COLUMN flagged INTEGER NOT NULL DEFAULT 0 CHECK (flagged IN (0, 1)); -- 1: the reason begins with what is odd
UPDATE ledger SET flagged = 1 WHERE substr(reason, 1, 9) = 'flagged: ';

-- What a mail or a task was read as: the kind of the task, why there is none, or a follow-up.
CREATE TABLE facts_kind (
    kind TEXT NOT NULL PRIMARY KEY -- a word of mail_facts.kind and task_facts.kind
) STRICT, WITHOUT ROWID;
INSERT INTO facts_kind VALUES
    ('meeting'), ('invitation'), ('invoice'), ('alert'), ('deadline'), ('question'), ('request'), ('review'),
    ('commitment'), ('reminder'), ('folder'), ('summary'),
    ('bulk'), ('notification'), ('receipt'), ('fyi'), ('spam'), ('phishing'), ('sent'), ('old'), ('empty'), ('overruled'),
    ('follow_up');
CREATE TRIGGER mail_facts_kind_known BEFORE INSERT ON mail_facts WHEN NEW.kind NOT IN (SELECT kind FROM facts_kind)
BEGIN SELECT RAISE(ABORT, 'unknown kind of a mail'); END;
CREATE TRIGGER mail_facts_kind_stays_known BEFORE UPDATE OF kind ON mail_facts WHEN NEW.kind NOT IN (SELECT kind FROM facts_kind)
BEGIN SELECT RAISE(ABORT, 'unknown kind of a mail'); END;
CREATE TRIGGER task_facts_kind_known BEFORE INSERT ON task_facts WHEN NEW.kind NOT IN (SELECT kind FROM facts_kind)
BEGIN SELECT RAISE(ABORT, 'unknown kind of a task'); END;
CREATE TRIGGER task_facts_kind_stays_known BEFORE UPDATE OF kind ON task_facts WHEN NEW.kind NOT IN (SELECT kind FROM facts_kind)
BEGIN SELECT RAISE(ABORT, 'unknown kind of a task'); END;

-- Who acted.
CREATE TABLE actor (
    who TEXT NOT NULL PRIMARY KEY -- a word of task_history.who, audit.who, approval.who, rules_version.who and item.decided_by
) STRICT, WITHOUT ROWID;
INSERT INTO actor VALUES
    ('person'), ('plan_step'), ('prioritise'), ('retrieve_context'), ('execute_tool'), ('generate_response'),
    ('intake'), ('outbox'), ('clock'), ('reminder'), ('policy'), ('worker'), ('night'), ('approval'), ('rollback');
CREATE TRIGGER task_history_who_known BEFORE INSERT ON task_history WHEN NEW.who NOT IN (SELECT who FROM actor)
BEGIN SELECT RAISE(ABORT, 'unknown actor in the history of a task'); END;
CREATE TRIGGER task_history_who_stays_known BEFORE UPDATE OF who ON task_history WHEN NEW.who NOT IN (SELECT who FROM actor)
BEGIN SELECT RAISE(ABORT, 'unknown actor in the history of a task'); END;
-- A line of the audit chain is never updated.
CREATE TRIGGER audit_who_known BEFORE INSERT ON audit WHEN NEW.who NOT IN (SELECT who FROM actor)
BEGIN SELECT RAISE(ABORT, 'unknown actor in the audit chain'); END;
CREATE TRIGGER approval_who_known BEFORE INSERT ON approval WHEN NEW.who NOT IN (SELECT who FROM actor)
BEGIN SELECT RAISE(ABORT, 'unknown actor of an approval'); END;
CREATE TRIGGER approval_who_stays_known BEFORE UPDATE OF who ON approval WHEN NEW.who NOT IN (SELECT who FROM actor)
BEGIN SELECT RAISE(ABORT, 'unknown actor of an approval'); END;
CREATE TRIGGER rules_version_who_known BEFORE INSERT ON rules_version WHEN NEW.who NOT IN (SELECT who FROM actor)
BEGIN SELECT RAISE(ABORT, 'unknown actor of a version of the rules'); END;
CREATE TRIGGER rules_version_who_stays_known BEFORE UPDATE OF who ON rules_version WHEN NEW.who NOT IN (SELECT who FROM actor)
BEGIN SELECT RAISE(ABORT, 'unknown actor of a version of the rules'); END;
CREATE TRIGGER item_decided_by_known BEFORE UPDATE OF decided_by ON item
WHEN NEW.decided_by <> '' AND NEW.decided_by NOT IN (SELECT who FROM actor)
BEGIN SELECT RAISE(ABORT, 'unknown actor of a decision'); END;

-- What a person can say to an item.
CREATE TABLE decision_kind (
    kind TEXT NOT NULL PRIMARY KEY -- a word of item.decision, which is empty while nobody has decided
) STRICT, WITHOUT ROWID;
INSERT INTO decision_kind VALUES ('approve'), ('reject'), ('respond'), ('retry'), ('skip'), ('cancel'), ('sent');
CREATE TRIGGER item_decision_known BEFORE UPDATE OF decision ON item
WHEN NEW.decision <> '' AND NEW.decision NOT IN (SELECT kind FROM decision_kind)
BEGIN SELECT RAISE(ABORT, 'unknown decision'); END;
