//! One request of a signed-in browser, and what a route makes its answer from.

use std::{fmt::Display, str::FromStr};

use axum::{
    extract::{FromRequestParts, Query},
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};

use super::{
    PageAnswer, PageFailure, PageNote,
    layout::{Frame, full_page},
};
use crate::{
    app::{App, BadInput},
    web::{
        area::Area,
        guard::{ChangeForm, PageSession},
        server::WebState,
    },
};

/// A request that the guard let through.
pub(in crate::web) struct Visit {
    state: WebState,
    session: PageSession,
    path: String,
    query: Vec<(String, String)>,
}

impl FromRequestParts<WebState> for Visit {
    type Rejection = PageFailure;

    async fn from_request_parts(parts: &mut Parts, state: &WebState) -> Result<Self, PageFailure> {
        // The guard puts the session there; without it the route is not reachable.
        let session = parts.extensions.get::<PageSession>().cloned().ok_or(PageFailure::SignedOut)?;
        let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let query = query.map(|Query(pairs)| pairs).unwrap_or_default();
        Ok(Self { state: state.clone(), session, path: parts.uri.path().to_owned(), query })
    }
}

impl Visit {
    /// Returns the program that the page shows.
    pub(in crate::web) fn app(&self) -> &App {
        &self.state.app
    }

    /// Returns what every request shares.
    pub(in crate::web) fn state(&self) -> &WebState {
        &self.state
    }

    /// Returns the session of the browser.
    pub(in crate::web) fn session(&self) -> &PageSession {
        &self.session
    }

    /// Returns a part of the query; an empty text when it is not there.
    pub(in crate::web) fn query(&self, name: &str) -> &str {
        self.query_all(name).next().unwrap_or_default()
    }

    /// Returns every part of the query of this name.
    pub(in crate::web) fn query_all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.query.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the number of the page of a list, from zero.
    pub(in crate::web) fn page_number(&self) -> usize {
        self.query("page").parse::<usize>().unwrap_or(1).clamp(1, 1_000_000) - 1
    }

    /// Returns the address of this page with one part of its query replaced.
    pub(in crate::web) fn address_with(&self, name: &str, value: &str) -> String {
        // A note is about the change before it and not part of the page.
        let kept = self.query.iter().filter(|(known, _)| known != name && known != "note");
        let kept = kept.map(|(known, value)| (known.as_str(), value.as_str()));
        let pairs: Vec<(&str, &str)> = kept.chain([(name, value)]).filter(|(_, value)| !value.is_empty()).collect();
        let query = pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        format!("{}?{}", self.path, query.collect::<Vec<_>>().join("&"))
    }

    /// Returns a part of the page that is loaded again whenever something changed. What has the focus and what was typed
    /// stay as they are.
    pub(in crate::web) fn live_region(&self, id: &str, content: &Markup) -> Markup {
        html! {
            div id=(id) hx-get=(self.address_with("", "")) hx-select={ "#" (id) } hx-swap="outerMorph"
                hx-select-oob="#waiting" hx-trigger="news from:#live throttle:1s" {
                (content)
            }
        }
    }

    /// Returns a part of the query as a value; none when it is not there or empty. A text that is no such value is the
    /// fault of whoever typed the address.
    pub(in crate::web) fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, PageFailure> {
        let text = Some(self.query(name)).filter(|text| !text.is_empty());
        let parsed = text.map(str::parse).transpose();
        parsed.map_err(|error: T::Err| PageFailure::Refused(BadInput(format!("{name}: {error}")).into()))
    }

    /// Returns a page of an area, inside the layout.
    pub(in crate::web) async fn page(&self, area: Area, title: &str, body: &Markup) -> PageAnswer {
        self.page_noting(area, title, body, None).await
    }

    /// Returns a page with a note of its own instead of that of the change before it.
    pub(in crate::web) async fn page_noting(
        &self,
        area: Area,
        title: &str,
        body: &Markup,
        note: Option<PageNote>,
    ) -> PageAnswer {
        let note = note.or_else(|| self.state.notes.find(&self.session, self.query("note")));
        let note = note.map(|note| self.note(&note)).transpose()?;
        let sign_out = self.form("/sign-out", "", &html! { button.link type="submit" { "Sign out" } })?;
        let app = self.app();
        let frame = Frame {
            area,
            waiting: app.approvals().count_waiting().await?,
            is_paused: app.effects().is_paused().await?,
            note,
            sign_out,
        };
        Ok(full_page(title, &frame, body).into_response())
    }

    /// Returns a form that makes one change: the path it is sent to, the digest of what the person is shown, and its
    /// fields and buttons. It carries the proofs that the guard asks for.
    pub(in crate::web) fn form(&self, path: &str, seen: &str, fields: &Markup) -> Result<Markup, PageFailure> {
        let proofs = self.proofs(path, seen)?;
        Ok(html! {
            form method="post" action=(path) {
                (proofs)
                (fields)
            }
        })
    }

    /// Returns the hidden fields of a form that makes this change.
    pub(in crate::web) fn proofs(&self, path: &str, seen: &str) -> Result<Markup, PageFailure> {
        let keys = &self.state.keys;
        let nonce = keys.nonce(&self.session, path, seen, self.app().clock.now())?;
        Ok(html! {
            input type="hidden" name="csrf" value=(keys.csrf_token(&self.session));
            input type="hidden" name="seen" value=(seen);
            input type="hidden" name="nonce" value=(nonce);
        })
    }

    /// Returns the answer to a change: the browser loads the page at `path`, which shows the note.
    pub(in crate::web) fn redirect(&self, path: &str, note: PageNote) -> PageAnswer {
        let name = self.state.notes.keep(&self.session, note)?;
        let joint = if path.contains('?') { '&' } else { '?' };
        Ok((StatusCode::SEE_OTHER, [(header::LOCATION, format!("{path}{joint}note={name}"))]).into_response())
    }

    /// Returns the answer to a change that a use case may have refused: the page at `path` with what was done, or with
    /// the reason of the refusal. Failures that are no refusals become a page of their own.
    pub(in crate::web) fn redirect_after(&self, path: &str, outcome: anyhow::Result<PageNote>) -> PageAnswer {
        match outcome {
            Ok(note) => self.redirect(path, note),
            Err(error) if is_refusal(&error) => self.redirect(path, PageNote::refused(format!("{error:#}"))),
            Err(error) => Err(error.into()),
        }
    }

    fn note(&self, note: &PageNote) -> Result<Markup, PageFailure> {
        let undo = match &note.undo {
            Some((path, seen)) => {
                self.form(path, seen, &html! { button type="submit" accesskey="u" data-key="u" { "Undo" } })?
            }
            None => html! {},
        };
        Ok(html! {
            div.note.refusal[note.is_refusal] role="status" {
                p { (super::shown(&note.text)) }
                (undo)
            }
        })
    }
}

/// Returns whether an error tells a person why nothing was changed.
fn is_refusal(error: &anyhow::Error) -> bool {
    use crate::{
        app::{BadInput, NotFound},
        store::StoreError,
    };
    error.chain().any(|cause| {
        let refused = matches!(cause.downcast_ref(), Some(StoreError::Refused(_) | StoreError::NotFound(_)));
        refused || cause.is::<BadInput>() || cause.is::<NotFound>()
    })
}

/// A change whose proofs were checked: the visit and the fields of its form.
pub(in crate::web) struct PageChange {
    pub(in crate::web) visit: Visit,
    pub(in crate::web) form: ChangeForm,
}

impl FromRequestParts<WebState> for PageChange {
    type Rejection = PageFailure;

    async fn from_request_parts(parts: &mut Parts, state: &WebState) -> Result<Self, PageFailure> {
        let form = parts.extensions.get::<ChangeForm>().cloned().ok_or(PageFailure::NotAForm)?;
        Ok(Self { visit: Visit::from_request_parts(parts, state).await?, form })
    }
}

/// Returns a part of a query as it stands in an address.
pub(in crate::web) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Returns an answer without a page, such as a redirect after signing in.
pub(in crate::web) fn see_other(path: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, path.to_owned())]).into_response()
}
