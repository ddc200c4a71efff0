//! Sign-in codes: each is a file that its use removes, so that it counts once, in whichever process.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use chrono::Duration;

use crate::{
    durable_file::FileReplacement,
    failpoint,
    http_guard::random_bytes,
    model::{
        Instant,
        ids::{hex, sha256_hex},
    },
    regular_file,
};

/// How long a sign-in code counts.
pub(in crate::web) const CODE_MINUTES: i64 = 15;

/// Makes a sign-in code. Only its digest is kept.
pub(in crate::web) fn issue_code(folder: &Path, now: Instant) -> io::Result<String> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    remove_expired(folder, now)?;
    let code = hex(&random_bytes::<16>()?);
    let ends = now.plus(Duration::minutes(CODE_MINUTES));
    let file = FileReplacement::new(&file_of(folder, &code));
    failpoint::around("sign_in_code.write", || file.replace_durably(ends.to_string().as_bytes()))?;
    Ok(code)
}

/// Uses up a sign-in code. Returns whether it counts.
pub(in crate::web) fn redeem_code(folder: &Path, code: &str, now: Instant) -> bool {
    let file = file_of(folder, code);
    let Some(ends) = read_end(&file) else { return false };
    // Of several that use a code at once, only one removes its file.
    fs::remove_file(&file).is_ok() && now < ends
}

fn file_of(folder: &Path, code: &str) -> PathBuf {
    folder.join(format!("{}.code", sha256_hex(code.as_bytes())))
}

fn read_end(file: &Path) -> Option<Instant> {
    regular_file::read_to_string(file).ok()?.trim().parse().ok()
}

fn remove_expired(folder: &Path, now: Instant) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_code = path.extension().is_some_and(|extension| extension == "code");
        if is_code && read_end(&path).is_none_or(|ends| ends <= now) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_counts_once_and_not_for_long() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("codes");
        let now: Instant = "2026-11-16T08:00:00Z".parse().unwrap();
        let code = issue_code(&folder, now).unwrap();
        assert!(!redeem_code(&folder, "another", now) && !redeem_code(&folder, "../codes", now));
        assert!(redeem_code(&folder, &code, now));
        assert!(!redeem_code(&folder, &code, now));
        let old = issue_code(&folder, now).unwrap();
        assert!(!redeem_code(&folder, &old, now.plus(Duration::minutes(CODE_MINUTES))));
        issue_code(&folder, now).unwrap();
        issue_code(&folder, now.plus(Duration::hours(1))).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }
}
