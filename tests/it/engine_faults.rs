//! Tests with nodes that fail, panic or hang, calls that do not answer, and state that cannot be read: one run is
//! affected, and no other.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use adjutant::{
    graph::{
        CallContext, CallHandler, ReplyFuture,
        entry::{Call, Node, NodeInput, NodeOutput},
    },
    model::{Move, Priority, RunState, TaskEditKind},
};

use crate::support::test_home::{TestHome, answer_first, once};

type Fault = Box<dyn Fn(&NodeInput<'_>) -> Option<anyhow::Result<NodeOutput>> + Send + Sync>;

/// A shipped node with something wrong about it.
pub(crate) struct FaultyMailbox {
    inner: Box<dyn Node>,
    fault: Fault,
}

impl Node for FaultyMailbox {
    fn evaluate(&self, entry: &NodeInput<'_>) -> anyhow::Result<NodeOutput> {
        (self.fault)(entry).unwrap_or_else(|| self.inner.evaluate(entry))
    }
}

/// Wraps a node in place.
pub(crate) fn spoil(
    node: &mut Box<dyn Node>,
    fault: impl Fn(&NodeInput<'_>) -> Option<anyhow::Result<NodeOutput>> + Send + Sync + 'static,
) {
    struct Nobody;
    impl Node for Nobody {
        fn evaluate(&self, _: &NodeInput<'_>) -> anyhow::Result<NodeOutput> {
            anyhow::bail!("nobody is here")
        }
    }
    let inner = std::mem::replace(node, Box::new(Nobody));
    *node = Box::new(FaultyMailbox { inner, fault: Box::new(fault) });
}

/// The mail with the trouble in it.
pub(crate) fn about(entry: &NodeInput<'_>, id: &str) -> bool {
    entry.mail.is_some_and(|mail| mail.subject == format!("About {id}"))
}

/// The real answers, unless the test has another.
pub(crate) struct Answers<F> {
    pub(crate) inner: Arc<dyn CallHandler>,
    pub(crate) first: F,
}

impl<F> CallHandler for Answers<F>
where
    F: Fn(&RunState, &Call) -> Option<ReplyFuture<'static>> + Send + Sync,
{
    fn answer<'a>(&'a self, asker: CallContext<'a>, call: &'a Call) -> ReplyFuture<'a> {
        (self.first)(asker.state, call).unwrap_or_else(|| self.inner.answer(asker, call))
    }
}

fn two_questions() -> TestHome {
    let home = TestHome::active();
    home.post(&home.letter("bad").question());
    home.post(&home.letter("good").question());
    home
}

fn good_one_is_done(home: &TestHome) {
    let rows = home.sql("SELECT t.status, t.result_summary FROM tasks t WHERE t.source LIKE '%good%'");
    assert_eq!(rows, [["IN_PROGRESS", "Done: draft reply. Waits for you: answer mail."]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_errs_is_tried_again_with_patience() {
    let home = two_questions();
    let tried = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&tried);
    let worker = home
        .rigged(|rig| {
            spoil(&mut rig.nodes.plan_step, move |entry| {
                let fails = about(entry, "bad") && count.fetch_add(1, Ordering::SeqCst) < 2;
                fails.then(|| Err(anyhow::anyhow!("not today")))
            });
        })
        .await;
    once(worker).await;
    assert!(tried.load(Ordering::SeqCst) > 2);
    assert_eq!(home.sql("SELECT DISTINCT state FROM ledger"), [["task"]]);
    assert_eq!(home.count("item"), 0);
    good_one_is_done(&home);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_errs_for_good_parks_its_mail_alone() {
    let home = two_questions();
    let tried = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&tried);
    let worker = home
        .rigged(|rig| {
            spoil(&mut rig.nodes.plan_step, move |entry| {
                about(entry, "bad").then(|| {
                    count.fetch_add(1, Ordering::SeqCst);
                    Err(anyhow::anyhow!("not today"))
                })
            });
        })
        .await;
    once(worker).await;
    assert_eq!(tried.load(Ordering::SeqCst), 3, "attempts are bounded");
    let rows = home.sql("SELECT state, reason FROM ledger ORDER BY mail_id");
    assert_eq!(rows[0], ["parked", "plan_step failed: not today"]);
    assert_eq!(home.sql("SELECT kind, state, mail_id, task_id FROM item"), [["failed_step", "open", "1", "∅"]]);
    good_one_is_done(&home);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_panics_parks_its_run_alone() {
    let home = two_questions();
    let worker = home
        .rigged(|rig| {
            spoil(&mut rig.nodes.execute_tool, |entry| {
                assert!(!about(entry, "bad"), "a hard knock");
                None
            });
        })
        .await;
    once(worker).await;
    assert_eq!(home.sql_one("SELECT status FROM tasks WHERE source LIKE '%bad%'"), "WAITING_HITL");
    let title = home.sql_one("SELECT title FROM item");
    assert!(title.contains("execute_tool failed: it panicked") && title.contains("a hard knock"), "{title}");
    good_one_is_done(&home);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_node_that_hangs_is_parked_and_its_place_given_free() {
    let home = two_questions();
    for nth in 0..5 {
        home.post(&home.letter(&format!("more{nth}")).question());
    }
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let worker = home
        .rigged(move |rig| {
            // One place: whoever hangs in it holds everybody up, unless it is given free.
            rig.limits.in_flight = 1;
            rig.limits.node_timeout = Duration::from_secs(1);
            spoil(&mut rig.nodes.prioritise, move |entry| {
                if about(entry, "bad") {
                    assert!(held.lock().unwrap().recv().is_err(), "let go by dropping the other end");
                }
                None
            });
        })
        .await;
    let watched = worker.engine.clone();
    let watch = tokio::spawn(async move { watched.supervise_nodes().await });
    let working = tokio::spawn(async move {
        worker.run_once().await.unwrap();
        worker.stop().await;
    });
    let done = "SELECT count(*) FROM tasks WHERE result_summary IS NOT NULL";
    let others = tokio::task::spawn_blocking(move || {
        crate::support::test_home::eventually("the others go on", || (home.sql_one(done) == "6").then_some(()));
        crate::support::test_home::eventually("it is parked", || {
            (home.count("run WHERE status = 'parked'") == 1).then_some(())
        });
        home
    });
    let home = others.await.unwrap();
    let reason = home.sql_one("SELECT reason FROM run WHERE status = 'parked'");
    assert!(reason.contains("prioritise took longer than 1s"), "{reason}");
    // The task keeps its state, and a person can have it worked again.
    assert_eq!(home.sql("SELECT status FROM tasks WHERE source LIKE '%bad%'"), [["NEW"]]);
    drop(release);
    working.await.unwrap();
    watch.await.unwrap();
    assert_eq!(
        home.sql("SELECT status FROM tasks WHERE source LIKE '%bad%'"),
        [["NEW"]],
        "what comes late counts no more"
    );
    assert_eq!(home.count("item WHERE state = 'open'"), 1);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_an_answer_parks_the_run() {
    let home = two_questions();
    let worker = home
        .rigged(|rig| {
            rig.limits.call_timeout = Duration::from_millis(50);
            rig.answer = Arc::new(Answers {
                inner: Arc::clone(&rig.answer),
                first: |state: &RunState, call: &Call| {
                    let bad = state.task.as_ref().is_some_and(|task| task.source.contains("bad"));
                    (bad && matches!(call, Call::Rank { .. }))
                        .then(|| -> ReplyFuture<'static> { Box::pin(std::future::pending()) })
                },
            });
        })
        .await;
    once(worker).await;
    let parked = home.sql("SELECT node, reason FROM run WHERE status = 'parked'");
    assert_eq!(parked, [["prioritise", "prioritise failed: no answer within 50ms"]]);
    assert_eq!(home.sql_one("SELECT status FROM tasks WHERE source LIKE '%bad%'"), "NEW");
    good_one_is_done(&home);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_goes_on_without_documents() {
    let home = two_questions();
    home.once().await;
    home.post(&home.letter("later").question());
    let worker = home
        .rigged(|rig| {
            rig.answer = Arc::new(Answers {
                inner: Arc::clone(&rig.answer),
                first: |_: &RunState, call: &Call| {
                    matches!(call, Call::Recall { .. }).then(|| -> ReplyFuture<'static> {
                        Box::pin(async { Err(anyhow::anyhow!("no memory").into()) })
                    })
                },
            });
        })
        .await;
    once(worker).await;
    assert_eq!(home.count("run WHERE status = 'parked'"), 0);
    let run = home.sql_one("SELECT run_id FROM run JOIN tasks USING (task_id) WHERE source LIKE '%later%'");
    let changes =
        home.sql_one(&format!("SELECT changes FROM checkpoint WHERE run_id = '{run}' AND node = 'retrieve_context'"));
    assert_eq!(changes, "[]");
    assert_eq!(home.sql_one("SELECT status FROM tasks WHERE source LIKE '%later%'"), "IN_PROGRESS");
    assert!(home.app().await.runs().replay(&run).await.unwrap().identical);
}

/// The next node has thought already, and its checkpoint is on its way, when the one before it is refused: none of that
/// counts, and what the person changed does.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_changes_while_its_run_is_ahead_of_the_disk() {
    let home = two_questions();
    let (editor, entered) = (home.app().await, Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&entered);
    let worker = home
        .rigged(|rig| {
            let edited = AtomicUsize::new(0);
            spoil(&mut rig.nodes.retrieve_context, move |entry| {
                let asked = about(entry, "bad") && !entry.replies.is_empty();
                if asked && edited.fetch_add(1, Ordering::SeqCst) == 0 {
                    let task_id = entry.state.task.as_ref().unwrap().task_id.to_string();
                    let wish = TaskEditKind::Priority(Priority::Critical);
                    let edit = editor.tasks().edit(&task_id, wish, "at once");
                    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(edit)).unwrap();
                }
                None
            });
            spoil(&mut rig.nodes.execute_tool, move |entry| {
                count.fetch_add(usize::from(about(entry, "bad")), Ordering::SeqCst);
                None
            });
        })
        .await;
    once(worker).await;
    let level = "SELECT priority, status FROM tasks WHERE source LIKE '%bad%'";
    assert_eq!(home.sql(level), [["critical", "IN_PROGRESS"]]);
    let stored = "checkpoint WHERE node = 'execute_tool' AND run_id IN
        (SELECT run_id FROM run JOIN tasks USING (task_id) WHERE tasks.source LIKE '%bad%')";
    assert!(entered.load(Ordering::SeqCst) as u64 > home.count(stored), "it was never ahead");
    good_one_is_done(&home);
    home.must_be_sound().await;
}

/// Does something at the visit after the draft was made, while the checkpoint that says so is on its way: somebody else
/// writes for that long.
fn ahead_of_the_disk(
    home: &TestHome,
    time: Duration,
    act: impl Fn() -> Option<anyhow::Result<NodeOutput>> + Send + Sync + 'static,
) -> impl Fn(&NodeInput<'_>) -> Option<anyhow::Result<NodeOutput>> + Send + Sync + 'static {
    let other = std::sync::Mutex::new(Some(home.database()));
    move |entry| {
        if !about(entry, "bad") {
            return None;
        }
        if !entry.replies.is_empty()
            && let Some(other) = other.lock().unwrap().take()
        {
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            std::thread::spawn(move || {
                std::thread::sleep(time);
                other.execute_batch("COMMIT").unwrap();
            });
        }
        let drafted = entry.state.task.as_ref().is_some_and(|task| task.subtasks[0].done);
        (drafted && entry.replies.is_empty()).then(&act).flatten()
    }
}

/// The checkpoint that was on its way counts, and the run is parked behind it.
async fn parked_behind_the_draft(home: &TestHome, why: &str) {
    let runs = "SELECT run.status, run.node FROM run JOIN tasks USING (task_id) WHERE tasks.source LIKE '%bad%'";
    assert_eq!(home.sql(runs), [["parked", "execute_tool"]]);
    let item = home.sql("SELECT body FROM item WHERE kind = 'failed_step'");
    assert!(item.len() == 1 && item[0][0].contains(why), "{item:?}");
    let step = "SELECT json_extract(subtasks, '$[0].done') FROM tasks WHERE source LIKE '%bad%'";
    assert_eq!(home.sql_one(step), "1");
    good_one_is_done(home);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_fails_while_its_run_is_ahead_of_the_disk() {
    let home = two_questions();
    // Nothing leads from there to the end.
    let fails = ahead_of_the_disk(&home, Duration::from_millis(300), || {
        Some(Ok(NodeOutput::from_move(Move::Skip { reason: "nothing to do".into() })))
    });
    let worker = home.rigged(|rig| spoil(&mut rig.nodes.execute_tool, fails)).await;
    once(worker).await;
    parked_behind_the_draft(&home, "no way on").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_node_that_hangs_while_its_run_is_ahead_of_the_disk() {
    let home = two_questions();
    let hangs = ahead_of_the_disk(&home, Duration::from_millis(2500), || {
        std::thread::sleep(Duration::from_secs(8));
        None
    });
    let worker = home
        .rigged(|rig| {
            rig.limits.node_timeout = Duration::from_secs(1);
            spoil(&mut rig.nodes.execute_tool, hangs);
        })
        .await;
    let watched = worker.engine.clone();
    let watch = tokio::spawn(async move { watched.supervise_nodes().await });
    once(worker).await;
    watch.await.unwrap();
    parked_behind_the_draft(&home, "took longer than 1s").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_oversteps_its_contract_is_stopped() {
    let home = two_questions();
    let worker = home
        .rigged(|rig| {
            spoil(&mut rig.nodes.retrieve_context, |entry| {
                use adjutant::model::{Change, Move, TaskStatus};
                let done = Change::Status { to: TaskStatus::Cancelled, why: "because I can".into() };
                about(entry, "bad").then(|| Ok(NodeOutput::from_move(Move::Next).with_changes(vec![done])))
            });
        })
        .await;
    once(worker).await;
    let reason = home.sql_one("SELECT reason FROM run WHERE status = 'parked'");
    assert!(reason.contains("it may not write task.status"), "{reason}");
    assert_eq!(home.sql_one("SELECT status FROM tasks WHERE source LIKE '%bad%'"), "READY");
    good_one_is_done(&home);
}

#[tokio::test(flavor = "multi_thread")]
async fn state_of_another_version_is_parked_and_told() {
    let home = two_questions();
    // Killed after arrival: the runs are stored and nobody has worked them.
    let worker = home.worker().await;
    let mut pass = worker.followed_accounts[0].intake.start_pass().await.unwrap();
    while pass.next().await.unwrap().is_some() {}
    worker.stop().await;
    home.database().execute("UPDATE run SET schema = 99 WHERE mail_id = 1", []).unwrap();
    home.once().await;
    let rows = home.sql("SELECT state, reason FROM ledger ORDER BY mail_id");
    assert_eq!(rows[0][0], "parked");
    assert!(rows[0][1].contains("version 99"), "{rows:?}");
    assert_eq!(home.sql("SELECT kind, mail_id, state FROM item"), [["failed_step", "1", "open"]]);
    good_one_is_done(&home);
    home.must_be_sound().await;
    // A person has it read again, by this version.
    let app = home.app().await;
    answer_first(&app, adjutant::model::DecisionKind::Retry, "").await.unwrap();
    app.worker().finish_runs().await.unwrap();
    assert_eq!(home.sql("SELECT DISTINCT state FROM ledger"), [["task"]]);
}
