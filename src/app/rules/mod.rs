//! The use cases of the rules files: loading, versions, proposals, and what a change would do. A broken file never
//! takes effect, and nothing outside the marker lines of the learned part is ever changed.

mod copy;
pub(in crate::app) mod diff;
mod overview;
mod proposals;
pub(in crate::app) mod rewrite;
pub(in crate::app) mod rules_files;
mod version;
mod what_if;

pub use copy::{RulesCopy, RulesSaveOutcome};
pub use diff::DiffLine;
pub use overview::{RuleHits, RulesOverview};
pub use version::RulesVersionDetail;
pub use what_if::{WhatIfChange, WhatIfReport};

use crate::{app::App, rules::CurrentRules};

/// The use cases of the rules files: versions, proposals, and what a change would do.
#[derive(Clone, Copy)]
pub struct RulesUseCases<'a> {
    pub(super) app: &'a App,
}

impl RulesUseCases<'_> {
    /// Returns the rules in force, for a command that does not follow the file.
    pub fn load(self) -> CurrentRules {
        self.app.parsed_rules.load(&self.app.home.rules_file(), &self.app.home.last_good_rules())
    }
}
