//! `guidelines.txt`: the text that precedes the prompts of a model. It holds the person's words and, between two marker
//! lines, those of the nightly job.
//!
//! Owns the reading of the file. Never more than [`MAX_BYTES`] reach a prompt, and a warning says what was left out.

use std::{io, path::Path};

/// The most that is used. Every prompt pays for it, and a longer text is no longer a guideline.
pub const MAX_BYTES: usize = 4 * 1024;

/// The guidelines as a prompt uses them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guidelines {
    /// The text before the prompt; empty without a file.
    pub text: String,
    /// Why the text is not the whole file.
    pub warning: Option<String>,
}

/// Reads the guidelines. Without a file there are none; with an unreadable one there are none and a warning.
pub fn load(path: &Path) -> Guidelines {
    match crate::regular_file::read(path) {
        Ok(bytes) => truncate_to_limit(&String::from_utf8_lossy(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Guidelines::default(),
        Err(error) => {
            let warning = Some(format!("{} cannot be read ({error}); no guidelines are used", path.display()));
            Guidelines { text: String::new(), warning }
        }
    }
}

/// Keeps as many whole lines as fit, because half a sentence may mean the opposite of the whole.
fn truncate_to_limit(text: &str) -> Guidelines {
    if text.len() <= MAX_BYTES {
        return Guidelines { text: text.to_owned(), warning: None };
    }
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        if kept.len() + line.len() > MAX_BYTES {
            break;
        }
        kept.push_str(line);
    }
    let warning = format!(
        "guidelines.txt has {} bytes; the first {} count (at most {MAX_BYTES}, in whole lines). Shorten it",
        text.len(),
        kept.len()
    );
    Guidelines { text: kept, warning: Some(warning) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_fits_is_used_whole() {
        let text = "- be brief\n";
        assert_eq!(truncate_to_limit(text), Guidelines { text: text.into(), warning: None });
        let full = format!("{}\n", "x".repeat(MAX_BYTES - 1));
        assert_eq!(truncate_to_limit(&full).warning, None);
    }

    #[test]
    fn a_longer_one_is_cut_between_lines_and_says_so() {
        let line = format!("- {}\n", "שלום ".repeat(10));
        let cut = truncate_to_limit(&line.repeat(200));
        assert!(cut.text.len() <= MAX_BYTES && cut.text.ends_with('\n') && !cut.text.is_empty());
        assert!(cut.text.lines().all(|kept| kept == line.trim_end_matches('\n')));
        assert!(cut.warning.unwrap().contains("4096"));
        assert_eq!(truncate_to_limit(&"x".repeat(MAX_BYTES + 1)).text, "");
    }

    #[test]
    fn no_file_is_no_guidelines() {
        assert_eq!(load(Path::new("/nonexistent/guidelines.txt")), Guidelines::default());
        let folder = tempfile::tempdir().unwrap();
        assert!(load(folder.path()).warning.is_some());
    }
}
