//! What a person answers to an item of the approval queue.

use crate::model::{
    Actor, DecisionChannel, Instant, InvitationAnswer, ItemId, NewAction, NewItem, nightly::CorrectionKind,
    text_enum::text_enum,
};

text_enum! {
    /// What a person can answer to an item.
    DecisionKind {
        /// To an action: carry out exactly this. To a proposal: apply the edit.
        Approve = "approve",
        /// Do not do it; the step is left to the person.
        Reject = "reject",
        /// Do something else instead; the reason says what. The step is done again and shown again.
        Respond = "respond",
        /// To a failed step: try it again.
        Retry = "retry",
        /// To a failed step: go on without it.
        Skip = "skip",
        /// To a failed step: cancel the task.
        Cancel = "cancel",
        /// To an effect of unknown outcome: it did happen.
        Sent = "sent",
    }
}

/// What the agent is to do instead of an action, as it was understood from a person's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepInstruction {
    /// The step that is done: that of the action again, or a reply in its place.
    pub step: String,
    /// What the message says; empty for the program's own words.
    pub words: String,
    /// What an invitation is answered with; none if none is answered.
    pub answer: Option<InvitationAnswer>,
}

/// A person's answer to one item.
#[derive(Debug, Clone)]
pub struct Decision {
    pub item_id: ItemId,
    pub kind: DecisionKind,
    pub who: Actor,
    pub reason: String,
    /// What a response in words means.
    pub instruction: Option<StepInstruction>,
    pub at: Instant,
    pub channel: DecisionChannel,
    /// The digest of the action that the person was shown. An approval is refused when it is not that of the stored
    /// action.
    pub sha256: String,
    /// The end of the grace: an approved action is not carried out before it.
    pub release_at: Option<Instant>,
    /// The epoch of the data folder. An approval of an earlier epoch does not count.
    pub epoch: i64,
    /// The digest of the decision file that the answer came in, so that no file counts twice.
    pub file_sha256: Option<String>,
}

/// A new wording of an action that waits. The old action becomes void, and a person is asked about the new one.
#[derive(Debug, Clone)]
pub struct ActionEdit {
    pub item_id: ItemId,
    pub action: Box<NewAction>,
    pub item: Box<NewItem>,
    /// What the nightly job learns from: an edit, or a response in words.
    pub kind: CorrectionKind,
    /// The words of the response; empty for an edit.
    pub words: String,
    /// The output of another step that changes with the wording: the time that is now proposed.
    pub step_output: Option<(String, serde_json::Value)>,
    pub who: Actor,
    pub at: Instant,
}
