//! A mail given as fields instead of bytes. It is read as its receiver would read it, with an unverified sender.

use std::sync::LazyLock;

use chrono::{DateTime, NaiveTime, Weekday};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ingest::clean_body,
    model::{Address, Addressed, Instant, Mail, Me, Priority, Reading, WarningKind},
    reading::{self, ReadContext, Relation},
    rules::{BUILT_IN, RuleSet},
};

/// A mail as fields.
#[derive(Debug, Clone, Deserialize)]
pub struct EvalMail {
    pub id: Value,
    #[serde(default)]
    pub from: String,
    #[serde(default)]
    pub to: EvalAddresses,
    #[serde(default)]
    pub cc: EvalAddresses,
    /// Who reads it, when that is not everybody in `to`.
    #[serde(default)]
    pub me: Option<String>,
    #[serde(default)]
    pub date: Option<String>,
    #[serde(default)]
    pub subject: String,
    #[serde(default)]
    pub body: String,
}

/// One address or several, each as `Name <address>` or as a bare address.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum EvalAddresses {
    Several(Vec<String>),
    One(String),
    None(()),
}

impl Default for EvalAddresses {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl EvalAddresses {
    fn addresses(&self) -> Vec<Address> {
        match self {
            Self::Several(several) => several.iter().map(|text| parse_address(text)).collect(),
            Self::One(one) => one.split(',').map(parse_address).filter(|one| !one.addr.is_empty()).collect(),
            Self::None(()) => Vec::new(),
        }
    }
}

fn parse_address(text: &str) -> Address {
    let (name, addr) = match text.trim().rsplit_once('<') {
        Some((name, addr)) => (name.trim().trim_matches('"'), addr.trim_end_matches('>')),
        None => ("", text),
    };
    Address { name: Some(name.to_owned()).filter(|name| !name.is_empty()), addr: addr.trim().to_lowercase() }
}

/// The answer of `eval triage`.
#[derive(Debug, Serialize)]
pub(super) struct Triage {
    id: Value,
    task: bool,
    priority: Option<Priority>,
    reason: String,
    personal: bool,
    spam: bool,
    phishing: bool,
}

/// The built-in rules, so that a score does not depend on anybody's own rules file.
static RULES: LazyLock<Option<RuleSet>> = LazyLock::new(|| RuleSet::parse("priority.yml", BUILT_IN).ok());

/// Whom a text without an envelope is from, and to.
const COLLEAGUE: &str = "Sam Reed";
const COLLEAGUE_LOCAL_PART: &str = "sam.reed";
const READER: &str = "Alex Green <alex.green@work.example>";
/// When a text without an envelope was written.
const WRITTEN_AT: &str = "2026-03-04T09:00:00Z";

/// Makes a mail of a text: from a colleague to the reader, with neutral headers. Without a reader it is to nobody.
pub(in crate::app) fn mail_from_colleague(text: &str, reader: Option<Address>) -> Mail {
    let domain = reader.as_ref().map_or("work.example", Address::domain);
    let cleaned = clean_body(text, "");
    Mail {
        from: Address { name: Some(COLLEAGUE.to_owned()), addr: format!("{COLLEAGUE_LOCAL_PART}@{domain}") },
        date: parse_wall_clock(WRITTEN_AT),
        text: cleaned.reply,
        signature: cleaned.signature,
        to: reader.into_iter().collect(),
        ..Mail::default()
    }
}

/// Gives a text to `reader`, as a mail from a colleague.
pub(super) fn read_text<T>(text: &str, reader: impl FnOnce(&Mail, &ReadContext<'_>) -> T) -> T {
    EvalMail::read_mail_as_receiver(&mail_from_colleague(text, Some(parse_address(READER))), reader)
}

impl EvalMail {
    /// Gives the mail to `reader`, from the view of whoever it was sent to.
    pub fn read<T>(&self, reader: impl FnOnce(&Mail, &ReadContext<'_>) -> T) -> T {
        let mail = self.to_mail();
        match &self.me {
            Some(me) => read_mail_as(&mail, &[parse_address(me)], reader),
            None => Self::read_mail_as_receiver(&mail, reader),
        }
    }

    /// Does the same for a mail that was already parsed.
    pub fn read_mail_as_receiver<T>(mail: &Mail, reader: impl FnOnce(&Mail, &ReadContext<'_>) -> T) -> T {
        read_mail_as(mail, &mail.to, reader)
    }

    /// Returns the mail as the parser would have made it, with the body cleaned in the same way.
    fn to_mail(&self) -> Mail {
        let cleaned = clean_body(&self.body, &self.subject);
        Mail {
            from: parse_address(&self.from),
            to: self.to.addresses(),
            cc: self.cc.addresses(),
            subject: self.subject.clone(),
            date: self.date.as_deref().and_then(parse_wall_clock),
            text: cleaned.reply,
            signature: cleaned.signature,
            ..Mail::default()
        }
    }

    /// Reads the mail and ranks its tasks by the built-in rules.
    pub(super) fn triage(&self) -> Triage {
        self.read(|mail, context| {
            let reading = reading::read_twice(mail, context);
            let level = |facts: &_| RULES.as_ref().map(|rules| rules.rank(facts, context.now).level);
            let relation = Relation { addressed: Some(Addressed::To), ..Relation::default() };
            let about = reading::collect_facts(mail, &reading, "eval", &relation);
            let priority = reading.tasks.iter().filter_map(|task| level(&about.for_task(task))).max();
            Triage {
                id: self.id.clone(),
                task: !reading.tasks.is_empty(),
                priority,
                reason: reason(&reading),
                personal: reading.personal,
                spam: reading.spam,
                phishing: reading.has_warning(WarningKind::Phishing),
            }
        })
    }
}

/// Returns why there is no task, or the reason for the first one.
fn reason(reading: &Reading) -> String {
    reading.no_task.map_or_else(|| reading.reason.clone(), |no_task| no_task.to_string())
}

/// Returns the time that the sender's clock showed. Relative words count from there, whatever the offset is.
pub(super) fn parse_wall_clock(text: &str) -> Option<Instant> {
    DateTime::parse_from_rfc3339(text).ok().and_then(|at| Instant::new(at.naive_local().and_utc()))
}

/// A place whose clock shows what the text says, and when. A place is known by full hours from Greenwich; anywhere else
/// the clock counts as the one of Greenwich.
pub(super) fn parse_place_and_time(text: &str) -> Option<(Tz, Instant)> {
    let at = DateTime::parse_from_rfc3339(text).ok()?;
    let seconds = at.offset().local_minus_utc();
    // "Etc/GMT+2" lies west of Greenwich.
    let place = format!("Etc/GMT{:+}", -seconds / 3600).parse().ok().filter(|_| seconds % 3600 == 0);
    match place {
        Some(place) => Some((place, Instant::new(at.to_utc())?)),
        None => Some((Tz::UTC, parse_wall_clock(text)?)),
    }
}

/// Gives the mail to `reader`, as read by a person with these addresses.
fn read_mail_as<T>(mail: &Mail, receivers: &[Address], reader: impl FnOnce(&Mail, &ReadContext<'_>) -> T) -> T {
    let name = |address: &Address| {
        let local = address.addr.split('@').next().unwrap_or_default();
        address.name.clone().unwrap_or_else(|| local.replace(['.', '_', '-'], " "))
    };
    let me = Me {
        names: receivers.iter().map(name).collect(),
        addresses: receivers.iter().map(|address| address.addr.clone()).collect(),
        ..default_profile(Tz::UTC)
    };
    let now = mail.date.unwrap_or(Instant::EARLIEST);
    reader(
        mail,
        &ReadContext { me: &me, now, known_contact: false, thread_mine: false, second_reading: &[], is_genuine: false },
    )
}

/// Returns a profile with common working hours and no name.
pub(super) fn default_profile(time_zone: Tz) -> Me {
    Me {
        names: Vec::new(),
        addresses: Vec::new(),
        time_zone,
        work_start: NaiveTime::from_hms_opt(9, 0, 0).unwrap_or_default(),
        work_end: NaiveTime::from_hms_opt(18, 0, 0).unwrap_or_default(),
        work_days: vec![Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri],
        signature: String::new(),
        decline: String::new(),
        senders: std::collections::HashMap::new(),
        languages: vec!["en".into(), "he".into()],
    }
}
