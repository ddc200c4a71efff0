-- The same triggers with constant texts: an expression in RAISE needs SQLite 3.47, and people look into their own data
-- with the client their distribution has. Who asks for a transition says from where to where (`store/error.rs`).

DROP TRIGGER account_mode_legal;
CREATE TRIGGER account_mode_legal BEFORE UPDATE OF mode ON account
WHEN NEW.mode <> OLD.mode AND NOT EXISTS (SELECT 1 FROM account_mode_pair WHERE from_mode = OLD.mode AND to_mode = NEW.mode)
BEGIN SELECT RAISE(ABORT, 'illegal transition of an account''s mode'); END;

DROP TRIGGER ledger_legal;
CREATE TRIGGER ledger_legal BEFORE UPDATE OF state ON ledger
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM mail_state_pair WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition of a mail'); END;

DROP TRIGGER tasks_start;
CREATE TRIGGER tasks_start BEFORE INSERT ON tasks WHEN NEW.status <> 'NEW'
BEGIN SELECT RAISE(ABORT, 'illegal transition: a task starts NEW'); END;

DROP TRIGGER tasks_legal;
CREATE TRIGGER tasks_legal BEFORE UPDATE OF status ON tasks
WHEN NEW.status <> OLD.status AND NOT EXISTS (SELECT 1 FROM task_status_pair WHERE from_status = OLD.status AND to_status = NEW.status)
BEGIN SELECT RAISE(ABORT, 'illegal transition of a task'); END;

DROP TRIGGER run_legal;
CREATE TRIGGER run_legal BEFORE UPDATE OF status ON run
WHEN NEW.status <> OLD.status AND NOT EXISTS (SELECT 1 FROM run_status_pair WHERE from_status = OLD.status AND to_status = NEW.status)
BEGIN SELECT RAISE(ABORT, 'illegal transition of a run'); END;

DROP TRIGGER outbox_legal;
CREATE TRIGGER outbox_legal BEFORE UPDATE OF state ON outbox
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM outbox_state_pair WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition of an effect'); END;

DROP TRIGGER item_legal;
CREATE TRIGGER item_legal BEFORE UPDATE OF state ON item
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM item_state_pair WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition of an item'); END;

DROP TRIGGER request_legal;
CREATE TRIGGER request_legal BEFORE UPDATE OF state ON request
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM request_state_pair WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition of a request'); END;

DROP TRIGGER night_legal;
CREATE TRIGGER night_legal BEFORE UPDATE OF state ON night
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM night_state_pair WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'illegal transition of a night'); END;
