//! Benchmark: how long it takes from the manager's decision to start a task until the new worker asks its model: the
//! worker's rows, the commit to the disk, and its first prompt.

mod kit;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant as Stopwatch},
};

use adjutant::{
    app::App,
    clock::Clock,
    config::{Config, Home},
    llm::{Budget, BudgetedModel, CompletionFuture, Llm, ProviderReply, ProviderRequest},
    model::{
        TeamOrigin, TeamState,
        llm::{BudgetLimits, LlmSettings, ModelUsage, Provider, TokenPrice},
    },
    team::{DataReader, Handles, TeamContext, TeamPrompts, TeamRunner},
};
use anyhow::{Context as _, ensure};
use kit::{Goal, Table, desk};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 10;
const TASKS: usize = 5;

/// A model that answers at once: its manager starts tasks, and its workers finish them.
#[derive(Default)]
struct Instantly {
    /// When the start of each task was decided.
    decided: Mutex<HashMap<String, Stopwatch>>,
    /// How long each task took to begin, in milliseconds.
    spawned: Mutex<Vec<f64>>,
}

impl Instantly {
    fn reply(&self, request: &ProviderRequest) -> Value {
        let data: Value =
            request.user.split_once('\n').and_then(|(_, data)| serde_json::from_str(data).ok()).unwrap_or_default();
        let mut decided = self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        if request.schema_name == "task_worker" {
            let task = data.get("task").and_then(Value::as_str).unwrap_or_default();
            if let Some(since) = decided.remove(task) {
                let mut spawned = self.spawned.lock().unwrap_or_else(PoisonError::into_inner);
                spawned.push(since.elapsed().as_secs_f64() * 1e3);
            }
            return json!({ "action": "finish", "text": "Nothing: 0" });
        }
        let entries = data.get("conversation").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let has_started = |entry: &&Value| entry.pointer("/you/action").is_some_and(|action| action == "start_task");
        let started = entries.iter().filter(has_started).count();
        let reported =
            entries.iter().filter(|entry| entry.get("report").is_some_and(|report| !report.is_null())).count();
        if started < TASKS {
            let task = format!("Task {started}");
            decided.insert(task.clone(), Stopwatch::now());
            return json!({ "action": "start_task", "task_description": task });
        }
        if reported < TASKS { json!({ "action": "wait" }) } else { json!({ "action": "answer", "text": "Done." }) }
    }
}

impl Llm for Instantly {
    fn complete<'a>(&'a self, request: &'a ProviderRequest) -> CompletionFuture<'a> {
        Box::pin(async { Ok(ProviderReply { text: self.reply(request).to_string(), tokens: Some((100, 10)) }) })
    }
}

fn settings() -> LlmSettings {
    LlmSettings {
        provider: Provider::Compatible,
        model: "bench".into(),
        base_url: String::new(),
        key: None,
        deadline: Duration::from_secs(30),
        max_concurrent: 8,
        budget: BudgetLimits::default(),
        price: TokenPrice::default(),
    }
}

fn main() -> anyhow::Result<()> {
    let mut table = Table::new("team")?;
    let folder = kit::folder()?;
    App::init_home(folder.path())?;
    std::fs::write(folder.path().join("adjutant.toml"), "[llm]\nprovider = \"ollama\"\nmodel = \"bench\"\n")?;
    let home = Home::at(folder.path().to_owned());
    let config = Config { state_folder: Some(folder.path().join("state")), ..Config::load(&home)? };
    let mut spawned = kit::runtime()?.block_on(measure(home, config))?;
    table.value(
        "from the decision to the worker's first question",
        kit::median(&spawned),
        "ms",
        Goal::AtMost(100.0),
    )?;
    spawned.sort_by(f64::total_cmp);
    let slow = spawned.get(spawned.len() * 95 / 100).context("enough rounds")?;
    table.value("  one in twenty takes longer than", *slow, "ms", Goal::None)?;
    table.end()
}

/// Works teams of five tasks. Returns how long each task took to begin, in milliseconds.
async fn measure(home: Home, config: Config) -> anyhow::Result<Vec<f64>> {
    adjutant::tls::install_provider();
    let app = App::open(home, config, Clock::stopped_at(desk::now()?)).await?;
    let model = Arc::new(Instantly::default());
    for _ in 0..ROUNDS {
        let team = app.teams().open("Five things", None, TeamOrigin::Terminal).await?;
        let llm: Arc<dyn Llm> = Arc::<Instantly>::clone(&model);
        let budget = Budget::new(BudgetLimits::default(), "2026-11-16", ModelUsage::default());
        let context = TeamContext {
            data: DataReader {
                store: app.store.clone(),
                memory: app.memory.clone(),
                clock: app.clock.clone(),
                me: Arc::new(app.config.me.clone()),
                account: None,
                handles: Arc::new(Mutex::new(Handles::default())),
            },
            model: Arc::new(BudgetedModel::new(llm, &settings(), budget)),
            guidelines: app.home.guidelines_file(),
            prompts: Arc::new(TeamPrompts::load(&app.home.prompts(), &app.tools)?),
            tools: Arc::clone(&app.tools),
            user: app.user.clone(),
            sending_account: None,
            asks_in_queue: true,
        };
        let runner = TeamRunner::load(team.team_id, context, false).await?;
        let state = runner.run(&CancellationToken::new()).await?;
        ensure!(state == TeamState::Answered, "the team of the benchmark is {state}");
    }
    let spawned = model.spawned.lock().unwrap_or_else(PoisonError::into_inner).clone();
    ensure!(spawned.len() == ROUNDS * TASKS, "{} workers began", spawned.len());
    Ok(spawned)
}
