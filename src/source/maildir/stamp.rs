//! File stamps: what the metadata of a file says about whether its bytes have changed.

use std::{
    fmt,
    fs::Metadata,
    hash::{DefaultHasher, Hash, Hasher},
    os::unix::fs::MetadataExt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::model::Instant;

/// Age from which a file counts as complete. `cp` writes under the final name, so a younger file may be half a mail.
pub(super) const SETTLE_TIME: Duration = Duration::from_millis(300);

/// Size, mtime and ctime of a file. While all three stay the same, so do the bytes: writing changes the ctime, which
/// nobody can set. A rename, a change of permissions or a backup changes it too, so a different stamp is a reason to
/// compare the content and no proof of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FileStamp {
    pub(super) size: u64,
    modified: FileTime,
    changed: FileTime,
}

/// Seconds since 1970 and nanoseconds, in whatever range the file system has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct FileTime(i64, i64);

impl FileTime {
    fn nanos(self) -> i128 {
        i128::from(self.0) * 1_000_000_000 + i128::from(self.1)
    }
}

impl FileStamp {
    pub(super) fn of(meta: &Metadata) -> Self {
        Self {
            size: meta.len(),
            modified: FileTime(meta.mtime(), meta.mtime_nsec()),
            changed: FileTime(meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Parses a stored stamp; none for a text that this program did not write.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let time = |text: &str| {
            let (seconds, nanos) = text.split_once('.')?;
            Some(FileTime(seconds.parse().ok()?, nanos.parse().ok()?))
        };
        let mut words = text.split(' ');
        let stamp =
            Self { size: words.next()?.parse().ok()?, modified: time(words.next()?)?, changed: time(words.next()?)? };
        words.next().is_none().then_some(stamp)
    }

    /// Returns a hash that is small enough to be kept for every file. Equal stamps have equal hashes.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns whether the last write is long enough ago for the file to be complete. An mtime in the future was set by
    /// another clock, so the ctime is used; if that is in the future too, the file counts as complete.
    pub(super) fn is_settled(&self, now: SystemTime) -> bool {
        let age = |time: FileTime| Some(nanos_of(now) - time.nanos()).filter(|age| *age >= 0);
        age(self.modified).or_else(|| age(self.changed)).is_none_or(|age| age >= nanos(SETTLE_TIME))
    }

    /// Returns whether the file has not changed since shortly before `moment`.
    pub(super) fn is_unchanged_since(&self, moment: SystemTime) -> bool {
        let last = self.changed.nanos().max(self.modified.nanos().min(nanos_of(moment)));
        last + nanos(SETTLE_TIME) < nanos_of(moment)
    }

    /// Returns whether two stamps differ at most in their ctime, as after a rename or a change of permissions.
    pub(super) fn equals_except_ctime(&self, other: &Self) -> bool {
        (self.size, self.modified) == (other.size, other.modified)
    }

    /// Returns when the file was written, if that is within the supported range.
    pub(super) fn written_at(&self) -> Option<Instant> {
        let at = |FileTime(seconds, _)| Instant::from_unix(seconds);
        at(self.modified).or_else(|| at(self.changed))
    }
}

impl fmt::Display for FileStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, modified, changed } = self;
        write!(f, "{size} {}.{:09} {}.{:09}", modified.0, modified.1, changed.0, changed.1)
    }
}

fn nanos(time: Duration) -> i128 {
    i128::try_from(time.as_nanos()).unwrap_or(i128::MAX)
}

/// Returns nanoseconds since 1970, negative for earlier times.
fn nanos_of(time: SystemTime) -> i128 {
    time.duration_since(UNIX_EPOCH).map_or_else(|before| -nanos(before.duration()), nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(modified: i64, changed: i64) -> FileStamp {
        FileStamp { size: 7, modified: FileTime(modified, 5), changed: FileTime(changed, 0) }
    }

    #[test]
    fn it_reads_what_it_wrote() {
        for stamp in [stamp(0, 0), stamp(1_763_452_800, 1_763_452_801), stamp(i64::MIN, i64::MAX)] {
            assert_eq!(FileStamp::parse(&stamp.to_string()), Some(stamp));
        }
        for other in ["", "7", "7 1.0", "7 1.0 1.0 1", "x 1.0 1.0", "7 1 1"] {
            assert_eq!(FileStamp::parse(other), None, "{other}");
        }
    }

    #[test]
    fn no_time_is_too_absurd() {
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        for absurd in [i64::MIN, -1, 253_402_300_800, i64::MAX] {
            assert_eq!(stamp(absurd, 900).written_at(), Instant::from_unix(900), "{absurd}");
            assert_eq!(stamp(absurd, absurd).written_at(), None, "{absurd}");
            assert!(stamp(absurd, 900).is_settled(now) && stamp(absurd, absurd).is_settled(now), "{absurd}");
        }
    }

    #[test]
    fn only_a_young_file_is_waited_for() {
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        for (modified, changed, settled) in [
            (990, 999, true),
            (999, 1000, true),
            (1000, 1000, false),
            (5000, 990, true),
            (5000, 1000, false),
            (5000, 5000, true),
        ] {
            assert_eq!(stamp(modified, changed).is_settled(now), settled, "{modified} {changed}");
        }
    }
}
