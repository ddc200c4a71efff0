//! What a model said is on the disk before anybody uses it: a run that dies after this hears the same again.

use super::{active_run::ActiveRun, commit::DISK_RETRY_INTERVAL, engine::EngineInner, entry::Call, interrupt::Advance};
use crate::{
    model::{Instant, NewModelCall, RecordedReply, ReplyJson, llm::ModelCall},
    store::Write,
};

impl EngineInner {
    /// Records a reply with its cost in a row of its own. One that nobody was asked for costs nothing and goes with the
    /// checkpoint like any other.
    pub(super) async fn record_model_reply(
        &self,
        run: &mut ActiveRun,
        (input_hash, ordinal): (String, u32),
        value: ReplyJson,
        call: Box<ModelCall>,
        at: Instant,
    ) -> Advance<ReplyJson> {
        let node = run.node;
        if !call.outcome.was_attempted() {
            let reply = RecordedReply { node, input_hash, ordinal, reply: value.clone(), call: Some(call) };
            run.gathered.replies.push(reply);
            return Ok(value);
        }
        // The task is read anew after a kill; whatever else was looked up for the question stands.
        let task = run.task_id.map(|task_id| Call::Task { task_id }.input_hash());
        let with = run
            .gathered
            .replies
            .iter()
            .filter(|known| known.call.is_none() && Some(&known.input_hash) != task.as_ref());
        let new = NewModelCall {
            run: Some((run.run_id(), run.seq + 1)),
            node: node.to_string(),
            input_hash,
            ordinal,
            reply: value.clone(),
            call: *call,
            input_replies: with.cloned().collect(),
            at,
        };
        loop {
            match self.store.write(Write::RecordModelCall(Box::new(new.clone()))).await {
                Ok(_) => return Ok(value),
                // Not asked again for want of room: it was paid for.
                Err(error) if error.is_transient() && !self.stop.is_cancelled() => {
                    tokio::time::sleep(DISK_RETRY_INTERVAL).await
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
