//! What the sample mails become. The files are read as the program would get them, placeholders filled.

use std::path::Path;

use chrono::{Duration, NaiveTime, TimeZone as _, Weekday};
use chrono_tz::Tz;
use mail_parser::{HeaderValue, MessageParser, MimeHeaders as _};

use super::{ReadContext, read};
use crate::model::{
    Address, Attachment, Instant, Mail, Me, Reading, WarningKind,
    mail::{Invite, Link},
};

/// Tuesday 17 November 2026, noon in Berlin.
const NOW: &str = "2026-11-17T11:00:00Z";

fn me() -> Me {
    Me {
        names: vec!["Alex Green".into(), "אלכס".into()],
        addresses: vec!["you@home.example".into()],
        time_zone: Tz::Europe__Berlin,
        work_start: NaiveTime::from_hms_opt(9, 0, 0).unwrap(),
        work_end: NaiveTime::from_hms_opt(18, 0, 0).unwrap(),
        work_days: vec![Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri],
        signature: String::new(),
        decline: String::new(),
        senders: std::collections::HashMap::new(),
        languages: vec!["en".into(), "he".into()],
    }
}

fn fill_placeholders(text: &str) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (slot, tail) = after.split_once("}}").unwrap();
        let (kind, offset) = slot.split_once(':').unwrap();
        let (days, time) = offset.split_once("d").unwrap();
        let time = NaiveTime::parse_from_str(time.trim(), "%H:%M").unwrap_or_default();
        let today = NOW.parse::<Instant>().unwrap().utc().date_naive();
        let local = (today + Duration::days(days.parse().unwrap())).and_time(time);
        let at = Tz::Europe__Berlin.from_local_datetime(&local).unwrap();
        let value = match kind {
            "date" => at.to_rfc2822(),
            "day" => at.format("%A %-d %B %Y").to_string(),
            "ics" => at.to_utc().format("%Y%m%dT%H%M%SZ").to_string(),
            kind => panic!("unknown placeholder {kind}"),
        };
        filled.push_str(before);
        filled.push_str(&value);
        rest = tail;
    }
    filled + rest
}

fn addresses(list: Option<&mail_parser::Address<'_>>) -> Vec<Address> {
    let all = list.into_iter().flat_map(|list| list.iter());
    all.map(|one| Address { name: one.name().map(Into::into), addr: one.address().unwrap_or_default().to_lowercase() })
        .collect()
}

fn ids(value: &HeaderValue<'_>) -> Vec<String> {
    value.as_text_list().unwrap_or_default().iter().map(|id| format!("<{id}>")).collect()
}

fn links(html: &str) -> Vec<Link> {
    let anchors = html.split("<a href=\"").skip(1);
    anchors
        .map(|anchor| {
            let (href, rest) = anchor.split_once("\">").unwrap();
            Link { href: href.into(), text: rest.split("</a>").next().unwrap().into() }
        })
        .collect()
}

fn invite(raw: &str) -> Option<Invite> {
    let field = |name: &str| raw.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned());
    let time = |name: &str| {
        let at = chrono::NaiveDateTime::parse_from_str(&field(name)?, "%Y%m%dT%H%M%SZ").unwrap();
        Instant::new(at.and_utc())
    };
    Some(Invite {
        method: field("METHOD:")?,
        uid: field("UID:")?,
        summary: field("SUMMARY:")?,
        start: time("DTSTART:"),
        end: time("DTEND:"),
        organizer: None,
        sequence: 0,
        ..Invite::default()
    })
}

fn parse(raw: &str) -> Mail {
    let message = MessageParser::default().parse(raw.as_bytes()).unwrap();
    let header = |name: &str| message.header_raw(name.to_owned()).map(|value| value.trim().to_owned());
    let attached = message.attachments().filter(|part| part.attachment_name().is_some());
    Mail {
        from: addresses(message.from()).remove(0),
        to: addresses(message.to()),
        cc: addresses(message.cc()),
        subject: message.subject().unwrap().into(),
        date: message.date().and_then(|date| date.to_rfc3339().parse().ok()),
        text: message.body_text(0).unwrap().replace("\r\n", "\n"),
        references: ids(message.references()),
        links: links(raw),
        invite: invite(raw),
        list_id: header("List-Id"),
        bulk_header: ["Auto-Submitted", "List-Unsubscribe", "Precedence"]
            .into_iter()
            .find(|name| header(name).is_some())
            .map(Into::into),
        attachments: attached
            .map(|part| Attachment {
                name: part.attachment_name().unwrap().into(),
                content_type: String::new(),
                size: 0,
                sha256: String::new(),
            })
            .collect(),
        authentication: crate::model::mail::Authentication {
            verified: header("Authentication-Results").is_some_and(|value| value.contains("dmarc=pass")),
            reason: String::new(),
        },
        ..Mail::default()
    }
}

fn read_sample(name: &str) -> Reading {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(format!("{name}.eml"));
    let mail = parse(&fill_placeholders(&std::fs::read_to_string(file).unwrap()));
    let me = me();
    read(
        &mail,
        &ReadContext {
            me: &me,
            now: NOW.parse().unwrap(),
            known_contact: false,
            thread_mine: false,
            second_reading: &[],
            is_genuine: false,
        },
    )
}

/// "kind: objective | deadline" per task, or the reason there is none.
fn outcome(reading: &Reading) -> Vec<String> {
    let tasks = reading.tasks.iter().map(|task| {
        let deadline = task.deadline.as_deref().map(|deadline| format!(" | {deadline}")).unwrap_or_default();
        format!("{}: {}{deadline}", task.kind, task.objective)
    });
    tasks.chain(reading.no_task.iter().map(|no_task| format!("no task: {no_task}"))).collect()
}

const TABLE: &[(&str, &[&str])] = &[
    ("01-meeting-request", &["meeting: Schedule 30-min catch-up with Dr. Anna Smith | 2026-11-20"]),
    ("02-meeting-followup", &["meeting: Schedule catch-up with Dr. Anna Smith | 2026-11-23T10:00:00+01:00"]),
    ("03-invoice", &["invoice: Pay invoice 2041 to Acme (EUR 1,250.00) | 2026-11-26"]),
    (
        "04-bank-alert",
        &[
            "alert: Check the alert from MyBank: We declined a payment of EUR 480.00 at an electronics shop because of unusual activity on your card ending in 4417",
        ],
    ),
    (
        "05-deadline",
        &[
            "deadline: Meet the deadline: The deadline for the travel grant application is Saturday 21 November 2026 at 17:00 | 2026-11-21T17:00:00+01:00",
        ],
    ),
    ("06-question", &["question: Answer Tom Baker: “When will you be back at the house?” (Keys)"]),
    ("07-newsletter", &["no task: bulk"]),
    ("08-receipt", &["no task: receipt"]),
    ("09-list-thread", &["no task: bulk"]),
    (
        "10-list-thread-reply",
        &[
            "request: Run the load test against option two and post the numbers by Friday (Tile server for the next release) | 2026-11-20",
        ],
    ),
    ("11-invitation", &["invitation: Answer Lena Hoffmann's invitation: Website kick-off | 2026-11-19T09:00:00Z"]),
    ("12-hebrew-request", &["request: לשלוח לדנה לוי את דוח ההוצאות עד יום חמישי | 2026-11-19"]),
    ("13-hebrew-meeting", &["meeting: לקבוע פגישה (30m) עם יוסי כהן (ביקור בדירה) | 2026-11-27"]),
    (
        "14-html-only",
        &["request: Confirm the colours by tomorrow 12:00 (Proof of your poster) | 2026-11-17T12:00:00+01:00"],
    ),
    (
        "15-two-requests",
        &[
            "request: Book the van for Sunday 22 November 2026 (Two things before the fair) | 2026-11-22",
            "request: Send the price list as a PDF to Maria Santos (Two things before the fair)",
        ],
    ),
    ("16-phishing", &["no task: phishing"]),
    ("17-injection", &["request: Confirm the delivery address for the crate of tiles"]),
    ("18-fyi", &["no task: fyi"]),
    (
        "19-outage",
        &[
            "alert: Check the alert from Watchtower: The checkout service in production is down: error rate 98%, all customers are affected",
        ],
    ),
    ("20-thank-you", &["no task: fyi"]),
    (
        "21-review-attachment",
        &[
            "review: Review the contract and send Hannah Cole your comments by Friday 20 November 2026 (Draft of the lease) | 2026-11-20",
        ],
    ),
    ("22-self-note", &["reminder: Renew the passport by Friday 27 November 2026 | 2026-11-27"]),
];

#[test]
fn every_sample_becomes_what_it_should() {
    let wrong: Vec<_> = TABLE
        .iter()
        .map(|(name, expected)| (name, read_sample(name), expected))
        .filter(|(_, reading, expected)| outcome(reading) != **expected)
        .map(|(name, reading, expected)| {
            format!("{name}\n  got  {:#?}\n  want {expected:#?}\n  {}", outcome(&reading), reading.reason)
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn warnings_stand_beside_the_reading() {
    for (name, expected) in [
        ("04-bank-alert", vec![]),
        ("16-phishing", vec![WarningKind::Phishing]),
        ("17-injection", vec![WarningKind::Injection]),
    ] {
        let kinds: Vec<_> = read_sample(name).warnings.into_iter().map(|warning| warning.kind).collect();
        assert_eq!(kinds, expected, "{name}");
    }
}

#[test]
fn urgency_is_the_senders_trouble_not_the_sellers_pressure() {
    assert!(read_sample("19-outage").urgency >= 0.8);
    assert!(read_sample("07-newsletter").urgency <= 0.1);
    assert!(read_sample("06-question").urgency < 0.5);
}

#[test]
fn every_file_is_in_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".eml") else { continue };
        assert!(TABLE.iter().any(|(known, _)| *known == name), "{name}");
    }
}
