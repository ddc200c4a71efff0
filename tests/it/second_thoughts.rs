//! Tests that what a person does while a message is being drafted still counts: if they cancel, finish or change the
//! task, decide otherwise, pause or observe before `sending` is stored, the message is not sent. The oracle is the
//! spool of the transport, or Gmail.
//!
//! `IT_CASES` says how many random schedules.

use std::{
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant as Wall},
};

use adjutant::{
    app::DecisionInput,
    model::{AccountId, AccountMode, Action, ActionId, DecisionKind, Instant, OutboxState, TaskEditKind, TaskId},
    outbox::{EffectProgress, Outbox},
    policy::ApprovedAction,
    source::{
        AppliedEffect, Busy, Mailbox, Maildir, MessageProbeResult, SendError, SendReceipt, Sendmail, SourceError,
    },
};

use crate::{
    crash_matrix::{approve_all, invitations, letters},
    support::{
        gmail_home::{signed_in_at, turn_on},
        google::{Fault, Google, Trouble, YOU},
        outbox_fixture::{Asked, OutboxFixture, cases},
        test_home::{ACCEPT, Kind, SeededRandom, TestHome, WORK, eventually, field, set_mode},
    },
};

/// A Maildir with a transport, whose draft is stored and then waits at a gate.
struct Gated {
    maildir: Maildir,
    gate: Mutex<Gate>,
    moved: Condvar,
}

#[derive(Default)]
struct Gate {
    open: bool,
    /// A draft stands before it.
    waits: bool,
    drafted_at: Option<Wall>,
}

impl Gated {
    fn at(home: &TestHome) -> Arc<Self> {
        let line = format!("/bin/sh {}", home.root().join("sendmail").display());
        let sendmail = Sendmail::parse(&line, Duration::from_secs(20));
        let maildir = Maildir::open(home.maildir(), Box::new(Vec::new())).with_sendmail(sendmail);
        Arc::new(Self { maildir, gate: Mutex::default(), moved: Condvar::new() })
    }

    fn close(&self) {
        *self.gate.lock().unwrap() = Gate::default();
    }

    fn open(&self) {
        self.gate.lock().unwrap().open = true;
        self.moved.notify_all();
    }

    fn has_come(&self) -> bool {
        self.gate.lock().unwrap().waits
    }

    /// When the draft was let through.
    fn drafted_at(&self) -> Option<Wall> {
        self.gate.lock().unwrap().drafted_at
    }
}

impl Mailbox for Gated {
    fn apply(&self, action: &ApprovedAction) -> Result<AppliedEffect, SourceError> {
        self.maildir.apply(action)
    }

    fn probe(&self, action: &ApprovedAction) -> Result<Option<AppliedEffect>, SourceError> {
        self.maildir.probe(action)
    }

    fn draft(&self, action: &ApprovedAction, tried: bool) -> Result<AppliedEffect, SendError> {
        let drafted = self.maildir.draft(action, tried);
        let mut gate = self.gate.lock().unwrap();
        gate.waits = true;
        let mut gate = self.moved.wait_while(gate, |gate| !gate.open).unwrap();
        gate.drafted_at = Some(Wall::now());
        drafted
    }

    fn send_draft(&self, action: &ApprovedAction, draft: &str) -> Result<SendReceipt, SendError> {
        self.maildir.send_draft(action, draft)
    }

    fn find(&self, action: &Action, draft: &str) -> Result<MessageProbeResult, SourceError> {
        self.maildir.find(action, draft)
    }

    fn discard_draft(&self, action: &Action, draft: &str) -> Result<(), SourceError> {
        self.maildir.discard_draft(action, draft)
    }

    fn busy(&self, from: Instant, to: Instant) -> Result<Option<Vec<Busy>>, SourceError> {
        self.maildir.busy(from, to)
    }

    fn undo(&self, action: &ApprovedAction, handle: &str) -> Result<String, SourceError> {
        self.maildir.undo(action, handle)
    }
}

/// What a person may say about a task whose message is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Cancel,
    Done,
    Reword,
    Redate,
    Pause,
    Observe,
}

impl Word {
    const ALL: [Self; 6] = [Self::Cancel, Self::Done, Self::Reword, Self::Redate, Self::Pause, Self::Observe];
}

/// Many tasks, each with an action that waits for a yes.
struct Desk {
    yard: OutboxFixture,
    mailbox: Arc<Gated>,
    tasks: Vec<TaskId>,
}

impl Desk {
    async fn with_tasks(tasks: usize) -> Self {
        let yard = OutboxFixture::new().await;
        yard.home.transport(ACCEPT, None);
        for letter in letters(&yard.home, 4 * tasks).filter(|letter| letter.text().contains("back at the house")) {
            yard.home.post(&letter);
        }
        yard.home.once().await;
        let mailbox = Gated::at(&yard.home);
        yard.outbox.register_mailbox(AccountId::from(WORK), mailbox.clone());
        let rows = yard.app.tasks().list(false, 10 * tasks).await.unwrap();
        let tasks: Vec<TaskId> = rows.iter().map(|row| row.task.task_id).filter(|id| *id != yard.task).collect();
        Self { yard, mailbox, tasks }
    }

    async fn ask(&self, nth: usize) -> Asked {
        let action =
            Action { task_id: Some(self.tasks[nth]), ..self.yard.action(&format!("say-{nth}"), "On Friday, then.") };
        self.yard.ask_about(action).await
    }

    /// Carries it out on a task of its own, as the engine does.
    fn carries(&self, action: ActionId) -> tokio::task::JoinHandle<EffectProgress> {
        let (outbox, mail, now): (Outbox, _, _) = (self.yard.outbox.clone(), self.yard.mail.clone(), self.yard.now());
        tokio::spawn(async move { outbox.carry_out(action, None, Some(&mail), now).await.unwrap() })
    }

    async fn says(&self, word: Word, task: TaskId) {
        let app = &self.yard.app;
        let wish = match word {
            Word::Cancel => TaskEditKind::Cancel,
            Word::Done => TaskEditKind::Done,
            Word::Reword => TaskEditKind::Objective("Something else entirely".into()),
            Word::Redate => TaskEditKind::Deadline(None, None),
            Word::Pause => return app.effects().set_paused(true).await.unwrap(),
            Word::Observe => return set_mode(app, AccountMode::Observe).await,
        };
        app.tasks().edit(&task.to_string(), wish, "on second thoughts").await.unwrap();
    }

    /// Takes a pause or an observing account back.
    async fn relents(&self) {
        self.yard.app.effects().set_paused(false).await.unwrap();
        set_mode(&self.yard.app, AccountMode::Active).await;
    }

    fn times(&self, action: ActionId) -> usize {
        let spool = self.yard.home.spool();
        spool.iter().filter(|message| field(message, "X-Adjutant-Action") == action.to_string()).count()
    }
}

fn has_draft(home: &TestHome, action: ActionId) -> bool {
    home.drafts().iter().any(|name| name.starts_with(&action.to_string()))
}

/// The draft is in the mailbox, the row says `drafting`, and then somebody says something.
#[tokio::test(flavor = "multi_thread")]
async fn a_word_while_it_is_drafted_counts() {
    let desk = Desk::with_tasks(Word::ALL.len()).await;
    for (nth, word) in Word::ALL.into_iter().enumerate() {
        let asked = desk.ask(nth).await;
        let id = asked.action.action_id;
        desk.yard
            .app
            .approvals()
            .decide(asked.item, DecisionInput::at_terminal(DecisionKind::Approve, "", &asked.sha256))
            .await
            .unwrap();
        desk.mailbox.close();
        let carried = desk.carries(id);
        eventually("it is drafted", || desk.mailbox.has_come().then_some(()));
        desk.says(word, asked.action.task_id.unwrap()).await;
        desk.mailbox.open();
        let carried = carried.await.unwrap();
        assert_eq!(desk.times(id), 0, "{word:?}: it was sent");
        match word {
            Word::Pause => assert!(matches!(carried, EffectProgress::Deferred { .. }), "{carried:?}"),
            _ => assert!(matches!(carried, EffectProgress::Ended(OutboxState::Void, _)), "{word:?}: {carried:?}"),
        }
        desk.relents().await;
        let end = desk.yard.carry_to_the_end(id).await;
        let expected = if word == Word::Pause { OutboxState::Sent } else { OutboxState::Void };
        assert_eq!((end, desk.times(id)), (expected, usize::from(word == Word::Pause)), "{word:?}");
        assert!(!has_draft(&desk.yard.home, id), "{word:?}: its draft is left");
    }
}

/// Whatever was acknowledged before the draft was there keeps it here; what came later may or may not.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_leaves_after_a_word_that_was_acknowledged_in_time() {
    let all = cases(20);
    let desk = Desk::with_tasks(all).await;
    let mut dice = SeededRandom::thrown("second thoughts");
    let (mut in_time, mut sent) = (0, 0);
    for nth in 0..all {
        let asked = desk.ask(nth).await;
        let id = asked.action.action_id;
        let word = Word::ALL[usize::try_from(dice.below(6)).unwrap()];
        let (before, gate) = (Duration::from_micros(dice.below(6_000)), Duration::from_micros(dice.below(6_000)));
        desk.yard
            .app
            .approvals()
            .decide(asked.item, DecisionInput::at_terminal(DecisionKind::Approve, "", &asked.sha256))
            .await
            .unwrap();
        desk.mailbox.close();
        let carried = desk.carries(id);
        let mailbox = Arc::clone(&desk.mailbox);
        let opens = tokio::spawn(async move {
            tokio::time::sleep(gate).await;
            mailbox.open();
        });
        tokio::time::sleep(before).await;
        desk.says(word, asked.action.task_id.unwrap()).await;
        let acknowledged = Wall::now();
        opens.await.unwrap();
        carried.await.unwrap();
        let is_in_time = desk.mailbox.drafted_at().is_none_or(|drafted| acknowledged < drafted);
        assert!(!is_in_time || desk.times(id) == 0, "{word:?} in schedule {nth}: sent after it was acknowledged");
        in_time += usize::from(is_in_time);
        desk.relents().await;
        let end = desk.yard.carry_to_the_end(id).await;
        let times = desk.times(id);
        assert_eq!(times, usize::from(end == OutboxState::Sent), "{word:?} in schedule {nth}: {end}");
        assert!(word == Word::Pause || !is_in_time || times == 0, "{word:?} in schedule {nth}: {end}");
        sent += times;
    }
    println!("{all} schedules: {in_time} words in time, {sent} messages sent");
    crate::support::campaign::Campaign::new("second thoughts", all, all).twice(0).unapproved(0).print();
    assert!(in_time > 0 && sent > 0, "both ends were met");
}

/// The same through the program and Gmail, where drafting takes a while.
#[test]
fn on_gmail_a_word_while_it_is_drafted_counts() {
    let words: [&[&str]; 4] = [
        &["tasks", "cancel", "1"],
        &["tasks", "done", "1"],
        &["tasks", "set", "1", "--objective", "Something else"],
        &["pause"],
    ];
    let say = |word: &[&str]| {
        let google = Google::start();
        let home =
            signed_in_at(&google, YOU, "trusted_servers = [\"mx.home.example\"]\n", adjutant::clock::Clock::System);
        home.policy("");
        tokio::runtime::Runtime::new().unwrap().block_on(turn_on(&home));
        let letter = invitations(&home, 1, |nth| nth).next().unwrap();
        google.person(YOU).receives(letter.text().replace('\n', "\r\n"));
        assert_eq!(home.run(&["once"]).code, 0);
        approve_all(&home);
        // The answer comes drop by drop.
        google.breaks(Fault::on("POST", "/drafts?", Trouble::Slow(300)));
        let before = google.calls("POST", "/drafts?");
        let mut once = home.command(&["once"]).spawn().unwrap();
        eventually("it is drafting", || {
            (home.count("outbox WHERE state = 'drafting'") == 1 && google.calls("POST", "/drafts?") > before)
                .then_some(())
        });
        let said = home.run(word);
        let in_time = home.count("outbox WHERE state IN ('sending', 'sent')") == 0;
        assert_eq!(said.code, 0, "{word:?}: {}{}", said.out, said.err);
        assert!(once.wait().unwrap().success());
        assert!(in_time, "{word:?}: drafting was too quick to try it");
        assert_eq!(google.person(YOU).sent().len(), 0, "{word:?}: it was sent");
        let id = home.sql_one("SELECT action_id FROM outbox WHERE class = 'R3'");
        let drafts = google.person(YOU).drafts();
        let is_left = drafts.iter().any(|(_, draft)| draft.header("X-Adjutant-Action").as_ref() == Some(&id));
        assert_eq!(is_left, word == ["pause"], "{word:?}: is its draft left");
    };
    std::thread::scope(|scope| words.map(|word| scope.spawn(move || say(word))).map(|said| said.join().unwrap()));
}

/// The message is in doubt when another answer is asked for: should it turn out not to have left, it stays.
#[test]
fn a_message_in_doubt_is_not_begun_again_after_another_word() {
    let home = TestHome::real_time(Kind::Active);
    home.policy("");
    invitations(&home, 1, |nth| nth).for_each(|letter| drop(home.post(&letter)));
    assert_eq!(home.run(&["once"]).code, 0);
    approve_all(&home);
    // Without a transport a draft that is still there was certainly not sent, and would be let go.
    assert!(crate::crash_matrix::dies(&home, "mailbox.send.before"));
    assert_eq!(home.run(&["tasks", "set", "1", "--objective", "Something else"]).code, 0);
    assert_eq!(home.run(&["once"]).code, 0);
    assert_eq!(home.sent(), [""; 0]);
    let id = home.sql_one("SELECT action_id FROM outbox WHERE class = 'R3' AND state = 'void'");
    assert!(!has_draft(&home, id.parse().unwrap()), "its draft is left");
}
