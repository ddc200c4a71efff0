//! The section `[[account]]`: where mail comes from and how it is sent.
//!
//! Every check is here, so that later code never meets a path, label or address that was not validated.

use std::{path::PathBuf, time::Duration};

use chrono_tz::Tz;

use super::{
    Home, SAMPLES_ACCOUNT, SAMPLES_SERVER,
    raw::{RawAccount, RawConfig, RawKind},
};
use crate::model::{AccountId, MailboxKind, Since};

/// The name that Gmail's own servers use in Authentication-Results.
const GMAIL_SERVER: &str = "mx.google.com";
/// The default file with the OAuth client that Google's console creates, in the home.
const CLIENT_FILE: &str = "google-client.json";
/// How far back the first poll goes unless the configuration says otherwise.
const FIRST_LOOK_DAYS: u32 = 7;
/// Seconds. Queueing a message takes a moment: a transport that takes longer hangs, unless the person knows better.
const DEFAULT_SENDMAIL_TIMEOUT: u64 = 60;
/// Seconds. The daemon waits for a running transport before it stops, so the timeout is bounded.
const MAX_SENDMAIL_TIMEOUT: u64 = 600;

/// One account, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountConfig {
    pub name: AccountId,
    pub kind: AccountKind,
    /// The address that the account writes as, in lower case; none for the first address of `[me]`.
    pub address: Option<String>,
    /// The receiving servers whose Authentication-Results headers count. Without one no sender is verified.
    pub trusted_servers: Vec<String>,
    /// Senders whose mail is stored but never worked: addresses, or domains with an @ before them.
    pub never_touch: Vec<String>,
    /// Whether this is the sample account, which starts in active mode. Every other account starts in observe mode.
    pub is_sample: bool,
}

/// What kind of mailbox the account is, with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountKind {
    Maildir {
        path: PathBuf,
        /// The program that transmits mail. Without one, an approved mail is saved in Sent and not transmitted.
        sendmail: Option<SendmailConfig>,
    },
    Gmail(GmailConfig),
}

/// The program that transmits mail for a Maildir account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendmailConfig {
    /// The full path of the program and its arguments, separated by spaces.
    pub command_line: String,
    /// How long the program may take before it is stopped.
    pub timeout: Duration,
}

/// The settings of a Gmail account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GmailConfig {
    /// The labels whose mail is worked.
    pub labels: Vec<String>,
    /// How far back the first poll goes.
    pub since: Since,
    /// The file with the OAuth client that Google's console creates for a desktop app.
    pub client_file: PathBuf,
    /// The file that keeps the sign-in of this account.
    pub token_file: PathBuf,
    /// Whether events and free times are used too.
    pub calendar: bool,
    pub push: Option<PushConfig>,
    /// The address of the Gmail and calendar APIs; none for Google's own. Tests set it.
    pub api: Option<String>,
    /// The address of the Pub/Sub API; none for Google's own.
    pub pubsub_api: Option<String>,
}

/// The Pub/Sub topic that Gmail notifies, and the subscription that the program pulls from.
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

    /// Returns whether an approved mail is transmitted, not only saved.
    pub fn transmits(&self) -> bool {
        match self {
            Self::Maildir { sendmail, .. } => sendmail.is_some(),
            Self::Gmail(_) => true,
        }
    }

    /// Returns whether the account has a calendar.
    pub fn keeps_calendar(&self) -> bool {
        matches!(self, Self::Gmail(gmail) if gmail.calendar)
    }
}

/// Returns the sample account, which exists until the configuration names a real one.
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

/// Checks all accounts. Returns the first problem as a sentence that names the key and what was expected.
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
            address: account.address.as_deref().map(|text| parse_own_address("account.address", text)).transpose()?,
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

/// Accepts names that are safe in a file name and not used by the program itself.
fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(plain) || [SAMPLES_ACCOUNT, "local", ".", ".."].contains(&name) {
        return Err(format!(
            "account name '{name}': expected letters, digits, - _ . and neither 'samples' nor 'local'"
        ));
    }
    Ok(())
}

/// Checks the settings of a Maildir account, and refuses those that only a Gmail account has.
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

/// Checks the settings of a Gmail account, and refuses those that only a Maildir account has.
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

/// Returns the address in lower case. What could break out of a header field is refused.
pub(super) fn parse_own_address(key: &str, text: &str) -> Result<String, String> {
    let address = text.trim().to_lowercase();
    let whole = address.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    if whole && !address.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | ',')) {
        return Ok(address);
    }
    Err(format!("{key} is '{text}'; expected such as \"you@work.example\""))
}

fn parse_never_touch(text: &str) -> Result<String, String> {
    let sender = text.trim().to_lowercase();
    if sender.len() > 1 && sender.contains('@') && !sender.ends_with('@') && !sender.contains(char::is_whitespace) {
        return Ok(sender);
    }
    Err(format!("account.never_touch has '{text}'; expected an address or @domain"))
}

/// Returns the transport, if there is one. A relative path is refused, because what it names would depend on where the
/// daemon was started.
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
