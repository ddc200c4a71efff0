//! When the person is taken because of a mail: the table `mail_time`.

use rusqlite::Connection;

use crate::{
    model::{Appointment, MailId, UserId},
    store::{error::Result, table::execute},
};

/// Stores when the person is taken because of a mail, in place of what was stored before.
pub(in crate::store) fn hold_times(
    connection: &Connection,
    mail_id: MailId,
    user: &UserId,
    appointments: &[Appointment],
) -> Result<()> {
    execute(connection, "DELETE FROM mail_time WHERE mail_id = ?1", [mail_id.0], "freeing the times of a mail")?;
    let sql = "INSERT INTO mail_time (mail_id, user_id, starts_at, ends_at, kind, words)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
    for appointment in appointments {
        let Appointment { from, to, kind, words } = appointment;
        let values = (mail_id.0, user.as_str(), from.to_string(), to.to_string(), kind.as_str(), words);
        execute(connection, sql, values, "holding a time of a mail")?;
    }
    Ok(())
}
