//! Zones of other clocks: "10:00 am EST", "3pm London", "14:00 UTC", "UTC+2".

use std::{collections::HashMap, sync::LazyLock};

use chrono::{FixedOffset, LocalResult, NaiveDateTime, TimeZone as _};
use chrono_tz::Tz;

use super::{
    figure::parse_offset,
    language::{Tongue, fold},
    term::ZoneOffset,
    token::Token,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zone {
    Place(Tz),
    Offset(ZoneOffset),
}

/// The words of a name but for its first, and the zone that it names.
type ZoneName = (Vec<String>, Zone);

/// By the first word of the name; the longest name first.
static ZONES: LazyLock<HashMap<String, Vec<ZoneName>>> = LazyLock::new(|| {
    let mut zones: HashMap<String, Vec<ZoneName>> = HashMap::new();
    for line in include_str!("words/zones.txt").lines().filter(|line| !line.starts_with('#')) {
        let Some((zone, names)) = line.split_once(": ") else { continue };
        let zone = parse_offset(zone).map(Zone::Offset).or_else(|| zone.parse().ok().map(Zone::Place));
        let Some(zone) = zone else { continue };
        for name in names.split(", ") {
            let mut words = fold(name).split(' ').map(str::to_owned).collect::<Vec<_>>().into_iter();
            if let Some(first) = words.next() {
                zones.entry(first).or_default().push((words.collect(), zone));
            }
        }
    }
    zones.values_mut().for_each(|names| names.sort_by_key(|(rest, _)| std::cmp::Reverse(rest.len())));
    zones
});

/// The zone named by the tokens, and how many they are. A name of a place must end the phrase or be said to be a clock:
/// "3pm London" is one, "3pm London Bridge" is not.
pub(super) fn find_zone(tokens: &[Token<'_>], tongue: Tongue, own: Tz) -> Option<(Zone, usize)> {
    // "11am our time (Chicago)".
    let lead = match (tokens.first()?.text, tokens.get(1).map(|token| token.text)) {
        ("שעון" | "ortszeit", _) => 1,
        ("our" | "my" | "local", Some("time")) => 2,
        _ => 0,
    };
    let first = tokens.get(lead)?;
    let names = ZONES.get(first.text)?;
    let rest = tokens.get(lead + 1..).unwrap_or_default();
    let fits = |words: &Vec<String>| words.iter().zip(rest).filter(|(word, token)| *word == token.text).count();
    let (words, zone) = names.iter().find(|(words, _)| fits(words) == words.len())?;
    let used = lead + 1 + words.len();
    let next = tokens.get(used);
    if next.is_some_and(|next| matches!(next.text, "time" | "zeit" | "clock")) {
        return Some((own_meaning(first.text, *zone, own), used + 1));
    }
    let ends = tokens.get(used - 1).is_some_and(|last| last.is_last_of_phrase)
        || next.is_none_or(|next| tongue.find_word(next.text).is_some() || tongue.may_follow(next.text));
    (lead > 0 || ends || (names.len() == 1 && is_abbreviation(first.text, tongue)))
        .then(|| (own_meaning(first.text, *zone, own), used))
}

/// "EST" is a zone whatever follows it, where "Rome" may be a hotel. The German "ist" is a verb.
fn is_abbreviation(name: &str, tongue: Tongue) -> bool {
    let is_short = (3..=4).contains(&name.len());
    let is_verb = name == "ist" && tongue == Tongue::German;
    is_short && !is_verb && (name.ends_with(['t', 'z']) || name == "utc")
}

/// "IST" is the clock of India, of Israel or of Ireland: their people mean their own.
fn own_meaning(name: &str, zone: Zone, own: Tz) -> Zone {
    let shared = name == "ist" && matches!(own, Tz::Asia__Jerusalem | Tz::Asia__Tel_Aviv | Tz::Europe__Dublin);
    let shared = shared || name == "cst" && own == Tz::Asia__Shanghai;
    if shared { Zone::Place(own) } else { zone }
}

/// An IANA name or an offset.
impl std::fmt::Display for Zone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Place(tz) => f.write_str(tz.name()),
            Self::Offset(seconds) => {
                let sign = if *seconds < 0 { '-' } else { '+' };
                let minutes = seconds.unsigned_abs() / 60;
                write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}

impl Zone {
    /// What the clock there shows, as the clock of another place shows it.
    pub(super) fn convert(self, there: NaiveDateTime, to: Tz) -> Option<NaiveDateTime> {
        let utc = match self {
            Self::Place(tz) => first(tz.from_local_datetime(&there))?.to_utc(),
            Self::Offset(seconds) => first(FixedOffset::east_opt(seconds)?.from_local_datetime(&there))?.to_utc(),
        };
        Some(utc.with_timezone(&to).naive_local())
    }

    /// What the clock there shows when the clock of another place shows this.
    pub(super) fn convert_back(self, here: NaiveDateTime, from: Tz) -> Option<NaiveDateTime> {
        let utc = first(from.from_local_datetime(&here))?.to_utc();
        Some(match self {
            Self::Place(tz) => utc.with_timezone(&tz).naive_local(),
            Self::Offset(seconds) => utc.with_timezone(&FixedOffset::east_opt(seconds)?).naive_local(),
        })
    }
}

fn first<T>(local: LocalResult<T>) -> Option<T> {
    match local {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Some(at),
        LocalResult::None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_names_a_zone() {
        for line in include_str!("words/zones.txt").lines().filter(|line| !line.starts_with('#')) {
            let (zone, _) = line.split_once(": ").unwrap();
            assert!(parse_offset(zone).is_some() || zone.parse::<Tz>().is_ok(), "{line}");
        }
        assert!(ZONES.values().flatten().count() > 120);
    }

    #[test]
    fn names_that_several_places_share_are_the_persons_own() {
        assert_eq!(
            own_meaning("ist", Zone::Place(Tz::Asia__Kolkata), Tz::Asia__Jerusalem),
            Zone::Place(Tz::Asia__Jerusalem)
        );
        assert_eq!(own_meaning("ist", Zone::Place(Tz::Asia__Kolkata), Tz::UTC), Zone::Place(Tz::Asia__Kolkata));
    }
}
