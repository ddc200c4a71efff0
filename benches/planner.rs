//! Benchmark: the task planner. Detecting complexity, reading a plan of 4 KB, and what a step costs beside its tool.

mod kit;

use std::{hint::black_box, time::Instant as Stopwatch};

use adjutant::{
    app::App,
    clock::Clock,
    config::{Config, Home},
    planner::{PlannerRequest, detect_complexity, plan_text::parse_plan},
};
use anyhow::ensure;
use kit::{Goal, Table, cpu, desk, disk};

const ROUNDS: u32 = 2_000;
const PLANS: usize = 15;
const STEPS: usize = 30;

fn main() -> anyhow::Result<()> {
    let mut table = Table::new("planner")?;
    let requests = [
        "Create a tic-tac-toe game",
        "1. collect last month's invoices 2. draft a summary to Dana 3. remind me Friday",
        "Send the report to Dana and remind me on Friday, and also book a table for two at the usual place",
        "What does 'create' mean?",
        "שלח את הדוח לדנה ותזכיר לי ביום שישי לבדוק מה קרה עם המסמכים",
    ];
    let detection = per_call(|| {
        for request in requests {
            black_box(detect_complexity(PlannerRequest::typed(black_box(request))));
        }
    }) / requests.len() as f64;
    table.value("detecting the complexity of a request", detection * 1e6, "µs", Goal::AtMost(20.0))?;
    let plan = plan_of(4 * 1024);
    ensure!(parse_plan(&plan).is_ok(), "the plan of the benchmark is none");
    let parsing = per_call(|| drop(black_box(parse_plan(black_box(&plan)))));
    table.value("reading a plan of 4 KB", parsing * 1e6, "µs", Goal::AtMost(100.0))?;
    let folder = kit::folder()?;
    let commit = disk::raw_commits(folder.path())?.recip();
    table.value("a commit of one row to this disk", commit * 1e3, "ms", Goal::None)?;
    for (parallel, name, goal) in [
        (None, "a step beside its tool, by commits", Goal::AtMost(1.0)),
        (Some(STEPS), "a step of 30 at once, by commits", Goal::None),
    ] {
        let step = dispatch(parallel)?;
        table.ratio(name, step.elapsed * 1e3, "ms", step.elapsed / commit, Goal::None)?;
        table.value("the same, less one commit", (step.elapsed - commit) * 1e3, "ms", goal)?;
        table.value("its CPU time, of all threads", step.cpu * 1e3, "ms", Goal::None)?;
    }
    table.end()
}

/// Returns the seconds that one call takes.
fn per_call(mut call: impl FnMut()) -> f64 {
    let mut times = Vec::new();
    for _ in 0..7 {
        let watch = Stopwatch::now();
        for _ in 0..ROUNDS {
            call();
        }
        times.push(watch.elapsed().as_secs_f64() / f64::from(ROUNDS));
    }
    kit::median(&times)
}

/// Returns a plan in the format with markers, of about this size.
fn plan_of(bytes: usize) -> String {
    let mut plan = String::from("Here is the plan.\n---PLAN-START---\n");
    let mut number = 1;
    while plan.len() < bytes - 400 {
        plan.push_str(&format!(
            "STEP {number}: Look into part {number} of the quarterly numbers\nDO: Collect the figures of part {number}, compare them with those of last year, and note every difference of more than five percent, with the reason that was given for it in the mails of that month.\n"
        ));
        number += 1;
    }
    plan + "---PLAN-END---\n"
}

/// The seconds that a step takes whose tool does next to nothing: its run, its checkpoint and its place in the plan. Its
/// checkpoint is durable before the next step of the plan sees it, so one commit to the disk is in it.
struct StepCost {
    elapsed: f64,
    cpu: f64,
}

/// `parallel` is how many steps go on side by side, if it is not the default.
fn dispatch(parallel: Option<usize>) -> anyhow::Result<StepCost> {
    let folder = kit::folder()?;
    App::init_home(folder.path())?;
    let home = Home::at(folder.path().to_owned());
    let mut config = Config { state_folder: Some(folder.path().join("state")), ..Config::load(&home)? };
    config.planner.max_parallel_steps = parallel.unwrap_or(config.planner.max_parallel_steps);
    config.planner.deduplication_window = chrono::Duration::zero();
    let runtime = kit::runtime()?;
    runtime.block_on(async {
        let app = App::open(home, config, Clock::stopped_at(desk::now()?)).await?;
        app.worker().finish_runs().await?;
        let worker = app.worker().start().await?.map_err(anyhow::Error::from)?;
        let request: String =
            (1..=STEPS).map(|nth| format!("{nth}. list the invoices of last month, part {nth}\n")).collect();
        let (mut times, mut busy) = (Vec::new(), Vec::new());
        for _ in 0..PLANS {
            let prepared = app.plans().prepare(&request, None).await?;
            let task_id = app.plans().open(prepared).await?;
            let (watch, before) = (Stopwatch::now(), cpu::process()?);
            worker.engine.resume_unfinished_runs().await?;
            worker.engine.wait_until_idle().await;
            times.push(watch.elapsed().as_secs_f64() / STEPS as f64);
            busy.push((cpu::process()? - before).as_secs_f64() / STEPS as f64);
            let (plan, ..) = app.plans().progress(task_id).await?;
            let done = plan.steps.iter().filter(|step| step.result.is_some()).count();
            ensure!(done == STEPS, "{done} of {STEPS} steps are done");
        }
        worker.stop().await;
        Ok(StepCost { elapsed: kit::median(&times), cpu: kit::median(&busy) })
    })
}
