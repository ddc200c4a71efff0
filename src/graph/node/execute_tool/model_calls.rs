//! The calls that a model names for a step of a plan.

use super::ExecuteTool;
use crate::{
    graph::entry::{NodeInput, NodeOutput},
    model::{PlanStep, Task, TaskPlan},
};

impl ExecuteTool {
    pub(super) fn ask_for_calls(
        &self,
        entry: &NodeInput<'_>,
        task: &Task,
        _plan: &TaskPlan,
        step: &PlanStep,
    ) -> anyhow::Result<NodeOutput> {
        Ok(super::park_failed_step(entry, task, &step.name(), "there is no model to ask", Vec::new()))
    }
}
