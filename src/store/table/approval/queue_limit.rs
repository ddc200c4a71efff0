//! The limits of the approval queue.
//!
//! Somebody who is flooded with questions approves them without reading, so only a limited number waits at once. A
//! flood of invented senders must not take the room of known ones. What finds no room waits in its task.

use rusqlite::Connection;

use crate::{
    model::{AccountId, MailId, QueueLimits},
    store::{
        error::{Result, StoreError},
        table::{json_extract_sql, query_optional},
    },
};

/// The sender of the mail that causes an item.
pub(in crate::store) struct ItemSender {
    address: String,
    /// Whether the receiving server vouches for the address.
    is_verified: bool,
    /// Whether the person has written to the address.
    is_contact: bool,
}

impl ItemSender {
    /// Reads the sender of a mail. Without a mail the person caused the item themselves, and is trusted.
    pub(in crate::store) fn load(
        connection: &Connection,
        account: &AccountId,
        mail_id: Option<MailId>,
    ) -> Result<Self> {
        let verified = json_extract_sql("body", "$.authentication.verified");
        let sql = format!(
            "SELECT sender, coalesce({verified}, 0),
                    EXISTS (SELECT 1 FROM contact WHERE account = ?1 AND address = mail.sender)
             FROM mail WHERE mail_id = ?2"
        );
        let mail_id = mail_id.map(|id| id.0);
        let found = query_optional(connection, &sql, (account.as_str(), mail_id), "asking who wrote", |row| {
            Ok(Self { address: row.get(0)?, is_verified: row.get(1)?, is_contact: row.get(2)? })
        })?;
        Ok(found.unwrap_or_else(|| Self { address: String::new(), is_verified: true, is_contact: true }))
    }

    /// Returns 2 for a verified contact, 1 for a sender who is either, and 0 for an unverified stranger.
    pub(in crate::store) fn trust(&self) -> u32 {
        u32::from(self.is_verified) + u32::from(self.is_contact)
    }

    /// Returns the domain of the address; empty without one.
    fn domain(&self) -> &str {
        self.address.rsplit_once('@').map_or("", |(_, domain)| domain)
    }
}

/// Returns how many items may wait because of senders with this trust or less. Half of the queue is kept free of
/// unverified strangers, and a fifth of it of everybody who is not a verified contact.
const fn limit_for_trust(all: u32, trust: u32) -> u32 {
    let share = match trust {
        0 => all / 2,
        1 => all - all / 5,
        _ => all,
    };
    if share == 0 { 1 } else { share }
}

/// The number of senders for which a domain of unverified strangers has room. Many invented names of one domain count
/// as these.
const SENDERS_PER_DOMAIN: u32 = 2;

/// Returns [`StoreError::QueueFull`], with which limit is reached, when one more item of this sender would exceed the
/// limits.
pub(in crate::store) fn ensure_room(connection: &Connection, sender: &ItemSender, room: QueueLimits) -> Result<()> {
    let trust = sender.trust();
    // Items with less trust under the same address may come from a forger, so they do not count against the sender.
    let sql = "SELECT count(*), coalesce(sum(sender_trust <= ?2), 0),
                      coalesce(sum(sender = ?1 AND sender <> '' AND sender_trust >= ?2), 0),
                      coalesce(sum(sender_trust = 0 AND substr(sender, instr(sender, '@') + 1) = ?3), 0)
               FROM item WHERE state = 'open' AND kind = 'action'";
    let values = (&sender.address, trust, sender.domain());
    let counts = query_optional(connection, sql, values, "counting questions", |row| {
        Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?, row.get::<_, u32>(2)?, row.get::<_, u32>(3)?))
    })?;
    let (all, at_most_so_trusted, of_sender, of_domain) = counts.unwrap_or_default();
    let full = |why: String| Err(StoreError::QueueFull(why));
    if all >= room.all {
        return full(format!("{all} approvals wait for you already"));
    }
    if of_sender >= room.per_sender {
        return full(format!("{of_sender} approvals because of the same sender wait for you already"));
    }
    if at_most_so_trusted >= limit_for_trust(room.all, trust) {
        let who = if trust == 0 { "unverified strangers" } else { "senders who are not both verified and known" };
        return full(format!("{at_most_so_trusted} approvals because of {who} wait for you already"));
    }
    if trust == 0 && of_domain >= room.per_sender.saturating_mul(SENDERS_PER_DOMAIN) {
        return full(format!("{of_domain} approvals because of unverified senders of one domain wait for you already"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::limit_for_trust;

    #[test]
    fn whoever_is_trusted_more_has_room_that_others_cannot_take() {
        for all in [1, 2, 3, 4, 5, 10, 50, 1_000] {
            assert!(
                limit_for_trust(all, 0) >= 1
                    && limit_for_trust(all, 0) <= limit_for_trust(all, 1)
                    && limit_for_trust(all, 1) <= limit_for_trust(all, 2),
                "{all}"
            );
            assert_eq!(limit_for_trust(all, 2), all);
        }
        assert_eq!([0, 1, 2].map(|trust| limit_for_trust(50, trust)), [25, 40, 50]);
    }
}
