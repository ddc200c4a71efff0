-- A message may have left when a person cancels or changes its task. Should it turn out that it did not, it stays.

-- 1: it is not begun again.
ALTER TABLE outbox ADD COLUMN overruled INTEGER NOT NULL DEFAULT 0;
