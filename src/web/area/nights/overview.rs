//! The agreement, what was learned, and the list of nights.

use std::collections::HashMap;

use maud::{Markup, html};

use super::agreement::agreement_curve;
use crate::{
    model::{
        Instant,
        nightly::{CorrectionKind, EvidenceRow, LearnedEntryRow, NightlyRow, NightlyState},
    },
    rules::LearnedEntry,
    web::{
        area::Area,
        page::{PageAnswer, Visit, shown, shown_short},
    },
    wording::description::format_timestamp,
};

/// How many days the curve shows.
const DAYS: u32 = 30;
/// How many nights one page lists.
const PER_PAGE: usize = 30;
/// The most corrections that are listed as evidence of one entry.
const MOST_EVIDENCE: usize = 20;

/// Shows what the nights brought.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let nightly = visit.app().nightly();
    let agreement = nightly.agreement(DAYS).await?;
    let entries = visit.app().rules().learned_entries().await?;
    let numbers = entries.iter().flat_map(|entry| entry.evidence.iter().take(MOST_EVIDENCE).copied()).collect();
    let evidence: HashMap<i64, EvidenceRow> =
        nightly.evidence(numbers).await?.into_iter().map(|row| (row.correction.correction, row)).collect();
    let before = Some(visit.query("before")).filter(|date| !date.is_empty());
    let nights = nightly.list(before, PER_PAGE + 1).await?;
    let next = nightly.next_due().await?;
    let zone = visit.app().config.me.time_zone;
    let body = html! {
        h1 { "Nights" }
        p.muted {
            "Every night Adjutant learns from your corrections. "
            @if let Some(next) = next { "The next time is " (format_timestamp(next, zone)) "." }
            " " a href="/nights/digest" { "The digest of the last day" }
        }
        h2 { "How often you agreed" }
        (agreement_curve(&agreement))
        h2 { "What was learned" }
        (learned(&visit, &entries, &evidence))
        h2 { "Nights" }
        (nights_table(&visit, nights.get(..PER_PAGE).unwrap_or(&nights)))
        @if nights.len() > PER_PAGE {
            @if let Some(last) = nights.get(PER_PAGE - 1) { p { a href={ "/nights?before=" (last.date) } { "Earlier nights" } } }
        }
    };
    visit.page(Area::Nights, "Nights", &body).await
}

fn learned(visit: &Visit, entries: &[LearnedEntryRow], evidence: &HashMap<i64, EvidenceRow>) -> Markup {
    let zone = visit.app().config.me.time_zone;
    if entries.is_empty() {
        return html! {
            p.muted {
                "Nothing yet. When you correct a priority, or say that a mail is or is no task, three times on two days, a rule is "
                "proposed, tested on your past mail, and listed here."
            }
        };
    }
    html! {
        ul.findings {
            @for entry in entries {
                li {
                    strong { (shown(&describe_entry(entry))) }
                    p.muted {
                        "Learned " (format_timestamp(entry.made_at, zone)) "; matched " (entry.hits) " times"
                        @if let Some(last) = entry.last_hit { ", last " (format_timestamp(last, zone)) } "."
                    }
                    details {
                        summary { "From " (entry.evidence.len()) " corrections of yours" }
                        ul {
                            @for row in entry.evidence.iter().take(MOST_EVIDENCE).filter_map(|number| evidence.get(number)) {
                                li { (evidence_line(visit, row)) }
                            }
                        }
                    }
                }
            }
        }
        p { a href="/rules#versions" { "Every change of the rules is a version you can go back from." } }
    }
}

/// Returns a learned entry in words; its name where this version of the program cannot read it.
fn describe_entry(entry: &LearnedEntryRow) -> String {
    let read: Result<LearnedEntry, _> = serde_json::from_value(entry.entry.clone());
    read.map_or_else(|_| entry.name.clone(), |read| read.describe())
}

/// Returns one correction in words, with a link to what it was about.
pub(super) fn evidence_line(visit: &Visit, row: &EvidenceRow) -> Markup {
    let zone = visit.app().config.me.time_zone;
    let correction = &row.correction;
    let said = match correction.kind {
        CorrectionKind::Priority => format!("you set {} instead of {}", correction.to, correction.from),
        CorrectionKind::NotATask => "you said that it is no task".into(),
        CorrectionKind::MakeTask => "you made it a task".into(),
        other => other.as_str().replace('_', " "),
    };
    html! {
        (format_timestamp(correction.at, zone)) ": " (said) " for "
        @match (row.number, correction.mail_id) {
            (Some(number), _) => a href={ "/tasks/" (number) } { "task " (number) },
            (None, Some(mail)) => a href={ "/mail/" (mail) } { "mail " (mail) },
            (None, None) => "something that is not kept",
        }
        " " (shown_short(&row.title, 100))
    }
}

fn nights_table(visit: &Visit, nights: &[NightlyRow]) -> Markup {
    let zone = visit.app().config.me.time_zone;
    if nights.is_empty() {
        return html! { p.muted { "There was none yet." } };
    }
    html! {
        div.scroll role="region" aria-label="Nights" tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Night" } th scope="col" { "Outcome" } th.number scope="col" { "Learned" }
                    th.number scope="col" { "Asked" } th.number scope="col" { "Not adopted" } th scope="col" { "Took" }
                } }
                tbody { @for night in nights { (night_row(night, zone)) } }
            }
        }
    }
}

fn night_row(night: &NightlyRow, zone: chrono_tz::Tz) -> Markup {
    let count = |key: &str| {
        night.report.pointer(&format!("/findings/{key}")).and_then(|list| list.as_array()).map_or(0, Vec::len)
    };
    let took = |ended: Instant| (ended.utc() - night.begun_at.utc()).num_milliseconds().max(0) as f64 / 1000.0;
    html! {
        tr {
            th scope="row" { a href={ "/nights/" (night.date) } { (night.date) } }
            td {
                @match night.state {
                    NightlyState::Running => { "under way since " (format_timestamp(night.begun_at, zone)) },
                    NightlyState::Done => "done",
                    NightlyState::CaughtUp => "made up for by the next one",
                }
            }
            td.number { (count("adopted")) }
            td.number { (count("questions")) }
            td.number { (count("proposals")) }
            td { @if let Some(ended) = night.ended_at { (format!("{:.1} s", took(ended))) } @else { "–" } }
        }
    }
}
