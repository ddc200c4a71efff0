//! Follows a plan to its end: works it if no other process does, and shows each step as it begins and ends. On a terminal
//! with a spinner and a bar, elsewhere as plain lines, with `--json` as events.

use std::{collections::BTreeMap, io, io::IsTerminal as _, process::ExitCode, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::choice::{FailureChoice, read_failure_choice};
use crate::{
    app::App,
    cli::printer::{Printer, escape_and_truncate},
    model::{DecisionKind, ItemKind, ItemRow, PlanRow, PlanStatus, PlanStepRow, PlanStepStatus, TaskId},
    wording::plan::{LONGEST_RESULT, describe_result, shorten_result},
};

/// The pause between two looks at the plan.
const INTERVAL: Duration = Duration::from_millis(50);
/// How long nothing may happen while the daemon does the work, before the rest is left to it.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a step was last shown as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Started,
    Ended(PlanStepStatus),
    Waiting,
}

/// Works a plan and shows its progress, until it has ended or waits for a person.
pub(super) async fn follow_plan(
    app: &App,
    screen: Printer,
    task_id: TaskId,
    has_person: bool,
) -> anyhow::Result<ExitCode> {
    let mut view = ProgressView::new(screen);
    loop {
        work_and_show(app, &mut view, task_id).await?;
        let (plan, ..) = app.plans().progress(task_id).await?;
        let items = app.plans().items(task_id).await?;
        let failed = items.iter().find(|item| item.kind == ItemKind::FailedStep);
        if let Some(failed) = failed.filter(|_| has_person) {
            let decision = match read_failure_choice()? {
                FailureChoice::Retry => Some(DecisionKind::Retry),
                FailureChoice::Skip => Some(DecisionKind::Skip),
                FailureChoice::Cancel => Some(DecisionKind::Cancel),
                FailureChoice::Later => None,
            };
            if let Some(decision) = decision {
                app.plans().decide(failed, decision).await?;
                if decision == DecisionKind::Retry {
                    view.forget_failures();
                }
                continue;
            }
        }
        return view.finish(app, &plan, &items).await;
    }
}

/// Lets the plan be worked, here or by the daemon, and shows what happens meanwhile.
async fn work_and_show(app: &App, view: &mut ProgressView, task_id: TaskId) -> anyhow::Result<()> {
    let worker = app.clone();
    let mut work = tokio::spawn(async move { worker.worker().try_finish_runs().await });
    let mut has_worked = false;
    let mut last_change = std::time::Instant::now();
    loop {
        let (plan, running, is_running) = app.plans().progress(task_id).await?;
        if view.show(&plan, &running)? {
            last_change = std::time::Instant::now();
        }
        if !has_worked && work.is_finished() {
            has_worked = (&mut work).await??;
            if !has_worked {
                // The daemon, or a short command that ends soon, has the worker role.
                let worker = app.clone();
                work = tokio::spawn(async move { worker.worker().try_finish_runs().await });
            }
        }
        if has_worked || !is_running || last_change.elapsed() > PATIENCE {
            if !has_worked && !is_running {
                // A worker of this process is let finish what it has begun.
                work.await??;
            }
            let (plan, running, _) = app.plans().progress(task_id).await?;
            view.show(&plan, &running)?;
            return Ok(());
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Shows the steps of a plan as they begin and end.
struct ProgressView {
    screen: Printer,
    shown: BTreeMap<u32, Shown>,
    bar: ProgressBar,
}

impl ProgressView {
    fn new(screen: Printer) -> Self {
        let bar = ProgressBar::hidden();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {bar:24} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        if !screen.is_json && io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { screen, shown: BTreeMap::new(), bar }
    }

    /// Shows what has changed. Returns whether anything has.
    fn show(&mut self, plan: &PlanRow, running: &[u32]) -> io::Result<bool> {
        let mut changed = false;
        for step in &plan.steps {
            let is_running = running.contains(&step.step_number);
            let now = match step.status {
                PlanStepStatus::Pending if is_running => Shown::Started,
                PlanStepStatus::Pending => continue,
                PlanStepStatus::InProgress if is_running => Shown::Started,
                PlanStepStatus::InProgress => Shown::Waiting,
                ended => Shown::Ended(ended),
            };
            let before = self.shown.insert(step.step_number, now);
            if before == Some(now) {
                continue;
            }
            changed = true;
            if before.is_none() {
                self.show_start(step)?;
            }
            match now {
                Shown::Ended(status) => self.show_end(step, status)?,
                Shown::Waiting => self.show_event(step, "step_waits", "waits for your approval", None)?,
                Shown::Started => {}
            }
        }
        let ended = self.shown.values().filter(|shown| matches!(shown, Shown::Ended(_))).count();
        self.bar.set_length(plan.steps.len() as u64);
        self.bar.set_position(ended as u64);
        let current = plan.steps.iter().find(|step| self.shown.get(&step.step_number) == Some(&Shown::Started));
        let current = current.map_or_else(String::new, |step| format!("{}. {}", step.step_number, step.description));
        self.bar.set_message(escape_and_truncate(&current, 60));
        Ok(changed)
    }

    fn show_start(&self, step: &PlanStepRow) -> io::Result<()> {
        self.show_event(step, "step_started", "", None)?;
        match &step.tool {
            Some(tool) => self.show_event(step, "tool_call", &format!("calls {tool}"), Some(("tool", tool))),
            None => Ok(()),
        }
    }

    fn show_end(&self, step: &PlanStepRow, status: PlanStepStatus) -> io::Result<()> {
        let result = step.result.as_deref().map(shorten_result);
        let why = step.error_message.as_deref().unwrap_or_default();
        match status {
            PlanStepStatus::Completed => {
                let shown = step.result.as_deref().map(describe_result).unwrap_or_default();
                self.show_event(
                    step,
                    "step_completed",
                    &format!("done. {shown}"),
                    result.as_deref().map(|text| ("result", text)),
                )
            }
            PlanStepStatus::Failed => {
                self.show_event(step, "step_failed", &format!("failed: {why}"), Some(("error", why)))
            }
            PlanStepStatus::Skipped => {
                let text = if why.is_empty() { "skipped".to_owned() } else { format!("not done: {why}") };
                self.show_event(step, "step_skipped", &text, Some(("reason", why)))
            }
            PlanStepStatus::Pending | PlanStepStatus::InProgress => Ok(()),
        }
    }

    /// Prints one event of a step, as a line or as JSON. Nothing is printed for a text that is empty except the start.
    fn show_event(&self, step: &PlanStepRow, event: &str, text: &str, field: Option<(&str, &str)>) -> io::Result<()> {
        let screen = self.screen;
        if screen.is_json {
            let mut line = json!({ "event": event, "step": step.step_number, "description": step.description });
            if let (Some(fields), Some((name, value))) = (line.as_object_mut(), field) {
                fields.insert(name.to_owned(), Value::from(value));
            }
            return screen.print_line(&line.to_string());
        }
        let what = if text.is_empty() { &step.description } else { text };
        let line = format!("{}. {}", step.step_number, escape_and_truncate(what, LONGEST_RESULT + 20));
        self.bar.suspend(|| screen.print_line(&line))
    }

    /// Forgets how failed steps were shown, so that they are shown again after a decision.
    fn forget_failures(&mut self) {
        self.shown.retain(|_, shown| *shown != Shown::Ended(PlanStepStatus::Failed));
    }

    /// Prints how the plan stands and what a person can do now. Returns the exit code: 0 unless a step failed.
    async fn finish(self, app: &App, plan: &PlanRow, items: &[ItemRow]) -> anyhow::Result<ExitCode> {
        self.bar.finish_and_clear();
        let screen = self.screen;
        let row = app.tasks().find(&plan.task_id.to_string()).await?;
        let failed = plan.status == PlanStatus::Failed;
        let code = if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        if screen.is_json {
            let numbers: Vec<i64> = items.iter().map(|item| item.number).collect();
            let line = json!({ "event": "plan_ended", "task": row.number, "task_id": plan.task_id, "status": plan.status,
                               "task_status": row.task.status, "summary": plan.execution_summary, "items": numbers });
            screen.print_line(&line.to_string())?;
            return Ok(code);
        }
        let number = row.number.map_or_else(|| plan.task_id.to_string(), |number| number.to_string());
        let status = plan.status.as_str().replace('_', " ");
        screen.print_line(&format!("Plan of task {number}: {status}."))?;
        let (.., is_running) = app.plans().progress(plan.task_id).await?;
        if is_running {
            screen.print_line(&format!("The rest goes on later, or with `adjutant ask --resume {number}`."))?;
        }
        for item in items {
            let advice = match item.kind {
                ItemKind::FailedStep => {
                    format!("adjutant hitl retry {0}, adjutant hitl skip {0} or adjutant hitl cancel {0}", item.number)
                }
                _ => format!("adjutant hitl show {}", item.number),
            };
            screen.print_line(&format!("Waits for you: {} ({advice})", escape_and_truncate(&item.title, 200)))?;
        }
        let own = plan.steps.iter().filter(|step| step.status == PlanStepStatus::Pending && items.is_empty());
        for step in own {
            screen.print_line(&format!(
                "Yours: {}. {}",
                step.step_number,
                escape_and_truncate(&step.description, 160)
            ))?;
        }
        Ok(code)
    }
}
