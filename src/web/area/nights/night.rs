//! One night: what it learned, what it asks, what failed its test, with the evidence and the way back.

use std::collections::HashMap;

use axum::extract::Path;
use maud::{Markup, html};
use serde_json::Value;

use super::overview::evidence_line;
use crate::{
    app::NotFound,
    model::nightly::{EvidenceRow, NightlyState},
    nightly::TestedEdit,
    web::{
        area::Area,
        page::{PageAnswer, Visit, shown, shown_short},
    },
    wording::description::format_timestamp,
};

/// The corrections that edits come from, by their numbers.
type EvidenceByNumber = HashMap<i64, EvidenceRow>;

/// Shows a night.
pub(super) async fn show(visit: Visit, Path(date): Path<String>) -> PageAnswer {
    let nightly = visit.app().nightly();
    let night = nightly.find(&date).await?;
    let night = night.ok_or_else(|| anyhow::Error::from(NotFound(format!("there was no night of {date}"))))?;
    let edits = |key: &str| -> Vec<TestedEdit> {
        let found = night.report.pointer(&format!("/findings/{key}")).cloned().unwrap_or_default();
        serde_json::from_value(found).unwrap_or_default()
    };
    let parts = [
        ("Learned", "It passed its test and counts from this night on.", edits("adopted")),
        ("Asked", "It passed its test and waits for your approval, because it lowers somebody.", edits("questions")),
        ("Not adopted", "It failed its test on your past mail.", edits("proposals")),
    ];
    let numbers =
        parts.iter().flat_map(|(.., edits)| edits.iter().flat_map(|tested| tested.evidence.clone())).collect();
    let evidence: EvidenceByNumber =
        nightly.evidence(numbers).await?.into_iter().map(|row| (row.correction.correction, row)).collect();
    let zone = visit.app().config.me.time_zone;
    let is_quiet = parts.iter().all(|(.., edits)| edits.is_empty());
    let title = format!("The night of {}", night.date);
    let body = html! {
        p.crumbs { a href="/nights" { "Nights" } }
        h1 { (title) }
        p.muted {
            @match night.state {
                NightlyState::Running => { "Under way since " (format_timestamp(night.begun_at, zone)) "." },
                NightlyState::Done => { "Done" @if let Some(at) = night.ended_at { " " (format_timestamp(at, zone)) } "." },
                NightlyState::CaughtUp => "Adjutant did not run; the next night made up for it.",
            }
        }
        @if is_quiet && night.state == NightlyState::Done { p { "There was nothing new to learn." } }
        @for (name, meaning, edits) in &parts {
            @if !edits.is_empty() {
                h2 { (name) }
                p.muted { (meaning) }
                ul.findings { @for tested in edits { li { (tested_edit(&visit, tested, &evidence)) } } }
            }
        }
        (guidelines(&night.report))
        (duplicates(&night.report))
        @if let Some(version) = night.report.get("version").and_then(Value::as_i64) {
            h2 { "The way back" }
            p { a href={ "/rules/versions/" (version) } { "Version " (version) " of the rules" } " has what this night changed." }
            @if version > 1 { p { a href={ "/rules/versions/" (version - 1) } { "Go back to the version before it" } } }
        }
    };
    visit.page(Area::Nights, &title, &body).await
}

fn tested_edit(visit: &Visit, tested: &TestedEdit, evidence: &EvidenceByNumber) -> Markup {
    html! {
        strong { (shown(&tested.words)) }
        p.muted { "Because " (shown(tested.edit.why())) ". Tested: " (tested.trial.to_string()) "." }
        @if !tested.trial.passed { p { "Not adopted: " (shown(&tested.trial.reason)) } }
        @if !tested.trial.cases.is_empty() {
            ul {
                @for case in &tested.trial.cases {
                    li {
                        @if let Some(number) = case.number { a href={ "/tasks/" (number) } { "task " (number) } } @else { "a task" }
                        " would be " (case.to) " instead of " (case.from) " (" (shown_short(&case.why, 120)) ")"
                    }
                }
            }
        }
        @if !tested.evidence.is_empty() {
            details {
                summary { "From " (tested.evidence.len()) " corrections of yours" }
                ul {
                    @for row in tested.evidence.iter().filter_map(|number| evidence.get(number)) { li { (evidence_line(visit, row)) } }
                }
            }
        }
    }
}

fn guidelines(report: &Value) -> Markup {
    let lines: Vec<&str> = list(report, "/findings/guidelines_lines").filter_map(Value::as_str).collect();
    html! {
        @if !lines.is_empty() {
            h2 { "Guidelines" }
            ul { @for line in lines { li { (shown(line)) } } }
        }
    }
}

fn duplicates(report: &Value) -> Markup {
    let text = |pair: &Value, key: &str| pair.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let pairs: Vec<&Value> = list(report, "/duplicates").collect();
    html! {
        @if !pairs.is_empty() {
            h2 { "Cancelled as duplicates" }
            ul {
                @for pair in pairs {
                    li {
                        a href={ "/tasks/" (text(pair, "newer")) } { "this task" } ", because of "
                        a href={ "/tasks/" (text(pair, "older")) } { "that one" } ": " (shown(&text(pair, "why")))
                    }
                }
            }
        }
    }
}

fn list<'r>(report: &'r Value, pointer: &str) -> impl Iterator<Item = &'r Value> + use<'r> {
    report.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}
