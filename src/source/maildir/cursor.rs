//! The cursor of a Maildir: the modification times of its polled directories, as text.

use std::{
    fmt::Write,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::listing::{DirStamp, is_settled};

/// Writes a cursor: one line with the nanosecond of the poll, which makes every cursor different from the one before,
/// and one stamp per directory. `?` stands for a stamp that proves nothing, because the directory may have changed
/// again since.
pub(super) fn write(poll: u64, stamps: &[DirStamp], now: SystemTime, complete: bool) -> String {
    let mut text = format!("maildir1 {poll}");
    for stamp in stamps {
        let settled = complete && is_settled(*stamp, now);
        text.push(' ');
        match stamp {
            _ if !settled => text.push('?'),
            None => text.push('-'),
            Some(at) => {
                let age = at.duration_since(UNIX_EPOCH).unwrap_or_default();
                // Writing to a String cannot fail.
                let _ = write!(text, "{}.{:09}", age.as_secs(), age.subsec_nanos());
            }
        }
    }
    text
}

/// Returns when the poll was made that returned this cursor.
pub(super) fn polled_at(cursor: &str) -> Option<SystemTime> {
    let nanos = cursor.strip_prefix("maildir1 ")?.split(' ').next()?.parse().ok()?;
    Some(UNIX_EPOCH + Duration::from_nanos(nanos))
}

/// Returns whether two cursors prove that no directory has changed: all stamps are equal and none is in doubt.
pub(super) fn proves_unchanged(before: &str, now: &str) -> bool {
    let stamps = |text: &str| -> Option<Vec<String>> {
        let mut words = text.split(' ');
        (words.next()? == "maildir1").then(|| words.skip(1).map(str::to_owned).collect())
    };
    match (stamps(before), stamps(now)) {
        (Some(before), Some(now)) => before == now && !now.iter().any(|stamp| stamp == "?"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settled_equal_stamps_prove_anything() {
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        let old = Some(UNIX_EPOCH + Duration::from_millis(500_250));
        let fresh = Some(now - Duration::from_secs(1));
        let text = |stamps: &[DirStamp]| write(7, stamps, now, true);
        assert_eq!(text(&[old, None]), "maildir1 7 500.250000000 -");
        assert!(proves_unchanged("maildir1 3 500.250000000 -", &text(&[old, None])));
        assert!(!proves_unchanged(&text(&[old, fresh]), &text(&[old, fresh])));
        assert!(!proves_unchanged(&text(&[old, None]), &text(&[old, old])));
        assert!(!proves_unchanged(&write(7, &[old], now, false), &text(&[old])));
        assert!(!proves_unchanged("gmail 500.250000000 -", &text(&[old, None])));
        assert!(!proves_unchanged("", ""));
    }
}
