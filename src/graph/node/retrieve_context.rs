//! The node retrieve_context: finds earlier mails and tasks about the same request, conversation, person or invoice.

use std::sync::Arc;

use crate::{
    followup::fingerprint,
    graph::entry::{Call, Node, NodeInput, NodeOutput},
    model::{Change, ContextDoc, Fingerprint, Move},
};

/// The node retrieve_context.
pub(super) struct RetrieveContext;

impl Node for RetrieveContext {
    fn evaluate(&self, entry: &NodeInput<'_>) -> anyhow::Result<NodeOutput> {
        let Some(documents) = entry.find_reply::<Arc<Vec<ContextDoc>>>(|call| matches!(call, Call::Recall { .. }))?
        else {
            let objective = entry.state.task.as_ref().map(|task| task.objective.clone()).unwrap_or_default();
            return Ok(NodeOutput::from_call(Call::Recall {
                mail_id: entry.state.mail_id,
                // A mail that is not a reply has no conversation yet.
                thread: entry
                    .mail
                    .filter(|mail| !mail.references.is_empty())
                    .map(|mail| mail.thread.clone())
                    .unwrap_or_default(),
                person: entry.mail.map(|mail| mail.from.addr.clone()).unwrap_or_default(),
                words: objective,
                invoice: invoice_fingerprint(entry).map_or_else(String::new, |invoice| invoice.to_string()),
            }));
        };
        let changes = if documents.is_empty() { Vec::new() } else { vec![Change::Documents { documents }] };
        Ok(NodeOutput::from_move(Move::Next).with_changes(changes))
    }
}

/// Returns the fingerprint of the invoice that the task is about: its number together with the sender.
fn invoice_fingerprint(entry: &NodeInput<'_>) -> Option<Fingerprint> {
    let number = entry.state.task.as_ref()?.context.more.get("invoice_number")?.as_str()?;
    fingerprint::of_invoice(&entry.mail?.from.addr, number)
}
