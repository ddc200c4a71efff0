-- A draft is stored in the mailbox before its row says so. If the row is voided in between, nobody knows of the draft.

-- 1: the effect was voided while it was ready; a draft that the mailbox may have of it is looked for and thrown away.
ALTER TABLE outbox ADD COLUMN cleanup_due INTEGER NOT NULL DEFAULT 0;
CREATE INDEX outbox_cleanup ON outbox (action_id) WHERE cleanup_due = 1;
