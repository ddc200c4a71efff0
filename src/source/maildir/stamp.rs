//! What a file's metadata says about its bytes.

use std::{
    fmt,
    fs::Metadata,
    hash::{DefaultHasher, Hash, Hasher},
    os::unix::fs::MetadataExt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::model::Instant;

/// People drop files with `cp`, which writes under the final name: one so young may be half a mail.
pub(super) const SETTLE_TIME: Duration = Duration::from_millis(300);

/// Size, mtime and ctime. While all three stay, so do the bytes: whoever writes them changes the ctime, which nobody can
/// set. A rename, a flag or a backup changes it too, so another stamp is a reason to compare the content, not a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FileStamp {
    pub(super) size: u64,
    modified: FileTime,
    changed: FileTime,
}

/// Seconds since 1970 and nanoseconds, of whatever range the file system has.
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

    /// Short enough to be kept for every file there is; equal for equal stamps.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// Whether the last write is long enough ago for the file to be whole. A time in the future is some other clock's:
    /// then the ctime tells, and when that is in the future too, nothing is waited for.
    pub(super) fn is_settled(&self, now: SystemTime) -> bool {
        let age = |time: FileTime| Some(nanos_of(now) - time.nanos()).filter(|age| *age >= 0);
        age(self.modified).or_else(|| age(self.changed)).is_none_or(|age| age >= nanos(SETTLE_TIME))
    }

    /// Whether nothing has happened to the file since well before `moment`.
    pub(super) fn is_unchanged_since(&self, moment: SystemTime) -> bool {
        let last = self.changed.nanos().max(self.modified.nanos().min(nanos_of(moment)));
        last + nanos(SETTLE_TIME) < nanos_of(moment)
    }

    /// Whether the other differs in its ctime at most, as after a rename or a change of permissions.
    pub(super) fn equals_except_ctime(&self, other: &Self) -> bool {
        (self.size, self.modified) == (other.size, other.modified)
    }

    /// When it was written, where that is a time people know.
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
