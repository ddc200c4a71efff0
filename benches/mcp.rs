//! Benchmark: how long a client of the MCP server waits for an answer, with 10,000 tasks, over a pipe in this process.

mod kit;

use std::{sync::Arc, time::Instant as Stopwatch};

use adjutant::{
    app::{App, NewTask},
    mcp::{McpTool, serve_connection},
};
use anyhow::{Context as _, ensure};
use kit::{Goal, Table, desk};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split},
    sync::Semaphore,
    task::JoinSet,
};

const TASKS: usize = 10_000;
/// How often each tool is called.
const CALLS: usize = 300;
/// How many tasks are added at once before the measurement. They share commits.
const AT_ONCE: usize = 64;

fn main() -> anyhow::Result<()> {
    let folder = kit::folder()?;
    kit::runtime()?.block_on(async {
        let app = desk::open(folder.path()).await?;
        fill(&app).await?;
        let (near, far) = duplex(1 << 20);
        let (input, output) = split(far);
        let served = app.clone();
        let server =
            tokio::spawn(async move { serve_connection(&served, input, output, std::future::pending()).await });
        let mut client = Client::connect(near).await?;
        let mut table = Table::new("mcp, 10,000 tasks")?;
        let mut all = Vec::new();
        for tool in McpTool::ALL.iter().copied() {
            let mut times = Vec::with_capacity(CALLS);
            for nth in 0..CALLS {
                let arguments = arguments(tool, nth);
                let watch = Stopwatch::now();
                client.call(tool, arguments).await?;
                times.push(watch.elapsed().as_secs_f64() * 1e3);
            }
            table.value(&format!("{tool}, median"), kit::median(&times), "ms", Goal::None)?;
            table.value(&format!("{tool}, p99"), percentile(&times, 99), "ms", Goal::AtMost(10.0))?;
            all.extend(times);
        }
        table.value("all calls, p99", percentile(&all, 99), "ms", Goal::AtMost(10.0))?;
        drop(client);
        server.await??;
        table.end()
    })
}

fn percentile(times: &[f64], percent: usize) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() * percent / 100).copied().unwrap_or_default()
}

/// Returns the arguments of the `nth` call. Each call of a tool that changes something changes another task.
fn arguments(tool: McpTool, nth: usize) -> Value {
    const WORDS: [&str; 6] = ["invoice", "call the plumber", "report for Tom", "contract", "milk", "quarterly figures"];
    match tool {
        McpTool::AddTask => json!({ "title": format!("Call number {nth} back"), "description": "By phone" }),
        McpTool::ListTasks => json!({ "status": "pending", "limit": 50, "offset": nth % 20 * 50 }),
        McpTool::CompleteTask => json!({ "task_id": 1 + nth }),
        McpTool::DeleteTask => json!({ "task_id": 1 + CALLS + nth }),
        McpTool::UpdateTask => {
            json!({ "task_id": 1 + 2 * CALLS + nth, "title": format!("Something else {nth}"), "description": "new" })
        }
        McpTool::GetTask | McpTool::Why => json!({ "task_id": 1 + nth * 31 % TASKS }),
        McpTool::Search => json!({ "text": WORDS.get(nth % WORDS.len()).copied().unwrap_or_default(), "limit": 20 }),
        McpTool::ListApprovals | McpTool::ListRuns => json!({}),
    }
}

/// Adds the tasks as a person would, with their vectors.
async fn fill(app: &App) -> anyhow::Result<()> {
    const VERBS: [&str; 5] = ["Send", "Review", "Pay", "Call about", "Answer"];
    const THINGS: [&str; 7] = [
        "the invoice",
        "the contract",
        "the report for Tom",
        "the quarterly figures",
        "the plumber",
        "the offer",
        "the milk",
    ];
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let mut adding = JoinSet::new();
    for nth in 0..TASKS {
        let permit = Arc::clone(&permits).acquire_owned().await?;
        let app = app.clone();
        adding.spawn(async move {
            let verb = VERBS.get(nth % VERBS.len()).copied().unwrap_or_default();
            let thing = THINGS.get(nth / VERBS.len() % THINGS.len()).copied().unwrap_or_default();
            let objective = format!("{verb} {thing}, number {nth}");
            let added = app.tasks().add(NewTask { objective, ..NewTask::default() }).await;
            drop(permit);
            added.map(drop)
        });
    }
    while let Some(added) = adding.join_next().await {
        added??;
    }
    while app.memory.embed_next_batch().await? > 0 {}
    ensure!(app.tasks().count(false).await? == TASKS as u64, "not every task was added");
    Ok(())
}

/// A client at the other end of the pipe.
struct Client {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
    next: u64,
}

impl Client {
    async fn connect(stream: DuplexStream) -> anyhow::Result<Self> {
        let (input, output) = split(stream);
        let mut client = Self { lines: BufReader::new(input).lines(), output, next: 0 };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } });
        client.request("initialize", hello).await?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        Ok(client)
    }

    async fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        Ok(self.output.write_all(format!("{message}\n").as_bytes()).await?)
    }

    async fn request(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params })).await?;
        let line = self.lines.next_line().await?.context("the server has left")?;
        Ok(serde_json::from_str(&line)?)
    }

    async fn call(&mut self, tool: McpTool, arguments: Value) -> anyhow::Result<()> {
        let answer = self.request("tools/call", json!({ "name": tool.as_str(), "arguments": arguments })).await?;
        let failed = answer.pointer("/result/isError") != Some(&Value::Bool(false));
        ensure!(!failed, "{tool}: {answer}");
        Ok(())
    }
}
