//! The last good rules, kept on the disk: they take effect in every process while the file is broken.
//!
//! Every process that loads a good file keeps a copy of it in the data folder. A broken text never replaces a good
//! copy, and a copy is never half written.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use super::{BUILT_IN, RuleSet, RulesError, compute_version};
use crate::{
    durable_file::FileReplacement,
    failpoint,
    model::{Instant, Priority},
    regular_file,
};

/// What is wrong with the rules file, and which rules take effect instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRules {
    pub error: RulesError,
    pub fallback: FallbackOrigin,
}

/// The rules that take effect while the file is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FallbackOrigin {
    /// The last good rules. `since` is when they were kept, where the disk can tell.
    LastGood { since: Option<Instant> },
    /// The rules that the program ships, because no good file was ever loaded here.
    Shipped,
}

/// Prints one line: the place, what was expected, and which rules take effect.
impl fmt::Display for BrokenRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The rules file is broken: {}. ", self.error.in_one_line())?;
        match self.fallback {
            FallbackOrigin::LastGood { since: Some(since) } => {
                write!(f, "The last good rules, in force since {since}, count until it is mended.")
            }
            FallbackOrigin::LastGood { since: None } => f.write_str("The last good rules count until it is mended."),
            FallbackOrigin::Shipped => {
                f.write_str("There are no last good rules: the shipped ones count until it is mended.")
            }
        }
    }
}

/// The file with the copy of the last good rules.
#[derive(Debug, Clone)]
pub(super) struct LastGoodFile(PathBuf);

impl LastGoodFile {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Returns the copy; none when there is none or somebody broke it.
    fn copy(&self) -> Option<RuleSet> {
        let text = regular_file::read_to_string(&self.0).ok()?;
        RuleSet::parse("last good rules", &text).ok()
    }

    /// Returns whether the last good rules had a learned section: a file without one was then cut off before its end.
    /// `in_memory` is what took effect before, for a disk on which nothing could be kept.
    pub(super) fn had_learned_part(&self, in_memory: Option<&RuleSet>) -> bool {
        self.copy().as_ref().or(in_memory).is_some_and(|rules| rules.learned_range().is_some())
    }

    /// Returns the rules that take effect instead of a broken file: the copy, else those in memory, else the shipped
    /// ones.
    pub(super) fn load_fallback(&self, in_memory: Option<RuleSet>) -> (RuleSet, FallbackOrigin) {
        match self.copy().or(in_memory) {
            Some(rules) => (rules, FallbackOrigin::LastGood { since: self.modified_at() }),
            None => (shipped_rules(), FallbackOrigin::Shipped),
        }
    }

    /// Returns when the copy was written.
    fn modified_at(&self) -> Option<Instant> {
        Instant::from_file_time(fs::metadata(&self.0).and_then(|copy| copy.modified()).ok()?)
    }

    /// Keeps `text`, which `file` held and which is good. When the copy cannot be written, a warning is logged and the
    /// rules take effect all the same.
    pub(super) fn save_if_changed(&self, file: &Path, text: &str) {
        // Before the first start there is no data folder, and nothing to rank.
        let has_place = self.0.parent().is_some_and(Path::is_dir);
        if !has_place || regular_file::read_to_string(&self.0).is_ok_and(|kept| kept == text) {
            return;
        }
        // A person may have written another good file meanwhile, and the process that loaded that one has kept it.
        let is_current = || regular_file::read(file).is_ok_and(|now| now == text.as_bytes());
        if let Err(error) = self.write(text, is_current) {
            tracing::warn!(%error, "the last good rules could not be kept; the file itself still counts");
        }
    }

    /// Replaces the copy durably, unless `is_wanted` returns false once the new bytes are written. Several processes
    /// may do this at the same time.
    pub(super) fn write(&self, text: &str, is_wanted: impl Fn() -> bool) -> io::Result<()> {
        let replacement = FileReplacement::new(&self.0).temporary_per_process();
        let outcome = failpoint::around("rules.keep", || {
            replacement.write_temporary(text.as_bytes())?;
            if is_wanted() {
                replacement.rename_into_place()?;
                return replacement.sync_target_folder();
            }
            replacement.discard_temporary()
        });
        if outcome.is_err() {
            // Nothing reads a temporary file, so one that cannot even be removed does no harm.
            drop(replacement.discard_temporary());
        }
        outcome
    }
}

/// Returns the shipped rules. A test checks that they parse; a set without rules would still rank everything low.
pub(super) fn shipped_rules() -> RuleSet {
    let empty = || RuleSet {
        act_rules: Vec::new(),
        rules: Vec::new(),
        task_rules: Vec::new(),
        default: Priority::Low,
        version: compute_version(""),
        learned_bytes: None,
    };
    RuleSet::parse("built-in rules", BUILT_IN).unwrap_or_else(|_| empty())
}
