//! The five nodes. Each is a function of its state, the recorded replies and the time, and writes only the fields that
//! [`writable_fields`] names.

mod asked_files;
mod execute_tool;
mod follow_up;
mod generate_response;
mod mail_plan;

mod plan_step;
mod prioritise;
mod retrieve_context;
mod wording;

use std::sync::Arc;

use crate::{
    graph::entry::Node,
    model::{Change, Me, NodeName, WrittenField, plan::PlannerSettings},
    tool::Registry,
};

/// One implementation for each node name: the shipped five, or others in a benchmark or a test.
pub struct Nodes {
    pub plan_step: Box<dyn Node>,
    pub prioritise: Box<dyn Node>,
    pub retrieve_context: Box<dyn Node>,
    pub execute_tool: Box<dyn Node>,
    pub generate_response: Box<dyn Node>,
}

impl Nodes {
    /// Returns the five nodes of the product, with the planner as it is without a configuration.
    pub fn shipped(me: &Arc<Me>, tools: &Arc<Registry>) -> Self {
        Self::with_planner(me, tools, &PlannerSettings::default())
    }

    /// Returns the five nodes of the product.
    pub fn with_planner(me: &Arc<Me>, tools: &Arc<Registry>, planner: &PlannerSettings) -> Self {
        Self {
            plan_step: Box::new(plan_step::PlanStep {
                me: Arc::clone(me),
                tools: Arc::clone(tools),
                plans_requests: planner.is_enabled,
            }),
            prioritise: Box::new(prioritise::Prioritise { me: Arc::clone(me) }),
            retrieve_context: Box::new(retrieve_context::RetrieveContext),
            execute_tool: Box::new(execute_tool::ExecuteTool {
                me: Arc::clone(me),
                tools: Arc::clone(tools),
                planner: planner.clone(),
            }),
            generate_response: Box::new(generate_response::GenerateResponse {
                me: Arc::clone(me),
                tools: Arc::clone(tools),
            }),
        }
    }

    pub fn get(&self, name: NodeName) -> &dyn Node {
        match name {
            NodeName::PlanStep => self.plan_step.as_ref(),
            NodeName::Prioritise => self.prioritise.as_ref(),
            NodeName::RetrieveContext => self.retrieve_context.as_ref(),
            NodeName::ExecuteTool => self.execute_tool.as_ref(),
            NodeName::GenerateResponse => self.generate_response.as_ref(),
        }
    }
}

/// Returns the fields that a node may write, by the contracts of the specification. The engine treats any other change
/// as a failure of the node.
pub const fn writable_fields(node: NodeName) -> &'static [WrittenField] {
    use WrittenField::{ContextDocs, Ledger, Priority, ResultSummary, Status, Subtasks, Tasks, ToolOutput};
    match node {
        NodeName::PlanStep => &[Tasks, Ledger],
        NodeName::Prioritise => &[Priority, Status],
        NodeName::RetrieveContext => &[ContextDocs],
        NodeName::ExecuteTool => &[Subtasks, Status, ToolOutput],
        NodeName::GenerateResponse => &[Status, ResultSummary],
    }
}

/// Returns what a node reads, by the contracts of the specification, for a person.
pub const fn describe_input(node: NodeName) -> &'static str {
    match node {
        NodeName::PlanStep => "the mail and what is known of its conversation",
        NodeName::Prioritise => "the task and its facts",
        NodeName::RetrieveContext => "the task and its context",
        NodeName::ExecuteTool => "the steps of the task and what was found for it",
        NodeName::GenerateResponse => "what the steps found out",
    }
}

/// Returns the first change that the node's contract does not allow.
pub fn find_forbidden_change(node: NodeName, changes: &[Change]) -> Option<&Change> {
    changes.iter().find(|change| !writable_fields(node).contains(&change.written_field()))
}
