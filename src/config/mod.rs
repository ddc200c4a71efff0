//! The configuration: `adjutant.toml`, where every key has a default and an `ADJUTANT_…` variable.
//!
//! The text becomes a checked [`Config`] once, and later code never checks again. Nothing else reads the environment.

mod account;
mod edit;
mod home;
mod llm;
mod mcp;
mod memory;
mod overlay;
mod planner;
mod raw;
mod secret;
mod state_folder;
mod surroundings;
mod user_path;
mod web;

use std::{collections::HashMap, path::PathBuf};

use chrono::{NaiveTime, Weekday};
use chrono_tz::Tz;

pub use account::{AccountConfig, AccountKind, GmailConfig, PushConfig, SendmailConfig};
pub use edit::ConfigEditError;
pub use home::{Home, NoHome};
pub use mcp::{McpConfig, McpHttpConfig};
pub use planner::AttachableFiles;
pub use raw::TEMPLATE;
pub use surroundings::Surroundings;
pub use web::WebConfig;

use crate::{
    model::{Me, llm::LlmSettings, memory::MemorySettings, plan::PlannerSettings},
    regular_file,
};

/// The whole configuration, checked.
#[derive(Debug, Clone)]
pub struct Config {
    pub me: Me,
    /// The labels that the program may put on mail.
    pub labels: Vec<String>,
    /// Seconds between polls. File events and push notifications lead to a poll at once.
    pub poll_seconds: u64,
    /// Mail that arrived more days ago opens no task.
    pub old_after_days: u32,
    /// Whether the second reader is asked about sentences in doubt.
    pub second_reader: bool,
    /// How many runs are driven at the same time.
    pub in_flight: usize,
    /// When the nightly job and the daily ranking run, as a cron line in the person's time zone.
    pub nightly_schedule: String,
    /// Where the witness of this home is kept, outside its data; none when no such folder is known.
    pub state_folder: Option<PathBuf>,
    pub memory: MemorySettings,
    /// Whether the model rewords the replies of the assistant.
    pub reword_replies: bool,
    /// The language model; none when the program works without one.
    pub llm: Option<LlmSettings>,
    pub mcp: McpConfig,
    pub web: WebConfig,
    pub planner: PlannerSettings,
    /// The files that a request may attach.
    pub attachable_files: AttachableFiles,
    pub accounts: Vec<AccountConfig>,
}

/// The configuration has an error. The text names the file, the key and what was expected.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct BadConfig {
    pub file: String,
    pub problem: String,
}

/// The name of the account that shows what the program does before there is a real one.
pub const SAMPLES_ACCOUNT: &str = "samples";
/// The codes of the languages that the program tells apart. The first one that a person names is the one it writes in
/// where it can.
const LANGUAGES: [&str; 18] =
    ["en", "de", "he", "fr", "es", "it", "pt", "nl", "pl", "ru", "uk", "sv", "tr", "ar", "ja", "zh", "ko", "el"];
/// The person that the sample mails are written to. Used only while the sample account is the only one.
const SAMPLE_NAME: &str = "Alex Green";
const SAMPLE_ADDRESS: &str = "you@home.example";
/// The name of the receiving server in the sample mails.
pub const SAMPLES_SERVER: &str = "mx.samples.example";

impl Config {
    /// Reads `adjutant.toml` of a home, if there is one, and applies the environment over it.
    pub fn load(home: &Home) -> Result<Self, BadConfig> {
        let path = home.config_file();
        let file = path.display().to_string();
        let text = match regular_file::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(BadConfig { file, problem: error.to_string() }),
        };
        Self::parse(&text, std::env::vars(), home).map_err(|problem| BadConfig { file, problem })
    }

    /// Checks a text that is to become `adjutant.toml` of a home, in the words of [`Config::load`].
    pub fn check_text(text: &str, home: &Home) -> Result<Self, BadConfig> {
        let file = home.config_file().display().to_string();
        Self::parse(text, std::env::vars(), home).map_err(|problem| BadConfig { file, problem })
    }

    /// Returns the text of the file with a key of `[me]` set. Everything else stays as the person wrote it.
    pub fn with_own_key(text: &str, key: &str, value: &toml::Value) -> Result<String, ConfigEditError> {
        edit::set_key(text, "me", key, value)
    }

    /// Returns the text of the file with a Maildir account added.
    pub fn with_account(text: &str, name: &str, path: &str) -> Result<String, ConfigEditError> {
        edit::add_account(text, name, path)
    }

    /// Merges the text of the file with the variables and checks the result. The file must not hold keys of servers.
    fn parse(text: &str, vars: impl Iterator<Item = (String, String)>, home: &Home) -> Result<Self, String> {
        let mut table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        secret::reject_keys_in_file(&table, &home.config_file())?;
        let vars: Vec<(String, String)> = vars.collect();
        let usual = state_folder::default_state_folder(&vars);
        let user_home = vars.iter().find(|(name, _)| name == "HOME").map(|(_, value)| PathBuf::from(value));
        overlay::apply(&mut table, vars.into_iter());
        if let Some(user_home) = user_home.or_else(std::env::home_dir) {
            user_path::expand(&mut table, &user_home);
        }
        for (old, new) in RENAMED_KEYS.iter().filter(|(old, _)| table.contains_key(*old)) {
            tracing::warn!("`{old}` in adjutant.toml is called `{new}` now; it still counts, please rename it");
        }
        // Parsed again from the text, because only the text knows line numbers; a variable has none.
        let raw: raw::RawConfig = table.try_into().map_err(|error: toml::de::Error| {
            toml::from_str::<raw::RawConfig>(text)
                .err()
                .map_or_else(|| error.to_string(), |located| located.to_string())
        })?;
        validate_config(raw, home, usual)
    }
}

/// Keys that an earlier version had under another name. They are still read.
const RENAMED_KEYS: &[(&str, &str)] = &[("daily", "nightly")];

/// Checks the merged configuration. Without an account, the sample account is used.
fn validate_config(raw: raw::RawConfig, home: &Home, usual_state: Option<PathBuf>) -> Result<Config, String> {
    let accounts = account::validate_accounts(&raw, home)?;
    let accounts = if accounts.is_empty() { vec![account::sample_account(home)] } else { accounts };
    if raw.engine.in_flight == 0 || raw.engine.in_flight > 1024 {
        return Err(format!("engine.in_flight is {}; expected 1 to 1024", raw.engine.in_flight));
    }
    if raw.mail.poll_seconds == 0 {
        return Err("mail.poll_seconds is 0; expected at least 1".into());
    }
    raw.nightly.parse::<croner::Cron>().map_err(|error| {
        format!("nightly is '{}': {error}; expected a cron line such as \"15 3 * * *\"", raw.nightly)
    })?;
    let (planner, attachable_files) = planner::validate_planner(raw.planner, home)?;
    Ok(Config {
        me: validate_me(raw.me, &accounts)?,
        labels: raw.mail.labels,
        poll_seconds: raw.mail.poll_seconds,
        old_after_days: raw.mail.old_after_days,
        second_reader: raw.reading.second_reader,
        in_flight: raw.engine.in_flight,
        reword_replies: raw.llm.reword_replies,
        llm: llm::validate_llm(raw.llm, home)?,
        mcp: mcp::validate_mcp(&raw.mcp, home)?,
        web: web::validate_web(&raw.web, home)?,
        nightly_schedule: raw.nightly,
        state_folder: match state_folder::validate_state_folder(&raw.state, home)? {
            Some(named) => Some(named),
            // A state folder inside the data would be restored together with it and could not give the restore away.
            None => usual_state.filter(|usual| !state_folder::is_inside(usual, &home.data())),
        },
        memory: memory::validate_memory(&raw.memory, home)?,
        planner,
        attachable_files,
        accounts,
    })
}

/// Checks the section `[me]`. The addresses of accounts count as the person's own.
fn validate_me(raw: raw::RawMe, accounts: &[AccountConfig]) -> Result<Me, String> {
    let time_zone: Tz = raw.time_zone.parse().map_err(|_| {
        format!("me.time_zone is '{}'; expected a name such as \"Europe/Berlin\" or \"UTC\"", raw.time_zone)
    })?;
    let (start, end) = raw
        .working_hours
        .split_once('-')
        .and_then(|(start, end)| Some((parse_time(start)?, parse_time(end)?)))
        .filter(|(start, end)| start < end)
        .ok_or_else(|| format!("me.working_hours is '{}'; expected such as \"09:00-17:00\"", raw.working_hours))?;
    let named_days = raw.working_days.iter().map(|day| parse_weekday(day)).collect::<Result<Vec<_>, _>>()?;
    let work_days = if named_days.is_empty() { Me::usual_work_days(time_zone) } else { named_days };
    let is_sample = accounts.iter().all(|account| account.is_sample);
    let or_sample = |given: Vec<String>, sample: &str| {
        if given.is_empty() && is_sample { vec![sample.to_owned()] } else { given }
    };
    let (names, addresses) = (or_sample(raw.names, SAMPLE_NAME), or_sample(raw.addresses, SAMPLE_ADDRESS));
    let mut addresses = addresses
        .iter()
        .map(|address| account::parse_own_address("me.addresses", address))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(unknown) = raw.languages.iter().find(|code| !LANGUAGES.contains(&code.as_str())) {
        return Err(format!("me.languages has '{unknown}'; expected {}", LANGUAGES.join(", ")));
    }
    let senders = accounts.iter().filter_map(|account| Some((account.name.clone(), account.address.clone()?)));
    let senders: HashMap<_, _> = senders.collect();
    for account in accounts {
        addresses.extend(account.address.clone().filter(|address| !addresses.contains(address)));
    }
    Ok(Me {
        names,
        addresses,
        senders,
        time_zone,
        work_start: start,
        work_end: end,
        work_days,
        signature: raw.signature,
        decline: raw.decline,
        languages: raw.languages,
    })
}

fn parse_time(text: &str) -> Option<NaiveTime> {
    NaiveTime::parse_from_str(text.trim(), "%H:%M").ok()
}

fn parse_weekday(text: &str) -> Result<Weekday, String> {
    text.parse().map_err(|_| format!("me.working_days has '{text}'; expected mon, tue, wed, thu, fri, sat or sun"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Since;

    fn parse(text: &str, vars: &[(&str, &str)]) -> Result<Config, String> {
        let vars = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Config::parse(text, vars, &Home::at("/home/of/it".into()))
    }

    #[test]
    fn nothing_at_all_is_a_whole_configuration() {
        let config = parse("", &[]).unwrap();
        assert_eq!(config.accounts.len(), 1);
        assert!(config.accounts[0].is_sample);
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
    fn every_key_of_an_account_has_a_variable() {
        let file = "[[account]]\nname = \"my-mail\"\npath = \"x\"\n[[account]]\nname = \"my\"\npath = \"y\"";
        let config = parse(
            file,
            &[
                ("ADJUTANT_ACCOUNT_MY_MAIL_PATH", "/elsewhere"),
                ("ADJUTANT_ACCOUNT_MY_TRUSTED_SERVERS", "[\"mx.home.example\"]"),
                ("ADJUTANT_ACCOUNT_NEW_PATH", "/new"),
                ("ADJUTANT_ACCOUNT_NEW_ADDRESS", "me@new.example"),
                ("ADJUTANT_ACCOUNT_NEW_SENDMAIL_PATIENCE", "5"),
                ("ADJUTANT_ACCOUNT_NEW_SENDMAIL", "/usr/sbin/sendmail -t"),
            ],
        );
        let accounts = config.unwrap().accounts;
        let paths: Vec<_> = accounts
            .iter()
            .map(|account| match &account.kind {
                AccountKind::Maildir { path, .. } => (account.name.as_str(), path.display().to_string()),
                AccountKind::Gmail(_) => panic!(),
            })
            .collect();
        let expected = [("my-mail", "/elsewhere"), ("my", "/home/of/it/y"), ("new", "/new")];
        assert_eq!(paths, expected.map(|(name, path)| (name, path.to_owned())));
        assert_eq!(accounts[1].trusted_servers, ["mx.home.example"]);
        assert_eq!(accounts[2].address.as_deref(), Some("me@new.example"));
        let error = parse("", &[("ADJUTANT_ACCOUNT_NEW_PAHT", "/new")]).unwrap_err();
        assert!(error.contains("account_new_paht"), "{error}");
    }

    #[test]
    fn a_tilde_is_the_home_of_the_user() {
        let text = "state = \"~/s\"\n[[account]]\nname = \"a\"\npath = \"~/Maildir\"\n[[account]]\nname = \"b\"\npath = \"x~/y\"";
        let config = parse(text, &[("HOME", "/u")]).unwrap();
        let path = |nth: usize| match &config.accounts[nth].kind {
            AccountKind::Maildir { path, .. } => path.clone(),
            AccountKind::Gmail(_) => panic!(),
        };
        assert_eq!((path(0), path(1)), ("/u/Maildir".into(), "/home/of/it/x~/y".into()));
        assert_eq!(config.state_folder, Some("/u/s".into()));
    }

    #[test]
    fn an_account_writes_as_its_own_address_or_as_the_first() {
        let text = "[me]\naddresses = [\"a@b.example\"]\n[[account]]\nname = \"g\"\nkind = \"gmail\"\naddress = \"A@Work.example\"\n[[account]]\nname = \"h\"\nkind = \"gmail\"";
        let me = parse(text, &[]).unwrap().me;
        assert_eq!((me.sender(&"g".into()), me.sender(&"h".into())), ("a@work.example", "a@b.example"));
        assert_eq!(me.addresses, ["a@b.example", "a@work.example"]);
    }

    #[test]
    fn the_sample_person_belongs_to_the_sample_account() {
        let sample = parse("", &[]).unwrap().me;
        assert_eq!((sample.names, sample.addresses), (vec![SAMPLE_NAME.to_owned()], vec![SAMPLE_ADDRESS.to_owned()]));
        let real = parse("[[account]]\nname = \"w\"\npath = \"x\"", &[]).unwrap().me;
        assert_eq!((real.names.len(), real.addresses.len()), (0, 0));
        let real = parse("[[account]]\nname = \"w\"\npath = \"x\"\naddress = \"A@w.example\"", &[]).unwrap().me;
        assert_eq!((real.names.len(), real.sender(&"w".into())), (0, "a@w.example"));
        let own = parse("[me]\nnames = [\"Dana Levi\"]", &[]).unwrap().me;
        assert_eq!(own.names, ["Dana Levi"]);
    }

    #[test]
    fn a_transport_has_a_minute_unless_told() {
        let account = "[[account]]\nname = \"a\"\npath = \"x\"\nsendmail = \"/usr/sbin/sendmail -i -t\"\n";
        for (more, seconds) in [("", 60), ("sendmail_patience = 5", 5)] {
            let config = parse(&format!("{account}{more}"), &[]).unwrap();
            let AccountKind::Maildir { sendmail: Some(sendmail), .. } = &config.accounts[0].kind else { panic!() };
            assert_eq!(
                (sendmail.command_line.as_str(), sendmail.timeout.as_secs()),
                ("/usr/sbin/sendmail -i -t", seconds)
            );
        }
    }

    #[test]
    fn a_gmail_account_needs_no_more_than_its_name() {
        let config = parse("[[account]]\nname = \"g\"\nkind = \"gmail\"", &[]).unwrap();
        let account = &config.accounts[0];
        let AccountKind::Gmail(gmail) = &account.kind else { panic!("{account:?}") };
        assert_eq!(gmail.labels, ["INBOX"]);
        assert_eq!(gmail.since, Since::Days(7));
        assert_eq!(gmail.token_file, std::path::Path::new("/home/of/it/data/accounts/g.token"));
        assert_eq!(gmail.client_file, std::path::Path::new("/home/of/it/google-client.json"));
        assert_eq!(account.trusted_servers, ["mx.google.com"]);
        assert!(!account.is_sample);
    }

    #[test]
    fn the_state_folder_is_where_the_user_keeps_such_things() {
        let state = |text: &str, vars: &[(&str, &str)]| parse(text, vars).unwrap().state_folder;
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(state("", &[("HOME", "/u")]), path("/u/.local/state/adjutant"));
        assert_eq!(state("", &[("HOME", "/u"), ("XDG_STATE_HOME", "/s")]), path("/s/adjutant"));
        assert_eq!(state("", &[("HOME", "/u"), ("XDG_STATE_HOME", "relative")]), path("/u/.local/state/adjutant"));
        assert_eq!(state("state = \"/x\"", &[("XDG_STATE_HOME", "/s")]), path("/x"));
        assert_eq!(state("state = \"../x\"", &[]), path("/home/of/it/../x"));
        assert_eq!(state("", &[("ADJUTANT_STATE", "/y"), ("HOME", "/u")]), path("/y"));
    }

    #[test]
    fn a_state_folder_inside_the_data_is_refused_whatever_way_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("home");
        std::fs::create_dir_all(root.join("data")).unwrap();
        std::os::unix::fs::symlink(&root, folder.path().join("link")).unwrap();
        std::os::unix::fs::symlink(root.join("data"), folder.path().join("into")).unwrap();
        let named = |state: &str| {
            Config::parse(&format!("state = \"{state}\""), std::iter::empty(), &Home::at(root.clone()))
                .map(|config| config.state_folder)
        };
        for inside in [
            "data",
            "data/s",
            "./data/../data/s",
            "../home/data/s",
            "../link/data/s",
            "../into",
            "../into/a/b",
            "../missing/../home/data",
        ] {
            assert!(named(inside).is_err_and(|error| error.contains("outside")), "{inside}");
        }
        for outside in ["../state", "data/../state", "database", "../into/../../state"] {
            assert_eq!(named(outside).unwrap(), Some(root.join(outside)), "{outside}");
        }
        let usual = [("XDG_STATE_HOME".to_owned(), root.join("data").display().to_string())];
        assert_eq!(Config::parse("", usual.into_iter(), &Home::at(root.clone())).unwrap().state_folder, None);
    }

    #[test]
    fn errors_name_the_key_and_what_was_expected() {
        for (text, expected) in [
            ("[me]\ntime_zone = \"Mars\"", "Europe/Berlin"),
            ("[me]\nworking_hours = \"9 to 5\"", "09:00-17:00"),
            ("[me]\nworking_days = [\"funday\"]", "mon, tue"),
            ("[me]\naddresses = [\"not-an-address\"]", "me.addresses is 'not-an-address'"),
            ("[me]\nlanguages = [\"xx\"]", "me.languages has 'xx'; expected en, de, he"),
            ("[mee]", "unknown field `mee`"),
            ("[engine]\nin_flight = 0", "1 to 1024"),
            ("nightly = \"often\"", "cron line"),
            ("daily = \"often\"", "cron line"),
            ("daily = \"15 3 * * *\"\nnightly = \"15 4 * * *\"", "duplicate"),
            ("state = \"data/state\"", "outside"),
            ("[[account]]\nname = \"samples\"\npath = \"x\"", "neither"),
            ("[[account]]\nname = \"a\"\npath = \"x\"\n[[account]]\nname = \"a\"\npath = \"y\"", "two accounts"),
            ("[[account]]\nname = \"a\"", "path"),
            ("[[account]]\nname = \"a\"\npath = \"x\"\naddress = \"me\"", "you@work.example"),
            ("[[account]]\nname = \"a\"\nkind = \"gmial\"", "maildir, gmail"),
            ("[[account]]\nname = \"a\"\nkind = \"gmail\"\npath = \"x\"", "has no path"),
            ("[[account]]\nname = \"a\"\npath = \"x\"\nsince = \"7d\"", "only for kind"),
            ("[[account]]\nname = \"a\"\nkind = \"gmail\"\nsince = \"long ago\"", "\"today\" or"),
            ("[[account]]\nname = \"a\"\nkind = \"gmail\"\npush = \"mine\"", "projects/"),
            ("[[account]]\nname = \"a\"\nkind = \"gmail\"\nnever_touch = [\"boss\"]", "@domain"),
            ("[[account]]\nname = \"a\"\npath = \"x\"\nsendmail = \"/s\"\nsendmail_patience = 0", "1 to 600"),
            ("[[account]]\nname = \"a\"\npath = \"x\"\nsendmail_patience = 5", "only for an account with sendmail"),
            ("[memory]\nqdrant_url = \"localhost\"", "http://127.0.0.1:6334"),
            ("[memory]\nqdrant_api_key = \"k\"", "ADJUTANT_MEMORY_QDRANT_API_KEY"),
            ("[memory]\nembeddings_url = \"http://x\"", "memory.embeddings_model"),
            ("[memory]\nembeddings_url = \"http://x\"\nembeddings_model = \"m\"", "memory.embeddings_dimension"),
            ("not toml", "line 1"),
        ] {
            let error = parse(text, &[]).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
