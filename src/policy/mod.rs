//! What may happen, decided by code from the resolved action. The only maker of an [`ApprovedAction`].
//!
//! Pure: no I/O, no clock. Nothing a mail, a rule or a model says lowers a class; doubt means no.

mod class;

use serde::{Deserialize, Serialize};

pub use class::classify;

use crate::model::{AccountMode, Action, Mail, RiskClass};

/// What a verdict depends on beside the action itself.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    pub mode: AccountMode,
    /// The mail that caused the action.
    pub mail: Option<&'a Mail>,
    /// The labels a person configured.
    pub labels: &'a [String],
    /// The mail looks like phishing: effects on it are off.
    pub phishing: bool,
}

/// How an account stands, as a node is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub mode: AccountMode,
    pub labels: Vec<String>,
}

/// Proof that an action may run now. It cannot be built, copied or read from disk outside this module: a stored action
/// is judged again.
///
/// ```compile_fail
/// let action: adjutant::policy::ApprovedAction = serde_json::from_str("{}").unwrap();
/// ```
///
/// ```compile_fail
/// fn copy(action: &adjutant::policy::ApprovedAction) -> adjutant::policy::ApprovedAction { action.clone() }
/// ```
#[derive(Debug)]
pub struct ApprovedAction {
    action: Action,
    class: RiskClass,
}

impl ApprovedAction {
    pub const fn action(&self) -> &Action {
        &self.action
    }

    pub const fn class(&self) -> RiskClass {
        self.class
    }
}

#[derive(Debug)]
pub enum Verdict {
    Allowed(Box<ApprovedAction>),
    NeedsApproval {
        class: RiskClass,
        reason: String,
    },
    /// Shown, never fired.
    Withheld {
        class: RiskClass,
        reason: String,
    },
    Denied {
        reason: String,
    },
}

pub fn judge(action: Action, situation: &Situation<'_>) -> Verdict {
    let (class, reason) = match classify(&action, situation) {
        Ok(found) => found,
        Err(reason) => return Verdict::Denied { reason },
    };
    if class == RiskClass::R0 {
        return Verdict::Allowed(Box::new(ApprovedAction { action, class }));
    }
    if situation.phishing {
        return Verdict::Withheld { class, reason: "the mail looks like phishing: nothing is done in its name".into() };
    }
    if situation.mode != AccountMode::Active {
        return Verdict::Withheld {
            class,
            reason: format!("the account is in {} mode: nothing is touched", situation.mode),
        };
    }
    match class {
        RiskClass::R0 | RiskClass::R1 => Verdict::Allowed(Box::new(ApprovedAction { action, class })),
        RiskClass::R2 | RiskClass::R3 => Verdict::NeedsApproval { class, reason },
        RiskClass::R4 => Verdict::Denied { reason },
    }
}

#[cfg(test)]
mod tests;
