//! `collect_invoices`: the recorded invoices of a period, with their sum by currency.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::invoice_period::InvoicePeriod;
use crate::{
    model::InvoiceRow,
    tool::{Tool, ToolAccess, ToolError, ToolInput, ToolOutcome, ToolParameter},
};

/// The most invoices of one list, more than anybody reads.
const MOST_INVOICES: usize = 200;

/// Lists invoices that were recorded before.
pub(in crate::tool) struct CollectInvoices;

impl Tool for CollectInvoices {
    fn name(&self) -> &'static str {
        "collect_invoices"
    }

    fn purpose(&self) -> &'static str {
        "list the recorded invoices of a period, with their sum"
    }

    fn parameters(&self) -> &'static [ToolParameter] {
        const { &[ToolParameter::optional("period", "such as \"last month\" or \"this year\"; without it, all invoices")] }
    }

    fn access(&self) -> ToolAccess {
        ToolAccess::Read
    }

    fn reads_invoices(&self) -> bool {
        true
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        let today = input.now.utc().with_timezone(&input.me.time_zone).date_naive();
        let period = InvoicePeriod::find_in_text(input.text_argument("period").unwrap_or_default(), today);
        let recorded_in = |row: &&InvoiceRow| {
            let day = row.recorded_at.utc().with_timezone(&input.me.time_zone).date_naive();
            period.as_ref().is_none_or(|period| period.contains(day))
        };
        let found: Vec<&InvoiceRow> = input.invoices.iter().filter(recorded_in).collect();
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for row in &found {
            if let Some(amount) = row.amount {
                *sums.entry(row.currency.as_deref().unwrap_or("?")).or_default() += amount;
            }
        }
        let total: Map<String, Value> =
            sums.iter().map(|(currency, sum)| ((*currency).to_owned(), json!(round(*sum)))).collect();
        let mut summary: Vec<String> = found.iter().take(MOST_INVOICES).map(|row| line(row)).collect();
        summary.extend(sums.iter().map(|(currency, sum)| format!("Total: {sum:.2} {currency}")));
        Ok(ToolOutcome::Output(json!({
            "period": period.map(|period| period.name),
            "invoices": found.len(),
            "total": total,
            "summary": summary,
        })))
    }
}

/// Rounds a sum to hundredths, which is what it is shown with.
fn round(sum: f64) -> f64 {
    (sum * 100.0).round() / 100.0
}

fn line(row: &InvoiceRow) -> String {
    let invoice = row;
    let amount = invoice.amount.map_or_else(|| "no amount".to_owned(), |amount| format!("{amount:.2}"));
    let currency = invoice.currency.as_deref().map_or_else(String::new, |currency| format!(" {currency}"));
    let number = invoice.number.as_deref().map_or_else(String::new, |number| format!(", number {number}"));
    let due = invoice.due.as_deref().map_or_else(String::new, |due| format!(", due {due}"));
    format!("{}: {amount}{currency}{number}{due}", invoice.payee)
}
