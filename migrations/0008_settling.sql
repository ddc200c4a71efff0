-- A message that has left for certain, and what goes with it: the event in a calendar, the draft it replaces.

INSERT INTO outbox_state VALUES ('settling');
INSERT INTO outbox_state_pair VALUES ('sending', 'settling'), ('probe', 'settling'), ('settling', 'sent');
