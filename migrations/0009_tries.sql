-- Whether a try at sending a message may have left a draft of it in the mailbox; and the way back for one that was
-- certainly not sent.
ALTER TABLE outbox ADD COLUMN tried INTEGER NOT NULL DEFAULT 0; -- 1: an earlier draft of it is looked for before another is made
UPDATE outbox SET tried = 1 WHERE state NOT IN ('applied', 'sent', 'saved', 'withheld', 'void');
INSERT INTO outbox_state_pair VALUES ('sending', 'drafted');
