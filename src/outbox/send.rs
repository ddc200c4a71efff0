//! Messages that leave the house: drafted, let go once, and looked for when nobody knows.

use std::sync::{Arc, PoisonError};

use chrono::Duration;

use super::{Carried, End, LOOK_AGAIN, NO_MAILBOX, Outbox, Pending, act::Later};
use crate::{
    failpoint,
    model::{AccountMode, Instant, OutboxState},
    policy::{ApprovedAction, Verdict, follow, judge},
    source::{Applied, Departure, Mailbox, SendError, Trace},
    store::{
        self, StoreError,
        value::{ActionMove, Claim},
    },
};

/// After this long in doubt a person is asked.
const DOUBT: Duration = Duration::minutes(15);
/// The calendar, say, does not know what the message says.
const NOT_SETTLED: &str = "what goes with it was not done";
/// Between two looks for a message in doubt.
const LOOK_FOR_IT: Duration = Duration::seconds(30);

impl Outbox {
    /// Stores the draft, then lets it go. Each step is on the disk before the next.
    pub(super) async fn dispatch(
        &self,
        row: &Pending,
        approved: Arc<ApprovedAction>,
        now: Instant,
    ) -> store::Result<Option<Carried>> {
        let Some(mailbox) = self.mailbox(&row.action.account) else {
            let state = if row.state == OutboxState::Ready { OutboxState::Failed } else { OutboxState::Void };
            return self.end(row, End::of(state, NO_MAILBOX), now).await;
        };
        if row.state == OutboxState::Drafted {
            return self.let_go(row, &row.handle.clone(), mailbox, approved, now).await;
        }
        let approval = if row.approval.is_some() { Claim::Use } else { Claim::None };
        let claim = ActionMove { approval, ..Self::mv(row, OutboxState::Drafting, "drafting", now) };
        match self.put(claim).await {
            Err(StoreError::Refused(why)) => return self.end(row, End::of(OutboxState::Void, &why), now).await,
            outcome => outcome?,
        }
        let drafting = row.at(OutboxState::Drafting);
        let drafted = {
            let (mailbox, approved) = (Arc::clone(&mailbox), Arc::clone(&approved));
            blocking(move || failpoint::around("mailbox.draft", || mailbox.draft(&approved))).await
        };
        match drafted {
            Ok(applied) => {
                let mv = Self::mv(&drafting, OutboxState::Drafted, &applied.result, now);
                self.put(ActionMove { handle: applied.handle.clone(), ..mv }).await?;
                self.let_go(&drafting.at(OutboxState::Drafted), &applied.handle, mailbox, approved, now).await
            }
            Err(error) => self.not_sent(&drafting, error, now).await,
        }
    }

    async fn let_go(
        &self,
        row: &Pending,
        draft: &str,
        mailbox: Arc<dyn Mailbox>,
        approved: Arc<ApprovedAction>,
        now: Instant,
    ) -> store::Result<Option<Carried>> {
        if self.store.read_now(|reader| reader.is_paused())? {
            return Ok(Some(Carried::NotNow { reason: "effects are paused".into(), until: now.plus(LOOK_AGAIN) }));
        }
        self.write(row, OutboxState::Sending, "sending", now).await?;
        let sending = row.at(OutboxState::Sending);
        let draft = draft.to_owned();
        let (settling, settled_action) = (Arc::clone(&mailbox), Arc::clone(&approved));
        let sent = blocking(move || failpoint::around("mailbox.send", || mailbox.send(&approved, &draft))).await;
        match sent {
            Ok(departure) => self.settle(&sending, left(departure), settling, settled_action, now).await,
            Err(error) => self.not_sent(&sending, error, now).await,
        }
    }

    async fn not_sent(&self, row: &Pending, error: SendError, now: Instant) -> store::Result<Option<Carried>> {
        match error {
            SendError::Refused(why) => self.end(row, End::of(OutboxState::Failed, &why), now).await,
            SendError::Edited => {
                let why = "the draft was changed by somebody else: it is theirs to send";
                self.end(row, End::of(OutboxState::Void, why), now).await
            }
            SendError::Later { why, after } if row.state == OutboxState::Drafting => {
                let mv = Self::mv(row, OutboxState::Ready, &why, now);
                self.put(ActionMove { approval: Claim::Return, ..mv }).await?;
                self.windows.lock().unwrap_or_else(PoisonError::into_inner).leave(&row.action);
                Ok(Some(Later { why, after }.carried(now)))
            }
            SendError::Unsure(why) | SendError::Later { why, .. } => {
                self.write(row, OutboxState::Unknown, &why, now).await?;
                Ok(Some(Carried::NotNow {
                    reason: format!("looking whether it was sent: {why}"),
                    until: now.plus(LOOK_AGAIN),
                }))
            }
        }
    }

    /// Looks for a message nobody knows the fate of.
    pub(super) async fn look(&self, row: &Pending, now: Instant) -> store::Result<Option<Carried>> {
        let Some(mailbox) = self.mailbox(&row.action.account) else {
            return self.still_unsure(row, NO_MAILBOX, now).await;
        };
        let (action, draft) = (row.action.clone(), row.handle.clone());
        let looking = Arc::clone(&mailbox);
        let found = blocking(move || {
            let found = failpoint::around("mailbox.find", || looking.find(&action, &draft));
            found.map_err(|error| SendError::Unsure(error.to_string()))
        });
        match found.await.unwrap_or_else(|error| Trace::Unsure(error.to_string())) {
            Trace::Left(departure) => match self.departed(row, now) {
                Ok(approved) => self.settle(row, left(departure), mailbox, Arc::from(approved), now).await,
                Err(why) => self.end(row, beside(left(departure), &format!("{NOT_SETTLED}: {why}")), now).await,
            },
            Trace::Draft(applied) => {
                let mv = Self::mv(row, OutboxState::Drafted, &applied.result, now);
                self.put(ActionMove { handle: applied.handle, ..mv }).await.map(|()| None)
            }
            Trace::Absent => {
                let mv = Self::mv(row, OutboxState::Ready, "it was certainly not sent", now);
                self.put(ActionMove { approval: Claim::Return, ..mv }).await.map(|()| None)
            }
            Trace::Unsure(why) => self.still_unsure(row, &why, now).await,
        }
    }

    /// The end of a message that has left, after what goes with it. Should the program die in between, or the mailbox ask
    /// for patience, the message is looked for again and found, and what goes with it is done then.
    async fn settle(
        &self,
        row: &Pending,
        end: End,
        mailbox: Arc<dyn Mailbox>,
        approved: Arc<ApprovedAction>,
        now: Instant,
    ) -> store::Result<Option<Carried>> {
        let told =
            tokio::task::spawn_blocking(move || failpoint::around("mailbox.settle", || mailbox.settle(&approved)));
        let end = match told.await.map(|told| told.map_err(Later::of)) {
            Ok(Ok(None)) => end,
            Ok(Ok(Some(told))) => beside(end, &told),
            Ok(Err(Ok(later))) if !row.is_long_in_doubt(now) => {
                self.write(row, OutboxState::Unknown, &format!("sent; what goes with it waits: {}", later.why), now)
                    .await?;
                return Ok(Some(later.carried(now)));
            }
            Ok(Err(Ok(Later { why, .. }))) => beside(end, &format!("{NOT_SETTLED}: {why}")),
            Ok(Err(Err(error))) => beside(end, &format!("{NOT_SETTLED}: {error}")),
            Err(_) => beside(end, &format!("{NOT_SETTLED}: the mailbox panicked")),
        };
        self.end(row, end, now).await
    }

    /// The yes that a message has left under, as far as it allows what goes with it now.
    fn departed(&self, row: &Pending, now: Instant) -> Result<Box<ApprovedAction>, &'static str> {
        if row.paused || row.mode != AccountMode::Active {
            return Err("the account is not to be touched now");
        }
        if !row.intact {
            return Err("its stored bytes do not match their digest");
        }
        if let Some(approval) = &row.approval {
            return follow(row.action.clone(), row.class, approval).ok_or("it was approved otherwise");
        }
        let charter = self.charter();
        match judge(row.action.clone(), &self.situation(row, None, &charter, now)) {
            Verdict::Allowed(approved) => Ok(approved),
            _ => Err("it would need another yes"),
        }
    }

    async fn still_unsure(&self, row: &Pending, why: &str, now: Instant) -> store::Result<Option<Carried>> {
        if row.is_long_in_doubt(now) {
            let why = format!("nobody knows whether it was sent: {why}");
            return self.end(row, End::of(OutboxState::NeedsHuman, &why), now).await;
        }
        self.write(row, OutboxState::Unknown, why, now).await?;
        Ok(Some(Carried::NotNow {
            reason: format!("looking whether it was sent: {why}"),
            until: now.plus(LOOK_FOR_IT),
        }))
    }
}

impl Pending {
    fn is_long_in_doubt(&self, now: Instant) -> bool {
        self.doubt_since.is_some_and(|since| since.plus(DOUBT) <= now)
    }

    /// The same row one move later.
    fn at(&self, state: OutboxState) -> Self {
        Self {
            action: self.action.clone(),
            class: self.class,
            state,
            result: String::new(),
            handle: self.handle.clone(),
            sender: self.sender.clone(),
            release_at: None,
            doubt_since: None,
            intact: self.intact,
            first: false,
            mode: self.mode,
            paused: self.paused,
            phishing: self.phishing,
            approval: None,
            mail: None,
        }
    }
}

/// "Sent" means that a transport has accepted it.
fn left(departure: Departure) -> End {
    let (state, Applied { handle, result }) = match departure {
        Departure::Sent(applied) => (OutboxState::Sent, applied),
        Departure::Saved(applied) => (OutboxState::Saved, applied),
    };
    End { handle, ..End::of(state, &result) }
}

fn beside(end: End, told: &str) -> End {
    End { result: format!("{}; {told}", end.result), ..end }
}

/// A mailbox may take its time; the other runs go on. One that panics has perhaps done it.
async fn blocking<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, SendError> + Send + 'static,
) -> Result<T, SendError> {
    let outcome = tokio::task::spawn_blocking(call).await;
    outcome.unwrap_or_else(|_| Err(SendError::Unsure("the mailbox panicked".into())))
}
