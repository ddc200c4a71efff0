//! What a person's rules do to a mail.

use serde::{Deserialize, Serialize};

use crate::model::{ActionId, Effect};

/// What a rule does to every mail that matches it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum RuleAct {
    /// Adds a label from the configured set. It comes before the archive, which moves the mail.
    Label { label: String },
    /// Moves the mail to the archive.
    Archive,
}

impl RuleAct {
    /// Returns the name of the tool that does it.
    pub const fn tool(&self) -> &'static str {
        match self {
            Self::Label { .. } => "label",
            Self::Archive => "archive",
        }
    }

    /// Returns the step of the outbox row: a mail may have several labels.
    pub fn step(&self) -> String {
        match self {
            Self::Label { label } => format!("label {label}"),
            Self::Archive => "archive".to_owned(),
        }
    }

    pub fn effect(&self) -> Effect {
        match self {
            Self::Label { label } => Effect::Label { label: label.clone() },
            Self::Archive => Effect::Archive,
        }
    }
}

/// An act, and the rule that asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchedAct {
    pub act: RuleAct,
    pub rule: String,
}

/// An act as the run of a mail plans it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRuleEffect {
    /// Derived from mail, step and generation, so that it happens once.
    pub action_id: ActionId,
    #[serde(flatten)]
    pub matched: MatchedAct,
}
