//! What the surroundings say of the person who starts the program: their home, their name, their time zone. All of it
//! is only proposed, never taken for granted.

use std::{
    fs,
    path::{Path, PathBuf},
};

use chrono_tz::Tz;

/// The person's user account on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The home of the user, where mailboxes usually are.
    pub user_home: Option<PathBuf>,
    pub user_name: Option<String>,
    /// The time zone of the machine, if it can be told.
    pub time_zone: Option<Tz>,
}

impl Surroundings {
    /// Reads the environment and the files of the system.
    pub fn read() -> Self {
        let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        Self {
            user_home: named("HOME").map(PathBuf::from).or_else(std::env::home_dir),
            user_name: named("USER").or_else(|| named("LOGNAME")),
            time_zone: named("TZ").and_then(|zone| parse_zone(&zone)).or_else(read_zone_of_machine),
        }
    }
}

fn read_zone_of_machine() -> Option<Tz> {
    let written = fs::read_to_string("/etc/timezone").ok().and_then(|zone| parse_zone(&zone));
    written.or_else(|| zone_of_link(&fs::canonicalize("/etc/localtime").ok()?))
}

/// Returns the zone that a file of the zone database is named after.
fn zone_of_link(file: &Path) -> Option<Tz> {
    parse_zone(file.to_str()?.split_once("zoneinfo/")?.1)
}

fn parse_zone(text: &str) -> Option<Tz> {
    text.trim().trim_start_matches(':').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_told_by_its_file() {
        let zone = |path: &str| zone_of_link(Path::new(path));
        assert_eq!(zone("/usr/share/zoneinfo/Asia/Jerusalem"), Some(chrono_tz::Asia::Jerusalem));
        assert_eq!((zone("/usr/share/zoneinfo/Mars"), zone("/etc/localtime")), (None, None));
    }
}
