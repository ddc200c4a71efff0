//! Who did what the history of a task, the audit chain and the versions of the rules record.

mod client_name;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use client_name::{BadClientName, ClientName};

use super::{NodeName, text_enum::UnknownVariant};

/// Who acted. Words are added and never removed: the audit chain is verified with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    Person,
    PlanStep,
    Prioritise,
    RetrieveContext,
    ExecuteTool,
    GenerateResponse,
    /// Mail that arrives, where the whole of it replaces its beginning.
    Intake,
    Outbox,
    /// A time that passed without an answer.
    Clock,
    /// A reminder that was shown.
    Reminder,
    /// A policy that was changed, so that what waits is judged again.
    Policy,
    /// The daemon or a command that does its work, at its start.
    Worker,
    Nightly,
    /// The rules, after a person approved a proposal.
    Approval,
    /// The rules, after a person went back to an earlier version.
    Rollback,
    /// A program that works for the person, and is not the person: the database refuses an approval and a version of
    /// the rules by one, and the nightly job learns nothing from what it does.
    Client(ClientName),
}

impl Actor {
    /// Everyone but the clients, whose names are not known beforehand.
    pub const ALL: &'static [Actor] = &[
        Actor::Person,
        Actor::PlanStep,
        Actor::Prioritise,
        Actor::RetrieveContext,
        Actor::ExecuteTool,
        Actor::GenerateResponse,
        Actor::Intake,
        Actor::Outbox,
        Actor::Clock,
        Actor::Reminder,
        Actor::Policy,
        Actor::Worker,
        Actor::Nightly,
        Actor::Approval,
        Actor::Rollback,
    ];

    pub fn as_str(&self) -> &str {
        match self {
            Actor::Person => "person",
            Actor::PlanStep => "plan_step",
            Actor::Prioritise => "prioritise",
            Actor::RetrieveContext => "retrieve_context",
            Actor::ExecuteTool => "execute_tool",
            Actor::GenerateResponse => "generate_response",
            Actor::Intake => "intake",
            Actor::Outbox => "outbox",
            Actor::Clock => "clock",
            Actor::Reminder => "reminder",
            Actor::Policy => "policy",
            Actor::Worker => "worker",
            Actor::Nightly => "night",
            Actor::Approval => "approval",
            Actor::Rollback => "rollback",
            Actor::Client(name) => name.as_str(),
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Actor {
    type Err = UnknownVariant;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.iter().copied().find(|actor| actor.as_str() == text);
        known.or_else(|| text.parse().ok().map(Actor::Client)).ok_or_else(|| UnknownVariant {
            text: text.to_owned(),
            expected: format!("{}, mcp:NAME", Self::ALL.iter().map(Actor::as_str).collect::<Vec<_>>().join(", ")),
        })
    }
}

impl Serialize for Actor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Actor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
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

    #[test]
    fn everyone_reads_back_and_nobody_else() {
        let client = Actor::Client(ClientName::of_mcp_client("An Editor"));
        for actor in Actor::ALL.iter().copied().chain([client]) {
            assert_eq!(actor.as_str().parse(), Ok(actor));
            assert_eq!(serde_json::to_value(actor).unwrap(), actor.as_str());
        }
        for text in ["", "Person", "mcp:", "nobody", "chat:1"] {
            assert!(text.parse::<Actor>().is_err(), "{text}");
        }
    }
}
