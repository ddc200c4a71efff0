//! `record_invoice`: adds amount, currency, due date and payee to the table of invoices, which can be exported as CSV.

use serde_json::json;

use super::{Tool, ToolError, ToolInput, ToolOutcome};
use crate::model::{
    Effect,
    action::{InvoiceRecord, Origin},
};

/// Requests a row in the table of invoices. Nothing is paid.
pub(super) struct RecordInvoice;

impl Tool for RecordInvoice {
    fn name(&self) -> &'static str {
        "record_invoice"
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        let text = |key: &str| input.task.context.more.get(key).and_then(|value| value.as_str()).map(str::to_owned);
        let payee = input.task.context.person.clone().unwrap_or_else(|| input.facts.sender.clone());
        if payee.is_empty() {
            return Err(ToolError("the mail does not say whom to pay".into()));
        }
        let invoice = InvoiceRecord {
            payee,
            amount: input.facts.amount,
            currency: text("currency"),
            due: input.task.context.deadline.clone(),
            number: text("invoice_number"),
        };
        let output = json!(invoice);
        Ok(ToolOutcome::request_effect(Effect::RecordInvoice { invoice }, output, &[("invoice", Origin::Mail)]))
    }
}
