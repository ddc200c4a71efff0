//! Where the witness of a home is kept: outside its data, in the state folder of the user.

use std::path::{Component, Path, PathBuf};

use super::Home;

/// Returns the folder that the person named, if any. A folder inside `data/` is refused: a restore of the data would
/// restore the witness too, and so go unnoticed.
pub(super) fn validate_state_folder(text: &str, home: &Home) -> Result<Option<PathBuf>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let folder = home.root().join(text);
    if is_inside(&folder, &home.data()) {
        return Err(format!("state is '{text}'; expected a folder outside {}", home.data().display()));
    }
    Ok(Some(folder))
}

/// Returns whether a path leads into a folder, through whatever links and `..`.
pub(super) fn is_inside(path: &Path, folder: &Path) -> bool {
    resolved(path).starts_with(resolved(folder))
}

/// Returns where a path leads to. Links are followed as far as the path exists; behind that, `..` is resolved by name.
fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut reached = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => drop(reached.pop()),
            Component::CurDir => {}
            part => reached.push(part),
        }
        if let Ok(real) = reached.canonicalize() {
            reached = real;
        }
    }
    reached
}

/// Returns `$XDG_STATE_HOME/adjutant`, or `~/.local/state/adjutant`.
pub(super) fn default_state_folder(vars: &[(String, String)]) -> Option<PathBuf> {
    let named = |wanted: &str| {
        let found = vars.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_absolute())
    };
    let own = || named("HOME").or_else(std::env::home_dir).map(|home| home.join(".local/state"));
    named("XDG_STATE_HOME").or_else(own).map(|state| state.join("adjutant"))
}
