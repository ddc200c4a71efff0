-- Reminders that come back, and when each was last shown.
ALTER TABLE reminder ADD COLUMN every    TEXT; -- the step to its next time: 7d, 1m, workdays; null: it comes once
ALTER TABLE reminder ADD COLUMN first_at TEXT; -- where its series began, from which the next is counted; null: at due_at
ALTER TABLE reminder ADD COLUMN told_at  TEXT; -- when it was last shown; null: never
UPDATE reminder SET told_at = shown_at;
CREATE INDEX reminder_task ON reminder (task_id);
