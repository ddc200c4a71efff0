//! Benchmark (a): the engine with five trivial nodes and a state of 6 KB, compared with a loop that only makes the same
//! commits.
//!
//! Both store the state on arrival and then what each node changed: the same rows by the same statements, on the same
//! schema, in WAL mode with `synchronous = FULL`. The loop has no graph, no channel and no other thread; its rows are
//! prepared before the clock starts.

mod kit;

use std::{path::Path, sync::Arc, time::Instant as Stopwatch};

use adjutant::{
    clock::Clock,
    graph::{
        ActiveRun, CallContext, CallHandler, Engine, EngineLimits, ReplyFuture,
        entry::{Call, Node, NodeInput, NodeOutput},
        node::Nodes,
    },
    model::{
        AccountId, Change, ContextDoc, Move, NewRun, NodeName, Priority, RunId, RunKind, RunState, Subtask, Task,
        TaskContext, TaskId, TaskStatus, UserId, run::STATE_SCHEMA,
    },
    store::{Store, Write},
};
use anyhow::{Context as _, anyhow, ensure};
use kit::{Goal, Table, best, disk, median};
use rusqlite::Connection;
use serde_json::json;
use tokio::task::JoinSet;

/// Size of the state on arrival, in bytes.
const STATE: usize = 6 * 1024;
/// Rounds per side. The sides take turns, so that a busy machine slows both.
const ROUNDS: usize = 9;
/// Concurrent runs in the comparison under load.
const MANY: usize = 64;
const RUNS_ALONE: usize = 120;
const RUNS_OF_MANY: usize = 40 * MANY;

const OPEN: &str = "INSERT INTO run (run_id, account, user_id, kind, mail_id, task_id, parent_run, fork_of, fork_seq, schema, status, reason, node, seq, \
                    created_at, updated_at) VALUES (?1, 'bench', 'me', 'task', NULL, NULL, NULL, NULL, NULL, ?2, 'running', '', 'prioritise', 0, ?3, ?3) \
                    ON CONFLICT DO NOTHING";
const INPUT: &str = "INSERT INTO run_input (run_id, state) VALUES (?1, ?2)";
const ADVANCE: &str = "UPDATE run SET seq = ?2, node = ?3, status = ?4, reason = '', updated_at = ?5
                       WHERE run_id = ?1 AND seq = ?2 - 1 AND status = 'running'";
const CHECKPOINT: &str = "INSERT INTO checkpoint (run_id, seq, node, move, next_node, changes, entered_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

fn main() -> anyhow::Result<()> {
    let folder = kit::folder()?;
    let mut table = Table::new("(a) engine, five nodes, 6 KB state")?;
    table.value("raw FULL commits", disk::raw_commits(folder.path())?, "commits/s", Goal::None)?;
    // With a name as argument, only that comparison runs: for a profiler.
    let wanted =
        |name: &str| !["alone", "many"].iter().any(|other| *other != name && std::env::args().any(|arg| arg == *other));
    if wanted("alone") {
        compare(folder.path(), "alone", 1, RUNS_ALONE, &mut table)?;
    }
    if wanted("many") {
        compare(folder.path(), "many", MANY, RUNS_OF_MANY, &mut table)?;
    }
    table.end()
}

/// Runs both sides in turns, checks that they stored the same rows, and prints their rates.
fn compare(folder: &Path, name: &str, in_flight: usize, runs: usize, table: &mut Table) -> anyhow::Result<()> {
    let runtime = kit::runtime()?;
    let machine = Arc::new(Machine::new(&folder.join(format!("{name}-engine.db")), in_flight)?);
    let mut bare = Bare::new(&folder.join(format!("{name}-loop.db")))?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let opened: Vec<NewRun> = (0..runs).map(|nth| new_run(round, nth)).collect();
        let ids: Vec<String> = opened.iter().map(|run| run.run_id.to_string()).collect();
        let watch = Stopwatch::now();
        // Inside the runtime, as the program's own loops run.
        let working = Arc::clone(&machine);
        runtime.block_on(runtime.spawn(async move { working.work(opened).await }))??;
        ours.push(runs as f64 / watch.elapsed().as_secs_f64());
        let watch = Stopwatch::now();
        bare.work(&ids, in_flight)?;
        theirs.push(runs as f64 / watch.elapsed().as_secs_f64());
    }
    runtime.block_on(machine.engine.stop());
    drop(machine);
    let engine_rows = rows(&folder.join(format!("{name}-engine.db")))?;
    ensure!(engine_rows == rows(&bare.path)?, "the two sides did not store the same");
    let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
    table.value(&format!("loop, {in_flight} in flight"), best(&theirs), "runs/s", Goal::None)?;
    let label = format!("engine, {in_flight} in flight, median of {ROUNDS}");
    table.ratio(&label, median(&ours), "runs/s", median(&ratios), Goal::AtLeast(0.9))?;
    let label = format!("engine, {in_flight} in flight, best of {ROUNDS}");
    table.ratio(&label, best(&ours), "runs/s", best(&ours) / best(&theirs), Goal::None)
}

/// The side of the real engine, with a store of its own.
struct Machine {
    engine: Engine,
    store: Store,
    in_flight: usize,
}

impl Machine {
    fn new(path: &Path, in_flight: usize) -> anyhow::Result<Self> {
        let store = Store::open(path, &path.with_extension("backups"))?;
        let limits = EngineLimits { in_flight, ..EngineLimits::default() };
        let engine = Engine::new(trivial_nodes(), Arc::new(Nobody), store.clone(), Clock::System, limits, None)?;
        Ok(Self { engine, store, in_flight })
    }

    /// Stores the runs as they arrive, `in_flight` at a time, and works them to their end.
    async fn work(&self, runs: Vec<NewRun>) -> anyhow::Result<()> {
        let mut arriving = runs.into_iter();
        loop {
            let part: Vec<NewRun> = arriving.by_ref().take(self.in_flight).collect();
            if part.is_empty() {
                break;
            }
            self.store_all(&part).await?;
            for run in part {
                self.engine.start_run(ActiveRun::from_new_run(run, None)).await;
            }
            if self.in_flight == 1 {
                self.engine.wait_until_idle().await;
            }
        }
        self.engine.wait_until_idle().await;
        Ok(())
    }

    /// Stores runs concurrently, so that the writer commits them together.
    async fn store_all(&self, part: &[NewRun]) -> anyhow::Result<()> {
        let now = Clock::System.now();
        let mut writes = JoinSet::new();
        for run in part {
            let (store, run) = (self.store.clone(), Box::new(run.clone()));
            writes.spawn(async move { store.write(Write::OpenRun(run, now)).await });
        }
        while let Some(written) = writes.join_next().await {
            written??;
        }
        Ok(())
    }
}

/// Answers no calls, because trivial nodes make none.
struct Nobody;

impl CallHandler for Nobody {
    fn answer<'a>(&'a self, _: CallContext<'a>, _: &'a Call) -> ReplyFuture<'a> {
        Box::pin(async { Err(anyhow!("a trivial node asks nothing").into()) })
    }
}

/// A node that makes one small change and moves on.
struct Trivial(fn(&RunState) -> (Change, Move));

impl Node for Trivial {
    fn evaluate(&self, entry: &NodeInput<'_>) -> anyhow::Result<NodeOutput> {
        let (change, mv) = self.0(entry.state);
        Ok(NodeOutput::from_move(mv).with_changes(vec![change]))
    }
}

fn trivial_nodes() -> Nodes {
    Nodes {
        plan_step: Box::new(Trivial(|_| (recalled(), Move::Next))),
        prioritise: Box::new(Trivial(|_| (ranked(), Move::Next))),
        retrieve_context: Box::new(Trivial(|_| (recalled(), Move::Next))),
        execute_tool: Box::new(Trivial(|state| {
            let begun = state.task.as_ref().is_some_and(|task| task.all_steps_done());
            if begun { (worked(), Move::Next) } else { (step_done(), Move::Again) }
        })),
        generate_response: Box::new(Trivial(|_| (summed_up(), Move::Done))),
    }
}

fn ranked() -> Change {
    Change::Priority { priority: Priority::High, rule: "finance-alerts".into(), urgency: None }
}

fn recalled() -> Change {
    let title = "Invoice 2041 for the workshop furniture".into();
    let document =
        ContextDoc { doc: "mail:17".into(), title, found_by: "thread".into(), score: 1.0, reasons: Vec::new() };
    Change::Documents { documents: vec![document].into() }
}

fn step_done() -> Change {
    Change::StepDone { index: 0 }
}

fn worked() -> Change {
    Change::Output { step: "record_invoice".into(), value: json!({ "ok": true, "amount": 1250.0, "currency": "EUR" }) }
}

fn summed_up() -> Change {
    Change::Summary { text: "Recorded invoice 2041 over EUR 1,250.00.".into() }
}

/// Returns the five checkpoints of a run: node, change, move, next node.
fn path_of_a_run() -> [(NodeName, Change, Move, Option<NodeName>); 5] {
    use NodeName::{ExecuteTool, GenerateResponse, Prioritise, RetrieveContext};
    [
        (Prioritise, ranked(), Move::Next, Some(RetrieveContext)),
        (RetrieveContext, recalled(), Move::Next, Some(ExecuteTool)),
        (ExecuteTool, step_done(), Move::Again, Some(ExecuteTool)),
        (ExecuteTool, worked(), Move::Next, Some(GenerateResponse)),
        (GenerateResponse, summed_up(), Move::Done, None),
    ]
}

fn new_run(round: usize, nth: usize) -> NewRun {
    // Ids grow with the time of arrival: here one run a minute.
    let minutes = chrono::Duration::minutes((round * RUNS_OF_MANY + nth) as i64);
    let at = Clock::System.now().plus(minutes);
    NewRun {
        run_id: RunId::derive(at, &[&round.to_string(), &nth.to_string()]),
        account: AccountId::from("bench"),
        user: UserId::from("me"),
        kind: RunKind::Task,
        parent_run: None,
        fork: None,
        node: NodeName::Prioritise,
        task_id: None,
        state: state(),
    }
}

fn state() -> RunState {
    let at = Clock::stopped_at(Clock::System.now()).now();
    let text = "Please find below our invoice for the workshop furniture, payable within nine days. ";
    let task = Task {
        task_id: TaskId::derive(at, &["bench"]),
        created_at: at,
        source: "email:<inv-2041@acme.example>".into(),
        objective: "Pay invoice 2041".into(),
        context: TaskContext { description: Some(text.repeat(STATE / text.len())), ..TaskContext::default() },
        priority: Priority::Low,
        status: TaskStatus::New,
        subtasks: vec![Subtask { step: "record_invoice".into(), done: false }],
        assigned_agent: Some(Task::TOOLING_AGENT.into()),
        last_updated: at,
        tool_output: None,
        result_summary: None,
    };
    RunState { task: Some(Arc::new(task)), ..RunState::default() }
}

/// The side of the loop: one connection, one thread, rows prepared beforehand.
struct Bare {
    connection: Connection,
    path: std::path::PathBuf,
    state: String,
    /// Node, move, changes, next node and status of each checkpoint.
    steps: Vec<(&'static str, String, String, Option<&'static str>, &'static str)>,
}

impl Bare {
    fn new(path: &Path) -> anyhow::Result<Self> {
        // Creates the schema and closes the store again.
        drop(Store::open(path, &path.with_extension("backups"))?);
        let mut steps = Vec::new();
        for (node, change, mv, next) in path_of_a_run() {
            let (mv, changes) = (serde_json::to_string(&mv)?, serde_json::to_string(&[change])?);
            let status = if next.is_some() { "running" } else { "done" };
            steps.push((node.as_str(), mv, changes, next.map(|node| node.as_str()), status));
        }
        Ok(Self {
            connection: disk::connect(path)?,
            path: path.to_owned(),
            state: serde_json::to_string(&state())?,
            steps,
        })
    }

    /// Writes all checkpoints of the runs. Each commit advances `in_flight` of them.
    fn work(&mut self, ids: &[String], in_flight: usize) -> anyhow::Result<()> {
        let at = Clock::System.now().to_string();
        for part in ids.chunks(in_flight) {
            self.transact(|connection, state, _| {
                let (mut open, mut input) = (connection.prepare_cached(OPEN)?, connection.prepare_cached(INPUT)?);
                for id in part {
                    open.execute((id, STATE_SCHEMA, &at))?;
                    input.execute((id, state))?;
                }
                Ok(())
            })?;
            for seq in 1..=self.steps.len() {
                self.transact(|connection, _, steps| {
                    let (node, mv, changes, next, status) = steps.get(seq - 1).context("a step")?;
                    let seq = u32::try_from(seq)?;
                    let mut advance = connection.prepare_cached(ADVANCE)?;
                    let mut checkpoint = connection.prepare_cached(CHECKPOINT)?;
                    for id in part {
                        advance.execute((id, seq, next.unwrap_or(node), status, &at))?;
                        checkpoint.execute((id, seq, node, mv, next, changes, &at))?;
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// Runs some statements in one transaction.
    fn transact(
        &self,
        work: impl FnOnce(&Connection, &str, &[(&str, String, String, Option<&'static str>, &str)]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        work(&self.connection, &self.state, &self.steps)?;
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

/// Returns a summary of what a side has stored, without times.
fn rows(path: &Path) -> anyhow::Result<(String, String)> {
    let connection = Connection::open(path)?;
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0));
    let runs = "SELECT count(*) || ' ' || sum(length(state)) || ' ' || sum(seq) || ' ' || group_concat(DISTINCT status || node)
                FROM run JOIN run_input USING (run_id)";
    let points = "SELECT count(*) || ' ' || sum(length(changes)) || ' ' || sum(length(move)) || ' ' || sum(length(node || coalesce(next_node, '')))
                  FROM checkpoint";
    Ok((count(runs)?, count(points)?))
}
