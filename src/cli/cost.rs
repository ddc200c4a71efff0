//! `cost`: what the model cost, by day, node and rule.

use std::{collections::BTreeMap, io};

use chrono_tz::Tz;
use serde_json::json;

use super::{
    description::format_timestamp,
    printer::{Printer, cell, escape_and_truncate},
    table::{Cell, Column},
};
use crate::{
    app::{App, CostReport},
    model::{
        CostRow,
        llm::{ModelUsage, SpendLimit},
    },
};

/// Prints what the model cost in the last days.
pub(super) async fn show_cost(app: &App, screen: Printer, days: u32) -> anyhow::Result<()> {
    match app.model().report_cost(days).await? {
        Some(cost) => screen.print_json_or(&cost, |screen| print(screen, &cost, app.config.me.time_zone)),
        None => screen.print_json_or(&json!({ "provider": "off", "rows": [] }), |screen| {
            screen.print_line("There is no model, and nothing was spent. [llm] in adjutant.toml turns one on.")
        }),
    }
}

fn print(screen: Printer, cost: &CostReport, zone: Tz) -> io::Result<()> {
    if cost.rows.is_empty() {
        screen.print_line("Nothing was spent yet.")?;
    }
    for (title, key) in [
        ("day", (|row: &CostRow| row.day.clone()) as fn(&CostRow) -> String),
        ("node", |row| row.node.clone()),
        ("rule", |row| if row.rule.is_empty() { "(no task)".to_owned() } else { row.rule.clone() }),
    ] {
        if !cost.rows.is_empty() {
            print_cost_table(screen, cost, title, key)?;
            screen.print_line("")?;
        }
    }
    screen.print_line(&format!("{} {}", cost.provider, escape_and_truncate(&cost.model, 60)))?;
    screen
        .print_line(&format!("today    {}", format_spent_of_limit(cost.spent_today, &cost.budget.day, cost.priced)))?;
    screen.print_line(&format!("per task {}", limit_words(&cost.budget.task)))?;
    if !cost.priced {
        screen.print_line("Money is not counted: set llm.price_in and llm.price_out.")?;
    }
    match cost.gone_since {
        Some(since) => screen
            .print_line(&format!("Today's budget is GONE since {}; rules go on alone.", format_timestamp(since, zone))),
        None => Ok(()),
    }
}

/// Prints the sums of the costs, grouped by `key`.
fn print_cost_table(screen: Printer, cost: &CostReport, title: &str, key: fn(&CostRow) -> String) -> io::Result<()> {
    let mut sums: BTreeMap<String, (u64, u64, ModelUsage)> = BTreeMap::new();
    for row in &cost.rows {
        let (calls, answered, spent) = sums.entry(key(row)).or_default();
        *calls += row.calls;
        *answered += row.answered;
        *spent = spent.plus(row.spent);
    }
    let line = |(name, (calls, answered, spent)): (&String, &(u64, u64, ModelUsage))| {
        vec![
            cell(name, 40),
            Cell::new(calls),
            Cell::new(answered),
            Cell::new(spent.tokens_in),
            Cell::new(spent.tokens_out),
            Cell::new(money(spent.micros)),
        ]
    };
    let columns = [
        Column::text(title, 10),
        Column::fixed("questions"),
        Column::fixed("answered").folding(1),
        Column::fixed("tokens in"),
        Column::fixed("tokens out"),
        Column::fixed("money"),
    ];
    screen.print_table(&columns, sums.iter().map(line).collect())
}

/// Formats an amount that is stored in millionths.
fn money(micros: u64) -> String {
    format!("{:.4}", micros as f64 / 1e6)
}

/// Returns what was spent and the limit. Money is included only if the configuration has prices.
fn format_spent_of_limit(spent: ModelUsage, limit: &SpendLimit, priced: bool) -> String {
    let tokens = limit.tokens.map_or_else(String::new, |most| format!(" of {most}"));
    let mut text = format!("{}{tokens} tokens", spent.tokens());
    if priced {
        let most = limit.micros.map_or_else(String::new, |most| format!(" of {}", money(most)));
        text.push_str(&format!(", {}{most} money", money(spent.micros)));
    }
    text
}

/// Returns a limit in words.
fn limit_words(limit: &SpendLimit) -> String {
    let tokens = limit.tokens.map(|most| format!("{most} tokens"));
    let micros = limit.micros.map(|most| format!("{} money", money(most)));
    let words: Vec<String> = tokens.into_iter().chain(micros).collect();
    if words.is_empty() { "no limit".into() } else { format!("at most {}", words.join(", ")) }
}
