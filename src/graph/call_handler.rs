//! Answers the calls of nodes from the store, the rules, the memory, the outbox and the model. This is the only place
//! where a call of a node reaches the world. A node itself never makes one, so a test or a replay exchanges the
//! [`CallHandler`] and runs the same nodes.

use std::{future::Future, path::PathBuf, pin::Pin, sync::Arc};

use anyhow::Context as _;
use tokio::sync::watch;

use super::{
    entry::{Call, CurrentTask, EffectOutcome, RankedPriority, RunIdentity},
    model_caller::NodeModelCaller,
    recall::{
        self,
        material::{self, FilesPresence},
    },
};
use crate::{
    llm::PromptInput,
    memory::Memory,
    model::{
        AccountMode, ActionId, ActionMove, Instant, Mail, Me, NewAction, QueueLimits, ReplyJson, RunState,
        UrgencyOrigin, llm::ModelCall,
    },
    outbox::{EffectProgress, Outbox},
    policy::{AccountPermissions, EffectPolicy},
    reading,
    rules::CurrentRules,
    source::{CalendarLookup, SourceError},
    store::{SkipUnreadable as _, Store, StoreError},
    tool::{BusyTimes, OwnLetter, ThreadMail},
};

/// How long a run is deferred while the approval queue is full or the policy file is broken.
pub(super) const QUEUE_ROOM_RETRY: chrono::Duration = chrono::Duration::seconds(15);

/// The number of newest mails of a conversation that a tool may see.
const THREAD_MAILS: usize = 20;

/// How many of the person's own mails are read to learn how they write.
const SENT_MAILS: usize = 20;
/// How many of these mails are shown to the model.
const STYLE_MAILS: usize = 3;
/// How many characters of each are shown.
const STYLE_CHARS: usize = 500;

/// How many of the person's own mails are looked at for those to one address.
const LETTER_MAILS: usize = 60;

/// A run that cannot go on now although nothing is wrong: until when, and why. A person reads the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDeferred {
    pub reason: String,
    pub until: Instant,
}

/// Why a call has no reply.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The call cannot be answered now, but later.
    #[error("{}", .0.reason)]
    Deferred(RunDeferred),
    /// The store failed. This is a variant of its own, because the engine retries a full disk and stops with the
    /// process.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The call failed; the node is tried again a few times.
    #[error(transparent)]
    Failed(#[from] anyhow::Error),
}

/// The result of a call.
pub type CallResult<T = CallReply> = Result<T, CallError>;
/// The future of a reply, boxed because the handler is a trait object.
pub type ReplyFuture<'a> = Pin<Box<dyn Future<Output = CallResult> + Send + 'a>>;

/// A reply, with what must be stored together with it.
pub struct CallReply {
    pub value: ReplyJson,
    /// The last transition of the effect, when the call was [`Call::Effect`].
    pub action_move: Option<Box<ActionMove>>,
    /// The model call behind the reply, with its cost; none for every other call.
    pub call: Option<Box<ModelCall>>,
}

impl From<ReplyJson> for CallReply {
    fn from(value: ReplyJson) -> Self {
        Self { value, action_move: None, call: None }
    }
}

/// The run on whose behalf a call is made, and the time.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    pub run: &'a RunIdentity,
    pub state: &'a RunState,
    pub mail: Option<&'a Mail>,
    /// The effect that the call asks for, if this process planned it a moment ago and still has it in memory.
    pub planned: Option<&'a NewAction>,
    pub now: Instant,
}

/// Answers the calls that nodes request. The daemon uses [`LiveCallHandler`]; tests and benchmarks use others.
pub trait CallHandler: Send + Sync {
    /// Returns the reply to one call. An implementation may be called again with the same call after a crash, and must
    /// not carry out an effect twice.
    fn answer<'a>(&'a self, asker: CallContext<'a>, call: &'a Call) -> ReplyFuture<'a>;

    /// Returns whether nodes may call a model.
    fn has_model(&self) -> bool {
        false
    }

    /// Returns whether nodes may ask the second reader about sentences.
    fn has_second_reader(&self) -> bool {
        false
    }

    /// Returns whether any rule acts on mail, so that nodes ask for it.
    fn has_rule_acts(&self) -> bool {
        false
    }

    /// Returns whether there are files that a mail may ask for.
    fn has_files(&self) -> bool {
        false
    }
}

/// The call handler of a running worker.
pub struct LiveCallHandler {
    pub store: Store,
    pub memory: Memory,
    pub rules: watch::Receiver<Arc<CurrentRules>>,
    pub outbox: Outbox,
    /// The labels that effects may set, from the configuration.
    pub labels: Vec<String>,
    /// The model; none when the configuration names none.
    pub model: Option<Arc<NodeModelCaller>>,
    /// Whether the second reader is asked about sentences in doubt.
    pub second_reader: bool,
    /// The folder `data/files`.
    pub files: PathBuf,
    pub files_presence: FilesPresence,
    pub me: Arc<Me>,
}

impl CallHandler for LiveCallHandler {
    fn answer<'a>(&'a self, asker: CallContext<'a>, call: &'a Call) -> ReplyFuture<'a> {
        // Each future is boxed separately: most are small, and need not have the size of the largest.
        match call {
            Call::Effect { action_id } => Box::pin(self.carry_out_effect(asker, *action_id)),
            Call::BusyTimes { from, to } => {
                Box::pin(async move { self.fetch_busy_times(asker, *from, *to).await.map(Into::into) })
            }
            Call::CalendarEvent { uid } => {
                Box::pin(async move { self.find_invited_events(asker, uid).await.map(Into::into) })
            }
            Call::Recall { .. } => Box::pin(async move {
                Ok(encode_reply(&recall::recall_documents(&self.memory, asker, call).await?)?.into())
            }),
            Call::Model { inquiry } => Box::pin(self.call_model(asker, inquiry)),
            Call::SecondReading { sentences } => {
                Box::pin(async move { score_doubtful_sentences(sentences).await.map(Into::into) })
            }
            _ => Box::pin(async move { self.look_up_reply(asker, call).map(Into::into) }),
        }
    }

    fn has_model(&self) -> bool {
        self.model.is_some()
    }

    fn has_second_reader(&self) -> bool {
        self.second_reader
    }

    fn has_rule_acts(&self) -> bool {
        self.rules.borrow().rules.has_acts()
    }

    fn has_files(&self) -> bool {
        self.files_presence.is_known(&self.files)
    }
}

impl LiveCallHandler {
    /// Carries out an effect through the outbox, or returns its outcome if it has ended. An effect that must wait
    /// (grace, rate limit, pause) defers the run.
    async fn carry_out_effect(&self, asker: CallContext<'_>, action_id: ActionId) -> CallResult {
        let CallContext { planned, mail, now, .. } = asker;
        let (progress, action_move) = self.outbox.carry_out_returning_last_move(action_id, planned, mail, now).await?;
        match progress {
            EffectProgress::Ended(state, result) => {
                Ok(CallReply { value: encode_reply(&EffectOutcome { state, result })?, action_move, call: None })
            }
            EffectProgress::Deferred { reason, until } => Err(CallError::Deferred(RunDeferred { reason, until })),
        }
    }

    /// Asks the calendar when the person is busy. A calendar that does not answer does not fail the call: the reply
    /// says so, the proposal repeats it, and a person decides. Only a rate limit defers the run.
    async fn fetch_busy_times(&self, asker: CallContext<'_>, from: Instant, to: Instant) -> CallResult<ReplyJson> {
        let agenda = match self.outbox.busy(&asker.run.account, from, to).await {
            Ok(None) => BusyTimes::None,
            Ok(Some(busy)) => BusyTimes::Known { busy },
            Err(SourceError::RateLimited { after }) => {
                let until = asker.now.plus(chrono::Duration::from_std(after).unwrap_or(QUEUE_ROOM_RETRY));
                return Err(CallError::Deferred(RunDeferred {
                    reason: "waits: the calendar's limit is reached".into(),
                    until,
                }));
            }
            Err(error) => BusyTimes::Silent { why: error.to_string() },
        };
        encode_reply(&agenda)
    }

    /// Returns the calendar's events under the UID of an invitation, or why they are not known.
    async fn find_invited_events(&self, asker: CallContext<'_>, uid: &str) -> CallResult<ReplyJson> {
        encode_reply(&match self.outbox.invited(&asker.run.account, uid.to_owned()).await {
            Ok(None) => CalendarLookup::NoCalendar,
            Ok(Some(events)) => CalendarLookup::Known { events },
            Err(error) => CalendarLookup::Silent { why: error.to_string() },
        })
    }

    /// Calls the model. Fails only when no model is configured, which a node knows beforehand.
    async fn call_model(&self, asker: CallContext<'_>, inquiry: &PromptInput) -> CallResult {
        let model = self.model.as_ref().context("there is no model to ask")?;
        let (heard, call) = model.call(&self.store, asker, inquiry).await?;
        Ok(CallReply { value: encode_reply(&heard)?, action_move: None, call: Some(Box::new(call)) })
    }

    /// Answers the calls that need only a few short reads of the store or the rules.
    fn look_up_reply(&self, asker: CallContext<'_>, call: &Call) -> CallResult<ReplyJson> {
        let CallContext { run: head, state, now, .. } = asker;
        match call {
            Call::MailContext { mail_id } => {
                let mail = asker.mail.context("the mail of this run is not in the store")?;
                let known = self.store.read_blocking(|reader| reader.mails().context(*mail_id, mail))?;
                encode_reply(&known.context("the mail is not in the ledger")?)
            }
            Call::TasksWithFingerprints { fingerprints } => encode_reply(
                &self.store.read_blocking(|reader| reader.tasks().with_fingerprints(&head.account, fingerprints))?,
            ),
            Call::Rank { urgency } => self.rank_task(state, *urgency, now),
            Call::LearnedReading { facts } => encode_reply(&self.rules.borrow().rules.find_task_rule(facts, now)),
            Call::RuleActs { facts } => encode_reply(&self.rules.borrow().rules.matching_acts(facts, now)),
            Call::HeldTimes { from, to } => {
                let task_id = state.task.as_ref().context("only a task asks which times others hold")?.task_id;
                encode_reply(
                    &self.store.read_blocking(|reader| reader.tasks().held_times(&head.user, task_id, *from, *to))?,
                )
            }
            Call::Thread { thread } => self.read_thread(head, thread),
            Call::Style { person } => self.read_writing_samples(head, person),
            Call::OwnLetters { person } => self.read_own_letters(head, person),
            Call::FindFiles { requests } => encode_reply(&material::find_files(&self.files, requests, &self.me)),
            Call::EarlierAnswer { question, documents } => {
                encode_reply(&material::find_earlier_answer(&self.store, asker, question, documents)?)
            }
            Call::ReadFile { name } => {
                encode_reply(&material::read_file(&self.files, name).context("reading a file of data/files")?)
            }
            Call::Invoices => encode_reply(&self.store.read_blocking(|reader| reader.tasks().invoices())?),
            Call::AccountPermissions => self.read_account_permissions(head),
            Call::QueueRoom { .. } => self.check_queue_room(asker),
            Call::Task { task_id } => {
                let (row, facts) = self
                    .store
                    .read_blocking(|reader| Ok((reader.tasks().get(*task_id)?, reader.tasks().facts(*task_id)?)))?;
                let row = row.context("the task is not in the store")?;
                let facts = facts.context("the task has no facts")?;
                encode_reply(&CurrentTask {
                    task: row.task,
                    facts,
                    revision: row.revision,
                    hand_ranked: row.hand_ranked,
                })
            }
            Call::Recall { .. }
            | Call::Effect { .. }
            | Call::BusyTimes { .. }
            | Call::CalendarEvent { .. }
            | Call::SecondReading { .. }
            | Call::Model { .. } => Err(anyhow::anyhow!("it is asked for elsewhere, not looked up").into()),
        }
    }

    /// Ranks the run's facts by the rules in force, with the urgency that a model estimated in place of the built-in
    /// one.
    fn rank_task(&self, state: &RunState, urgency: Option<f64>, now: Instant) -> CallResult<ReplyJson> {
        let mut facts = state.facts.clone().context("the task has no facts to rank by")?;
        if let Some(urgency) = urgency {
            (facts.urgency, facts.urgency_origin) = (urgency, UrgencyOrigin::Model);
        }
        let rules = Arc::clone(&self.rules.borrow().rules);
        let verdict = rules.rank(&facts, now);
        encode_reply(&RankedPriority {
            level: verdict.level,
            rule: verdict.rule,
            why: verdict.why,
            version: rules.version().to_owned(),
        })
    }

    /// Returns the newest mails of a conversation, each cut to a preview.
    fn read_thread(&self, head: &RunIdentity, thread: &str) -> CallResult<ReplyJson> {
        let mails = self.store.read_blocking(|reader| reader.mails().of_thread(&head.account, thread, THREAD_MAILS))?;
        let mails: Vec<ThreadMail> = mails
            .into_iter()
            .map(|(_, mail)| ThreadMail {
                from: mail.from.label().to_owned(),
                at: mail.date,
                text: truncate_to_preview(&mail.text),
            })
            .collect();
        encode_reply(&mails)
    }

    /// Returns the beginnings of mails that the person wrote; mails to `person` come first.
    fn read_writing_samples(&self, head: &RunIdentity, person: &str) -> CallResult<ReplyJson> {
        let mut mails = self.store.read_blocking(|reader| reader.mails().sent(&head.account, SENT_MAILS))?;
        mails.retain(|mail| !mail.text.trim().is_empty());
        mails.sort_by_key(|mail| !mail.to.iter().any(|to| to.addr == person));
        let texts =
            mails.into_iter().take(STYLE_MAILS).map(|mail| mail.text.trim().chars().take(STYLE_CHARS).collect());
        encode_reply(&texts.collect::<Vec<String>>())
    }

    /// Returns the newest mails that the person wrote to this address alone, each cut to its beginning and its ending.
    fn read_own_letters(&self, head: &RunIdentity, person: &str) -> CallResult<ReplyJson> {
        let mails = self.store.read_blocking(|reader| reader.mails().sent(&head.account, LETTER_MAILS))?;
        let only = |mail: &Mail| mail.cc.is_empty() && mail.only_recipient().is_some_and(|to| to.addr == person);
        let cut = |text: &str| text.trim().chars().take(STYLE_CHARS).collect();
        let letter = |mail: Mail| OwnLetter {
            text: cut(&mail.text),
            ending: cut(mail.signature.as_deref().unwrap_or_default()),
        };
        encode_reply(&mails.into_iter().filter(only).take(STYLE_MAILS).map(letter).collect::<Vec<_>>())
    }

    /// Checks that the approval queue has room for one more item of this sender. The store refuses an item that does
    /// not fit in any case; checking first avoids that a whole batch of writes is repeated because of one refusal.
    fn check_queue_room(&self, asker: CallContext<'_>) -> CallResult<ReplyJson> {
        let policy = self.outbox.policy();
        if policy.is_broken {
            let until = asker.now.plus(QUEUE_ROOM_RETRY);
            return Err(CallError::Deferred(RunDeferred { reason: EffectPolicy::BROKEN.into(), until }));
        }
        let caps = policy.caps;
        let room = QueueLimits { all: caps.pending, per_sender: caps.pending_per_sender };
        match self
            .store
            .read_blocking(|reader| reader.approvals().ensure_queue_room(&asker.run.account, asker.state.mail_id, room))
        {
            Err(StoreError::QueueFull(reason)) => {
                Err(CallError::Deferred(RunDeferred { reason, until: asker.now.plus(QUEUE_ROOM_RETRY) }))
            }
            outcome => encode_reply(&outcome.map(|()| true)?),
        }
    }

    /// Returns what the policy needs to judge an effect of this account. An account that cannot be read counts as
    /// observing: nothing is done for it.
    fn read_account_permissions(&self, head: &RunIdentity) -> CallResult<ReplyJson> {
        let (account, paused) = self.store.read_blocking(|reader| {
            Ok((reader.accounts().get(&head.account).skip_unreadable()?, reader.settings().is_paused()?))
        })?;
        let mode = account.map_or(AccountMode::Observe, |account| account.mode);
        let policy = EffectPolicy::clone(&self.outbox.policy());
        let (epoch, restored_at) = self.outbox.epoch();
        encode_reply(&AccountPermissions { mode, labels: self.labels.clone(), policy, epoch, restored_at, paused })
    }
}

/// Asks the second reader, on a thread that may be busy for some milliseconds.
async fn score_doubtful_sentences(sentences: &[String]) -> CallResult<ReplyJson> {
    let sentences = sentences.to_vec();
    let scored = tokio::task::spawn_blocking(move || reading::score_sentences(&sentences)).await;
    encode_reply(&scored.context("the second reader did not answer")?)
}

/// Returns the beginning of a text, enough for one line of a summary.
fn truncate_to_preview(text: &str) -> String {
    text.trim().chars().take(240).collect()
}

/// Encodes a reply in the form in which it is recorded.
pub(super) fn encode_reply(value: &impl serde::Serialize) -> CallResult<ReplyJson> {
    Ok(ReplyJson::encode(value).context("a reply could not be encoded")?)
}
