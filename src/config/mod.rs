//! `adjutant.toml`: every key has a default and an `ADJUTANT_…` variable. The only reader of the environment.
//!
//! Raw text becomes a checked [`Config`] once; nobody asks again.

mod home;
mod llm;
mod overlay;
mod raw;

use std::path::PathBuf;

use chrono::{NaiveTime, Weekday};
use chrono_tz::Tz;

pub use home::{Home, NoHome};
pub use raw::TEMPLATE;

use crate::model::{AccountId, Me, llm::LlmSettings};

#[derive(Debug, Clone)]
pub struct Config {
    pub me: Me,
    /// The labels the program may put on mail.
    pub labels: Vec<String>,
    /// Seconds between polls; file events make it faster.
    pub poll_seconds: u64,
    /// Mail older than this opens no task.
    pub old_after_days: u32,
    /// Runs in flight.
    pub in_flight: usize,
    /// When the daily ranking runs, as a cron line in the person's time zone.
    pub daily: String,
    /// The model that helps; none: the rules alone.
    pub llm: Option<LlmSettings>,
    pub accounts: Vec<AccountConfig>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountConfig {
    pub name: AccountId,
    pub path: PathBuf,
    /// The receiving servers whose Authentication-Results count.
    pub trusted_servers: Vec<String>,
    /// The program that transmits mail; without one, an approved mail ends as saved.
    pub sendmail: Option<String>,
    /// Ours to play with: acts from the start. Every other account starts in observe mode.
    pub sample: bool,
}

/// Something in the configuration is not as it must be.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct BadConfig {
    pub file: String,
    pub problem: String,
}

/// The account that shows what the program does before there is a real one.
pub const SAMPLES: &str = "samples";
/// What the sample mailbox's own server calls itself.
pub const SAMPLES_SERVER: &str = "mx.samples.example";

impl Config {
    /// Reads `adjutant.toml` of a home, if there is one, and the environment over it.
    pub fn load(home: &Home) -> Result<Self, BadConfig> {
        let path = home.config_file();
        let file = path.display().to_string();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(BadConfig { file, problem: error.to_string() }),
        };
        Self::parse(&text, std::env::vars(), home).map_err(|problem| BadConfig { file, problem })
    }

    fn parse(text: &str, vars: impl Iterator<Item = (String, String)>, home: &Home) -> Result<Self, String> {
        let mut table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        llm::refuse_key(&table, &home.config_file())?;
        overlay::apply(&mut table, vars);
        let raw: raw::Raw = table.try_into().map_err(|error: toml::de::Error| error.to_string())?;
        checked(raw, home)
    }
}

fn checked(raw: raw::Raw, home: &Home) -> Result<Config, String> {
    let accounts = accounts(&raw, home)?;
    if raw.engine.in_flight == 0 || raw.engine.in_flight > 1024 {
        return Err(format!("engine.in_flight is {}; expected 1 to 1024", raw.engine.in_flight));
    }
    if raw.mail.poll_seconds == 0 {
        return Err("mail.poll_seconds is 0; expected at least 1".into());
    }
    raw.daily
        .parse::<croner::Cron>()
        .map_err(|error| format!("daily is '{}': {error}; expected a cron line such as \"15 3 * * *\"", raw.daily))?;
    Ok(Config {
        me: me(raw.me)?,
        labels: raw.mail.labels,
        poll_seconds: raw.mail.poll_seconds,
        old_after_days: raw.mail.old_after_days,
        in_flight: raw.engine.in_flight,
        llm: llm::checked(raw.llm, home)?,
        daily: raw.daily,
        accounts,
    })
}

fn accounts(raw: &raw::Raw, home: &Home) -> Result<Vec<AccountConfig>, String> {
    let mut accounts = Vec::new();
    for account in &raw.account {
        let plain = !account.name.is_empty()
            && account.name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if !plain || [SAMPLES, "local"].contains(&account.name.as_str()) {
            return Err(format!(
                "account name '{}': expected letters, digits, - _ . and neither 'samples' nor 'local'",
                account.name
            ));
        }
        if accounts.iter().any(|known: &AccountConfig| known.name.as_str() == account.name) {
            return Err(format!("there are two accounts named '{}'", account.name));
        }
        accounts.push(AccountConfig {
            name: AccountId(account.name.clone()),
            path: home.root().join(&account.path),
            trusted_servers: account.trusted_servers.clone(),
            sendmail: transport(account.sendmail.as_deref())?,
            sample: false,
        });
    }
    if accounts.is_empty() {
        accounts.push(AccountConfig {
            name: AccountId::from(SAMPLES),
            path: home.data().join("mail"),
            trusted_servers: vec![SAMPLES_SERVER.to_owned()],
            sendmail: None,
            sample: true,
        });
    }
    Ok(accounts)
}

fn transport(line: Option<&str>) -> Result<Option<String>, String> {
    match line.map(str::trim) {
        Some(line) if !line.starts_with('/') => {
            Err(format!("account.sendmail: '{line}': expected a full path, for instance \"/usr/sbin/sendmail -i -t\""))
        }
        line => Ok(line.map(str::to_owned)),
    }
}

fn me(raw: raw::RawMe) -> Result<Me, String> {
    let time_zone: Tz = raw.time_zone.parse().map_err(|_| {
        format!("me.time_zone is '{}'; expected a name such as \"Europe/Berlin\" or \"UTC\"", raw.time_zone)
    })?;
    let (start, end) = raw
        .working_hours
        .split_once('-')
        .and_then(|(start, end)| Some((time(start)?, time(end)?)))
        .filter(|(start, end)| start < end)
        .ok_or_else(|| format!("me.working_hours is '{}'; expected such as \"09:00-17:00\"", raw.working_hours))?;
    let work_days = raw.working_days.iter().map(|day| weekday(day)).collect::<Result<Vec<_>, _>>()?;
    Ok(Me {
        names: raw.names,
        addresses: raw.addresses.iter().map(|address| address.trim().to_lowercase()).collect(),
        time_zone,
        work_start: start,
        work_end: end,
        work_days,
        signature: raw.signature,
        languages: raw.languages,
    })
}

fn time(text: &str) -> Option<NaiveTime> {
    NaiveTime::parse_from_str(text.trim(), "%H:%M").ok()
}

fn weekday(text: &str) -> Result<Weekday, String> {
    text.parse().map_err(|_| format!("me.working_days has '{text}'; expected mon, tue, wed, thu, fri, sat or sun"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, vars: &[(&str, &str)]) -> Result<Config, String> {
        let vars = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Config::parse(text, vars, &Home::at("/home/of/it".into()))
    }

    #[test]
    fn nothing_at_all_is_a_whole_configuration() {
        let config = parse("", &[]).unwrap();
        assert_eq!(config.accounts.len(), 1);
        assert!(config.accounts[0].sample);
        assert_eq!(config.in_flight, 64);
    }

    #[test]
    fn the_template_says_what_the_defaults_are() {
        let written = parse(TEMPLATE, &[]).unwrap();
        assert_eq!(format!("{written:?}"), format!("{:?}", parse("", &[]).unwrap()));
        let uncommented: String = TEMPLATE
            .lines()
            .map(|line| {
                line.strip_prefix("# ").filter(|rest| rest.contains(" = ") || rest.starts_with('[')).unwrap_or(line)
            })
            .collect::<Vec<_>>()
            .join("\n");
        assert!(parse(&uncommented, &[]).is_ok(), "{:?}", parse(&uncommented, &[]).err());
    }

    #[test]
    fn a_variable_beats_the_file() {
        let config = parse(
            "[me]\ntime_zone = \"UTC\"",
            &[("ADJUTANT_ME_TIME_ZONE", "Asia/Jerusalem"), ("ADJUTANT_ENGINE_IN_FLIGHT", "7")],
        );
        let config = config.unwrap();
        assert_eq!((config.me.time_zone, config.in_flight), (chrono_tz::Asia::Jerusalem, 7));
        let list = parse("", &[("ADJUTANT_ME_ADDRESSES", "[\"A@b.example\"]")]).unwrap();
        assert_eq!(list.me.addresses, ["a@b.example"]);
    }

    #[test]
    fn errors_name_the_key_and_what_was_expected() {
        for (text, expected) in [
            ("[me]\ntime_zone = \"Mars\"", "Europe/Berlin"),
            ("[me]\nworking_hours = \"9 to 5\"", "09:00-17:00"),
            ("[me]\nworking_days = [\"funday\"]", "mon, tue"),
            ("[mee]", "unknown field `mee`"),
            ("[engine]\nin_flight = 0", "1 to 1024"),
            ("daily = \"often\"", "cron line"),
            ("[[account]]\nname = \"samples\"\npath = \"x\"", "neither"),
            ("[[account]]\nname = \"a\"\npath = \"x\"\n[[account]]\nname = \"a\"\npath = \"y\"", "two accounts"),
            ("not toml", "line 1"),
        ] {
            let error = parse(text, &[]).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
