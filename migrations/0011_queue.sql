-- What people call an item, who may fill the queue, and whom a mute is about.

-- A number belongs to its item for life: it counts up and is given once, whatever arrives, is decided or expires.
ALTER TABLE item ADD COLUMN number INTEGER NOT NULL DEFAULT 0; -- what people call it
UPDATE item SET number = counted.number
FROM (SELECT item_id, row_number() OVER (ORDER BY created_at, item_id) AS number FROM item) AS counted
WHERE counted.item_id = item.item_id;
CREATE UNIQUE INDEX item_number ON item (number);

-- Senders nobody vouches for and nobody wrote to share a part of the queue.
ALTER TABLE item ADD COLUMN sender_trust INTEGER NOT NULL DEFAULT 2; -- 2: verified and a known contact, or no sender; 1: either; 0: neither
UPDATE item SET sender_trust =
    coalesce((SELECT json_extract(mail.body, '$.authentication.verified') FROM mail WHERE mail.mail_id = item.mail_id), 0)
    + EXISTS (SELECT 1 FROM contact WHERE contact.account = item.account AND contact.address = item.sender)
WHERE sender <> '';

-- A mute that was made on a mail nobody vouched for says nothing about the person whose address it carried.
ALTER TABLE muted ADD COLUMN unverified_only INTEGER NOT NULL DEFAULT 1; -- 1: verified mail of that address still counts
UPDATE muted SET unverified_only = 0 WHERE EXISTS (
    SELECT 1 FROM correction JOIN mail USING (mail_id)
    WHERE correction.kind = 'mute' AND mail.account = muted.account AND mail.sender = muted.address
      AND json_extract(mail.body, '$.authentication.verified'));
