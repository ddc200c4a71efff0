//! `label` and `archive`: effects on the mail that caused the task, and on no other.

use serde_json::json;

use super::{Tool, ToolError, ToolInput, ToolOutcome};
use crate::model::{Effect, action::Origin};

/// Labels the mail with the kind of its task.
pub(super) struct Label;

impl Tool for Label {
    fn name(&self) -> &'static str {
        "label"
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        let label = input.facts.kind.to_string();
        let output = json!({ "label": label });
        Ok(ToolOutcome::request_effect(Effect::Label { label }, output, &[("label", Origin::Template)]))
    }
}

/// Moves the mail to the archive folder.
pub(super) struct Archive;

impl Tool for Archive {
    fn name(&self) -> &'static str {
        "archive"
    }

    fn run(&self, _: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        Ok(ToolOutcome::request_effect(Effect::Archive, json!({ "archived": true }), &[]))
    }
}
