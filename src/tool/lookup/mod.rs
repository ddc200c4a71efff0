//! Tools that only read: they list what is recorded or what a search finds, for the steps behind them.

mod collect_invoices;
mod find;
mod invoice_period;

pub(super) use collect_invoices::CollectInvoices;
pub(super) use find::Find;
