//! The instructions of the two roles. A file of the same name in the folder `prompts` of the home takes the place of the
//! built-in one, so that prompts can be compared; every model call records which version was used.

use std::path::Path;

use super::proposal::proposable_tools;
use crate::tool::Registry;

/// The longest file, in bytes. A longer one would leave no room for the conversation.
const LONGEST_FILE: usize = 8 * 1024;

/// The instructions of both roles.
#[derive(Debug, Clone)]
pub struct TeamPrompts {
    pub manager: String,
    pub worker: String,
}

impl TeamPrompts {
    /// Loads the instructions. A file that cannot be used is an error, because an evaluation must not use another prompt
    /// unnoticed.
    pub fn load(folder: &Path, tools: &Registry) -> anyhow::Result<Self> {
        let manager = load(folder, "task_manager.md", include_str!("prompt/task_manager.md"))?;
        let worker = load(folder, "task_worker.md", include_str!("prompt/task_worker.md"))?;
        let tools: Vec<String> =
            proposable_tools(tools).iter().map(|(name, purpose)| format!("{name} ({purpose})")).collect();
        Ok(Self { manager, worker: worker.replace("{tools}", &tools.join(", ")) })
    }
}

fn load(folder: &Path, name: &str, built_in: &str) -> anyhow::Result<String> {
    let path = folder.join(name);
    match crate::regular_file::read_to_string(&path) {
        Ok(text) => {
            anyhow::ensure!(text.len() <= LONGEST_FILE, "{} is longer than {LONGEST_FILE} bytes", path.display());
            Ok(text)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(built_in.to_owned()),
        Err(error) => Err(anyhow::Error::new(error).context(format!("reading {}", path.display()))),
    }
}
