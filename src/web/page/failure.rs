//! Why a request was not answered with its page, told so that a person knows what to do.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use maud::html;

use super::{layout::plain_page, text::shown};
use crate::{
    app::{BadInput, NotFound},
    http_guard::RequestRefusal,
    store::StoreError,
};

/// The answer of a route.
pub(in crate::web) type PageAnswer = Result<Response, PageFailure>;

/// Why there is no page.
#[derive(Debug)]
pub(in crate::web) enum PageFailure {
    /// The browser has no session.
    SignedOut,
    /// A sign-in code was used before or is too old.
    UsedCode,
    /// A change came from a page that is out of date, or without its proofs.
    Outdated,
    /// A button was pressed twice. The first time counted.
    Repeated,
    /// The request names another server, or another page sent it.
    Foreign(RequestRefusal),
    /// A change was not sent as a form, or is too large.
    NotAForm,
    /// What a use case answered.
    Refused(anyhow::Error),
}

impl From<anyhow::Error> for PageFailure {
    fn from(error: anyhow::Error) -> Self {
        Self::Refused(error)
    }
}

impl From<std::io::Error> for PageFailure {
    fn from(error: std::io::Error) -> Self {
        Self::Refused(error.into())
    }
}

impl PageFailure {
    /// Returns the status and, for a person, what happened and what to do.
    fn describe(&self) -> (StatusCode, &'static str, String) {
        match self {
            Self::SignedOut => (
                StatusCode::UNAUTHORIZED,
                "Sign in",
                "This browser is not signed in. Run `adjutant web` where Adjutant runs, and open the link that it prints."
                    .into(),
            ),
            Self::UsedCode => (
                StatusCode::UNAUTHORIZED,
                "This link does not count any more",
                "A sign-in link counts once and for a quarter of an hour. `adjutant web` prints a new one.".into(),
            ),
            Self::Outdated => (
                StatusCode::FORBIDDEN,
                "Nothing was changed",
                "The page that you used is out of date. Go back, load it again and look at it once more.".into(),
            ),
            Self::Repeated => (
                StatusCode::FORBIDDEN,
                "Once was enough",
                "This button was used before, and counts once. Load the page again to see what came of it.".into(),
            ),
            Self::Foreign(RequestRefusal::Host) => (
                StatusCode::MISDIRECTED_REQUEST,
                "Not under this address",
                "Open the page under the address that `adjutant web` prints. Behind a proxy, its name belongs into allowed_hosts of [web] in adjutant.toml."
                    .into(),
            ),
            Self::Foreign(RequestRefusal::Origin | RequestRefusal::Token) => (
                StatusCode::FORBIDDEN,
                "Another page asked for this",
                "Nothing was shown to it and nothing was changed. If you followed a link, copy its address into the address bar yourself."
                    .into(),
            ),
            Self::NotAForm => {
                (StatusCode::BAD_REQUEST, "Nothing was changed", "The form could not be read, or it is too large.".into())
            }
            Self::Refused(error) => describe_error(error),
        }
    }
}

fn describe_error(error: &anyhow::Error) -> (StatusCode, &'static str, String) {
    let refusal = error.chain().find_map(|cause| cause.downcast_ref::<StoreError>());
    if error.chain().any(|cause| cause.is::<NotFound>()) || matches!(refusal, Some(StoreError::NotFound(_))) {
        return (StatusCode::NOT_FOUND, "There is no such thing", format!("{error:#}"));
    }
    if error.chain().any(|cause| cause.is::<BadInput>()) {
        return (StatusCode::UNPROCESSABLE_ENTITY, "That was not understood", format!("{error:#}"));
    }
    if matches!(refusal, Some(StoreError::Refused(_))) {
        return (StatusCode::CONFLICT, "Nothing was changed", format!("{error:#}"));
    }
    tracing::warn!(error = format!("{error:#}"), "a page could not be made");
    let told = "Something went wrong, and nothing was changed. The log of `adjutant run` says more; `adjutant doctor` checks everything.";
    (StatusCode::INTERNAL_SERVER_ERROR, "That did not work", told.into())
}

impl IntoResponse for PageFailure {
    fn into_response(self) -> Response {
        let (status, title, told) = self.describe();
        let body = html! {
            h1 { (title) }
            p { (shown(&told)) }
            @if !matches!(self, Self::SignedOut | Self::UsedCode | Self::Foreign(_)) {
                p { a.button href="/" { "To the first page" } }
            }
        };
        (status, plain_page(title, &body)).into_response()
    }
}
