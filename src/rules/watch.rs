//! The rules while the file is being edited: which rules take effect now, and what is wrong with the file.
//!
//! Owns the only reading of the file. Events of the file system are hints; the regular scan is what counts. A broken or
//! missing file never takes effect and is never passed over in silence.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
    time::{MissedTickBehavior, interval, sleep},
};
use tokio_util::sync::CancellationToken;

use super::{BEGIN_MARKER, BrokenRules, END_MARKER, RuleSet, RulesError, compute_version, last_good::LastGoodFile};
use crate::regular_file;
use crate::rules::grammar::limits::MAX_FILE_BYTES;

/// An editor writes a file in several steps; reading earlier would find half of it.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// How late a change is noticed at worst, where no events arrive (network and container file systems).
const SCAN_EVERY: Duration = Duration::from_secs(2);
/// A file that is rewritten within the resolution of its time stamp looks unchanged. For this long its content is
/// compared too.
const MTIME_SETTLES_AFTER: Duration = Duration::from_secs(10);

/// The rules that take effect now.
#[derive(Debug, Clone)]
pub struct CurrentRules {
    pub rules: Arc<RuleSet>,
    /// Set while the file cannot take effect and differs from `rules`. Every command says so.
    pub broken: Option<BrokenRules>,
}

/// Reads the file once. A good one is kept at `last_good`, which takes effect in every process while the file is
/// broken, missing or unreadable.
pub fn load(path: &Path, last_good: &Path) -> CurrentRules {
    let text = read_when_stable(path);
    parse_or_fall_back(path, text, &LastGoodFile::new(last_good), None)
}

/// Returns the rules of the text, or the last good ones with the error. `in_memory` is what took effect before, for a
/// disk on which nothing could be kept.
pub(super) fn parse_or_fall_back(
    path: &Path,
    text: Result<String, String>,
    last_good: &LastGoodFile,
    in_memory: Option<&RuleSet>,
) -> CurrentRules {
    let name = path.display().to_string();
    let parsed = match &text {
        Ok(text) => parse_unless_cut_off(&name, text, last_good, in_memory),
        Err(found) => Err(RulesError::for_whole_file(&name, found.clone(), "a readable file of rules")),
    };
    match parsed {
        Ok(rules) => {
            last_good.save_if_changed(path, text.as_deref().unwrap_or_default());
            CurrentRules { rules: Arc::new(rules), broken: None }
        }
        Err(error) => {
            let (rules, instead) = last_good.load_fallback(in_memory.cloned());
            CurrentRules { rules: Arc::new(rules), broken: Some(BrokenRules { error, fallback: instead }) }
        }
    }
}

/// Parses a text that is to become the rules file. Fails as loading the file would: also when it lacks the learned
/// section that the last good rules have.
pub fn parse_whole_file(name: &str, text: &str, last_good: &Path) -> Result<RuleSet, RulesError> {
    parse_unless_cut_off(name, text, &LastGoodFile::new(last_good), None)
}

fn parse_unless_cut_off(
    name: &str,
    text: &str,
    last_good: &LastGoodFile,
    in_memory: Option<&RuleSet>,
) -> Result<RuleSet, RulesError> {
    let rules = RuleSet::parse(name, text)?;
    let is_cut_off = rules.learned_range().is_none() && last_good.had_learned_part(in_memory);
    if is_cut_off { Err(cut_off(name)) } else { Ok(rules) }
}

/// Returns the error for a file that ends before the learned section which the last good one had.
fn cut_off(name: &str) -> RulesError {
    let expected = format!(
        "the two lines '{BEGIN_MARKER} >>>' and '{END_MARKER} <<<' at its end, as before: without them it looks cut off. If \
         nothing learned is to stay, leave nothing between them"
    );
    RulesError::for_whole_file(name, "no learned part", expected)
}

/// Returns whether a text parses and is still not the whole file, because its learned section is missing. It must not
/// be used.
pub fn is_cut_off(text: &str, last_good: &Path) -> bool {
    let parsed = RuleSet::parse("rules", text);
    parsed.is_ok_and(|rules| rules.learned_range().is_none()) && LastGoodFile::new(last_good).had_learned_part(None)
}

/// Keeps `text` as the last good rules. Called before and after the program itself writes the rules file, so that a
/// version without a learned section is not taken for one that was cut off.
pub fn keep_as_last_good(last_good: &Path, text: &str) -> std::io::Result<()> {
    LastGoodFile::new(last_good).write(text, || true)
}

/// A file that was written this recently may be half written.
const RECENTLY_WRITTEN: Duration = Duration::from_millis(200);

/// Returns the text once it has stopped changing.
pub(super) fn read_when_stable(path: &Path) -> Result<String, String> {
    let mut text = read(path);
    for _ in 0..MAX_READS {
        let fresh = read_mtime_and_len(path)
            .is_some_and(|(written, _)| written.elapsed().is_ok_and(|age| age < RECENTLY_WRITTEN));
        if !fresh {
            break;
        }
        std::thread::sleep(STABLE_AFTER);
        let before = std::mem::replace(&mut text, read(path));
        if before == text {
            break;
        }
    }
    text
}

/// A file that is the same after this long is no longer being written.
const STABLE_AFTER: Duration = Duration::from_millis(60);
/// How often a file that keeps changing is read before its text is taken as it is.
const MAX_READS: u32 = 10;

/// Watches the rules file and publishes [`CurrentRules`] until its token is cancelled.
#[derive(Debug)]
pub struct RulesWatch {
    current: watch::Receiver<Arc<CurrentRules>>,
    task: JoinHandle<()>,
}

impl RulesWatch {
    /// Loads the file before it returns, so that there are rules from the start. Needs a tokio runtime.
    pub fn start(path: impl Into<PathBuf>, last_good: &Path, stop: CancellationToken) -> Self {
        let (path, last_good) = (path.into(), LastGoodFile::new(last_good));
        let stamp = read_mtime_and_len(&path);
        let text = read_when_stable(&path);
        let seen = RulesFileState::from_text(stamp, &text);
        let (sender, current) = watch::channel(Arc::new(parse_or_fall_back(&path, text, &last_good, None)));
        let task = tokio::spawn(watch_file(path, last_good, seen, sender, stop));
        Self { current, task }
    }

    pub fn current(&self) -> Arc<CurrentRules> {
        self.current.borrow().clone()
    }

    /// Returns a receiver that wakes on every change of the rules or of what is wrong with the file.
    pub fn subscribe(&self) -> watch::Receiver<Arc<CurrentRules>> {
        self.current.clone()
    }

    /// Waits until the token was cancelled and nothing runs any more.
    pub async fn wait_until_stopped(self) {
        // A panic inside was reported by the runtime; there is nothing left to wait for.
        let _ = self.task.await;
    }
}

/// Checks the file on every hint and at every scan, until `stop` is cancelled.
async fn watch_file(
    path: PathBuf,
    last_good: LastGoodFile,
    mut seen: RulesFileState,
    sender: watch::Sender<Arc<CurrentRules>>,
    stop: CancellationToken,
) {
    let (hint, mut hints) = mpsc::channel::<()>(1);
    let watcher = start_watcher(&path, hint);
    let mut scan = interval(SCAN_EVERY);
    scan.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            _ = scan.tick() => {}
            Some(()) = hints.recv() => {
                tokio::select! { () = stop.cancelled() => break, () = sleep(DEBOUNCE) => {} }
                let _ = hints.try_recv();
            }
        }
        let (looked, last_good, before) = (path.clone(), last_good.clone(), seen.clone());
        let counts = Arc::clone(&sender.borrow().rules);
        let looking = tokio::task::spawn_blocking(move || {
            let (now, next) = check_for_change(&looked, &before);
            (now, next.map(|text| parse_or_fall_back(&looked, text, &last_good, Some(&counts))))
        });
        let Ok((now, next)) = looking.await else { continue };
        seen = now;
        if let Some(current) = next {
            publish(&sender, current);
        }
    }
    drop(watcher);
}

/// Returns the state of the file now and, when its content is new, its text.
fn check_for_change(path: &Path, before: &RulesFileState) -> (RulesFileState, Option<Result<String, String>>) {
    if before.is_surely_unchanged(path) {
        return (before.clone(), None);
    }
    let (mut now, mut text) = RulesFileState::read_bounded(path);
    if now.content == before.content {
        return (now, None);
    }
    // Many editors truncate and then write: half a file may be a whole set of other rules.
    for _ in 0..MAX_READS {
        std::thread::sleep(STABLE_AFTER);
        let (later, read) = RulesFileState::read_bounded(path);
        let settled = later.content == now.content;
        (now, text) = (later, read);
        if settled {
            break;
        }
    }
    let changed = now.content != before.content;
    (now, changed.then_some(text))
}

/// Logs the change and wakes the subscribers. The log holds no text of the file.
fn publish(sender: &watch::Sender<Arc<CurrentRules>>, current: CurrentRules) {
    let version = current.rules.version();
    match &current.broken {
        None => tracing::info!(rules.version = version, rules.count = current.rules.len(), "rules loaded"),
        Some(broken) => {
            tracing::warn!(
                rules.version = version,
                rules.line = broken.error.at.line,
                "rules broken, the last good set stays"
            );
        }
    }
    sender.send_replace(Arc::new(current));
}

/// Watches the folder instead of the file, because editors replace files and the file may not exist yet. Returns none
/// where there are no file events; then the scan does all the work.
fn start_watcher(path: &Path, hint: mpsc::Sender<()>) -> Option<RecommendedWatcher> {
    let (folder, name) = (path.parent()?.to_owned(), path.file_name()?.to_owned());
    let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
    let ours = move |event: &notify::Event| event.paths.iter().any(|path| path.file_name() == Some(&name));
    let handler = move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| !event.kind.is_access() && ours(&event)) {
            // A full channel means that a check is due already.
            let _ = hint.try_send(());
        }
    };
    let started = notify::recommended_watcher(handler).and_then(|mut watcher| {
        watcher.watch(&folder, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    started.inspect_err(|error| tracing::info!(%error, "no file events, the rules are scanned instead")).ok()
}

/// What is known about the file, without trusting its time stamp alone.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RulesFileState {
    mtime_and_len: Option<(SystemTime, u64)>,
    /// A digest of the content, or why it could not be read.
    content: Result<String, String>,
}

impl RulesFileState {
    /// Reads the file and its time stamp. The stamp is read first, so that a write in between leads to another reading.
    fn read_bounded(path: &Path) -> (Self, Result<String, String>) {
        let (stamp, text) = (read_mtime_and_len(path), read(path));
        (Self::from_text(stamp, &text), text)
    }

    fn from_text(mtime_and_len: Option<(SystemTime, u64)>, text: &Result<String, String>) -> Self {
        Self { mtime_and_len, content: text.as_deref().map(compute_version).map_err(Clone::clone) }
    }

    /// Returns whether the stamp is the same and old enough that a later write would have changed it.
    fn is_surely_unchanged(&self, path: &Path) -> bool {
        let settled = |(time, _): &(SystemTime, u64)| time.elapsed().is_ok_and(|age| age > MTIME_SETTLES_AFTER);
        self.content.is_ok()
            && self.mtime_and_len.as_ref().is_some_and(settled)
            && read_mtime_and_len(path) == self.mtime_and_len
    }
}

fn read_mtime_and_len(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Returns the text, or why there is none, for a person. Never reads more than a rules file may hold.
fn read(path: &Path) -> Result<String, String> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let limit = MAX_FILE_BYTES as u64 + 1;
    let file = regular_file::open(path).map_err(|error| error.to_string())?;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "bytes that are not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::rules::BUILT_IN;

    const GOOD: &str = "rules: []\ndefault: med\n";
    const BETTER: &str = "rules: []\ndefault: high\n";
    const BROKEN: &str = "rules: []\ndefault: loud\n";

    fn home(text: Option<&str>) -> (TempDir, PathBuf) {
        let home = TempDir::new().unwrap();
        let path = home.path().join("priority.yml");
        if let Some(text) = text {
            fs::write(&path, text).unwrap();
        }
        (home, path)
    }

    fn check(current: &CurrentRules, text: &str, broken: Option<&str>) {
        assert_eq!(current.rules.version(), compute_version(text), "{current:?}");
        match (&current.broken, broken) {
            (Some(found), Some(expected)) => assert!(found.to_string().contains(expected), "{found}"),
            (found, expected) => assert_eq!(found.as_ref().map(ToString::to_string).as_deref(), expected),
        }
    }

    #[test]
    fn one_look_says_what_counts_and_what_is_wrong() {
        for (text, counts, broken) in [
            (Some(GOOD), GOOD, None),
            (Some(BROKEN), BUILT_IN, Some("priority.yml:2:10: 'loud'")),
            (Some(" \n"), BUILT_IN, Some("an empty file")),
            (None, BUILT_IN, Some("a readable file of rules")),
            (Some(&"#".repeat(MAX_FILE_BYTES + 9)), BUILT_IN, Some("at most 262144")),
        ] {
            let (_home, path) = home(text);
            check(&load(&path, &path.with_extension("good")), counts, broken);
        }
    }

    #[test]
    fn a_good_file_is_kept_and_counts_while_it_is_broken() {
        let (_home, path) = home(Some(GOOD));
        let kept = path.with_extension("good");
        check(&load(&path, &kept), GOOD, None);
        for broken in [BROKEN, "", "rules: ["] {
            fs::write(&path, broken).unwrap();
            check(&load(&path, &kept), GOOD, Some("The last good rules, in force since"));
            assert_eq!(fs::read_to_string(&kept).unwrap(), GOOD);
        }
        fs::remove_file(&path).unwrap();
        check(&load(&path, &kept), GOOD, Some("a readable file of rules"));
        fs::create_dir(&path).unwrap();
        check(&load(&path, &kept), GOOD, Some("a readable file of rules"));
        fs::remove_dir(&path).unwrap();
        fs::write(&path, BETTER).unwrap();
        check(&load(&path, &kept), BETTER, None);
        assert_eq!(fs::read_to_string(&kept).unwrap(), BETTER);
        // With a learned part, whatever ends before it was cut off.
        let whole = format!("{GOOD}# >>> learned >>>\nlearned: []\n# <<< learned <<<\n# end\n");
        fs::write(&path, &whole).unwrap();
        check(&load(&path, &kept), &whole, None);
        let marked = whole.find("# end").unwrap();
        for length in 0..marked - 1 {
            fs::write(&path, whole.get(..length).unwrap()).unwrap();
            let cut = load(&path, &kept);
            // What matters of the last marker line is how it begins.
            let is_whole = whole.get(..length).unwrap().contains(END_MARKER);
            assert_eq!(cut.broken.is_none(), is_whole, "{length}: {:?}", cut.broken);
        }
        fs::write(&path, &whole).unwrap();
        check(&load(&path, &kept), &whole, None);
        keep_as_last_good(&kept, BETTER).unwrap();
        fs::write(&path, BETTER).unwrap();
        check(&load(&path, &kept), BETTER, None);
        // A copy that somebody broke is no copy.
        fs::write(&path, BROKEN).unwrap();
        fs::write(&kept, BROKEN).unwrap();
        check(&load(&path, &kept), BUILT_IN, Some("There are no last good rules"));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_broken_file_never_counts_and_a_mended_one_does() {
        let (_home, path) = home(Some(GOOD));
        let stop = CancellationToken::new();
        let watched = RulesWatch::start(&path, &path.with_extension("good"), stop.clone());
        check(&watched.current(), GOOD, None);
        let mut changes = watched.subscribe();
        let mut next = async |text: Option<&str>| {
            match text {
                Some(text) => fs::write(&path, text).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            tokio::time::timeout(Duration::from_secs(8), changes.changed()).await.unwrap().unwrap();
            changes.borrow_and_update().clone()
        };
        check(&*next(Some(BROKEN)).await, GOOD, Some("priority.yml:2:10: 'loud'; expected low, med, high or critical"));
        check(&*next(Some(BETTER)).await, BETTER, None);
        check(&*next(None).await, BETTER, Some("a readable file of rules"));
        check(&*next(Some(GOOD)).await, GOOD, None);
        stop.cancel();
        tokio::time::timeout(Duration::from_secs(8), watched.wait_until_stopped()).await.unwrap();
    }

    #[test]
    fn a_scan_sees_a_rewrite_with_the_same_size_and_time() {
        let (_home, path) = home(Some(GOOD));
        let (seen, _) = RulesFileState::read_bounded(&path);
        assert!(check_for_change(&path, &seen).1.is_none(), "nothing changed");
        let stamp = fs::metadata(&path).unwrap().modified().unwrap();
        let same_size = GOOD.replace("med", "low");
        fs::write(&path, &same_size).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(stamp).unwrap();
        let (now, next) = check_for_change(&path, &seen);
        assert_eq!(next.unwrap().unwrap(), same_size);
        assert!(check_for_change(&path, &now).1.is_none(), "told once");
    }
}
