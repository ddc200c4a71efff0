//! The figures for a monitor, in the text format of Prometheus. They hold counts and times, never a subject, an address
//! or a sentence.

use std::fmt::Write as _;

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse as _, Response},
};

use crate::{
    app::{AccountStatus, Status},
    web::{page::PageFailure, server::WebState},
};

/// The content type of the format, with its version.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers a monitor.
pub(super) async fn answer(State(state): State<WebState>) -> Result<Response, PageFailure> {
    let status = state.status.get(&state.app).await?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], write_metrics(&status)).into_response())
}

/// A text in the format, under construction.
#[derive(Default)]
struct MetricsText(String);

/// A value with its labels.
type Sample<'a> = (Vec<(&'static str, &'a str)>, f64);

impl MetricsText {
    /// Adds a family of figures. One without samples is left out.
    fn add<'a>(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = Sample<'a>>) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# HELP adjutant_{name} {help}\n# TYPE adjutant_{name} gauge");
        for (labels, value) in samples {
            let labels: Vec<String> =
                labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escape_label(value))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let _ = writeln!(self.0, "adjutant_{name}{labels} {value}");
        }
    }

    fn add_one(&mut self, name: &str, help: &str, value: f64) {
        self.add(name, help, [(Vec::new(), value)]);
    }
}

/// Returns the value of a label as the format demands it.
fn escape_label(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn flag(on: bool) -> f64 {
    f64::from(u8::from(on))
}

/// Writes all figures.
fn write_metrics(status: &Status) -> String {
    let mut text = MetricsText::default();
    text.add("build_info", "The running version.", [(vec![("version", env!("CARGO_PKG_VERSION"))], 1.0)]);
    add_accounts(&mut text, &status.accounts);
    text.add(
        "tasks",
        "Tasks by status.",
        status.tasks.iter().map(|(state, count)| (vec![("status", state.as_str())], *count as f64)),
    );
    text.add(
        "runs",
        "Runs by status.",
        status.runs.iter().map(|(state, count)| (vec![("status", state.as_str())], *count as f64)),
    );
    text.add(
        "effects",
        "Effects by state.",
        status.effects.iter().map(|(state, count)| (vec![("state", state.as_str())], *count as f64)),
    );
    text.add_one("items_waiting", "Open items of the approval queue.", status.waiting_for_you as f64);
    text.add_one(
        "runs_set_aside",
        "Runs that wait for a limit, a grace or the end of a pause.",
        status.set_aside.iter().map(|group| group.steps).sum::<u64>() as f64,
    );
    text.add_one("runs_left_behind", "Runs that are due and that nobody works on.", status.left_behind as f64);
    text.add_one("paused", "Whether all effects are paused.", flag(status.paused));
    text.add_one("worker_running", "Whether a process works mail.", flag(status.worker.is_some()));
    text.add_one("rules_broken", "Whether the rules file is broken.", flag(status.rules_broken.is_some()));
    text.add_one("policy_broken", "Whether the policy file is broken.", flag(status.policy_broken.is_some()));
    if let Some(cost) = &status.cost {
        let spent = cost.spent_today;
        let tokens = [("in", spent.tokens_in), ("out", spent.tokens_out)];
        text.add(
            "model_tokens_today",
            "Tokens of today.",
            tokens.map(|(way, count)| (vec![("direction", way)], count as f64)),
        );
        text.add_one("model_money_today", "Money of today, if prices are configured.", spent.micros as f64 / 1e6);
        text.add_one("model_budget_gone", "Whether the budget of today is gone.", flag(cost.gone_since.is_some()));
    }
    text.0
}

/// A figure of each account, by the account's name.
type AccountFigures = Vec<(String, f64)>;

fn add_accounts(text: &mut MetricsText, accounts: &[AccountStatus]) {
    let named = |account: &'_ AccountStatus, value: f64| -> (String, f64) { (account.account.clone(), value) };
    let mails = accounts.iter().flat_map(|account| {
        let name = account.account.as_str();
        account
            .mails
            .iter()
            .map(move |(state, count)| (vec![("account", name), ("state", state.as_str())], *count as f64))
    });
    text.add("mails", "Mails of the ledger by state.", mails);
    let conditions = || accounts.iter().filter_map(|account| Some((account, account.condition.as_ref()?)));
    let families: [(&str, &str, AccountFigures); 6] = [
        (
            "mails_unaccounted",
            "Mails without an outcome that no run works on.",
            accounts.iter().map(|account| named(account, account.unaccounted as f64)).collect(),
        ),
        (
            "last_poll_timestamp_seconds",
            "When the account was polled last.",
            accounts
                .iter()
                .filter_map(|account| Some(named(account, account.last_poll?.utc().timestamp() as f64)))
                .collect(),
        ),
        (
            "lag_seconds",
            "From arrival to the ledger, of the newest mail.",
            conditions()
                .filter_map(|(account, condition)| Some(named(account, condition.lag_seconds? as f64)))
                .collect(),
        ),
        (
            "gap_mails",
            "Mails that only a complete listing found.",
            conditions().map(|(account, condition)| named(account, condition.missed as f64)).collect(),
        ),
        (
            "backlog_mails",
            "Mails that are listed and not read yet.",
            conditions().map(|(account, condition)| named(account, condition.backlog as f64)).collect(),
        ),
        (
            "poll_failed",
            "Whether the last poll failed.",
            conditions().map(|(account, condition)| named(account, flag(!condition.problem.is_empty()))).collect(),
        ),
    ];
    for (name, help, samples) in &families {
        text.add(name, help, samples.iter().map(|(account, value)| (vec![("account", account.as_str())], *value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_cannot_break_out() {
        let mut text = MetricsText::default();
        text.add("x", "Help.", [(vec![("account", "a\"b\\c\nd")], 1.5)]);
        text.add("none", "Left out.", Vec::<Sample<'_>>::new());
        assert_eq!(
            text.0,
            "# HELP adjutant_x Help.\n# TYPE adjutant_x gauge\nadjutant_x{account=\"a\\\"b\\\\c\\nd\"} 1.5\n"
        );
    }
}
