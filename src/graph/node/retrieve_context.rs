//! retrieve_context: earlier mails and tasks of the same request, conversation, person and invoice.

use std::sync::Arc;

use crate::{
    graph::entry::{Call, Entry, Node, Step},
    model::{Change, ContextDoc, Move, mark},
};

pub(super) struct RetrieveContext;

impl Node for RetrieveContext {
    fn enter(&self, entry: &Entry<'_>) -> anyhow::Result<Step> {
        let Some(documents) = entry.reply::<Arc<Vec<ContextDoc>>>(|call| matches!(call, Call::Recall { .. }))? else {
            let objective = entry.state.task.as_ref().map(|task| task.objective.clone()).unwrap_or_default();
            return Ok(Step::ask(Call::Recall {
                mail_id: entry.state.mail_id,
                // A mail that answers nothing has no conversation yet.
                thread: entry
                    .mail
                    .filter(|mail| !mail.references.is_empty())
                    .map(|mail| mail.thread.clone())
                    .unwrap_or_default(),
                person: entry.mail.map(|mail| mail.from.addr.clone()).unwrap_or_default(),
                words: objective,
                invoice: invoice(entry).unwrap_or_default(),
            }));
        };
        let changes = if documents.is_empty() { Vec::new() } else { vec![Change::Documents { documents }] };
        Ok(Step::go(Move::Next).changing(changes))
    }
}

fn invoice(entry: &Entry<'_>) -> Option<String> {
    let number = entry.state.task.as_ref()?.context.more.get("invoice_number")?.as_str()?;
    mark::of_invoice(&entry.mail?.from.addr, number)
}
