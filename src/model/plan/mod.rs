//! The plan of a request with several steps: what it consists of, and where each step stands.
//!
//! The definition of a plan lives in the context of its task ([`TaskPlan::KEY`]), so that every node sees it with the
//! task. Where the steps stand is derived from the task's subtasks and outputs, never written beside them: a plan and its
//! task cannot disagree.

mod progress;

pub use progress::{PlanProgress, PlanRow, PlanStepRow, StepOutput};

use chrono::Duration;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Instant, Subtask, Task, TaskContext, text_enum::text_enum};

/// The section `[planner]` of the configuration, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannerSettings {
    /// Whether complex requests get a plan.
    pub is_enabled: bool,
    /// Whether calls that a model wrote as text are read.
    pub parses_calls_in_text: bool,
    /// How long the same writing call counts as a repetition.
    pub deduplication_window: Duration,
    /// How often a reading call or a model call is tried again after a transient error.
    pub max_retry_attempts: usize,
    /// How many steps of a plan go on side by side.
    pub max_parallel_steps: usize,
    /// The time within which a started call must have ended.
    pub completion_timeout: Duration,
}

impl Default for PlannerSettings {
    fn default() -> Self {
        Self {
            is_enabled: true,
            parses_calls_in_text: true,
            deduplication_window: Duration::seconds(5),
            max_retry_attempts: 2,
            max_parallel_steps: 4,
            completion_timeout: Duration::seconds(30),
        }
    }
}

text_enum! {
    /// Where a plan stands.
    PlanStatus {
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
        Cancelled = "cancelled",
        /// A step failed, and a person is asked what to do.
        Failed = "failed",
    }
}

text_enum! {
    /// Where a step of a plan stands.
    PlanStepStatus {
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
        Skipped = "skipped",
        Failed = "failed",
    }
}

text_enum! {
    /// Who divided the request into steps.
    PlanOrigin {
        /// The program, by the request's own numbers and conjunctions.
        Words = "words",
        Model = "model",
        /// A person, who edited the steps.
        Person = "person",
    }
}

text_enum! {
    /// Why a request counts as complex.
    ComplexityReason {
        /// It begins with a verb such as "build" and names something large, such as "a website".
        ScopedImperative = "scoped_imperative",
        NumberedList = "numbered_list",
        LongRequest = "long_request",
        /// Several tasks are joined by "and" or "also".
        JoinedTasks = "joined_tasks",
    }
}

impl ComplexityReason {
    /// Returns the reason in words for a person.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::ScopedImperative => "it asks for something large",
            Self::NumberedList => "it is a numbered list",
            Self::LongRequest => "it is long",
            Self::JoinedTasks => "it joins several tasks",
        }
    }
}

/// How complex a request is, from 0 to 100, and why. Without a reason it is simple and is worked without a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complexity {
    pub score: u8,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<ComplexityReason>,
}

impl Complexity {
    pub fn is_complex(&self) -> bool {
        !self.reasons.is_empty()
    }
}

/// A call of a tool, as a step of a plan or a model asks for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub tool: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
}

/// One step of a plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlannedStep {
    #[serde(rename = "number")]
    pub step_number: u32,
    /// A short text for a person.
    pub description: String,
    /// What is to be done, in full.
    pub instruction: String,
    /// The steps that must have ended before this one begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<u32>,
    /// The call that does the step. None until a model has named one, and for a step of the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolCall>,
    /// Whether a model is asked which call does the step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_model: bool,
    /// When the step's call began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Instant>,
}

impl PlannedStep {
    /// Returns the name of the step among the task's subtasks and outputs, which is unique in the plan.
    pub fn name(&self) -> String {
        format!("{}. {}", self.step_number, self.description)
    }

    /// Returns whether the program does the step, rather than the person.
    pub const fn is_agents(&self) -> bool {
        self.call.is_some() || self.asks_model
    }
}

/// Somebody whom the request names. A model refers to them by the handle and never sees or writes an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanPerson {
    /// `P1`, `P2` and so on.
    pub handle: String,
    /// The name or the address as the request has it.
    pub name: String,
    pub address: String,
}

/// The definition of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskPlan {
    pub original_request: String,
    pub origin: PlanOrigin,
    #[serde(default)]
    pub complexity: Complexity,
    /// Whom the request names, as far as their addresses are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<PlanPerson>,
    pub steps: Vec<PlannedStep>,
}

/// Changes the plan of a task, and keeps its subtasks in agreement: a new step gets a subtask, which is open.
pub(super) fn change_plan(task: &mut Task, change: impl FnOnce(&mut TaskPlan)) {
    let Some(mut plan) = TaskPlan::of_context(&task.context) else { return };
    change(&mut plan);
    for subtask in plan.subtasks() {
        if !task.subtasks.iter().any(|known| known.step == subtask.step) {
            task.subtasks.push(subtask);
        }
    }
    plan.store_in(&mut task.context);
}

impl TaskPlan {
    /// The key of the plan in the context of its task.
    pub const KEY: &'static str = "plan";
    /// The most steps of a plan. A person does not read, and so cannot agree to, a longer one.
    pub const MOST_STEPS: usize = 30;

    /// Returns the plan of a task; none when the task has none, or one that this program cannot read.
    pub fn of_context(context: &TaskContext) -> Option<Self> {
        Self::deserialize(context.more.get(Self::KEY)?).ok()
    }

    /// Stores the plan in the context of its task.
    pub fn store_in(&self, context: &mut TaskContext) {
        if let Ok(value) = serde_json::to_value(self) {
            context.more.insert(Self::KEY.to_owned(), value);
        }
    }

    /// Returns the subtasks that mirror the steps.
    pub fn subtasks(&self) -> Vec<Subtask> {
        self.steps.iter().map(|step| Subtask { step: step.name(), done: false }).collect()
    }

    /// Returns the step of this name.
    pub fn step(&self, name: &str) -> Option<&PlannedStep> {
        self.steps.iter().find(|step| step.name() == name)
    }

    /// Returns the person whom a recipient of a call names: by handle, by name or by address.
    pub fn person(&self, named: &str) -> Option<&PlanPerson> {
        let named = named.trim();
        self.people.iter().find(|person| {
            person.handle == named
                || person.name.eq_ignore_ascii_case(named)
                || person.address.eq_ignore_ascii_case(named)
        })
    }

    /// Returns a text with the handles of people in the place of their names and addresses, for a model.
    pub fn with_handles(&self, text: &str) -> String {
        self.people.iter().fold(text.to_owned(), |text, person| {
            text.replace(&person.address, &person.handle).replace(&person.name, &person.handle)
        })
    }

    pub(super) fn start_step(&mut self, number: u32, at: Instant) {
        if let Some(step) = self.step_mut(number) {
            step.started_at = Some(at);
        }
    }

    /// Sets the calls of a step. Each further call becomes a step behind the first, before all that came after it.
    pub(super) fn set_calls(&mut self, number: u32, calls: &[ToolCall]) {
        let Some((first, further)) = calls.split_first() else { return };
        let Some(step) = self.step_mut(number) else { return };
        step.call = Some(first.clone());
        let (description, instruction) = (step.description.clone(), step.instruction.clone());
        let mut last = number;
        for (call, part) in further.iter().zip(2..) {
            let next = self.steps.iter().map(|step| step.step_number).max().unwrap_or_default() + 1;
            for waiting in self.steps.iter_mut().filter(|step| step.after.contains(&number)) {
                waiting.after.push(next);
            }
            self.steps.push(PlannedStep {
                step_number: next,
                description: format!("{description} ({part})"),
                instruction: instruction.clone(),
                after: vec![last],
                call: Some(call.clone()),
                asks_model: true,
                ..PlannedStep::default()
            });
            last = next;
        }
    }

    pub fn step_mut(&mut self, number: u32) -> Option<&mut PlannedStep> {
        self.steps.iter_mut().find(|step| step.step_number == number)
    }
}
