//! What an edited copy would change: the lines, and the past tasks that would have another priority. Nothing is saved.

use axum::extract::Path;
use maud::{Markup, html};

use super::{
    copy::editor,
    diff::diff_block,
    overview::{escape_lines, numbered_lines},
};
use crate::{
    app::{WhatIfChange, WhatIfReport},
    model::ids::sha256_hex,
    rules::RulesError,
    web::{
        area::Area,
        draft::RulesDraft,
        page::{PageAnswer, PageFailure, Visit, shown_short},
    },
};

/// The most changed tasks that are listed.
const MOST_SHOWN: usize = 60;

/// Returns what stands for a draft: the copy, and the file that it was made from.
pub(super) fn draft_digest(draft: &RulesDraft) -> String {
    sha256_hex(format!("{}\n{}", draft.base, draft.text).as_bytes())
}

/// Shows what a draft would change.
pub(super) async fn show(visit: Visit, Path(name): Path<String>) -> PageAnswer {
    let draft = visit.state().drafts.rules.find(visit.session(), &name).map_err(anyhow::Error::from)?;
    let copy = visit.app().rules().copy(&draft.text);
    let diff = copy.diff()?;
    let outcome = match copy.check() {
        Ok(_) => Ok(copy.what_if().await?),
        Err(error) => Err(error),
    };
    let body = html! {
        p.crumbs { a href="/rules" { "Rules" } }
        h1 { "What would change" }
        @match &outcome {
            Ok(report) => (effect_of_copy(&visit, &name, &draft, report)?),
            Err(error) => (broken_copy(error)),
        }
        h2 { "Changed lines" }
        (diff_block(&diff, "Changed lines"))
        @if outcome.is_err() {
            h2 { "The copy" }
            details.file { summary { "With line numbers" } (numbered_lines(&draft.text)) }
            (editor(&visit, &draft)?)
        }
    };
    visit.page(Area::Rules, "What would change", &body).await
}

fn broken_copy(error: &RulesError) -> Markup {
    html! {
        div.warning-box role="alert" {
            p {
                strong { "This copy is broken" @if error.at.line > 0 { " in line " (error.at.line) } ". " }
                "Found " (shown_short(&error.found, 200)) "; expected " (shown_short(&error.expected, 400)) "."
            }
            pre dir="ltr" { (escape_lines(&error.to_string())) }
        }
    }
}

fn effect_of_copy(visit: &Visit, name: &str, draft: &RulesDraft, report: &WhatIfReport) -> Result<Markup, PageFailure> {
    let save = html! { button.primary type="submit" { "Save and use it" } };
    Ok(html! {
        p {
            (report.past) " past tasks were ranked by both: " strong { (report.raised) " raised, " (report.lowered) " lowered" } ", "
            (report.against_your_word) " against your own word, which stands. Nothing is saved yet."
        }
        @for warning in &report.warnings { p.warning { (shown_short(warning, 300)) } }
        div.actions {
            (visit.form(&format!("/rules/drafts/{name}/save"), &draft_digest(draft), &save)?)
            a.button href={ "/rules/edit?draft=" (name) } { "Edit further" }
            a.button href="/rules" { "Discard" }
        }
        @if !report.changes.is_empty() { (changes_table(&report.changes)) }
    })
}

fn changes_table(changes: &[WhatIfChange]) -> Markup {
    html! {
        div.scroll role="region" aria-label="Tasks that would change" tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Task" } th scope="col" { "Now" } th scope="col" { "Then" } th scope="col" { "By the rule" }
                } }
                tbody {
                    @for change in changes.iter().take(MOST_SHOWN) {
                        tr {
                            th scope="row" {
                                @if let Some(number) = change.number { a href={ "/tasks/" (number) } { (number) } ". " }
                                (shown_short(&change.objective, 120))
                            }
                            td { (change.from) }
                            td { strong { (change.to) } @if change.set_by_hand { " " span.tag { "you set it: it stands" } } }
                            td { (shown_short(&change.rule, 80)) }
                        }
                    }
                }
            }
        }
        @if changes.len() > MOST_SHOWN { p.muted { "… and " (changes.len() - MOST_SHOWN) " more." } }
    }
}
