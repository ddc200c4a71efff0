//! What may be done: code decides it from the resolved action. The only constructor of an [`ApprovedAction`].
//!
//! Pure: no I/O and no clock. Nothing that a mail, a rule or a model says lowers a risk class, and what is in doubt is
//! not done.

mod agreement;
mod class;
mod policy_file;
pub mod recipient;

use serde::{Deserialize, Serialize};

pub use class::classify;
pub use policy_file::{Approvals, BUILT_IN, Caps, EffectPolicy, PolicyIsBroken};

use crate::model::{
    AccountMode, Action, Address, Approval, Instant, Mail, RiskClass,
    action::{Argument, Origin},
};

/// What a verdict depends on beside the action itself.
#[derive(Debug, Clone, Copy)]
pub struct PolicyContext<'a> {
    pub mode: AccountMode,
    /// The mail that caused the action.
    pub mail: Option<&'a Mail>,
    /// The labels that the person configured.
    pub labels: &'a [String],
    /// Whether the mail looks like phishing; then nothing but R0 is done for it.
    pub is_phishing: bool,
    /// The person's own addresses.
    pub own: &'a [String],
    pub policy: &'a EffectPolicy,
    /// The person's approval of the action, if there is one.
    pub approval: Option<&'a Approval>,
    /// The epoch of the data folder. A restored backup starts a new one.
    pub epoch: i64,
    /// When the data was last restored from a backup. A mail that arrived before may have been answered since the
    /// backup was made.
    pub restored_at: Option<Instant>,
    pub now: Instant,
}

/// What a node is told about an account, to judge an action the same way in a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountPermissions {
    pub mode: AccountMode,
    pub labels: Vec<String>,
    /// The policy at that time.
    #[serde(rename = "charter")]
    pub policy: EffectPolicy,
    pub epoch: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored_at: Option<Instant>,
    /// Whether every effect is held.
    pub paused: bool,
}

/// Proof that an action may be carried out now. It cannot be built, copied or read from disk outside this module: a
/// stored action is judged again.
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

/// What the policy says about an action.
#[derive(Debug)]
pub enum PolicyVerdict {
    /// The action may be carried out now.
    Allowed(Box<ApprovedAction>),
    /// A person must approve the action first.
    NeedsApproval { class: RiskClass, reason: String },
    /// The action is shown and not carried out, because the account is not active or the mail looks like phishing.
    Withheld { class: RiskClass, reason: String },
    /// The action is never carried out, whoever approves it.
    Denied { reason: String },
}

/// Judges an action. It is called when the action is planned and again right before the effect, with what is true then.
pub fn judge_action(action: Action, situation: &PolicyContext<'_>) -> PolicyVerdict {
    let (class, reason) = match classify(&action, situation) {
        Ok(found) => found,
        Err(reason) => return PolicyVerdict::Denied { reason },
    };
    if class == RiskClass::R0 {
        return PolicyVerdict::Allowed(Box::new(ApprovedAction { action, class }));
    }
    if situation.is_phishing {
        return PolicyVerdict::Withheld {
            class,
            reason: "the mail looks like phishing: nothing is done in its name".into(),
        };
    }
    if situation.mode != AccountMode::Active {
        return PolicyVerdict::Withheld {
            class,
            reason: format!("the account is in {} mode: nothing is touched", situation.mode),
        };
    }
    match class {
        RiskClass::R0 | RiskClass::R1 => return PolicyVerdict::Allowed(Box::new(ApprovedAction { action, class })),
        RiskClass::R2 if is_allow_listed(&action, situation) && !predates_restore(&action, situation) => {
            return PolicyVerdict::Allowed(Box::new(ApprovedAction { action, class }));
        }
        RiskClass::R2 | RiskClass::R3 => {}
        RiskClass::R4 => return PolicyVerdict::Denied { reason },
    }
    match check_approval(&action, situation) {
        Ok(()) => PolicyVerdict::Allowed(Box::new(ApprovedAction { action, class })),
        Err(Some(doubt)) => PolicyVerdict::NeedsApproval { class, reason: format!("{reason}; {doubt}") },
        Err(None) => PolicyVerdict::NeedsApproval { class, reason },
    }
}

/// Approves what follows a message that was sent under this approval, such as its calendar event, for exactly the same
/// action. The approval was used, so neither its age nor a new policy changes what it was given for.
pub fn approve_post_send(action: Action, class: RiskClass, approval: &Approval) -> Option<Box<ApprovedAction>> {
    let same = approval.used && is_for(approval, &action);
    same.then(|| Box::new(ApprovedAction { action, class }))
}

/// Returns whether an approval was given for exactly this action. An action that cannot be encoded has no approval.
fn is_for(approval: &Approval, action: &Action) -> bool {
    action.sha256().is_ok_and(|sha256| sha256 == approval.sha256)
}

/// Returns whether the allow-list lets the message go without asking. An entry stands for one person: the verified
/// sender of the mail at hand must be that person, and every recipient that sender or the person themselves, because
/// anyone else in the mail is whatever its author put there. Words of a model are always shown first.
fn is_allow_listed(action: &Action, situation: &PolicyContext<'_>) -> bool {
    let (Some(message), Some(mail)) = (action.effect.message(), situation.mail) else { return false };
    let Some(sender) = recipient::normalise_address(&mail.from.addr) else { return false };
    let of_a_model = action.arguments.iter().any(|argument: &Argument| argument.origin == Origin::Model);
    let is_vouched_for = |argument: &Argument| argument.origin != Origin::Mail || argument.verified;
    let is_own =
        |addr: &str| situation.own.iter().any(|own| recipient::normalise_address(own).as_deref() == Some(addr));
    let goes_back = |address: &Address| {
        recipient::normalise_address(&address.addr).is_some_and(|addr| addr == sender || is_own(addr.as_str()))
    };
    mail.authentication.verified
        && situation.policy.allow.contains(&sender)
        && !of_a_model
        && action.arguments.iter().all(is_vouched_for)
        && !message.has_gap()
        && message.recipients().all(goes_back)
}

/// Returns whether the mail behind an action arrived before the data was restored. The id of a task holds the arrival
/// of its mail.
fn predates_restore(action: &Action, situation: &PolicyContext<'_>) -> bool {
    situation.restored_at.is_some_and(|restored| action.possible_since_ms() <= restored.unix_ms())
}

/// Checks that a person approved exactly this action. The error says what is wrong with the approval; none when there
/// is none.
fn check_approval(action: &Action, situation: &PolicyContext<'_>) -> Result<(), Option<&'static str>> {
    let approval = situation.approval.ok_or(None)?;
    let terms = action.terms.as_ref().ok_or(Some("it was never asked about"))?;
    let wrong = if !is_for(approval, action) {
        "the approval was for something else"
    } else if !approval.channel.may_approve() {
        "an approval through this interface does not count"
    } else if approval.used {
        "the approval was used already"
    } else if approval.expires_at <= situation.now || terms.expires_at <= situation.now {
        "the approval has expired"
    } else if approval.expires_at > terms.expires_at {
        "the approval outlives what it allows"
    } else if approval.epoch != situation.epoch {
        "the approval is from before a restore"
    } else if terms.policy != situation.policy.version {
        "the policy has changed since"
    } else if action.effect.message().is_some_and(crate::model::action::ComposedMessage::has_gap) {
        "its text has a gap that only you can fill"
    } else {
        return Ok(());
    };
    Err(Some(wrong))
}

#[cfg(test)]
mod tests;
