-- The memory: what tasks and mails are found by beside their words. A cache, made anew from them at any time.

-- Vectors, where no server holds them. A changed document gets new ids, so whoever has read as far as one reads on.
CREATE TABLE search_vector (
    vector_id INTEGER PRIMARY KEY AUTOINCREMENT,
    doc_id    INTEGER NOT NULL,  -- of search_doc
    number    INTEGER NOT NULL,  -- which piece of the document
    account   TEXT NOT NULL,     -- of search_doc, so that reading all of them looks up nothing
    kind      TEXT NOT NULL,     -- task, mail
    bytes     BLOB NOT NULL      -- the scale as a little-endian f32, then one signed byte per dimension
) STRICT;
CREATE INDEX search_vector_doc ON search_vector (doc_id);

-- Documents whose vectors are not yet where they belong.
CREATE TABLE search_due (
    doc_id INTEGER PRIMARY KEY,
    stamp  INTEGER NOT NULL      -- grows when the document changes while its vectors are being made
) STRICT;
INSERT INTO search_due (doc_id, stamp) SELECT doc_id, 1 FROM search_doc;

-- Recall ------------------------------------------------------------------------------------------------------------

-- What a document is weighed by when it is found. Those from before are indexed anew by the next worker.
ALTER TABLE search_doc ADD COLUMN words INTEGER NOT NULL DEFAULT 40; -- how many it is found by
ALTER TABLE search_doc ADD COLUMN person TEXT NOT NULL DEFAULT '';   -- the address of who wrote; empty without one
ALTER TABLE search_doc ADD COLUMN thread TEXT NOT NULL DEFAULT '';   -- the conversation; empty without one

-- What a task is recognised by when a mail about the same thing comes in another conversation.
CREATE TABLE task_mark (
    account TEXT NOT NULL,
    mark    TEXT NOT NULL,                  -- invoice:<sender> <number>, text:<digest>, begins:<digest>
    task_id TEXT NOT NULL REFERENCES tasks,
    PRIMARY KEY (account, mark, task_id)
) STRICT, WITHOUT ROWID;
