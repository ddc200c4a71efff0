//! The closed list of what can be written, and where each lands.

use std::sync::Arc;

use super::{
    error::{Result, StoreError},
    prepared::PreparedWrite,
    session::Session,
    table::{
        account::{self, condition},
        approval::{self, decision, item},
        audit::epoch,
        document::{search_index, vector},
        mail::ledger,
        nightly::{self, rules_version},
        outbox::{self, journal},
        request,
        run::{self, model_call},
        setting,
        task::{self, reminder},
    },
};
use crate::model::{
    AccountCondition, AccountId, AccountMode, ActionId, Actor, Instant, ItemId, MailId, RunId, RunStatus, TaskId,
};
use crate::{
    document::EmbeddedDocument,
    model::{
        Account, ActionEdit, ActionMove, ArrivalReceipt, Arrivals, Checkpoint, Decision, MailEdit, NewModelCall,
        NewRun, ReevaluatedAction, RequestKind, Rerank, ShownReminder, TaskEdit,
        nightly::{BeginNightly, DuplicateTasks, EndNightly, LiveRulesVersion, NewRulesVersion},
    },
};

#[derive(Debug, Clone)]
pub enum Write {
    OpenAccount(Account),
    SetMode {
        account: AccountId,
        mode: AccountMode,
        at: Instant,
    },
    RecordArrivals(Box<Arrivals>),
    OpenRun(Box<NewRun>, Instant),
    Checkpoint(Arc<Checkpoint>),
    EndRun {
        run_id: RunId,
        status: RunStatus,
        reason: String,
        at: Instant,
    },
    MoveAction(Box<ActionMove>),
    EditTask(Box<TaskEdit>),
    Rerank(Box<Rerank>),
    EditMail(Box<MailEdit>),
    DecideItem(Box<Decision>),
    EditAction(Box<ActionEdit>),
    ReevaluateAction(Box<ReevaluatedAction>),
    SnoozeItem {
        item_id: ItemId,
        until: Option<Instant>,
        at: Instant,
    },
    /// Takes an approval back while its grace runs.
    RevokeApproval {
        item_id: ItemId,
        who: Actor,
        at: Instant,
    },
    /// What waited too long is void; timeout means no.
    ExpireOverdueItems {
        at: Instant,
    },
    MarkItemsReminded {
        items: Vec<ItemId>,
        at: Instant,
    },
    /// What a model said and what it cost, before anybody uses it.
    RecordModelCall(Box<NewModelCall>),
    /// A run that cannot go on now.
    DeferRun {
        run_id: RunId,
        reason: String,
        until: Instant,
        at: Instant,
    },
    /// Holds every effect, or lets them go.
    SetPaused {
        on: bool,
        at: Instant,
    },
    /// The database was restored: approvals are void, open effects are in doubt and accounts observe.
    StartEpoch {
        epoch: i64,
        /// What gave it away.
        reason: String,
        at: Instant,
    },
    /// The line before an effect is taken back, and the one after.
    RecordUndo {
        action_id: ActionId,
        done: bool,
        at: Instant,
    },
    AddRequest {
        kind: RequestKind,
        at: Instant,
    },
    UpdateRequest {
        request: i64,
        answer: Option<String>,
    },
    MarkRemindersShown {
        shown: Vec<ShownReminder>,
        at: Instant,
    },
    StoreSetting {
        name: String,
        value: String,
    },
    RecordAccountCondition(AccountCondition),
    /// Claims a date for the nightly job.
    BeginNightly(Box<BeginNightly>),
    EndNightly(Box<EndNightly>),
    /// The rules are about to be replaced by exactly this.
    IntendRulesVersion(Box<NewRulesVersion>),
    /// They were.
    MarkRulesVersionLive(Box<LiveRulesVersion>, Instant),
    /// They were not.
    DiscardIntendedRulesVersion {
        version: i64,
    },
    /// The newer of two tasks that are one.
    CancelDuplicateTask(DuplicateTasks, Instant),
    /// A proposal a person answered cannot be carried out any more.
    CloseProposal {
        item_id: ItemId,
        outcome: String,
        at: Instant,
    },
    /// Builds the search index anew from what is stored.
    RebuildSearchIndex,
    /// Vectors were made of documents that waited for them.
    RecordEmbeddings(Vec<EmbeddedDocument>),
    /// The vectors of these documents go; with `again`, they are made anew.
    DeleteVectors {
        docs: Vec<String>,
        reembed: bool,
    },
    /// All vectors go.
    DeleteAllVectors,
    /// All vectors are made anew, in this place.
    ResetMemory {
        place: String,
        /// It is not this database, and has yet to forget what it held.
        elsewhere: bool,
    },
    /// The place has forgotten what it held before.
    MarkMemoryCleared,
}

impl Write {
    /// Every kind of write, by the name its places to die have.
    pub const NAMES: &'static [&'static str] = &[
        "open_account",
        "set_mode",
        "arrivals",
        "open_run",
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
        "reindex",
        "remember",
        "forget",
        "forget_all",
        "begin_memory",
        "memory_cleared",
    ];

    pub const fn name(&self) -> &'static str {
        match self {
            Self::OpenAccount(..) => "open_account",
            Self::SetMode { .. } => "set_mode",
            Self::RecordArrivals(..) => "arrivals",
            Self::OpenRun(..) => "open_run",
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
            Self::RebuildSearchIndex => "reindex",
            Self::RecordEmbeddings(..) => "remember",
            Self::DeleteVectors { .. } => "forget",
            Self::DeleteAllVectors => "forget_all",
            Self::ResetMemory { .. } => "begin_memory",
            Self::MarkMemoryCleared => "memory_cleared",
        }
    }
}

/// What the writer has to say about a committed write.
#[derive(Debug, Clone, PartialEq)]
pub enum Receipt {
    Done,
    Arrived(Vec<ArrivalReceipt>),
    Number(i64),
    Task(TaskId),
    /// The runs the write opened.
    Runs(Vec<RunId>),
}

impl Write {
    /// Which of those that are written at once comes first: as their mails came, so that their tasks are numbered alike.
    pub(super) fn batch_sort_key(&self) -> Option<(Option<MailId>, RunId)> {
        match self {
            Write::Checkpoint(point) => Some((point.mail_id, point.run_id)),
            Write::OpenRun(new, _) => Some((new.state.mail_id, new.run_id)),
            _ => None,
        }
    }
}

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
        (Write::EndRun { run_id, status, reason, at }, _) => run::end(session, *run_id, *status, reason, *at),
        (Write::MoveAction(action), _) => outbox::advance(session, action),
        (Write::EditTask(edit), _) => return task::edit::edit_task(session, edit).map(Receipt::Task),
        (Write::Rerank(rerank), _) => task::edit::rerank(session, rerank),
        (Write::EditMail(edit), _) => return ledger::edit_mail(session, edit).map(Receipt::Runs),
        (Write::DecideItem(decision), _) => return decision::decide_item(session, decision).map(Receipt::Runs),
        (Write::EditAction(edit), _) => approval::edit_action(session, edit),
        (Write::ReevaluateAction(judged), _) => approval::reevaluate_action(session, judged),
        (Write::SnoozeItem { item_id, until, at }, _) => item::snooze(session, *item_id, *until, *at),
        (Write::RevokeApproval { item_id, who, at }, _) => approval::revoke(session, *item_id, *who, *at),
        (Write::ExpireOverdueItems { at }, _) => {
            return decision::expire_overdue_items(session, *at).map(Receipt::Runs);
        }
        (Write::MarkItemsReminded { items, at }, _) => item::mark_reminded(session, items, *at),
        (Write::RecordModelCall(call), _) => model_call::record_model_call(session, call),
        (Write::DeferRun { run_id, reason, until, at }, _) => run::defer(session, *run_id, reason, *until, *at),
        (Write::SetPaused { on, at }, _) => setting::set_paused(session, *on, *at),
        (Write::StartEpoch { epoch, reason, at }, _) => epoch::start_epoch(session, *epoch, reason, *at),
        (Write::RecordUndo { action_id, done, at }, _) => journal::record_undo(session, *action_id, *done, *at),
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
        (Write::RebuildSearchIndex, _) => search_index::rebuild(session),
        (Write::RecordEmbeddings(learned), _) => vector::record_embeddings(session, learned),
        (Write::DeleteVectors { docs, reembed: again }, _) => vector::delete_vectors(session, docs, *again),
        (Write::DeleteAllVectors, _) => vector::delete_all_vectors(session),
        (Write::ResetMemory { place, elsewhere }, _) => vector::reset_memory(session, place, *elsewhere),
        (Write::MarkMemoryCleared, _) => vector::mark_memory_cleared(session),
        (Write::Checkpoint(_) | Write::RecordArrivals(_) | Write::OpenRun(..), _) => {
            Err(StoreError::Refused("it was not prepared".into()))
        }
    }
    .map(|()| Receipt::Done)
}
