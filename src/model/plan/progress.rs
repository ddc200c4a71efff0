//! Where a plan stands, derived from its task.

use serde::Serialize;
use serde_json::{Value, json};

use super::{PlanStatus, PlanStepStatus, PlannedStep, TaskPlan};
use crate::model::{Task, TaskStatus};

/// What the output of a step says about how it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOutput {
    /// There is none: the step was not begun.
    None,
    /// The step was begun, and its effect has not ended, or it is done.
    Begun,
    /// The effect of the step waits for a person's approval.
    Waiting,
    /// The step failed, and a person is asked.
    Failed,
    /// A person skipped the step.
    Skipped,
    /// The step was not carried out, because the account only observes.
    Withheld,
    /// A person said no, or nobody answered in time.
    Void,
    /// Only the person can do the step.
    LeftToPerson,
}

impl StepOutput {
    /// The key of the output of a failed step, with the reason.
    pub const FAILED: &'static str = "failed";
    /// The key of the output of a step whose effect waits for approval, with the reason.
    pub const WAITS: &'static str = "waits";
    /// The key of the output of a step that only the person can do.
    pub const LEFT_TO_PERSON: &'static str = "yours";

    /// Returns the output of a failed step.
    pub fn failed(error: &str) -> Value {
        json!({ Self::FAILED: error })
    }

    /// Reads the output of a step of a task.
    pub fn of_step(task: &Task, step: &str) -> Self {
        let Some(output) = task.tool_output.as_ref().and_then(|outputs| outputs.get(step)) else { return Self::None };
        let has = |key: &str| output.get(key).is_some();
        if has(Self::FAILED) {
            Self::Failed
        } else if has("skipped") {
            Self::Skipped
        } else if has(Self::LEFT_TO_PERSON) {
            Self::LeftToPerson
        } else if has("void") {
            Self::Void
        } else if has("withheld") {
            Self::Withheld
        } else if has(Self::WAITS) {
            Self::Waiting
        } else {
            Self::Begun
        }
    }
}

/// Where a task's plan and its steps stand.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanProgress {
    pub status: PlanStatus,
    pub steps: Vec<PlanStepStatus>,
}

/// A plan as it is stored and shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanRow {
    pub task_id: crate::model::TaskId,
    pub original_request: String,
    pub origin: super::PlanOrigin,
    pub score: u8,
    pub reasons: Vec<super::ComplexityReason>,
    pub status: PlanStatus,
    /// What came of the plan; none before its end.
    pub execution_summary: Option<String>,
    pub steps: Vec<PlanStepRow>,
}

/// A step of a plan as it is stored and shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanStepRow {
    pub step_number: u32,
    pub description: String,
    pub instruction: String,
    pub tool: Option<String>,
    pub after: Vec<u32>,
    pub status: PlanStepStatus,
    /// The output of the step as JSON, whole.
    pub result: Option<String>,
    pub error_message: Option<String>,
}

impl PlanProgress {
    /// Derives where the plan of a task stands.
    pub fn of_task(plan: &TaskPlan, task: &Task) -> Self {
        let steps: Vec<PlanStepStatus> = plan.steps.iter().map(|step| step_status(step, task)).collect();
        let has_failed = steps.contains(&PlanStepStatus::Failed);
        let status = match task.status {
            TaskStatus::Cancelled => PlanStatus::Cancelled,
            TaskStatus::Done => PlanStatus::Completed,
            _ if has_failed => PlanStatus::Failed,
            TaskStatus::InProgress | TaskStatus::WaitingHitl => PlanStatus::InProgress,
            TaskStatus::New | TaskStatus::Ready => PlanStatus::Pending,
        };
        Self { status, steps }
    }
}

fn step_status(step: &PlannedStep, task: &Task) -> PlanStepStatus {
    let name = step.name();
    let is_done = task.subtasks.iter().any(|subtask| subtask.step == name && subtask.done);
    match (is_done, StepOutput::of_step(task, &name)) {
        (_, StepOutput::Skipped) => PlanStepStatus::Skipped,
        (true, _) => PlanStepStatus::Completed,
        (false, StepOutput::Failed) => PlanStepStatus::Failed,
        (false, StepOutput::Withheld | StepOutput::Void) => PlanStepStatus::Skipped,
        (false, StepOutput::Begun | StepOutput::Waiting) => PlanStepStatus::InProgress,
        (false, StepOutput::None) if step.started_at.is_some() => PlanStepStatus::InProgress,
        (false, StepOutput::None | StepOutput::LeftToPerson) => PlanStepStatus::Pending,
    }
}

impl PlanRow {
    /// Returns the plan of a task with where it stands.
    pub fn of_task(plan: &TaskPlan, task: &Task) -> Self {
        let progress = PlanProgress::of_task(plan, task);
        let outputs = task.tool_output.as_ref();
        let rows = plan.steps.iter().zip(progress.steps).map(|(step, status)| {
            let output = outputs.and_then(|outputs| outputs.get(&step.name()));
            PlanStepRow {
                step_number: step.step_number,
                description: step.description.clone(),
                instruction: step.instruction.clone(),
                tool: step.call.as_ref().map(|call| call.tool.clone()),
                after: step.after.clone(),
                status,
                result: output.map(Value::to_string),
                error_message: output.and_then(explain_output),
            }
        });
        Self {
            task_id: task.task_id,
            original_request: plan.original_request.clone(),
            origin: plan.origin,
            score: plan.complexity.score,
            reasons: plan.complexity.reasons.clone(),
            status: progress.status,
            execution_summary: task.result_summary.clone(),
            steps: rows.collect(),
        }
    }
}

/// Returns why a step failed, was skipped or is left to the person.
fn explain_output(output: &Value) -> Option<String> {
    let text = |key: &str| output.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    [StepOutput::FAILED, "void", "withheld", StepOutput::LEFT_TO_PERSON]
        .iter()
        .find_map(|key| text(key))
        .or_else(|| output.get("skipped").and_then(|_| text("reason")))
}
