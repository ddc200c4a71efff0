//! One request of a signed-in browser, and what a route makes its answer from.

use axum::{
    extract::{FromRequestParts, Query},
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};

use super::{
    Answer, Failure, Note,
    layout::{Frame, full_page},
};
use crate::{
    app::App,
    web::{
        area::Area,
        guard::{ChangeForm, Session},
        server::WebState,
    },
};

/// A request that the guard let through.
pub(in crate::web) struct Visit {
    state: WebState,
    session: Session,
    query: Vec<(String, String)>,
}

impl FromRequestParts<WebState> for Visit {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &WebState) -> Result<Self, Failure> {
        // The guard puts the session there; without it the route is not reachable.
        let session = parts.extensions.get::<Session>().cloned().ok_or(Failure::SignedOut)?;
        let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let query = query.map(|Query(pairs)| pairs).unwrap_or_default();
        Ok(Self { state: state.clone(), session, query })
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

    /// Returns a part of the query; an empty text when it is not there.
    pub(in crate::web) fn query(&self, name: &str) -> &str {
        self.query.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Returns a page of an area, inside the layout.
    pub(in crate::web) async fn page(&self, area: Area, title: &str, body: &Markup) -> Answer {
        let note = self.state.notes.find(&self.session, self.query("note"));
        let note = note.map(|note| self.note(&note)).transpose()?;
        let sign_out = self.form("/sign-out", "", &html! { button.link type="submit" { "Sign out" } })?;
        let app = self.app();
        let frame = Frame {
            area,
            waiting: app.approvals().list().await?.len(),
            is_paused: app.effects().is_paused().await?,
            note,
            sign_out,
        };
        Ok(full_page(title, &frame, body).into_response())
    }

    /// Returns a form that makes one change: the path it is sent to, the digest of what the person is shown, and its
    /// fields and buttons. It carries the proofs that the guard asks for.
    pub(in crate::web) fn form(&self, path: &str, seen: &str, fields: &Markup) -> Result<Markup, Failure> {
        let proofs = self.proofs(path, seen)?;
        Ok(html! {
            form method="post" action=(path) {
                (proofs)
                (fields)
            }
        })
    }

    /// Returns the hidden fields of a form that makes this change.
    pub(in crate::web) fn proofs(&self, path: &str, seen: &str) -> Result<Markup, Failure> {
        let keys = &self.state.keys;
        let nonce = keys.nonce(&self.session, path, seen, self.app().clock.now())?;
        Ok(html! {
            input type="hidden" name="csrf" value=(keys.csrf_token(&self.session));
            input type="hidden" name="seen" value=(seen);
            input type="hidden" name="nonce" value=(nonce);
        })
    }

    /// Returns the answer to a change: the browser loads the page at `path`, which shows the note.
    pub(in crate::web) fn redirect(&self, path: &str, note: Note) -> Answer {
        let name = self.state.notes.keep(&self.session, note)?;
        let joint = if path.contains('?') { '&' } else { '?' };
        Ok((StatusCode::SEE_OTHER, [(header::LOCATION, format!("{path}{joint}note={name}"))]).into_response())
    }

    /// Returns the answer to a change that a use case may have refused: the page at `path` with what was done, or with
    /// the reason of the refusal. Failures that are no refusals become a page of their own.
    pub(in crate::web) fn redirect_after(&self, path: &str, outcome: anyhow::Result<Note>) -> Answer {
        match outcome {
            Ok(note) => self.redirect(path, note),
            Err(error) if is_refusal(&error) => self.redirect(path, Note::refused(format!("{error:#}"))),
            Err(error) => Err(error.into()),
        }
    }

    fn note(&self, note: &Note) -> Result<Markup, Failure> {
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
pub(in crate::web) struct Change {
    pub(in crate::web) visit: Visit,
    pub(in crate::web) form: ChangeForm,
}

impl FromRequestParts<WebState> for Change {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &WebState) -> Result<Self, Failure> {
        let form = parts.extensions.get::<ChangeForm>().cloned().ok_or(Failure::NotAForm)?;
        Ok(Self { visit: Visit::from_request_parts(parts, state).await?, form })
    }
}

/// Returns an answer without a page, such as a redirect after signing in.
pub(in crate::web) fn see_other(path: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, path.to_owned())]).into_response()
}
