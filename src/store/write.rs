//! The closed list of everything that can be written, and the function of the table that performs each.
//!
//! Apart from migrations, no other code changes the database. Every write is atomic: it is committed as a whole or not at all.

use std::sync::Arc;

use super::{
    error::{Result, StoreError},
    prepared::PreparedWrite,
    session::Session,
    table::{
        account::{self, condition},
        approval::{self, decision, item},
        audit::epoch,
        conversation,
        document::{search_index, vector},
        mail::ledger,
        nightly::{self, rules_version},
        outbox::{self, journal},
        request,
        run::{self, model_call},
        setting,
        task::{self, listing, reminder, task_update},
        team,
    },
};
use crate::model::{
    AccountCondition, AccountId, AccountMode, ActionId, Actor, Instant, ItemId, MailId, RunId, RunStatus, TaskId,
};
use crate::{
    document::EmbeddedDocument,
    model::{
        Account, ActionEdit, ActionMove, ArrivalReceipt, Arrivals, Checkpoint, Decision, MailEdit, NewChatMessage,
        NewModelCall, NewRequest, NewRun, ReevaluatedAction, RequestKind, Rerank, ShownReminder, TaskEdit, TeamWrite,
        nightly::{BeginNightly, DuplicateTasks, EndNightly, LiveRulesVersion, NewRulesVersion},
    },
};

/// One change of the database. It commits as a whole, and is refused as a whole.
#[derive(Debug, Clone)]
pub enum Write {
    /// Adds an account. One that exists already is left unchanged.
    OpenAccount(Account),
    /// Changes the mode of an account. Retiring it cancels its open tasks.
    SetMode {
        account: AccountId,
        mode: AccountMode,
        at: Instant,
    },
    /// Enters the messages of a poll into the ledger and opens a run for each new mail, with the cursor of the source.
    RecordArrivals(Box<Arrivals>),
    /// Opens a run. One that exists already is left unchanged.
    OpenRun(Box<NewRun>, Instant),
    /// Adds the task of a request that a person asked for, with the run that works it.
    OpenRequest(Box<NewRequest>),
    /// Stores everything that one node did: changes, replies, effects, items and the next node.
    Checkpoint(Arc<Checkpoint>),
    /// Ends a run outside its nodes. A run that is parked leaves an item for a person.
    EndRun {
        run_id: RunId,
        status: RunStatus,
        reason: String,
        at: Instant,
    },
    /// Moves an effect of the outbox to another state, if it is still in the expected one.
    MoveAction(Box<ActionMove>),
    /// Adds a task by hand, or applies edits of one task in their order: all of them, or none.
    EditTask(Vec<TaskEdit>),
    /// Changes the priority of an open task because of new rules or a new day.
    Rerank(Box<Rerank>),
    /// Overrules what was made of a mail, or mutes its sender.
    EditMail(Box<MailEdit>),
    /// Records a person's decision on an item, and applies what follows from it.
    DecideItem(Box<Decision>),
    /// Replaces an action that waits for approval by an edited one, which is asked about in turn.
    EditAction(Box<ActionEdit>),
    /// Stores the verdict of a new policy on an action that waits for approval.
    ReevaluateAction(Box<ReevaluatedAction>),
    /// Puts an open item off until then; none ends the snooze.
    SnoozeItem {
        item_id: ItemId,
        until: Option<Instant>,
        at: Instant,
    },
    RevokeApproval {
        item_id: ItemId,
        who: Actor,
        at: Instant,
    },
    ExpireOverdueItems {
        at: Instant,
    },
    MarkItemsReminded {
        items: Vec<ItemId>,
        at: Instant,
    },
    /// Revokes an approval within its grace.
    /// Expires items that nobody answered in time. No answer counts as a no.
    /// Records that a person was told that these items will expire.
    /// Stores the reply and the cost of a model call, before anybody uses the reply.
    RecordModelCall(Box<NewModelCall>),
    /// Sets a run aside that cannot go on now, with the reason and the time of the next try.
    DeferRun {
        run_id: RunId,
        reason: String,
        until: Instant,
        at: Instant,
    },
    /// Pauses all effects, or resumes them.
    SetPaused {
        on: bool,
        at: Instant,
    },
    /// Starts a new epoch after a restore: approvals are void, open effects are of unknown outcome, accounts only
    /// observe.
    StartEpoch {
        epoch: i64,
        /// How the restore was detected.
        reason: String,
        at: Instant,
    },
    /// Records that an effect is about to be undone, or, with `done`, that it was undone.
    RecordUndo {
        action_id: ActionId,
        done: bool,
        who: Actor,
        at: Instant,
    },
    /// Records that the mailbox has no draft of a voided effect any more.
    EndDraftCleanup {
        action_id: ActionId,
    },
    /// Ends the open tasks about meetings whose time has passed.
    EndPastMeetings {
        at: Instant,
    },
    /// Leaves a request for the running daemon.
    AddRequest {
        kind: RequestKind,
        at: Instant,
    },
    /// Marks a request as being worked, or, with an answer, as answered.
    UpdateRequest {
        request: i64,
        answer: Option<String>,
    },
    /// Marks reminders as shown, after they were shown.
    MarkRemindersShown {
        shown: Vec<ShownReminder>,
        at: Instant,
    },
    /// Stores a named value, replacing the one before.
    StoreSetting {
        name: String,
        value: String,
    },
    /// Stores how an account that is reached over a network is doing.
    RecordAccountCondition(AccountCondition),
    /// Claims a date for the nightly job, so that there is one run of it.
    BeginNightly(Box<BeginNightly>),
    /// Closes the nightly job of a date, with its report and its proposals.
    EndNightly(Box<EndNightly>),
    /// Stores a version of the rules before the files are replaced by it.
    IntendRulesVersion(Box<NewRulesVersion>),
    /// Marks the intended version as live, after the files were replaced.
    MarkRulesVersionLive(Box<LiveRulesVersion>, Instant),
    /// Discards the intended version, because the files were not replaced.
    DiscardIntendedRulesVersion {
        version: i64,
    },
    /// Cancels the newer of two tasks that are the same.
    CancelDuplicateTask(DuplicateTasks, Instant),
    /// Closes a proposal that was decided and cannot be carried out any more.
    CloseProposal {
        item_id: ItemId,
        outcome: String,
        at: Instant,
    },
    /// Adds a message to a conversation. The first one opens the conversation.
    RecordChatMessage(Box<NewChatMessage>),
    /// Opens or changes a team, or says something to it.
    Team(Box<TeamWrite>),
    /// Stores the titles of all tasks as conversations find them.
    IndexTitles,
    /// Rebuilds the full-text index from the stored mails and tasks.
    RebuildSearchIndex,
    /// Stores vectors of documents that were due for them.
    RecordEmbeddings(Vec<EmbeddedDocument>),
    /// Deletes the vectors of these documents; with `reembed`, they are made again.
    DeleteVectors {
        docs: Vec<String>,
        reembed: bool,
    },
    /// Deletes all vectors. Their documents stay, and can still be found by words.
    DeleteAllVectors,
    /// Deletes all vectors and marks every document as due, because the place or the embedder has changed.
    ResetMemory {
        place: String,
        /// Whether the vectors are kept outside this database. Then that place must be emptied before it is used.
        elsewhere: bool,
    },
    /// Records that the place outside the database was emptied.
    MarkMemoryCleared,
}

impl Write {
    /// The names of all writes. Failpoints are named after them: `commit.checkpoint.before`.
    pub const NAMES: &'static [&'static str] = &[
        "open_account",
        "set_mode",
        "arrivals",
        "open_run",
        "open_request",
        "checkpoint",
        "end_run",
        "move_action",
        "edit_task",
        "rerank",
        "edit_mail",
        "decide",
        "edit_action",
        "rejudge",
        "snooze_item",
        "take_back",
        "expire",
        "items_reminded",
        "hear_model",
        "set_aside",
        "pause",
        "epoch",
        "undo",
        "draft_cleanup",
        "meetings_over",
        "ask",
        "answer",
        "reminders_shown",
        "setting",
        "condition",
        "begin_nightly",
        "end_nightly",
        "intend_rules",
        "keep_rules",
        "drop_intent",
        "cancel_twin",
        "settle_proposal",
        "chat_message",
        "open_team",
        "team",
        "team_input",
        "titles",
        "reindex",
        "remember",
        "forget",
        "forget_all",
        "begin_memory",
        "memory_cleared",
    ];

    /// Returns the name of the write in failpoints.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::OpenAccount(..) => "open_account",
            Self::SetMode { .. } => "set_mode",
            Self::RecordArrivals(..) => "arrivals",
            Self::OpenRun(..) => "open_run",
            Self::OpenRequest(..) => "open_request",
            Self::Checkpoint(..) => "checkpoint",
            Self::EndRun { .. } => "end_run",
            Self::MoveAction(..) => "move_action",
            Self::EditTask(..) => "edit_task",
            Self::Rerank(..) => "rerank",
            Self::EditMail(..) => "edit_mail",
            Self::DecideItem(..) => "decide",
            Self::EditAction(..) => "edit_action",
            Self::ReevaluateAction(..) => "rejudge",
            Self::SnoozeItem { .. } => "snooze_item",
            Self::RevokeApproval { .. } => "take_back",
            Self::ExpireOverdueItems { .. } => "expire",
            Self::MarkItemsReminded { .. } => "items_reminded",
            Self::RecordModelCall(..) => "hear_model",
            Self::DeferRun { .. } => "set_aside",
            Self::SetPaused { .. } => "pause",
            Self::StartEpoch { .. } => "epoch",
            Self::RecordUndo { .. } => "undo",
            Self::EndDraftCleanup { .. } => "draft_cleanup",
            Self::EndPastMeetings { .. } => "meetings_over",
            Self::AddRequest { .. } => "ask",
            Self::UpdateRequest { .. } => "answer",
            Self::MarkRemindersShown { .. } => "reminders_shown",
            Self::StoreSetting { .. } => "setting",
            Self::RecordAccountCondition(..) => "condition",
            Self::BeginNightly(..) => "begin_nightly",
            Self::EndNightly(..) => "end_nightly",
            Self::IntendRulesVersion(..) => "intend_rules",
            Self::MarkRulesVersionLive(..) => "keep_rules",
            Self::DiscardIntendedRulesVersion { .. } => "drop_intent",
            Self::CancelDuplicateTask(..) => "cancel_twin",
            Self::CloseProposal { .. } => "settle_proposal",
            Self::RecordChatMessage(..) => "chat_message",
            Self::Team(write) => write.name(),
            Self::IndexTitles => "titles",
            Self::RebuildSearchIndex => "reindex",
            Self::RecordEmbeddings(..) => "remember",
            Self::DeleteVectors { .. } => "forget",
            Self::DeleteAllVectors => "forget_all",
            Self::ResetMemory { .. } => "begin_memory",
            Self::MarkMemoryCleared => "memory_cleared",
        }
    }
}

/// What a committed write produced.
#[derive(Debug, Clone, PartialEq)]
pub enum Receipt {
    /// Nothing beyond the change itself.
    Done,
    /// The ledger entry of each message that was new or tried again.
    Arrived(Vec<ArrivalReceipt>),
    /// The number of the row that was added: a request or a version of the rules.
    Number(i64),
    /// The task that was edited, or its successor when it was reopened.
    Task(TaskId),
    /// The runs that the write opened.
    Runs(Vec<RunId>),
}

impl Write {
    /// Returns the key by which writes of one batch are sorted: by the order in which their mails arrived, so that
    /// tasks are numbered in that order whatever the scheduling.
    pub(super) fn batch_sort_key(&self) -> Option<(Option<MailId>, RunId)> {
        match self {
            Write::Checkpoint(point) => Some((point.mail_id, point.run_id)),
            Write::OpenRun(new, _) => Some((new.state.mail_id, new.run_id)),
            _ => None,
        }
    }
}

/// Performs a write inside the open transaction. On an error the caller rolls back.
pub(super) fn perform_write(session: &Session, write: &Write, prepared: &PreparedWrite) -> Result<Receipt> {
    match (write, prepared) {
        (Write::OpenAccount(account), _) => account::open(session, account),
        (Write::SetMode { account, mode, at }, _) => account::set_mode(session, account, *mode, *at),
        (Write::RecordArrivals(arrivals), PreparedWrite::Arrivals(texts)) => {
            return ledger::record_arrivals(session, arrivals, texts).map(Receipt::Arrived);
        }
        (Write::OpenRun(new, at), PreparedWrite::Run(state)) => run::open(session, new, state, *at),
        (Write::Checkpoint(checkpoint), PreparedWrite::Checkpoint(text)) => {
            run::store_checkpoint(session, checkpoint, text)
        }
        (Write::OpenRequest(new), PreparedWrite::Run(state)) => task::edit::open_request(session, new, state),
        (Write::EndRun { run_id, status, reason, at }, _) => run::end(session, *run_id, *status, reason, *at),
        (Write::MoveAction(action), _) => outbox::advance(session, action),
        (Write::EditTask(edits), _) => return task::edit::edit_task(session, edits).map(Receipt::Task),
        (Write::Rerank(rerank), _) => task::edit::rerank(session, rerank),
        (Write::EditMail(edit), _) => return ledger::edit_mail(session, edit).map(Receipt::Runs),
        (Write::DecideItem(decision), _) => return decision::decide_item(session, decision).map(Receipt::Runs),
        (Write::EditAction(edit), _) => decision::edit_action(session, edit),
        (Write::ReevaluateAction(judged), _) => approval::reevaluate_action(session, judged),
        (Write::SnoozeItem { item_id, until, at }, _) => item::snooze(session, *item_id, *until, *at),
        (Write::RevokeApproval { item_id, who, at }, _) => decision::revoke_approval(session, *item_id, *who, *at),
        (Write::ExpireOverdueItems { at }, _) => {
            return decision::expire_overdue_items(session, *at).map(Receipt::Runs);
        }
        (Write::MarkItemsReminded { items, at }, _) => item::mark_reminded(session, items, *at),
        (Write::RecordModelCall(call), _) => model_call::record_model_call(session, call),
        (Write::DeferRun { run_id, reason, until, at }, _) => run::defer(session, *run_id, reason, *until, *at),
        (Write::SetPaused { on, at }, _) => setting::set_paused(session, *on, *at),
        (Write::StartEpoch { epoch, reason, at }, _) => epoch::start_epoch(session, *epoch, reason, *at),
        (Write::RecordUndo { action_id, done, who, at }, _) => {
            journal::record_undo(session, *action_id, *done, *who, *at)
        }
        (Write::EndDraftCleanup { action_id }, _) => journal::end_draft_cleanup(session, *action_id),
        (Write::EndPastMeetings { at }, _) => task_update::end_past_meetings(session, *at),
        (Write::AddRequest { kind, at }, _) => return request::add_request(session, *kind, *at).map(Receipt::Number),
        (Write::UpdateRequest { request, answer }, _) => request::update_request(session, *request, answer.as_deref()),
        (Write::MarkRemindersShown { shown, at }, _) => reminder::mark_shown(session, shown, *at),
        (Write::StoreSetting { name, value }, _) => setting::set(session, name, value),
        (Write::RecordAccountCondition(condition), _) => condition::record_condition(session, condition),
        (Write::BeginNightly(night), _) => nightly::begin_nightly(session, night),
        (Write::EndNightly(night), _) => nightly::end_nightly(session, night),
        (Write::IntendRulesVersion(new), _) => {
            return rules_version::record_intended_version(session, new).map(Receipt::Number);
        }
        (Write::MarkRulesVersionLive(kept, at), _) => rules_version::mark_version_live(session, kept, *at),
        (Write::DiscardIntendedRulesVersion { version }, _) => {
            rules_version::discard_intended_version(session, *version)
        }
        (Write::CancelDuplicateTask(duplicates, at), _) => nightly::cancel_duplicate_task(session, duplicates, *at),
        (Write::CloseProposal { item_id, outcome, at }, _) => {
            rules_version::close_proposal(session, *item_id, outcome, *at)
        }
        (Write::RecordChatMessage(new), _) => return conversation::record_message(session, new),
        (Write::Team(write), _) => return team::perform_write(session, write),
        (Write::IndexTitles, _) => listing::index_all_titles(session),
        (Write::RebuildSearchIndex, _) => search_index::rebuild(session),
        (Write::RecordEmbeddings(learned), _) => vector::record_embeddings(session, learned),
        (Write::DeleteVectors { docs, reembed: again }, _) => vector::delete_vectors(session, docs, *again),
        (Write::DeleteAllVectors, _) => vector::delete_all_vectors(session),
        (Write::ResetMemory { place, elsewhere }, _) => vector::reset_memory(session, place, *elsewhere),
        (Write::MarkMemoryCleared, _) => vector::mark_memory_cleared(session),
        // `prepare` returns the matching variant for these, so this arm is never reached.
        (Write::Checkpoint(_) | Write::RecordArrivals(_) | Write::OpenRun(..) | Write::OpenRequest(_), _) => {
            Err(StoreError::Refused("it was not prepared".into()))
        }
    }
    .map(|()| Receipt::Done)
}
