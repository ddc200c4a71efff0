//! Pages of the ledger, and how many mails there are of each outcome. The time of each query depends on the size of the
//! page, the accounts and the days only.

use chrono::Duration;

use super::ledger_read::LedgerReader;
use crate::{
    model::{AccountId, Instant, LedgerPage, LedgerPageQuery, LedgerRow, MailId, MailState},
    store::{
        error::{Result, SkipUnreadable as _},
        table::{account::AccountReader, parse_column, query_readable},
    },
};

/// The seconds of the periods in which arrivals are counted.
const PERIOD: i64 = 900;

impl LedgerReader<'_> {
    /// Returns a page of the ledger, the newest mails first.
    pub fn page(self, query: &LedgerPageQuery) -> Result<LedgerPage> {
        // One more than asked for tells whether there is a next page.
        let wanted = query.limit.saturating_add(1);
        let before = query.before.map_or(i64::MAX, |mail_id| mail_id.0);
        let mut ids = self.ids_before(query, before, wanted)?;
        let more = ids.len() > query.limit;
        ids.truncate(query.limit);
        let next = ids.last().copied().filter(|_| more);
        let rows: Vec<Option<LedgerRow>> =
            ids.into_iter().map(|id| self.get(id).skip_unreadable()).collect::<Result<_>>()?;
        Ok(LedgerPage { rows: rows.into_iter().flatten().collect(), next })
    }

    /// Returns the newest mails of a query before a number. The index has an account and a state in front, so that a
    /// query that leaves one of them open is put together from one range for each.
    fn ids_before(self, query: &LedgerPageQuery, before: i64, wanted: usize) -> Result<Vec<MailId>> {
        let limit = i64::try_from(wanted).unwrap_or(i64::MAX);
        if query.account.is_none() && query.state.is_none() {
            let sql = "SELECT mail_id FROM ledger WHERE mail_id < ?1 ORDER BY mail_id DESC LIMIT ?2";
            return query_readable(self.0, sql, [before, limit], "listing the ledger", |row| Ok(MailId(row.get(0)?)));
        }
        let accounts = match &query.account {
            Some(account) => vec![account.clone()],
            None => AccountReader(self.0).ids()?,
        };
        let states = query.state.as_ref().map_or(MailState::ALL, std::slice::from_ref);
        let sql = "SELECT mail_id FROM ledger WHERE account = ?1 AND state = ?2 AND mail_id < ?3 ORDER BY mail_id DESC LIMIT ?4";
        let mut ids: Vec<MailId> = Vec::new();
        for account in &accounts {
            for state in states {
                let values = (account.as_str(), state.as_str(), before, limit);
                ids.extend(query_readable(self.0, sql, values, "listing the ledger", |row| Ok(MailId(row.get(0)?)))?);
            }
        }
        ids.sort_unstable_by(|one, other| other.cmp(one));
        ids.truncate(wanted);
        Ok(ids)
    }

    /// Returns how many mails of each account are in each state.
    pub fn outcome_counts(self) -> Result<Vec<(AccountId, MailState, u64)>> {
        let sql = "SELECT account, state, mails FROM mail_count WHERE mails > 0 ORDER BY account, state";
        query_readable(self.0, sql, [], "counting the ledger", |row| {
            Ok((AccountId(row.get(0)?), parse_column(row, 1)?, row.get::<_, i64>(2)?.unsigned_abs()))
        })
    }

    /// Returns how many mails that arrived from one time to another are in each state. Times are rounded down to a
    /// quarter of an hour, of which every day in every time zone is made.
    pub fn count_arrived_between(self, from: Instant, to: Instant) -> Result<Vec<(MailState, u64)>> {
        let sql = "SELECT state, sum(mails) FROM mail_arrived WHERE quarter >= ?1 AND quarter < ?2 GROUP BY state HAVING sum(mails) > 0";
        let quarter = |at: Instant| Duration::milliseconds(at.unix_ms().cast_signed()).num_seconds() / PERIOD;
        query_readable(self.0, sql, [quarter(from), quarter(to)], "counting mails by day", |row| {
            Ok((parse_column(row, 0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })
    }
}
