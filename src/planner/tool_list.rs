//! The tools that a plan can use, as a model is shown them.

use crate::{
    llm::prompt::step_calls::{ParameterShown, ToolShown},
    tool::Registry,
};

/// Returns the tools that a plan can use, as a model is shown them.
pub fn show_tools(tools: &Registry, has_mail: bool) -> Vec<ToolShown> {
    let shown = tools.plannable(has_mail).map(|tool| ToolShown {
        name: tool.name().to_owned(),
        purpose: tool.purpose().to_owned(),
        parameters: tool
            .parameters()
            .iter()
            .map(|parameter| ParameterShown {
                name: parameter.name.to_owned(),
                what: parameter.what.to_owned(),
                required: parameter.is_required,
                list: parameter.is_list,
            })
            .collect(),
    });
    shown.collect()
}
