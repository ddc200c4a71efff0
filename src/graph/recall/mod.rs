//! Finds documents that may help with a task: similar requests, the same conversation, person or invoice. It never
//! searches across accounts.

pub(super) mod material;

use super::{call_handler::CallContext, entry::Call};
use crate::{
    memory::{FoundDocument, Memory, MemoryQuery, Scope},
    model::ContextDoc,
    store::Result,
};

/// Returns the documents for a [`Call::Recall`]. The run's own mail and task are left out. Returns nothing for any
/// other call.
pub(super) async fn recall_documents(memory: &Memory, asker: CallContext<'_>, call: &Call) -> Result<Vec<ContextDoc>> {
    let Call::Recall { mail_id, thread, person, words, invoice } = call else { return Ok(Vec::new()) };
    let task = asker.state.task.as_ref().map(|task| format!("task:{}", task.task_id));
    let own: Vec<String> = mail_id.map(|id| format!("mail:{id}")).into_iter().chain(task).collect();
    let question = MemoryQuery {
        account: &asker.run.account,
        text: words,
        thread,
        person,
        invoice,
        leave_out: &own,
        now: asker.now,
        scope: Scope::RUN,
    };
    let recalled = memory.search(&question).await?;
    Ok(recalled.found.into_iter().map(to_context_doc).collect())
}

fn to_context_doc(found: FoundDocument) -> ContextDoc {
    ContextDoc {
        found_by: found.reasons.first().map_or_else(String::new, |reason| reason.by.to_string()),
        reasons: found.reasons.iter().map(ToString::to_string).collect(),
        doc: found.doc,
        title: found.title,
        score: found.score,
    }
}
