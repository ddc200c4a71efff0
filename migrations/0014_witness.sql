-- What is known of a home outside it: anchors of the audit chain, and a witness in the state folder of the user.
ALTER TABLE outbox ADD COLUMN begun INTEGER NOT NULL DEFAULT 0; -- how often its sending was begun; more in the witness: this database is older
-- Where a worker has worked, the chain was anchored: without its anchor such a database was put back from a copy.
INSERT INTO setting (name, value) SELECT 'anchored', '1' WHERE EXISTS (SELECT 1 FROM run);
