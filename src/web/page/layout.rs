//! The layout around every page: navigation, status, notes.

use axum::response::{Html, IntoResponse as _, Response};
use maud::{DOCTYPE, Markup, html};

use crate::web::{area::Area, asset, route::is_served};

/// What the layout shows besides the page itself.
pub(super) struct Frame {
    pub(super) area: Area,
    /// How many items wait for the person.
    pub(super) waiting: u64,
    pub(super) is_paused: bool,
    pub(super) note: Option<Markup>,
    pub(super) sign_out: Markup,
}

/// Returns a page inside the layout.
pub(super) fn full_page(title: &str, frame: &Frame, body: &Markup) -> Response {
    let body = html! {
        body {
            a.skip href="#main" { "Skip to the content" }
            header.top {
                a.brand href="/" { "Adjutant" }
                nav aria-label="Areas" {
                    ul {
                        @for area in Area::NAVIGATION.into_iter().filter(|area| is_served(area.path())) {
                            li { (nav_link(area, frame)) }
                        }
                    }
                }
                (frame.sign_out)
            }
            @if frame.is_paused {
                p.banner role="status" {
                    "Effects are paused: nothing leaves until you resume them with " code { "adjutant resume" } "."
                }
            }
            div #live hx-sse:connect="/live" hx-swap="none" {}
            main #main tabindex="-1" {
                @if let Some(note) = &frame.note { (note) }
                (body)
            }
        }
    };
    Html(document(title, &body).into_string()).into_response()
}

fn nav_link(area: Area, frame: &Frame) -> Markup {
    let current = (area == frame.area).then_some("page");
    html! {
        a href=(area.path()) aria-current=[current] {
            (area.title())
            // Live updates replace the number, so its place is there also when nothing waits.
            @if area == Area::Approvals {
                span #waiting {
                    @if frame.waiting > 0 { " " span.count { (frame.waiting) span.hidden { " waiting" } } }
                }
            }
        }
    }
}

/// Returns a page for a browser that is not signed in, or that gets no page.
pub(super) fn plain_page(title: &str, body: &Markup) -> Html<String> {
    let body = html! {
        body.plain {
            main #main { p.brand { "Adjutant" } (body) }
        }
    };
    Html(document(title, &body).into_string())
}

/// Returns the whole document.
fn document(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // Styles that htmx would write into the page are refused by the content policy.
                meta name="htmx-config" content=r#"{"includeIndicatorCSS":false,"history":false}"#;
                title { (title) " · Adjutant" }
                link rel="icon" href=(asset::address("icon.svg")) type="image/svg+xml";
                link rel="stylesheet" href=(asset::address("page.css"));
                script src=(asset::address("htmx.js")) defer {}
                script src=(asset::address("hx-sse.js")) defer {}
                script src=(asset::address("page.js")) defer {}
            }
            (body)
        }
    }
}
