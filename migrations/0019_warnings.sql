-- What the reading of a mail warned of, so that the mail is shown with it whether it opened a task or not.
ALTER TABLE ledger ADD COLUMN warnings TEXT NOT NULL DEFAULT '[]'; -- JSON: a list of {kind, text}; a person who says "it is genuine" empties it
-- A mail that only speaks to a program that reads it.
INSERT INTO facts_kind VALUES ('injection');
