//! The rules that a process parsed last. Compiling the patterns of the rules takes longer than everything else that a
//! question about one task needs, so a text that has not changed is not parsed again.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    CurrentRules, RuleSet,
    last_good::LastGoodFile,
    watch::{parse_or_fall_back, read_when_stable},
};

/// The rules of the last good text that a process loaded.
#[derive(Debug, Default)]
pub struct ParsedRulesCache(Mutex<Option<(String, Arc<RuleSet>)>>);

impl ParsedRulesCache {
    /// Does what [`load`](super::load) does. The file is read each time, so that a change takes effect at once.
    pub fn load(&self, path: &Path, last_good: &Path) -> CurrentRules {
        let text = read_when_stable(path);
        let last_good = LastGoodFile::new(last_good);
        if let Ok(text) = &text
            && let Some(rules) = self.get(text)
        {
            last_good.save_if_changed(path, text);
            return CurrentRules { rules, broken: None };
        }
        let loaded = parse_or_fall_back(path, text.clone(), &last_good, None);
        if let (Ok(text), None) = (text, &loaded.broken) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((text, loaded.rules.clone()));
        }
        loaded
    }

    /// Returns the rules of this text if they were parsed last. Those of a text without a learned part are not
    /// returned: the file may have been cut off, which only the last good rules tell.
    fn get(&self, text: &str) -> Option<Arc<RuleSet>> {
        let parsed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, rules) = parsed.as_ref().filter(|(known, _)| known == text)?;
        Some(rules.clone()).filter(|rules| rules.learned_range().is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Writes a text, dated long enough ago that it counts as whole.
    fn write(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
        fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
    }

    fn shipped() -> String {
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/priority.yml")).unwrap()
    }

    #[test]
    fn a_changed_file_takes_effect_and_an_unchanged_one_is_not_parsed_again() {
        let folder = tempfile::tempdir().unwrap();
        let (path, kept) = (folder.path().join("priority.yml"), folder.path().join("rules.good.yml"));
        let cache = ParsedRulesCache::default();
        write(&path, &shipped());
        let first = cache.load(&path, &kept);
        assert!(first.broken.is_none());
        assert!(Arc::ptr_eq(&first.rules, &cache.load(&path, &kept).rules), "the same text gives the same rules");
        write(&path, &shipped().replacen("default: low", "default: med", 1));
        let second = cache.load(&path, &kept);
        assert!(!Arc::ptr_eq(&first.rules, &second.rules), "another text is parsed");
        assert_eq!(second.rules.version(), crate::rules::load(&path, &kept).rules.version());
    }

    #[test]
    fn a_broken_file_is_told_again_each_time_and_a_mended_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (path, kept) = (folder.path().join("priority.yml"), folder.path().join("rules.good.yml"));
        let cache = ParsedRulesCache::default();
        write(&path, &shipped());
        cache.load(&path, &kept);
        write(&path, "rules: [");
        assert!(cache.load(&path, &kept).broken.is_some() && cache.load(&path, &kept).broken.is_some());
        write(&path, &shipped());
        assert!(cache.load(&path, &kept).broken.is_none());
    }
}
