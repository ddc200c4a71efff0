-- The times that tasks hold for meetings, so that no hour is promised twice. Derived from the task whenever it is written.
CREATE TABLE held_time (
  task_id   TEXT NOT NULL REFERENCES tasks (task_id), -- the task that holds the time
  starts_at TEXT NOT NULL, -- when the meeting begins
  ends_at   TEXT NOT NULL, -- when it ends
  kind      TEXT NOT NULL, -- proposed: the person proposed it; invited: somebody invited them to it
  PRIMARY KEY (task_id, starts_at, ends_at, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX held_time_end ON held_time (ends_at);
