//! `rules/policy.yml`: what a person allows beforehand, and how much at once. Only people edit it.
//!
//! While the file is broken, nobody knows what the person allows, so nothing above R0 is carried out: everything else
//! waits until the file is repaired, as it does during a pause.

use serde::{Deserialize, Serialize};

use super::recipient;
use crate::model::ids::sha256_hex;

/// The file that `adjutant init` writes.
pub const BUILT_IN: &str = include_str!("../../rules/policy.yml");
/// The version of the verdicts in this module. It changes whenever they do, so that what was approved before is asked
/// again.
const TABLE: &str = "2";
/// The longest life of an approval, whatever the file says: an older one is no longer what the person meant.
const MAX_APPROVAL_HOURS: u32 = 14 * 24;

/// Nothing can be decided while the policy file is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nothing was decided: {}", EffectPolicy::BROKEN)]
pub struct PolicyIsBroken;

/// The policy of effects, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectPolicy {
    /// The version of the file and of the code that reads it. Approvals are bound to it.
    pub version: String,
    /// The allow-list: exact addresses, in lower case, of people who may be answered without asking.
    pub allow: Vec<String>,
    pub caps: Caps,
    pub approvals: Approvals,
    /// Whether the file is broken: only R0 is carried out, and nothing is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_broken: bool,
}

/// Rate limits. What exceeds one waits; it is not dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Caps {
    pub labels_per_minute: u32,
    /// Drafts and sent messages together.
    pub messages_per_hour: u32,
    pub messages_per_sender_per_hour: u32,
    /// How many items may wait for a person at once.
    pub pending: u32,
    pub pending_per_sender: u32,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            labels_per_minute: 600,
            messages_per_hour: 1_000,
            messages_per_sender_per_hour: 20,
            pending: 50,
            pending_per_sender: 3,
        }
    }
}

/// How long approvals are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Approvals {
    /// Hours in which a reply can be approved.
    pub reply_hours: u32,
    /// Hours in which anything else can be approved.
    pub other_hours: u32,
    /// The grace: seconds between an approval and its effect, in which the person can take it back.
    pub grace_seconds: u32,
}

impl Default for Approvals {
    fn default() -> Self {
        Self { reply_hours: 72, other_hours: 72, grace_seconds: 10 }
    }
}

/// The file as it is written. Unknown keys are errors.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PolicyFile {
    allow: Vec<String>,
    caps: Caps,
    approvals: Approvals,
}

impl Default for EffectPolicy {
    fn default() -> Self {
        Self::from_file("", PolicyFile::default())
    }
}

impl EffectPolicy {
    /// Why an effect waits while the file is broken.
    pub const BROKEN: &str = "rules/policy.yml is broken; nothing is done until it is whole again";

    /// Returns the policy that applies while the file is broken. What was asked under another policy keeps its terms.
    pub fn broken() -> Self {
        Self { version: "broken".into(), is_broken: true, ..Self::default() }
    }

    /// Refuses a decision while the file is broken, because it would be made under terms that nobody wrote. The person
    /// can decide again later.
    pub fn ensure_whole(&self) -> Result<(), PolicyIsBroken> {
        if self.is_broken { Err(PolicyIsBroken) } else { Ok(()) }
    }

    /// Parses the text of the file. The error says what is wrong and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let empty = text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
        let written: PolicyFile = if empty {
            PolicyFile::default()
        } else {
            serde_saphyr::from_str(text).map_err(|error| error.to_string())?
        };
        for address in &written.allow {
            if recipient::normalise_address(address).is_none() {
                return Err(format!("allow: '{}' is not an exact mail address", address.escape_debug()));
            }
        }
        let hours = [written.approvals.reply_hours, written.approvals.other_hours];
        if hours.iter().any(|hours| !(1..=MAX_APPROVAL_HOURS).contains(hours)) {
            return Err(format!("approvals: an approval lives 1 to {MAX_APPROVAL_HOURS} hours"));
        }
        if written.caps.pending == 0 || written.caps.pending_per_sender == 0 {
            return Err("caps: at least one item must be able to wait for you".into());
        }
        Ok(Self::from_file(text, written))
    }

    /// Builds the policy. Its version changes with any byte of the file.
    fn from_file(text: &str, written: PolicyFile) -> Self {
        let mut version = sha256_hex(format!("{TABLE}\n{text}").as_bytes());
        version.truncate(16);
        let allow = written.allow.iter().filter_map(|address| recipient::normalise_address(address)).collect();
        Self { version, allow, caps: written.caps, approvals: written.approvals, is_broken: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_file_allows_nobody_and_has_the_default_caps() {
        let shipped = EffectPolicy::parse(BUILT_IN).unwrap();
        assert!(shipped.allow.is_empty());
        assert_eq!((shipped.caps, shipped.approvals), (Caps::default(), Approvals::default()));
    }

    #[test]
    fn a_doubtful_file_is_refused_with_its_reason() {
        for (text, expected) in [
            ("allow: [example.com]", "exact mail address"),
            ("allow: ['*@example.com']", "exact mail address"),
            ("alow: []", "alow"),
            ("caps: { pending: 0 }", "at least one"),
            ("approvals: { reply_hours: 400 }", "1 to 336"),
            ("approvals: { grace_seconds: -1 }", ""),
        ] {
            let error = EffectPolicy::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn every_edit_is_another_version() {
        let versions =
            ["", "allow: [a@b.example]", "allow: [a@c.example]"].map(|text| EffectPolicy::parse(text).unwrap().version);
        assert!(versions[0] != versions[1] && versions[1] != versions[2]);
    }
}
