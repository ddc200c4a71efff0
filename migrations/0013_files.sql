-- A message of files is known by its content; the name of its file is only a hint. What the file's metadata said when its
-- bytes were last read or compared tells whether they must be looked at again.

-- Size, mtime and ctime of the file; empty: no file, or not known.
ALTER TABLE ledger ADD COLUMN stamp TEXT NOT NULL DEFAULT '';
-- Of the bytes that were read; empty: none were, or not known.
ALTER TABLE ledger ADD COLUMN bytes_sha256 TEXT NOT NULL DEFAULT '';
-- Those whose turn it is to be tried again.
CREATE INDEX ledger_failed ON ledger (account, updated_at) WHERE state = 'failed';
