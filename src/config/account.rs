//! `[[account]]`: where mail comes from.

use std::{path::PathBuf, time::Duration};

use chrono_tz::Tz;

use super::{
    Home, SAMPLES_ACCOUNT, SAMPLES_SERVER,
    raw::{RawAccount, RawConfig, RawKind},
};
use crate::model::{AccountId, MailboxKind, Since};

/// What Gmail's own servers call themselves in Authentication-Results.
const GMAIL_SERVER: &str = "mx.google.com";
const CLIENT_FILE: &str = "google-client.json";
/// How far back the first look goes unless told.
const FIRST_LOOK_DAYS: u32 = 7;
/// Queueing a message takes a moment; a transport that takes this long hangs, unless the person knows better.
const DEFAULT_SENDMAIL_TIMEOUT: u64 = 60;
/// A stop waits for a transport that is at work, so its patience has an end.
const MAX_SENDMAIL_TIMEOUT: u64 = 600;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountConfig {
    pub name: AccountId,
    pub kind: AccountKind,
    /// What it writes as, if not as the first address of `[me]`; lower case.
    pub address: Option<String>,
    /// The receiving servers whose Authentication-Results count.
    pub trusted_servers: Vec<String>,
    /// Addresses, or domains with an @ before them, whose mail is never worked.
    pub never_touch: Vec<String>,
    /// Ours to play with: acts from the start. Every other account starts in observe mode.
    pub is_sample: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountKind {
    Maildir {
        path: PathBuf,
        /// Without one, an approved mail ends as saved.
        sendmail: Option<SendmailConfig>,
    },
    Gmail(GmailConfig),
}

/// The program that transmits mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendmailConfig {
    /// The program and its arguments, with spaces between.
    pub command_line: String,
    /// How long it may take; then it is stopped.
    pub timeout: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GmailConfig {
    /// Labels whose mail is worked.
    pub labels: Vec<String>,
    pub since: Since,
    /// What Google's console hands out for a desktop app.
    pub client_file: PathBuf,
    pub token_file: PathBuf,
    /// Events and free times too.
    pub calendar: bool,
    pub push: Option<PushConfig>,
    /// Where the APIs are, if not at Google.
    pub api: Option<String>,
    pub pubsub_api: Option<String>,
}

/// A Pub/Sub topic Gmail writes to, and a subscription we pull from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushConfig {
    pub topic: String,
    pub subscription: String,
}

impl AccountKind {
    /// Returns the kind without its settings, as it is stored.
    pub const fn mailbox_kind(&self) -> MailboxKind {
        match self {
            Self::Maildir { .. } => MailboxKind::Maildir,
            Self::Gmail(_) => MailboxKind::Gmail,
        }
    }

    /// Whether an approved mail leaves the house.
    pub fn transmits(&self) -> bool {
        match self {
            Self::Maildir { sendmail, .. } => sendmail.is_some(),
            Self::Gmail(_) => true,
        }
    }

    /// Whether there is a calendar beside it.
    pub fn keeps_calendar(&self) -> bool {
        matches!(self, Self::Gmail(gmail) if gmail.calendar)
    }
}

/// The mailbox that is there before there is a real one.
pub(super) fn sample_account(home: &Home) -> AccountConfig {
    AccountConfig {
        name: AccountId::from(SAMPLES_ACCOUNT),
        kind: AccountKind::Maildir { path: home.data().join("mail"), sendmail: None },
        address: None,
        trusted_servers: vec![SAMPLES_SERVER.to_owned()],
        never_touch: Vec::new(),
        is_sample: true,
    }
}

pub(super) fn validate_accounts(raw: &RawConfig, home: &Home) -> Result<Vec<AccountConfig>, String> {
    let zone = raw.me.time_zone.parse().unwrap_or(Tz::UTC);
    let mut accounts: Vec<AccountConfig> = Vec::new();
    for account in &raw.account {
        check_name(&account.name)?;
        if accounts.iter().any(|known| known.name.as_str() == account.name) {
            return Err(format!("there are two accounts named '{}'", account.name));
        }
        let kind = match account.kind {
            RawKind::Maildir => validate_maildir(account, home)?,
            RawKind::Gmail => AccountKind::Gmail(validate_gmail(account, home, zone)?),
        };
        let servers = match kind {
            AccountKind::Maildir { .. } => Vec::new(),
            AccountKind::Gmail(_) => vec![GMAIL_SERVER.to_owned()],
        };
        accounts.push(AccountConfig {
            name: AccountId(account.name.clone()),
            kind,
            address: account.address.as_deref().map(parse_own_address).transpose()?,
            trusted_servers: account.trusted_servers.clone().unwrap_or(servers),
            never_touch: account
                .never_touch
                .iter()
                .map(|sender| parse_never_touch(sender))
                .collect::<Result<_, _>>()?,
            is_sample: false,
        });
    }
    Ok(accounts)
}

fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(plain) || [SAMPLES_ACCOUNT, "local", ".", ".."].contains(&name) {
        return Err(format!(
            "account name '{name}': expected letters, digits, - _ . and neither 'samples' nor 'local'"
        ));
    }
    Ok(())
}

fn validate_maildir(account: &RawAccount, home: &Home) -> Result<AccountKind, String> {
    let name = &account.name;
    let path = account.path.as_ref().ok_or_else(|| format!("account '{name}' has no path"))?;
    let given = [
        ("labels", account.labels.is_some()),
        ("since", account.since.is_some()),
        ("client_file", account.client_file.is_some()),
        ("calendar", account.calendar.is_some()),
        ("push", account.push.is_some()),
        ("api", account.api.is_some()),
        ("pubsub_api", account.pubsub_api.is_some()),
    ];
    if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
        return Err(format!("account '{name}': {key} is only for kind = \"gmail\""));
    }
    Ok(AccountKind::Maildir { path: home.root().join(path), sendmail: validate_sendmail(account)? })
}

fn validate_gmail(account: &RawAccount, home: &Home, zone: Tz) -> Result<GmailConfig, String> {
    let name = &account.name;
    if account.path.is_some() || account.sendmail.is_some() || account.sendmail_patience.is_some() {
        return Err(format!("account '{name}' is of kind \"gmail\": it has no path and no sendmail"));
    }
    let labels = account.labels.clone().filter(|labels| !labels.is_empty());
    Ok(GmailConfig {
        labels: labels.unwrap_or_else(|| vec!["INBOX".to_owned()]),
        since: parse_since(account.since.as_deref(), zone)?,
        client_file: home.root().join(account.client_file.as_deref().unwrap_or(CLIENT_FILE)),
        token_file: home.token_file(name),
        calendar: account.calendar.unwrap_or(true),
        push: account.push.clone().map(|push| PushConfig { topic: push.topic, subscription: push.subscription }),
        api: account.api.clone(),
        pubsub_api: account.pubsub_api.clone(),
    })
}

fn parse_since(text: Option<&str>, zone: Tz) -> Result<Since, String> {
    match text {
        None => Ok(Since::Days(FIRST_LOOK_DAYS)),
        Some("today") => Ok(Since::Today(zone)),
        Some(text) => {
            let days = text.strip_suffix('d').and_then(|days| days.parse().ok()).filter(|days| *days <= 36_500);
            days.map(Since::Days)
                .ok_or_else(|| format!("account.since is '{text}'; expected \"today\" or days such as \"30d\""))
        }
    }
}

fn parse_own_address(text: &str) -> Result<String, String> {
    let address = text.trim().to_lowercase();
    let whole = address.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    if whole && !address.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | ',')) {
        return Ok(address);
    }
    Err(format!("account.address is '{text}'; expected such as \"you@work.example\""))
}

fn parse_never_touch(text: &str) -> Result<String, String> {
    let sender = text.trim().to_lowercase();
    if sender.len() > 1 && sender.contains('@') && !sender.ends_with('@') && !sender.contains(char::is_whitespace) {
        return Ok(sender);
    }
    Err(format!("account.never_touch has '{text}'; expected an address or @domain"))
}

fn validate_sendmail(account: &RawAccount) -> Result<Option<SendmailConfig>, String> {
    let seconds = account.sendmail_patience.unwrap_or(DEFAULT_SENDMAIL_TIMEOUT);
    if !(1..=MAX_SENDMAIL_TIMEOUT).contains(&seconds) {
        return Err(format!("account.sendmail_patience is {seconds}; expected 1 to {MAX_SENDMAIL_TIMEOUT} seconds"));
    }
    match account.sendmail.as_deref().map(str::trim) {
        Some(line) if !line.starts_with('/') => {
            Err(format!("account.sendmail: '{line}': expected a full path, for instance \"/usr/sbin/sendmail -i -t\""))
        }
        None if account.sendmail_patience.is_some() => {
            Err(format!("account '{}': sendmail_patience is only for an account with sendmail", account.name))
        }
        line => {
            Ok(line.map(|line| SendmailConfig { command_line: line.to_owned(), timeout: Duration::from_secs(seconds) }))
        }
    }
}
