//! Failpoints: places where a test can kill the program, before and after each commit and each external call.
//!
//! They exist only in builds with debug assertions; a release build has no trace of them. `FAILPOINT=name` aborts the
//! process the first time it reaches that place, `FAILPOINT=name:3` the third time.

/// The names of the external calls. Each has a failpoint `.before` and one `.after`, and the crash tests kill the
/// program at all of them. Failpoints of commits are named after their write: `commit.checkpoint.before`,
/// `commit.checkpoint.after`.
pub const EXTERNAL_CALLS: &[&str] = &[
    "mailbox.apply",
    "mailbox.probe",
    "mailbox.draft",
    "mailbox.send",
    "mailbox.find",
    "mailbox.undo",
    "mailbox.settle",
    "mailbox.withdraw",
    "mailbox.busy",
    "transport.transmit",
    "sent.rename",
    "trash.rename",
    "archive.rename",
    "keyword.rename",
    "keywords.write",
    "maildir.write",
    "maildir.rename",
    "calendar.busy",
    "calendar.insert",
    "calendar.invited",
    "calendar.patch",
    "source.poll",
    "source.fetch",
    "folder.create",
    "queue.write",
    "queue.remove",
    "queue.quarantine",
    "queue.read",
    "journal.append",
    "journal.rewrite",
    "anchor.append",
    "anchor.rename",
    "epoch.write",
    "witness.write",
    "witness.append",
    "witness.trim",
    "scratch.write",
    "scratch.remove",
    "token.write",
    "token.rename",
    "client_token.write",
    "sign_in_code.write",
    "page_address.write",
    "rules.keep",
    "rules.write",
    "rules.rename",
    "rules.sync",
    "model.ask",
];

/// Aborts the process if `FAILPOINT` names this place; otherwise does nothing.
#[cfg(debug_assertions)]
pub fn hit(name: &str, when: &str) {
    use std::sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    };
    static WANTED: OnceLock<Option<(String, u32)>> = OnceLock::new();
    static PASSED: AtomicU32 = AtomicU32::new(0);
    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var("FAILPOINT").ok()?;
        let (name, nth) = text.rsplit_once(':').unwrap_or((&text, "1"));
        Some((name.to_owned(), nth.parse().unwrap_or(1)))
    });
    let Some((wanted, nth)) = wanted else { return };
    let here = wanted.strip_prefix(name).and_then(|rest| rest.strip_prefix('.')) == Some(when);
    if here && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == *nth {
        std::process::abort();
    }
}

/// Does nothing: a release build has no failpoints.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub const fn hit(_name: &str, _when: &str) {}

/// Aborts the process if `FAILPOINT` names this side (`before` or `after`) of a commit that holds a write of this name.
#[cfg(debug_assertions)]
pub fn hit_commit(write: &str, when: &str) {
    hit(&format!("commit.{write}"), when);
}

/// Does nothing: a release build has no failpoints.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub const fn hit_commit(_write: &str, _when: &str) {}

/// Makes an external call between its two failpoints, and returns its result.
pub fn around<T>(name: &str, call: impl FnOnce() -> T) -> T {
    hit(name, "before");
    let outcome = call();
    hit(name, "after");
    outcome
}
