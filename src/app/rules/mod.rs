//! The rules files as a person and the nightly job handle them.

mod diff;
mod proposals;
pub(in crate::app) mod rewrite;
pub(in crate::app) mod rules_files;
mod version;
mod what_if;

pub use diff::DiffLine;
pub use version::RulesVersionDetail;
pub use what_if::{WhatIfChange, WhatIfReport};

use crate::{
    app::App,
    rules::{self, CurrentRules},
};

/// The use cases of the rules files: versions, proposals, and what a change would do.
#[derive(Clone, Copy)]
pub struct RulesUseCases<'a> {
    pub(super) app: &'a App,
}

impl RulesUseCases<'_> {
    /// The rules in force for a command that does not watch them.
    pub fn load(self) -> CurrentRules {
        rules::load(&self.app.home.rules_file(), &self.app.home.last_good_rules())
    }
}
