//! Why each rule gives its level, for lists. The file is parsed again only when it was replaced, because a list is asked
//! for more often than the rules change.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use crate::app::RulesUseCases;

/// The reasons of rules by their names.
pub type RuleReasons = Arc<BTreeMap<String, String>>;

/// By what a replaced file is recognised; none while there is no file.
type FileStamp = Option<(SystemTime, u64)>;

/// The reasons that were read last, with the stamps of the rules file and of the last good one.
#[derive(Default)]
pub(in crate::app) struct RuleReasonsCache(Mutex<Option<([FileStamp; 2], RuleReasons)>>);

impl RulesUseCases<'_> {
    /// Returns why each rule in force gives its level, by the name of the rule.
    pub fn reasons(self) -> RuleReasons {
        let home = &self.app.home;
        let stamps = [stamp(&home.rules_file()), stamp(&home.last_good_rules())];
        let mut cache = self.app.rule_reasons.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, reasons)) = cache.as_ref()
            && *known == stamps
        {
            return Arc::clone(reasons);
        }
        let current = self.load();
        let reasons = current.rules.reasons().map(|(name, why)| (name.to_owned(), why.to_owned()));
        let reasons: RuleReasons = Arc::new(reasons.collect());
        *cache = Some((stamps, Arc::clone(&reasons)));
        reasons
    }
}

fn stamp(path: &Path) -> FileStamp {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
