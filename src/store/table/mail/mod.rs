//! Mails as they were read, and what is known about the people who wrote them: contacts and mutes.

pub(in crate::store) mod appointment;
pub(in crate::store) mod ledger;
mod ledger_page;
pub(in crate::store) mod ledger_read;
pub(in crate::store) mod warning;

use rusqlite::{Connection, OptionalExtension};

use super::{
    decode_json_column, execute, json_extract_sql, parse_column, parse_optional_column, query_optional, query_readable,
    task::followup,
};
use crate::{
    followup::fingerprint,
    model::{AccountId, Address, Arrival, Direction, Fingerprint, Instant, Mail, MailContext, MailId, MutedSender},
    store::{
        error::{Result, StoreContext},
        prepared::EncodedMail,
        session::Session,
    },
};

/// Returns the SQL condition that the headers of the mail `m` mark it as sent to many or by a machine.
pub(super) fn is_bulk_sql() -> String {
    let (header, list) = (json_extract_sql("m.body", "$.bulk_header"), json_extract_sql("m.body", "$.list_id"));
    format!("coalesce({header}, {list}) IS NOT NULL")
}

/// Stores a mail and its search entry. The recipients of a mail that the person sent become contacts.
pub(in crate::store) fn store_mail(
    session: &Session,
    account: &AccountId,
    mail_id: MailId,
    arrival: &Arrival,
    mail: &Mail,
    text: &EncodedMail,
) -> Result<()> {
    // A mail without a valid date is dated by its arrival.
    let sent_at = mail.date.unwrap_or(arrival.arrived_at);
    let message_id = mail.message_id.as_deref().unwrap_or("");
    let sql = "INSERT OR REPLACE INTO mail (mail_id, account, message_id, thread, sender, subject, sent_at, content_sha256, direction, body)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let (sha, direction) = (&mail.content_sha256, arrival.direction.as_str());
    let values = (
        mail_id.0,
        account.as_str(),
        message_id,
        &mail.thread,
        &mail.from.addr,
        &mail.subject,
        sent_at.to_string(),
        sha,
        direction,
        &text.body,
    );
    execute(session, sql, values, "storing a mail")?;
    if arrival.direction == Direction::Out {
        add_contacts(session, account, mail, sent_at)?;
    }
    super::document::search_index::index_mail(session, account, mail_id.0, mail, &text.search_entry, sent_at)
}

/// Adds the recipients of a mail that the person sent to the contacts.
fn add_contacts(connection: &Connection, account: &AccountId, mail: &Mail, at: Instant) -> Result<()> {
    for address in mail.to.iter().chain(&mail.cc) {
        let sql = "INSERT INTO contact (account, address, first_sent) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        execute(connection, sql, (account.as_str(), &address.addr, at.to_string()), "adding a contact")?;
    }
    Ok(())
}

/// How a mail relates to a stored one with the same Message-ID.
pub(in crate::store) enum MessageIdMatch {
    /// There is none.
    None,
    /// It is a copy: the content is the same, and the stored mail is verified if this one is.
    Same(MailId),
    /// It has the same id over other content, or is verified while the stored one is not. It is processed and flagged,
    /// because anyone can forge an id to suppress a mail.
    Forged(MailId),
}

/// Looks for another mail of the account with the same Message-ID. A copy is preferred over a forgery.
pub(in crate::store) fn find_message_id_match(
    connection: &Connection,
    account: &AccountId,
    own: MailId,
    mail: &Mail,
) -> Result<MessageIdMatch> {
    let Some(message_id) = &mail.message_id else { return Ok(MessageIdMatch::None) };
    let verified = json_extract_sql("body", "$.authentication.verified");
    let sql = format!(
        "SELECT mail_id, content_sha256 IN (?4, ?6) AND (NOT ?5 OR coalesce({verified}, 0)) AS same
         FROM mail WHERE account = ?1 AND message_id = ?2 AND mail_id <> ?3 ORDER BY same DESC, mail_id LIMIT 1"
    );
    let found = connection
        .prepare_cached(&sql)
        .and_then(|mut statement| {
            let values = (
                account.as_str(),
                message_id,
                own.0,
                &mail.content_sha256,
                mail.authentication.verified,
                &mail.former_content_sha256,
            );
            statement.query_row(values, |row| Ok((MailId(row.get(0)?), row.get::<_, bool>(1)?))).optional()
        })
        .context("looking for a duplicate")?;
    Ok(match found {
        None => MessageIdMatch::None,
        Some((id, true)) => MessageIdMatch::Same(id),
        Some((id, false)) => MessageIdMatch::Forged(id),
    })
}

/// Returns the same mail in another account that is in use, if `account` is an import: what a person has in a mailbox
/// already opens no second task. A mailbox itself never looks elsewhere, because it acts on its own mail.
pub(in crate::store) fn find_in_other_account(
    connection: &Connection,
    account: &AccountId,
    mail: &Mail,
) -> Result<Option<(MailId, String)>> {
    let Some(message_id) = &mail.message_id else { return Ok(None) };
    let sql = "SELECT m.mail_id, m.account FROM account a JOIN mail m ON m.account = a.account AND m.message_id = ?2
               WHERE a.account <> ?1 AND a.mode <> 'retired' AND m.content_sha256 IN (?3, ?4)
                 AND EXISTS (SELECT 1 FROM account own WHERE own.account = ?1 AND own.kind = 'import')
               ORDER BY m.mail_id LIMIT 1";
    let values = (account.as_str(), message_id, &mail.content_sha256, &mail.former_content_sha256);
    query_optional(connection, sql, values, "looking for a mail in other accounts", |row| {
        Ok((MailId(row.get(0)?), row.get(1)?))
    })
}

/// Returns what is known about a mail besides its text: the sender, the conversation, and open tasks that it may be
/// about. `text` is the fingerprint of the mail.
pub(in crate::store) fn load_mail_context(
    connection: &Connection,
    mail_id: MailId,
    mail: &Mail,
    text: Option<&Fingerprint>,
) -> Result<Option<MailContext>> {
    let sql = "SELECT l.source_key, l.direction, l.arrived_at, l.account, m.thread,
                      EXISTS (SELECT 1 FROM contact c WHERE c.account = l.account AND c.address = m.sender),
                      EXISTS (SELECT 1 FROM mail o WHERE o.account = l.account AND o.thread = m.thread AND o.direction = 'out'),
                      EXISTS (SELECT 1 FROM muted u WHERE u.account = l.account AND u.address = m.sender
                              AND NOT (u.unverified_only AND ?2)),
                      NOT EXISTS (SELECT 1 FROM mail o WHERE o.account = l.account AND o.thread = m.thread AND o.mail_id <> l.mail_id),
                      (SELECT a.kind FROM account a WHERE a.account = l.account)
               FROM ledger l JOIN mail m USING (mail_id) WHERE l.mail_id = ?1";
    let found =
        query_optional(connection, sql, (mail_id.0, mail.authentication.verified), "asking who wrote", |row| {
            let known = MailContext {
                source_key: row.get(0)?,
                direction: parse_column(row, 1)?,
                arrived_at: parse_column(row, 2)?,
                known_contact: row.get(5)?,
                thread_mine: row.get(6)?,
                muted: row.get(7)?,
                alone: row.get(8)?,
                // An unreadable account row must not hold up the mail of the account.
                kind: parse_optional_column(row, 9).unwrap_or_default(),
                tasks: Vec::new(),
            };
            Ok((known, row.get::<_, String>(3)?, row.get::<_, String>(4)?))
        })?;
    let Some((mut known, account, thread)) = found else { return Ok(None) };
    // A mail that is alone in its conversation has no tasks there, which saves a query for most mails.
    if !known.alone {
        known.tasks = followup::tasks_of_thread(connection, &account, &thread)?;
    }
    followup::add_tasks_with_fingerprints(connection, &account, (mail_id, mail), text, &mut known.tasks)?;
    // A reply whose references are missing may be about a task that is opened before it is read.
    known.alone &= known.tasks.is_empty() && !fingerprint::is_reply_subject(&mail.subject);
    Ok(Some(known))
}

/// Queries of stored mails.
#[derive(Clone, Copy)]
pub struct MailReader<'a>(pub(in crate::store) &'a Connection);

/// The most contacts among which a name is looked for.
const MOST_CONTACTS: usize = 10_000;

impl MailReader<'_> {
    /// Returns everyone the person has written to, newest first, with the name under which they wrote last, if they did.
    pub fn known_people(self) -> Result<Vec<(String, Option<String>)>> {
        let name = json_extract_sql("m.body", "$.from.name");
        let sql = format!(
            "SELECT c.address, (SELECT {name} FROM mail m WHERE m.account = c.account AND m.sender = c.address ORDER BY m.mail_id DESC LIMIT 1)
             FROM contact c ORDER BY c.first_sent DESC LIMIT {MOST_CONTACTS}"
        );
        query_readable(self.0, &sql, [], "reading contacts", |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns a mail as it was read; none when its message could not be read. A row that cannot be read is an error;
    /// see [`SkipUnreadable`](crate::store::SkipUnreadable).
    pub fn get(self, mail_id: MailId) -> Result<Option<Mail>> {
        query_optional(self.0, "SELECT body FROM mail WHERE mail_id = ?1", [mail_id.0], "reading a mail", |row| {
            decode_json_column(row, 0)
        })
    }

    /// Returns whether the mute of this address applies to unverified mail only; none when it is not muted.
    pub fn mutes_unverified_only(self, account: &AccountId, address: &str) -> Result<Option<bool>> {
        let sql = "SELECT unverified_only FROM muted WHERE account = ?1 AND address = ?2";
        query_optional(self.0, sql, (account.as_str(), address), "looking for a mute", |row| row.get(0))
    }

    /// Returns the senders that are muted, by account and address.
    pub fn muted_senders(self) -> Result<Vec<MutedSender>> {
        let sql = "SELECT account, address, at, unverified_only FROM muted ORDER BY account, address";
        query_readable(self.0, sql, [], "listing mutes", |row| {
            Ok(MutedSender {
                account: AccountId(row.get(0)?),
                address: row.get(1)?,
                at: parse_column(row, 2)?,
                unverified_only: row.get(3)?,
            })
        })
    }

    /// Returns whether the person has written to this address.
    pub fn is_contact(self, account: &AccountId, address: &str) -> Result<bool> {
        let sql = "SELECT 1 FROM contact WHERE account = ?1 AND address = ?2";
        Ok(query_optional(self.0, sql, (account.as_str(), address), "looking for a contact", |_| Ok(()))?.is_some())
    }

    /// Returns the people whom the person has written to, with the name in the newest mail of each.
    pub fn contacts(self, account: &AccountId) -> Result<Vec<Address>> {
        let name = json_extract_sql("m.body", "$.from.name");
        let sql = format!(
            "SELECT c.address, (SELECT {name} FROM mail m WHERE m.account = c.account AND m.sender = c.address
                                ORDER BY m.mail_id DESC LIMIT 1)
             FROM contact c WHERE c.account = ?1 ORDER BY c.address"
        );
        query_readable(self.0, &sql, [account.as_str()], "listing the people one has written to", |row| {
            Ok(Address { addr: row.get(0)?, name: row.get(1)? })
        })
    }

    /// Returns what is known about a mail besides its text; none when the ledger does not have it.
    pub fn context(self, mail_id: MailId, mail: &Mail) -> Result<Option<MailContext>> {
        load_mail_context(self.0, mail_id, mail, fingerprint::of_mail(mail).as_ref())
    }

    /// Returns the newest mails of a conversation, newest first. The cost does not grow with the conversation: the
    /// limit is applied per direction at the end of the index, before any mail is read.
    pub fn of_thread(self, account: &AccountId, thread: &str, limit: usize) -> Result<Vec<(MailId, Mail)>> {
        let last = |direction: Direction| {
            format!(
                "SELECT * FROM (SELECT mail_id FROM mail WHERE account = ?1 AND thread = ?2 AND direction = '{direction}'
                                ORDER BY mail_id DESC LIMIT ?3)"
            )
        };
        let sql = &format!(
            "SELECT mail_id, body FROM mail WHERE mail_id IN
               (SELECT mail_id FROM mail WHERE mail_id IN ({} UNION ALL {}) ORDER BY sent_at DESC, mail_id DESC LIMIT ?3)
             ORDER BY sent_at DESC, mail_id DESC",
            last(Direction::In),
            last(Direction::Out)
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        query_readable(self.0, sql, (account.as_str(), thread, limit), "reading a thread", |row| {
            Ok((MailId(row.get(0)?), decode_json_column(row, 1)?))
        })
    }

    /// Returns the last mails that the person wrote, newest first.
    pub fn sent(self, account: &AccountId, limit: usize) -> Result<Vec<Mail>> {
        let sql = "SELECT body FROM mail WHERE account = ?1 AND direction = 'out' ORDER BY mail_id DESC LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        query_readable(self.0, sql, (account.as_str(), limit), "reading what the person wrote", |row| {
            decode_json_column(row, 0)
        })
    }

    /// Returns mail, subject, task and time of every mail that was archived since then.
    pub fn archived_since(self, since: Instant) -> Result<Vec<(i64, String, String, Instant)>> {
        let (mail, effect) =
            (json_extract_sql("b.action", "$.mail_id"), json_extract_sql("b.action", "$.effect.effect"));
        let sql = format!(
            "SELECT m.mail_id, m.subject, coalesce(b.task_id, ''), b.updated_at FROM outbox b JOIN mail m ON m.mail_id = {mail}
             WHERE b.state = 'applied' AND {effect} = 'archive' AND b.updated_at >= ?1 ORDER BY b.updated_at"
        );
        query_readable(self.0, &sql, [since.to_string()], "listing what was archived", |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, parse_column(row, 3)?))
        })
    }
}
