-- The times that are taken because of a mail that opened no task for them: what the person wrote from their own program,
-- and appointments that somebody confirmed. Derived from the mail when it is read.
CREATE TABLE mail_time (
  mail_id   INTEGER NOT NULL REFERENCES ledger (mail_id), -- the mail that says so
  user_id   TEXT NOT NULL, -- whose time it is
  starts_at TEXT NOT NULL, -- from when it is taken
  ends_at   TEXT NOT NULL, -- until when
  kind      TEXT NOT NULL, -- written: the person wrote it; booked: a mail confirms it; released: it is called off
  words     TEXT NOT NULL, -- the sentence that says so
  PRIMARY KEY (mail_id, starts_at, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_time_end ON mail_time (user_id, ends_at);
