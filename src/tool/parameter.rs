//! The arguments of tools: what a plan or a model can give, and the check that it gave nothing else.

use serde_json::{Map, Value};

use super::{Tool, ToolError};

/// Whether a tool changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolAccess {
    Read,
    Write,
}

/// An argument of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolParameter {
    pub name: &'static str,
    /// What it means, in words for a model.
    pub what: &'static str,
    pub is_required: bool,
    /// Whether it says what is written to, rather than what is written.
    pub is_target: bool,
    /// Whether it is a list of texts.
    pub is_list: bool,
}

/// The longest text of an argument, in characters.
const LONGEST_TEXT: usize = 4_000;
/// The most texts of a list.
const MOST_TEXTS: usize = 10;

impl ToolParameter {
    /// Describes an argument that must be given and says what is written to.
    pub(super) const fn target(name: &'static str, what: &'static str) -> Self {
        Self { name, what, is_required: true, is_target: true, is_list: false }
    }

    /// Describes an argument that may be left out.
    pub(super) const fn optional(name: &'static str, what: &'static str) -> Self {
        Self { name, what, is_required: false, is_target: false, is_list: false }
    }

    /// Describes the list of recipients.
    pub(super) const fn recipients(what: &'static str) -> Self {
        Self { name: "to", what, is_required: true, is_target: true, is_list: true }
    }
}

/// Checks that the arguments are those of the tool: none unknown, none missing, each a text or a list of texts.
pub fn check_arguments(tool: &dyn Tool, arguments: &Map<String, Value>) -> Result<(), ToolError> {
    let name = tool.name();
    for (argument, value) in arguments {
        let known = tool.parameters().iter().find(|parameter| parameter.name == argument);
        let parameter =
            known.ok_or_else(|| ToolError(format!("{name} has no argument '{}'", argument.escape_debug())))?;
        let is_text = |value: &Value| value.as_str().is_some_and(|text| text.chars().count() <= LONGEST_TEXT);
        let fits = match value {
            Value::Array(texts) if parameter.is_list => texts.len() <= MOST_TEXTS && texts.iter().all(is_text),
            value => !parameter.is_list && is_text(value),
        };
        if !fits {
            let wanted = if parameter.is_list { "a list of texts" } else { "a text" };
            return Err(ToolError(format!("the argument '{argument}' of {name} must be {wanted}")));
        }
    }
    let is_given = |parameter: &ToolParameter| match arguments.get(parameter.name) {
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(Value::Array(texts)) => !texts.is_empty(),
        _ => false,
    };
    match tool.parameters().iter().find(|parameter| parameter.is_required && !is_given(parameter)) {
        Some(missing) => Err(ToolError(format!("{name} needs the argument '{}': {}", missing.name, missing.what))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::Registry;

    #[test]
    fn only_the_arguments_of_the_tool_are_accepted() {
        for (tool, arguments, refused) in [
            ("create_folder", json!({ "name": "Taxes" }), ""),
            ("create_folder", json!({}), "needs the argument 'name'"),
            ("create_folder", json!({ "name": " " }), "needs the argument 'name'"),
            ("create_folder", json!({ "name": "Taxes", "mode": "777" }), "has no argument 'mode'"),
            ("create_folder", json!({ "name": ["Taxes"] }), "must be a text"),
            ("send_mail", json!({ "to": "dana" }), "must be a list of texts"),
            ("send_mail", json!({ "to": ["P1"], "text": "Hi" }), ""),
        ] {
            let Value::Object(arguments) = arguments else { unreachable!() };
            let registry = Registry::shipped();
            let outcome = check_arguments(registry.get(tool).unwrap(), &arguments);
            let said = outcome.err().map(|error| error.0).unwrap_or_default();
            assert!(if refused.is_empty() { said.is_empty() } else { said.contains(refused) }, "{arguments:?}: {said}");
        }
    }
}
