//! `create_plan`: the steps of a request, in the format with markers. The program reads the plan strictly, and a person
//! agrees to it before anything is done.

use serde::{Deserialize, Serialize};

use super::{Prompt, PromptInput, step_calls::ToolShown};

/// What the model is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CreatePlanData {
    /// The request of the person, with handles in the place of people.
    pub request: String,
    /// The texts of attached files, quoted.
    pub files: Vec<String>,
    pub tools: Vec<ToolShown>,
}

impl CreatePlanData {
    /// Returns the prompt with this data.
    pub fn to_prompt_input(&self) -> Option<PromptInput> {
        PromptInput::new(Prompt::CreatePlan, self)
    }
}
