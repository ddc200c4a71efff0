//! Model calls: each stored once with its reply and cost, and read for budgets, runs and `adjutant cost`.

use rusqlite::{Connection, Row, params};

use crate::{
    model::{
        CostRow, Instant, ModelCallRow, NewModelCall, RecordedReply, RunId,
        llm::{ModelCall, ModelUsage, Outcome},
    },
    store::{
        error::Result,
        table::{
            execute, parse_column, query_all, query_first_readable, query_optional, query_readable, read_reply_column,
        },
    },
};

/// What identifies a model call: run and checkpoint, node, hash of the question, and its repetition.
pub(in crate::store::table) struct ModelCallKey<'a> {
    /// The run and the number of its checkpoint; none for a question of `doctor`.
    pub(in crate::store::table) run: Option<(&'a str, u32)>,
    pub(in crate::store::table) node: &'a str,
    pub(in crate::store::table) input_hash: &'a str,
    pub(in crate::store::table) ordinal: u32,
}

/// Stores a model call before its reply is used, with the replies that the question was built from. A resumed run then
/// builds the same question and finds this reply instead of paying for another.
pub(in crate::store) fn record_model_call(connection: &Connection, new: &NewModelCall) -> Result<()> {
    let run = new.run.map(|(run_id, seq)| (run_id.to_string(), seq));
    let run = run.as_ref().map(|(run_id, seq)| (run_id.as_str(), *seq));
    let asked = ModelCallKey { run, node: &new.node, input_hash: &new.input_hash, ordinal: new.ordinal };
    insert_model_call(connection, &asked, new.reply.as_str(), &new.call, &new.at.to_string())?;
    let Some((run_id, seq)) = run else { return Ok(()) };
    new.input_replies.iter().try_for_each(|known| super::record_reply(connection, (run_id, seq), known))
}

/// Stores a model call. One that is stored already is left unchanged.
pub(in crate::store::table) fn insert_model_call(
    connection: &Connection,
    asked: &ModelCallKey<'_>,
    reply: &str,
    call: &ModelCall,
    at: &str,
) -> Result<()> {
    let sql = "INSERT INTO model_call (run_id, node, input_hash, ordinal, seq, reply, about, day, at, provider, model, prompt, version, \
               guidelines, outcome, note, requests, tokens_in, tokens_out, cost_micros, took_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, \
               ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21) ON CONFLICT DO NOTHING";
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let values = params![
        asked.run.map(|(run_id, _)| run_id),
        asked.node,
        asked.input_hash,
        asked.ordinal,
        asked.run.map_or(0, |(_, seq)| seq),
        reply,
        call.about,
        call.day,
        at,
        call.provider.as_str(),
        call.model,
        call.prompt,
        call.version,
        call.guidelines,
        call.outcome.as_str(),
        call.note,
        call.requests,
        number(call.spent.tokens_in),
        number(call.spent.tokens_out),
        number(call.spent.micros),
        number(call.took_ms),
    ];
    execute(connection, sql, values, "recording what a model said").map(drop)
}

/// Returns the replies of models to a run, up to a checkpoint, as recorded replies.
pub(in crate::store::table) fn replies_of(
    connection: &Connection,
    run_id: RunId,
    up_to: u32,
) -> Result<Vec<(u32, RecordedReply)>> {
    let sql = "SELECT seq, node, input_hash, ordinal, reply FROM model_call WHERE run_id = ?1 AND seq <= ?2 ORDER BY seq, ordinal";
    query_all(connection, sql, (run_id.to_string(), up_to), "reading what models said", |row| {
        let reply = RecordedReply {
            node: parse_column(row, 1)?,
            input_hash: row.get(2)?,
            ordinal: row.get(3)?,
            reply: read_reply_column(row, 4)?,
            call: None,
        };
        Ok((row.get(0)?, reply))
    })
}

/// The SQL sums that [`usage_row`] reads.
const SUMS: &str = "coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0), coalesce(sum(cost_micros), 0)";

fn usage_row(row: &Row<'_>, first: usize) -> rusqlite::Result<ModelUsage> {
    let number = |column: usize| row.get::<_, i64>(column).map(i64::unsigned_abs);
    Ok(ModelUsage { tokens_in: number(first)?, tokens_out: number(first + 1)?, micros: number(first + 2)? })
}

/// Queries of model calls and their cost.
#[derive(Clone, Copy)]
pub struct ModelCallReader<'a>(pub(in crate::store) &'a Connection);

impl ModelCallReader<'_> {
    /// Returns the tokens and cost of a day.
    pub fn usage_on(self, day: &str) -> Result<ModelUsage> {
        let sql = format!("SELECT {SUMS} FROM model_call WHERE day = ?1");
        query_optional(self.0, &sql, [day], "adding up a day", |row| usage_row(row, 0)).map(Option::unwrap_or_default)
    }

    /// Returns the tokens and cost that count against one task, or against the run that read a mail.
    pub fn usage_about(self, about: &str) -> Result<ModelUsage> {
        let sql = format!("SELECT {SUMS} FROM model_call WHERE about = ?1");
        query_optional(self.0, &sql, [about], "adding up a task", |row| usage_row(row, 0))
            .map(Option::unwrap_or_default)
    }

    /// Returns when the budget of the day refused a call for the first time; none when it did not.
    pub fn day_budget_exhausted_at(self, day: &str) -> Result<Option<Instant>> {
        let sql = "SELECT at FROM model_call WHERE day = ?1 AND outcome = ?2 ORDER BY call_id";
        query_first_readable(self.0, sql, (day, Outcome::DayBudget.as_str()), "looking at the budget", |row| {
            parse_column(row, 0)
        })
    }

    /// Returns the outcome and the note of the last call that reached the network.
    pub fn last_outcome(self) -> Result<Option<(Outcome, String)>> {
        let sql = "SELECT outcome, note FROM model_call WHERE requests > 0 ORDER BY call_id DESC";
        query_first_readable(self.0, sql, [], "looking at the last question", |row| {
            Ok((parse_column(row, 0)?, row.get(1)?))
        })
    }

    /// Returns the model calls of a run, oldest first.
    pub fn of_run(self, run_id: RunId) -> Result<Vec<ModelCallRow>> {
        let sql = "SELECT seq, node, about, day, provider, model, prompt, version, guidelines, outcome, note, requests, took_ms, tokens_in, \
                   tokens_out, cost_micros FROM model_call WHERE run_id = ?1 ORDER BY call_id";
        query_readable(self.0, sql, [run_id.to_string()], "reading a run's questions", |row| {
            let call = ModelCall {
                about: row.get(2)?,
                day: row.get(3)?,
                provider: parse_column(row, 4)?,
                model: row.get(5)?,
                prompt: row.get(6)?,
                version: row.get(7)?,
                guidelines: row.get(8)?,
                outcome: parse_column(row, 9)?,
                note: row.get(10)?,
                requests: row.get(11)?,
                took_ms: row.get::<_, i64>(12)?.unsigned_abs(),
                spent: usage_row(row, 13)?,
            };
            Ok(ModelCallRow { seq: row.get(0)?, node: row.get(1)?, call })
        })
    }

    /// Returns calls and cost by day, node and rule, from a day on. Reading a mail counts for the rule of the first
    /// task it opened.
    pub fn costs(self, since: &str) -> Result<Vec<CostRow>> {
        let sql = format!(
            "SELECT c.day, c.node, coalesce(o.rule, ''), count(*), sum(c.outcome IN ('answered', 'repaired')), {SUMS}
             FROM model_call c LEFT JOIN run r USING (run_id) LEFT JOIN ledger l ON l.mail_id = r.mail_id
             LEFT JOIN task_owner o ON o.task_id = coalesce(r.task_id, l.task_id)
             WHERE c.day >= ?1 GROUP BY 1, 2, 3 ORDER BY 1 DESC, 2, 3"
        );
        query_readable(self.0, &sql, [since], "adding up what models cost", |row| {
            Ok(CostRow {
                day: row.get(0)?,
                node: row.get(1)?,
                rule: row.get(2)?,
                calls: row.get::<_, i64>(3)?.unsigned_abs(),
                answered: row.get::<_, i64>(4)?.unsigned_abs(),
                spent: usage_row(row, 5)?,
            })
        })
    }
}
