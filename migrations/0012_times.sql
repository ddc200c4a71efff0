-- Only times from 1970 to 9998 exist from now on. What older versions took from mails that name others is mended: the mail
-- counts as written when it arrived, and a deadline there was none of is none.

UPDATE ledger SET arrived_at = updated_at
WHERE NOT (length(arrived_at) = 20 AND arrived_at BETWEEN '1970-01-01T00:00:00Z' AND '9998-12-31T23:59:59Z');

UPDATE mail SET
    body = CASE WHEN json_valid(body) AND json_extract(body, '$.date') IS NOT NULL
        THEN json_set(body, '$.date', (SELECT l.arrived_at FROM ledger l WHERE l.mail_id = mail.mail_id), '$.date_ignored', json('true'))
        ELSE body END,
    sent_at = (SELECT l.arrived_at FROM ledger l WHERE l.mail_id = mail.mail_id)
WHERE NOT (length(sent_at) = 20 AND sent_at BETWEEN '1970-01-01T00:00:00Z' AND '9998-12-31T23:59:59Z');

UPDATE mail SET body = json_remove(body, '$.invite.start')
WHERE body LIKE '%"invite":%' AND json_valid(body) AND json_extract(body, '$.invite.start') IS NOT NULL
  AND NOT (length(json_extract(body, '$.invite.start')) = 20
           AND json_extract(body, '$.invite.start') BETWEEN '1970-01-01T00:00:00Z' AND '9998-12-31T23:59:59Z');
UPDATE mail SET body = json_remove(body, '$.invite.end')
WHERE body LIKE '%"invite":%' AND json_valid(body) AND json_extract(body, '$.invite.end') IS NOT NULL
  AND NOT (length(json_extract(body, '$.invite.end')) = 20
           AND json_extract(body, '$.invite.end') BETWEEN '1970-01-01T00:00:00Z' AND '9998-12-31T23:59:59Z');

UPDATE search_doc SET at = coalesce((SELECT m.sent_at FROM mail m WHERE 'mail:' || m.mail_id = search_doc.doc), '1970-01-01T00:00:00Z')
WHERE NOT (length(at) = 20 AND at BETWEEN '1970-01-01T00:00:00Z' AND '9998-12-31T23:59:59Z');

UPDATE contact SET first_sent = '1970-01-01T00:00:00Z'
WHERE NOT (length(first_sent) = 20 AND first_sent BETWEEN '1970-01-01T00:00:00Z' AND '9998-12-31T23:59:59Z');

UPDATE mail_facts SET due_at = NULL
WHERE NOT (length(due_at) = 20 AND due_at BETWEEN '1970-01-01T00:00:00Z' AND '9998-12-31T23:59:59Z');
UPDATE task_facts SET due_at = NULL
WHERE NOT (length(due_at) = 20 AND due_at BETWEEN '1970-01-01T00:00:00Z' AND '9998-12-31T23:59:59Z');

-- One in the year 99999 never came; one in 1969 is shown.
UPDATE reminder SET due_at = CASE WHEN length(due_at) = 20 AND due_at < '1970' THEN '1970-01-01T00:00:00Z' ELSE '9998-12-31T23:59:59Z' END
WHERE NOT (length(due_at) = 20 AND due_at BETWEEN '1970-01-01T00:00:00Z' AND '9998-12-31T23:59:59Z');

-- The same deadlines in what runs were told and did. A mail opens a few tasks at most, each with one deadline.
UPDATE run_input SET state = json_remove(state, '$.facts.due_at')
WHERE (state GLOB '*"due_at":"[0-9][0-9][0-9][0-9][0-9]*' OR state GLOB '*"due_at":"0*' OR state GLOB '*"due_at":"1[0-8]*'
       OR state GLOB '*"due_at":"19[0-6]*' OR state GLOB '*"due_at":"9999*') AND json_valid(state);
UPDATE checkpoint SET changes =
    (SELECT json_group_array(json(CASE WHEN json_extract(value, '$.facts.due_at') IS NULL THEN value ELSE json_remove(value, '$.facts.due_at') END))
     FROM json_each(checkpoint.changes))
WHERE (changes GLOB '*"due_at":"[0-9][0-9][0-9][0-9][0-9]*' OR changes GLOB '*"due_at":"0*' OR changes GLOB '*"due_at":"1[0-8]*'
       OR changes GLOB '*"due_at":"19[0-6]*' OR changes GLOB '*"due_at":"9999*') AND json_valid(changes);
