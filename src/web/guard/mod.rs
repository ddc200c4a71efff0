//! The guard around the whole router: who may reach the page, from where, and what a change must prove.
//!
//! Every request names this server as its host and comes from no other page. Every route but a few listed ones needs a
//! session. A change also needs the CSRF token of the session and a nonce for its path and for what was shown; the nonce
//! counts once. What fails a check reads nothing and changes nothing.

mod change_form;
mod hmac;
mod keys;
mod sign_in_code;

use std::sync::Arc;

use axum::{
    Form,
    extract::{FromRequest as _, MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use self::keys::NonceState;
pub(super) use self::{
    change_form::ChangeForm,
    keys::{Keys, PageSession},
    sign_in_code::{issue_code, redeem_code},
};
use super::{
    page::PageFailure,
    route::{Protection, ProtectionTable},
};
use crate::{
    clock::Clock,
    http_guard::{HttpGuard, OwnHosts, RequestRefusal, only_value},
};

/// What may be loaded and where forms may go: from this server, to this server. Nothing else exists for the browser.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                              form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The headers of every answer. `same-origin` keeps the header `Origin` of our own forms, which `no-referrer` would
/// replace by `null`.
const HEADERS: [(&str, &str); 7] = [
    ("content-security-policy", CONTENT_POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
];

/// What the guard knows.
#[derive(Clone)]
pub(super) struct Guard {
    pub(super) hosts: OwnHosts,
    pub(super) keys: Arc<Keys>,
    pub(super) clock: Clock,
    pub(super) protections: Arc<ProtectionTable>,
    /// Checks the token of a monitor; none when there are no figures.
    pub(super) monitor: Option<HttpGuard>,
}

/// Checks a request and adds the headers of every answer.
pub(super) async fn check_request(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let is_asset = request.uri().path().starts_with("/assets/");
    let mut response = match guard.admit(request).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => refusal,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if !is_asset {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

impl Guard {
    /// Returns the request with what was proven of it, or the answer that refuses it.
    async fn admit(&self, mut request: Request) -> Result<Request, Response> {
        let foreign = |refusal| PageFailure::Foreign(refusal).into_response();
        self.hosts.check(request.uri(), request.headers()).map_err(foreign)?;
        check_fetch_site(request.method(), request.headers()).map_err(foreign)?;
        let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
        match self.protections.of(request.method(), path) {
            Protection::Open => Ok(request),
            Protection::Bearer => {
                let Some(monitor) = &self.monitor else { return Err(StatusCode::NOT_FOUND.into_response()) };
                monitor.check_token(request.headers()).map_err(RequestRefusal::into_response)?;
                Ok(request)
            }
            Protection::Session => {
                let session = self.session(request.headers()).map_err(PageFailure::into_response)?;
                request.extensions_mut().insert(session);
                Ok(request)
            }
            Protection::Change => self.admit_change(request).await,
        }
    }

    fn session(&self, headers: &HeaderMap) -> Result<PageSession, PageFailure> {
        self.keys.session_of(headers, self.clock.now()).ok_or(PageFailure::SignedOut)
    }

    /// Checks the proofs of a change. The nonce is used up by this, whatever becomes of the change.
    async fn admit_change(&self, mut request: Request) -> Result<Request, Response> {
        let session = self.session(request.headers()).map_err(PageFailure::into_response)?;
        // A browser names the origin of every form, so a change without one comes from somewhere else.
        if !request.headers().contains_key(header::ORIGIN) {
            return Err(PageFailure::Foreign(RequestRefusal::Origin).into_response());
        }
        let path = request.uri().path().to_owned();
        let (parts, body) = request.into_parts();
        let fields = Form::<Vec<(String, String)>>::from_request(Request::from_parts(parts.clone(), body), &()).await;
        let Ok(Form(fields)) = fields else { return Err(PageFailure::NotAForm.into_response()) };
        let form = ChangeForm::new(fields);
        if !self.keys.is_csrf_token(&session, form.get("csrf")) {
            return Err(PageFailure::Outdated.into_response());
        }
        match self.keys.redeem_nonce(&session, &path, form.seen(), form.get("nonce"), self.clock.now()) {
            NonceState::Fresh => {}
            NonceState::Used => return Err(PageFailure::Repeated.into_response()),
            NonceState::Wrong => return Err(PageFailure::Outdated.into_response()),
        }
        request = Request::from_parts(parts, axum::body::Body::empty());
        request.extensions_mut().insert(session);
        request.extensions_mut().insert(form);
        Ok(request)
    }
}

/// Refuses what another site makes the browser send. Browsers too old for the header are held by the other checks.
fn check_fetch_site(method: &Method, headers: &HeaderMap) -> Result<(), RequestRefusal> {
    if !headers.contains_key("sec-fetch-site") {
        return Ok(());
    }
    let site = only_value(headers, &HeaderName::from_static("sec-fetch-site"));
    match site {
        Some("same-origin") => Ok(()),
        // Typed into the address bar, or opened from a terminal.
        Some("none") if method == Method::GET || method == Method::HEAD => Ok(()),
        _ => Err(RequestRefusal::Origin),
    }
}
