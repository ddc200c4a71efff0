//! `create_folder`: a folder under `data/files`, named by the task. Whether the name is safe is decided by `policy`.

use serde_json::json;

use super::{Tool, ToolError, ToolInput, ToolOutcome, ToolParameter};
use crate::model::{Effect, action::Origin};

/// Requests a folder (R0).
pub(super) struct CreateFolder;

impl Tool for CreateFolder {
    fn name(&self) -> &'static str {
        "create_folder"
    }

    fn purpose(&self) -> &'static str {
        "create a folder under data/files"
    }

    fn parameters(&self) -> &'static [ToolParameter] {
        const { &[ToolParameter::target("name", "the name of the folder")] }
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        let given = input.text_argument("name").map(str::to_owned);
        let name = given
            .or_else(|| parse_folder_name(&input.facts.objective))
            .ok_or_else(|| ToolError("the task does not name the folder".into()))?;
        let output = json!({ "folder": name });
        Ok(ToolOutcome::request_effect(Effect::CreateFolder { name }, output, &[("name", Origin::Mail)]))
    }
}

/// Returns the words after "folder", "folder for", "folder called" …, in quotes or to the end of the sentence.
fn parse_folder_name(objective: &str) -> Option<String> {
    let after =
        ["folder", "תיקייה", "תיקיה"].iter().find_map(|word| objective.split_once(word).map(|(_, rest)| rest))?;
    let mut rest = after.trim();
    for filler in ["called", "named", "for", "בשם", "עבור"] {
        rest = rest.strip_prefix(filler).map_or(rest, str::trim);
    }
    let quoted = rest.split(['"', '“', '”', '\'']).nth(1).filter(|_| rest.starts_with(['"', '“', '\'']));
    let name = quoted.unwrap_or(rest).trim().trim_end_matches(['.', ',', '!', '?']);
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_read_from_the_objective() {
        for (objective, name) in [
            ("Create a folder called Taxes 2026", Some("Taxes 2026")),
            ("Create folder TestFolder.", Some("TestFolder")),
            ("Make a folder for \"the board\" today", Some("the board")),
            ("צור תיקייה בשם חשבונות", Some("חשבונות")),
            ("Create a folder", None),
            ("Buy milk", None),
        ] {
            assert_eq!(parse_folder_name(objective).as_deref(), name, "{objective}");
        }
    }
}
