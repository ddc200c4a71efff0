//! Search in tasks and mails, by words and by meaning, each result with the reasons why it was found.

use maud::{Markup, html};

use super::Area;
use crate::{
    app::SearchResults,
    memory::FoundDocument,
    web::{
        page::{PageAnswer, Visit, direction, shown, shown_short},
        route::Route,
    },
    wording::description::format_timestamp,
};

/// How many results are shown at first.
const PAGE: usize = 20;
/// How many results are shown at most. Further ones have little to do with what was looked for.
const MOST: usize = 100;

/// Returns the routes of the area.
pub(in crate::web) fn routes() -> Vec<Route> {
    vec![Route::page(Area::Search, "/search", show)]
}

/// Shows the form and, with something to look for, what was found.
async fn show(visit: Visit) -> PageAnswer {
    let text = visit.query("text").trim();
    let limit = visit.parsed::<usize>("limit")?.unwrap_or(PAGE).clamp(PAGE, MOST);
    let found = if text.is_empty() { None } else { Some(visit.app().search().find(text, limit).await?) };
    let body = html! {
        h1 { "Search" }
        form.search role="search" method="get" action="/search" {
            label { span.hidden { "What to look for" } input type="search" name="text" dir="auto" value=(text) autofocus[text.is_empty()]; }
            button.primary type="submit" { "Search" }
        }
        @if let Some(found) = &found { (results(&visit, found, limit)) }
    };
    visit.page(Area::Search, "Search", &body).await
}

fn results(visit: &Visit, results: &SearchResults, limit: usize) -> Markup {
    html! {
        @if let Some(trouble) = &results.trouble { p.warning { "Found by words only: " (shown(trouble)) } }
        @if results.found.is_empty() {
            p.empty { "Nothing was found." }
        } @else {
            ol.queue { @for document in &results.found { li data-row { (line(visit, document)) } } }
        }
        @if results.found.len() == limit && limit < MOST {
            form method="get" action="/search" {
                input type="hidden" name="text" value=(visit.query("text"));
                input type="hidden" name="limit" value=(MOST);
                button type="submit" { "Show more" }
            }
        }
    }
}

fn line(visit: &Visit, document: &FoundDocument) -> Markup {
    let (path, kind) = match document.doc.split_once(':') {
        Some(("mail", number)) => (format!("/mail/{number}"), "mail"),
        _ => (format!("/tasks/{}", document.doc.trim_start_matches("task:")), "task"),
    };
    let title = if document.title.trim().is_empty() { "(no subject)" } else { &document.title };
    html! {
        div.line {
            span.tag { (kind) }
            div.what {
                p.title dir=(direction(title)) { a href=(path) { (shown_short(title, 160)) } }
                p.muted {
                    (format_timestamp(document.at, visit.app().config.me.time_zone)) " · found by "
                    @for (nth, reason) in document.reasons.iter().enumerate() {
                        @if nth > 0 { ", " }
                        (shown_short(&reason.to_string(), 120))
                    }
                }
            }
        }
    }
}
