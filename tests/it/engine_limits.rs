//! Tests the limits of the engine: how many runs are active at once, and what happens when a person or another run
//! overtakes one.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use adjutant::{
    app::NewTask,
    graph::{CallContext, ReplyFuture, entry::Call},
    model::{Priority, RunState, TaskEditKind},
};

use crate::{
    engine_faults::{Answers, spoil},
    support::test_home::{TestHome, eventually, once},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn never_more_runs_at_once_than_allowed() {
    let home = TestHome::active();
    for nth in 0..40 {
        home.post(&home.letter(&format!("q{nth}")).question());
    }
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, highest) = (Arc::clone(&now), Arc::clone(&most));
    let worker = home
        .rigged(move |rig| {
            rig.limits.in_flight = 3;
            let inner = Arc::clone(&rig.answer);
            rig.answer = Arc::new(Answers {
                inner,
                first: move |_: &RunState, call: &Call| {
                    // A question of prioritise, answered slowly and wrongly: it parks the run, which is all the same
                    // here.
                    let (counted, highest) = (Arc::clone(&counted), Arc::clone(&highest));
                    matches!(call, Call::Rank { .. }).then(|| -> ReplyFuture<'static> {
                        Box::pin(async move {
                            highest.fetch_max(counted.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                            tokio::time::sleep(Duration::from_millis(10)).await;
                            counted.fetch_sub(1, Ordering::SeqCst);
                            Err(anyhow::anyhow!("slow").into())
                        })
                    })
                },
            });
            rig.limits.attempts = 1;
        })
        .await;
    once(worker).await;
    assert_eq!(home.count("run WHERE status = 'parked'"), 40);
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

/// Lets a run come to a certain call, waits there for the test, and goes on.
fn gate(
    rig: &mut crate::support::test_home::WorkerSetup,
    at: fn(&Call) -> bool,
) -> (std::sync::mpsc::Receiver<()>, tokio::sync::oneshot::Sender<()>) {
    let (arrived, seen) = std::sync::mpsc::channel();
    let (open, opened) = tokio::sync::oneshot::channel::<()>();
    let opened = Mutex::new(Some(opened));
    let inner = Arc::clone(&rig.answer);
    let behind = Arc::clone(&inner);
    rig.answer = Arc::new(Answers {
        inner,
        first: move |state: &RunState, call: &Call| {
            let opened = at(call).then(|| opened.lock().unwrap().take()).flatten()?;
            let (arrived, behind, state, call) = (arrived.clone(), Arc::clone(&behind), state.clone(), call.clone());
            let reply: ReplyFuture<'static> = Box::pin(async move {
                arrived.send(()).unwrap();
                drop(opened.await);
                let head = adjutant::graph::entry::RunIdentity {
                    run_id: adjutant::model::RunId::derive("2026-11-16T08:00:00Z".parse().unwrap(), &["gate"]),
                    account: "work".into(),
                    user: "me".into(),
                    kind: adjutant::model::RunKind::Task,
                    is_fork: false,
                };
                let now = "2026-11-16T08:00:00Z".parse().unwrap();
                behind.answer(CallContext { run: &head, state: &state, mail: None, planned: None, now }, &call).await
            });
            Some(reply)
        },
    });
    (seen, open)
}

async fn overtaken_at(at: fn(&Call) -> bool, wish: TaskEditKind) -> TestHome {
    let home = TestHome::active();
    home.post(&home.letter("one").question());
    let mut held = None;
    let worker = home.rigged(|rig| held = Some(gate(rig, at))).await;
    let (seen, open) = held.unwrap();
    let app = worker.app.clone();
    let working = tokio::spawn(async move { once(worker).await });
    tokio::task::spawn_blocking(move || seen.recv_timeout(crate::support::test_home::PATIENCE).unwrap()).await.unwrap();
    app.tasks().edit("1", wish, "a person was faster").await.unwrap();
    open.send(()).unwrap();
    working.await.unwrap();
    drop(app);
    home.must_be_sound().await;
    home
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_cancelled_under_its_run_stays_cancelled() {
    for at in [
        (|call: &Call| matches!(call, Call::Rank { .. })) as fn(&Call) -> bool,
        |call| matches!(call, Call::Recall { .. }),
        |call| *call == Call::AccountPermissions,
        |call| matches!(call, Call::Effect { .. }),
    ] {
        let home = overtaken_at(at, TaskEditKind::Cancel).await;
        assert_eq!(home.sql("SELECT status FROM tasks"), [["CANCELLED"]]);
        let run = home.sql("SELECT status, reason FROM run WHERE kind = 'task'");
        assert_eq!(run, [["overtaken", "the task has ended"]]);
        assert_eq!(home.count("item WHERE state = 'open'"), 0);
        assert_eq!(home.count("outbox WHERE state NOT IN ('void', 'applied')"), 0);
        assert_eq!(home.count("outbox WHERE state = 'applied'"), home.drafts().len() as u64);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_reworded_under_its_run_is_worked_as_it_is_now() {
    let home = overtaken_at(
        |call| *call == Call::AccountPermissions,
        TaskEditKind::Objective("Tell Tom to keep the keys".into()),
    )
    .await;
    assert_eq!(
        home.sql("SELECT objective, status, result_summary FROM tasks"),
        [["Tell Tom to keep the keys", "IN_PROGRESS", "Done: draft reply. Waits for you: answer mail."]]
    );
    assert_eq!(home.drafts().len(), 1);
    let run = home.sql_one("SELECT run_id FROM run WHERE kind = 'task'");
    let replay = home.app().await.runs().replay(&run).await.unwrap();
    assert!(replay.identical, "{:?}", replay.checkpoints);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_ranked_by_hand_while_its_effect_happens_still_has_the_step_done() {
    let home = overtaken_at(|call| matches!(call, Call::Effect { .. }), TaskEditKind::Priority(Priority::High)).await;
    assert_eq!(
        home.sql("SELECT priority, status, result_summary FROM tasks"),
        [["high", "IN_PROGRESS", "Done: draft reply. Waits for you: answer mail."]]
    );
    assert_eq!(home.sql("SELECT state FROM outbox"), [["applied"]]);
    assert_eq!(home.drafts().len(), 1);
}

/// The daemon looks for unfinished runs while new mail waits for its place: nothing is done twice, no place is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn looking_for_unfinished_runs_takes_nothing_twice_and_loses_no_place() {
    let home = TestHome::active();
    for nth in 0..60 {
        let letter = home.letter(&format!("q{nth}")).question();
        home.post(&if nth % 3 == 0 { letter } else { letter.answers(&format!("q{}", nth - nth % 3)) });
    }
    let visits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&visits);
    let worker = home
        .rigged(move |rig| {
            // One place: losing it is the end of all work.
            rig.limits.in_flight = 1;
            spoil(&mut rig.nodes.plan_step, move |_| {
                counted.fetch_add(1, Ordering::SeqCst);
                None
            });
        })
        .await;
    let engine = worker.engine.clone();
    let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
    let resuming = tokio::spawn(async move {
        while stopped.try_recv().is_err() {
            engine.resume_unfinished_runs().await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    let patiently = |doing| tokio::time::timeout(crate::support::test_home::PATIENCE, doing);
    patiently(worker.run_once()).await.expect("a place was lost").unwrap();
    stop.send(()).unwrap();
    resuming.await.unwrap();
    worker.engine.wait_until_idle().await;
    // Entered at most three times for each mail: for what is known of it, for the second reader, and with both replies.
    let visits = visits.load(Ordering::SeqCst);
    assert!((60..=180).contains(&visits), "{visits} visits for 60 mails");
    assert_eq!(home.count("checkpoint WHERE node = 'plan_step'"), 60);
    for nth in 0..8 {
        home.post(&home.letter(&format!("late{nth}")).question());
    }
    patiently(worker.run_once()).await.expect("a place was lost").unwrap();
    worker.stop().await;
    assert_eq!(home.count("ledger WHERE state IN ('task', 'linked')"), 68);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follow_up_that_arrives_together_with_its_task_waits_for_it() {
    let home = TestHome::active();
    for thread in 0..10 {
        home.post(&home.letter(&format!("a{thread}")).question());
        let again = home.letter(&format!("b{thread}")).answers(&format!("a{thread}"));
        home.post(&again.body(&format!("Hello Alex,\n\nWhen will you be back at the house about a{thread}?\n\nTom\n")));
    }
    home.once().await;
    assert_eq!((home.count("tasks"), home.count("ledger WHERE state = 'linked'")), (10, 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_leaves_what_is_unfinished_for_the_next_start() {
    let home = TestHome::active();
    for nth in 0..30 {
        home.post(&home.letter(&format!("q{nth}")).question());
    }
    let worker = home.worker().await;
    let mut pass = worker.followed_accounts[0].intake.start_pass().await.unwrap();
    while pass.next().await.unwrap().is_some() {}
    worker.engine.resume_unfinished_runs().await.unwrap();
    worker.stop().await;
    home.must_be_sound().await;
    home.once().await;
    assert_eq!(home.count("tasks WHERE result_summary IS NOT NULL"), 30);
    assert_eq!(home.drafts().len(), 30);
    let added =
        home.app().await.tasks().add(NewTask { objective: "One more".into(), ..NewTask::default() }).await.unwrap();
    assert_eq!(added.number, Some(31));
    eventually("nothing is left running", || (home.count("run WHERE status = 'running'") == 0).then_some(()));
}
