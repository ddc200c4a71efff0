//! Effects at the level of the outbox, by the thousand: a mailbox that can fail in every way, and outbox rows as a test
//! needs them.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use adjutant::{
    app::App,
    approval,
    model::{
        AccountId, Action, ActionId, Change, Checkpoint, Effect, Instant, ItemId, Mail, MailId, Move, NewAction,
        NewItem, NewRun, NodeName, OutboxState, RiskClass, RunId, RunKind, RunState, TaskId, UserId,
        action::{Argument, ComposedMessage, Origin, SendKind},
    },
    outbox::{EffectProgress, Outbox},
    policy::ApprovedAction,
    source::{AppliedEffect, Mailbox, MessageProbeResult, SendError, SendReceipt, SourceError},
    store::Write,
};

use crate::support::test_home::{TestHome, WORK};

/// Returns how many cases a campaign runs: `slice` by default, or `IT_CASES` (`make crash`).
pub(crate) fn cases(slice: usize) -> usize {
    std::env::var("IT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(slice)
}

/// What goes wrong with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The connection breaks before anything arrives.
    DroppedBefore,
    /// The message arrives, and the answer is lost.
    DroppedAfter,
    /// The message arrives, and the answer is an error.
    ErrorAfterAccept,
    Slow,
    /// The message arrives, the answer is lost, and probing fails.
    ProbeError,
    /// The message arrives and becomes visible only minutes later.
    LateVisibility,
    /// The person changes the draft meanwhile.
    DraftEdited,
    Refused,
    Panics,
}

impl Fault {
    pub(crate) const ALL: &'static [Fault] = &[
        Fault::None,
        Fault::DroppedBefore,
        Fault::DroppedAfter,
        Fault::ErrorAfterAccept,
        Fault::Slow,
        Fault::ProbeError,
        Fault::LateVisibility,
        Fault::DraftEdited,
        Fault::Refused,
        Fault::Panics,
    ];
}

/// A mailbox in memory. `delivered` is the oracle.
#[derive(Default)]
pub(crate) struct FaultyMailbox {
    pub(crate) fault: Mutex<Option<Fault>>,
    pub(crate) delivered: Mutex<Vec<(ActionId, String)>>,
    drafts: Mutex<Vec<ActionId>>,
    looks: AtomicUsize,
}

impl FaultyMailbox {
    /// Sets the fault of the messages to come.
    pub(crate) fn breaks(&self, fault: Fault) {
        *self.fault.lock().unwrap() = Some(fault);
        self.looks.store(0, Ordering::Relaxed);
    }

    fn fault(&self) -> Fault {
        self.fault.lock().unwrap().unwrap_or(Fault::None)
    }

    fn arrive(&self, action: &Action) {
        let mime = action.effect.message().unwrap().mime.clone();
        self.delivered.lock().unwrap().push((action.action_id, mime));
    }

    /// Returns how often the message of an action was delivered.
    pub(crate) fn times(&self, action: ActionId) -> usize {
        self.delivered.lock().unwrap().iter().filter(|(id, _)| *id == action).count()
    }
}

fn applied(action: &Action) -> AppliedEffect {
    AppliedEffect { handle: action.action_id.to_string(), result: "done".into() }
}

impl Mailbox for FaultyMailbox {
    fn apply(&self, action: &ApprovedAction) -> Result<AppliedEffect, SourceError> {
        Ok(applied(action.action()))
    }

    fn probe(&self, _: &ApprovedAction) -> Result<Option<AppliedEffect>, SourceError> {
        Ok(None)
    }

    fn draft(&self, action: &ApprovedAction, _: bool) -> Result<AppliedEffect, SendError> {
        self.drafts.lock().unwrap().push(action.action().action_id);
        Ok(applied(action.action()))
    }

    fn send_draft(&self, action: &ApprovedAction, _: &str) -> Result<SendReceipt, SendError> {
        let action = action.action();
        let unsure = || Err(SendError::OutcomeUnknown("the connection broke".into()));
        match self.fault() {
            Fault::None => self.arrive(action),
            Fault::Slow => {
                std::thread::sleep(std::time::Duration::from_millis(2));
                self.arrive(action);
            }
            Fault::DroppedBefore => return unsure(),
            Fault::DroppedAfter | Fault::ErrorAfterAccept | Fault::ProbeError | Fault::LateVisibility => {
                self.arrive(action);
                return unsure();
            }
            Fault::DraftEdited => return Err(SendError::DraftEdited),
            Fault::Refused => return Err(SendError::Refused("no such user".into())),
            Fault::Panics => {
                self.arrive(action);
                panic!("a mailbox that panics")
            }
        }
        Ok(SendReceipt::Sent(applied(action)))
    }

    fn find(&self, action: &Action, _: &str) -> Result<MessageProbeResult, SourceError> {
        let look = self.looks.fetch_add(1, Ordering::Relaxed);
        match self.fault() {
            Fault::ProbeError => Err(SourceError::Unsupported { what: "be asked".into() }),
            Fault::LateVisibility if look < 4 => {
                Ok(MessageProbeResult::OutcomeUnknown("nothing to be seen yet".into()))
            }
            _ if self.times(action.action_id) > 0 => {
                Ok(MessageProbeResult::SentOrSaved(SendReceipt::Sent(applied(action))))
            }
            _ if self.drafts.lock().unwrap().contains(&action.action_id) => {
                // From here on the connection works.
                self.breaks(Fault::None);
                Ok(MessageProbeResult::Draft(applied(action)))
            }
            _ => Ok(MessageProbeResult::OutcomeUnknown("no trace".into())),
        }
    }

    fn undo(&self, _: &ApprovedAction, _: &str) -> Result<String, SourceError> {
        Ok("undone".into())
    }
}

/// A home with one mail and its task, for which a test creates actions.
pub(crate) struct OutboxFixture {
    pub(crate) home: TestHome,
    pub(crate) app: App,
    pub(crate) outbox: Outbox,
    pub(crate) mailbox: Arc<FaultyMailbox>,
    pub(crate) task: TaskId,
    pub(crate) mail: Mail,
    /// The mailbox's own id of the mail.
    pub(crate) key: String,
}

/// An action that waits for a person.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) item: ItemId,
    pub(crate) action: Action,
    pub(crate) sha256: String,
}

impl OutboxFixture {
    pub(crate) async fn new() -> Self {
        let home = TestHome::active();
        home.post(&home.letter("one").verified().question());
        home.once().await;
        let app = home.app().await;
        let outbox = app.effects().build_outbox().unwrap();
        let mailbox = Arc::new(FaultyMailbox::default());
        outbox.register_mailbox(AccountId::from(WORK), mailbox.clone());
        let task = app.tasks().find("1").await.unwrap().task.task_id;
        let mail = app.store.read(|reader| reader.mails().get(MailId(1))).await.unwrap().unwrap();
        Self { home, app, outbox, mailbox, task, mail, key: "k".into() }
    }

    pub(crate) fn now(&self) -> Instant {
        self.home.clock.now()
    }

    /// Returns the action of sending a reply with this text.
    pub(crate) fn action(&self, step: &str, text: &str) -> Action {
        let action_id = ActionId::derive(self.now(), &[step]);
        let to = vec![self.mail.from.clone()];
        let mime = format!(
            "From: you@home.example\r\nTo: {}\r\nSubject: Re: {step}\r\nMessage-ID: <{action_id}@home.example>\r\nIn-Reply-To: <one@it.example>\r\n\
             X-Adjutant-Action: {action_id}\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n",
            self.mail.from.addr
        );
        let message = ComposedMessage {
            to,
            cc: vec![],
            subject: format!("Re: {step}"),
            body: text.into(),
            mime,
            attachments: vec![],
        };
        Action {
            action_id,
            account: AccountId::from(WORK),
            user: UserId::from("me"),
            task_id: Some(self.task),
            step: step.into(),
            generation: 0,
            mail_id: Some(MailId(1)),
            mail_key: Some(self.key.clone()),
            tool: "send_reply".into(),
            effect: Effect::Send { kind: SendKind::Reply, message, replaces: None },
            arguments: vec![Argument { mail_id: Some(MailId(1)), ..Argument::new(Argument::RECIPIENTS, Origin::Mail) }],
            terms: None,
        }
    }

    /// Puts an action into the outbox and its item into the approval queue, as a node would.
    pub(crate) async fn ask(&self, step: &str) -> Asked {
        self.ask_about(self.action(step, "On Friday, then.")).await
    }

    pub(crate) async fn ask_about(&self, action: Action) -> Asked {
        let now = self.now();
        let policy = self.app.effects().load_policy();
        let step = action.step.clone();
        let action = approval::bind_approval_terms(action, &policy, now, &step);
        let class = RiskClass::R2;
        let mut item = approval::new_approval_item(
            &action,
            class,
            "a reply",
            &serde_json::json!({}),
            Some(&self.mail),
            &policy,
            now,
        )
        .unwrap();
        item.queue_limits = None;
        let (item_id, sha256) = (item.item_id, action.sha256().unwrap());
        self.plan(&action, class, OutboxState::Parked, Some(item)).await;
        Asked { item: item_id, action, sha256 }
    }

    /// Puts an action into the outbox.
    pub(crate) async fn plan(&self, action: &Action, class: RiskClass, state: OutboxState, item: Option<NewItem>) {
        let now = self.now();
        let run_id = RunId::derive(now, &["ask", &action.step]);
        let run = NewRun {
            run_id,
            account: action.account.clone(),
            user: action.user.clone(),
            kind: RunKind::Decision,
            parent_run: None,
            fork: None,
            node: NodeName::ExecuteTool,
            task_id: None,
            state: RunState { mail_id: Some(MailId(1)), ..RunState::default() },
        };
        self.app.store.write(Write::OpenRun(Box::new(run), now)).await.unwrap();
        let planned = NewAction {
            action: action.clone(),
            class,
            state,
            reason: "a reply".into(),
            sender: self.mail.from.addr.clone(),
        };
        let point = Checkpoint {
            run_id,
            account: action.account.clone(),
            user: action.user.clone(),
            seq: 1,
            node: NodeName::ExecuteTool,
            next_move: Move::Park { reason: "asked".into() },
            next: None,
            mail_id: Some(MailId(1)),
            entered_at: now,
            changes: Vec::<Change>::new(),
            replies: Vec::new(),
            task: None,
            action: Some(Arc::new(planned)),
            action_move: None,
            item,
            runs: Vec::new(),
            reflection: None,
            end: Some((adjutant::model::RunStatus::Parked, "asked".into())),
            fork: false,
        };
        self.app.store.write(Write::Checkpoint(Arc::new(point))).await.unwrap();
    }

    /// Carries out an action once, as the worker would.
    pub(crate) async fn carry(&self, action: ActionId) -> EffectProgress {
        self.outbox.carry_out(action, None, Some(&self.mail), self.now()).await.unwrap()
    }

    /// Carries out an action until it has ended, however long its outcome is unknown.
    pub(crate) async fn carry_to_the_end(&self, action: ActionId) -> OutboxState {
        for _ in 0..2_000 {
            match self.carry(action).await {
                EffectProgress::Ended(state, _) => return state,
                EffectProgress::Deferred { reason, .. } => {
                    if reason == "it is under way" {
                        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                    } else {
                        self.home.clock.advance(31);
                    }
                }
            }
        }
        panic!("the effect {action} is stuck");
    }
}

/// Returns the action with another effect, requested by the tool that is for it.
pub(crate) fn with_effect(action: Action, effect: Effect) -> Action {
    let tool = match &effect {
        Effect::Label { .. } => "label",
        Effect::Archive => "archive",
        Effect::Draft { .. } => "draft_reply",
        _ => return Action { effect, ..action },
    };
    Action { tool: tool.into(), effect, ..action }
}
