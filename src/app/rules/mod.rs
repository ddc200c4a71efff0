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
