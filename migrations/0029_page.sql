-- The web page shows on every page what can still be taken back.
CREATE INDEX outbox_held ON outbox (action_id) WHERE state = 'held';
CREATE INDEX item_action ON item (action_id) WHERE action_id IS NOT NULL;
