//! The plan of a request with several steps: what it consists of, and where each step stands.
//!
//! The definition of a plan lives in the context of its task ([`TaskPlan::KEY`]), so that every node sees it with the
//! task. Where the steps stand is derived from the task's subtasks and outputs, never written beside them: a plan and its
//! task cannot disagree.

mod progress;

pub use progress::{PlanProgress, PlanRow, PlanStepRow, StepOutput};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Instant, Subtask, TaskContext, text_enum::text_enum};

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
pub struct PlanStep {
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

impl PlanStep {
    /// Returns the name of the step among the task's subtasks and outputs, which is unique in the plan.
    pub fn name(&self) -> String {
        format!("{}. {}", self.step_number, self.description)
    }

    /// Returns whether the program does the step, rather than the person.
    pub const fn is_agents(&self) -> bool {
        self.call.is_some() || self.asks_model
    }
}

/// The definition of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskPlan {
    pub original_request: String,
    pub origin: PlanOrigin,
    #[serde(default)]
    pub complexity: Complexity,
    pub steps: Vec<PlanStep>,
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
    pub fn step(&self, name: &str) -> Option<&PlanStep> {
        self.steps.iter().find(|step| step.name() == name)
    }

    pub fn step_mut(&mut self, number: u32) -> Option<&mut PlanStep> {
        self.steps.iter_mut().find(|step| step.step_number == number)
    }
}
