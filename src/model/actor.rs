//! Who did what the history of a task, the audit chain and the versions of the rules record.

use super::{NodeName, text_enum::text_enum};

text_enum! {
    /// Who acted. Words are added and never removed: the audit chain is verified with them.
    Actor {
        Person = "person",
        PlanStep = "plan_step",
        Prioritise = "prioritise",
        RetrieveContext = "retrieve_context",
        ExecuteTool = "execute_tool",
        GenerateResponse = "generate_response",
        /// Mail that arrives, where the whole of it replaces its beginning.
        Intake = "intake",
        Outbox = "outbox",
        /// A time that passed without an answer.
        Clock = "clock",
        /// A reminder that was shown.
        Reminder = "reminder",
        /// A policy that was changed, so that what waits is judged again.
        Policy = "policy",
        /// The daemon or a command that does its work, at its start.
        Worker = "worker",
        Nightly = "night",
        /// The rules, after a person approved a proposal.
        Approval = "approval",
        /// The rules, after a person went back to an earlier version.
        Rollback = "rollback",
    }
}

impl From<NodeName> for Actor {
    fn from(node: NodeName) -> Self {
        match node {
            NodeName::PlanStep => Actor::PlanStep,
            NodeName::Prioritise => Actor::Prioritise,
            NodeName::RetrieveContext => Actor::RetrieveContext,
            NodeName::ExecuteTool => Actor::ExecuteTool,
            NodeName::GenerateResponse => Actor::GenerateResponse,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_acts_under_its_own_name() {
        for node in NodeName::ALL {
            assert_eq!(Actor::from(*node).as_str(), node.as_str());
        }
    }
}
