//! Requests to Google's token server.
//!
//! The crate `oauth2` 5 is not used: its errors lose the HTTP status by which a limit (429) is recognised, so that the request
//! and the reading of refusals would stay ours; it saves some 20 lines and brings 11 packages (a second sha2, a third rand).

use std::time::Duration;

use reqwest::{Client, StatusCode, Url, header};
use serde::Deserialize;

use super::{ApiError, ClientApp, token_file::SignIn};
use crate::model::Instant;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
const FORM: &str = "application/x-www-form-urlencoded";
/// Lifetime of a token if the server does not say.
const DEFAULT_LIFETIME_SECONDS: i64 = 3600;

/// The server's answer to a request for tokens.
pub(super) enum GrantResponse {
    /// Tokens were issued.
    Issued(Grant),
    /// The code or refresh token is no longer valid: only the person can help.
    Revoked,
}

/// The tokens that the server issued.
#[derive(Deserialize)]
pub(super) struct Grant {
    access_token: String,
    refresh_token: Option<String>,
    expires_in: Option<i64>,
    scope: Option<String>,
}

/// The body of an error answer.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

impl Grant {
    /// Converts the tokens for storing. The answer to a refresh has no refresh token and possibly no scopes; then those
    /// of `before` stay. None when there is no refresh token at all.
    pub(super) fn into_sign_in(self, app: &ClientApp, before: Option<&SignIn>, now: Instant) -> Option<SignIn> {
        let life =
            chrono::Duration::seconds(self.expires_in.unwrap_or(DEFAULT_LIFETIME_SECONDS).clamp(0, 7 * 24 * 3600));
        let scopes = match self.scope {
            Some(scopes) => scopes.split_whitespace().map(str::to_owned).collect(),
            None => before.map(|before| before.scopes.clone()).unwrap_or_default(),
        };
        Some(SignIn {
            client_id: app.client_id.clone(),
            refresh_token: self.refresh_token.or_else(|| before.map(|before| before.refresh_token.clone()))?,
            access_token: self.access_token,
            expires_at: now.plus(life),
            scopes,
        })
    }
}

fn http() -> reqwest::Result<Client> {
    crate::tls::install_provider();
    Client::builder().timeout(REQUEST_TIMEOUT).redirect(reqwest::redirect::Policy::none()).build()
}

/// Requests tokens. Nothing of the request or the answer gets into an error.
pub(super) async fn request_grant(app: &ClientApp, fields: &[(&str, &str)]) -> Result<GrantResponse, ApiError> {
    let unreachable = |what: &str| ApiError::Network { what: format!("the token server: {what}"), left: false };
    let own = [("client_id", app.client_id.as_str()), ("client_secret", app.client_secret.reveal())];
    let form = Url::parse_with_params("http://form/", own.iter().chain(fields)).map_err(|_| unreachable("bad form"))?;
    let http = http().map_err(|_| unreachable("there are no certificates to check it by"))?;
    let request = http.post(&app.token_uri).header(header::CONTENT_TYPE, FORM);
    let answer = request.body(form.query().unwrap_or_default().to_owned()).send().await;
    let answer = answer.map_err(|error| unreachable(if error.is_timeout() { "no answer" } else { "no connection" }))?;
    let status = answer.status();
    let body = answer.bytes().await.map_err(|_| unreachable("the answer is not whole"))?;
    if status.is_success() {
        let grant = serde_json::from_slice(&body).map_err(|_| unreachable("the answer is not understood"))?;
        return Ok(GrantResponse::Issued(grant));
    }
    let word = serde_json::from_slice(&body).map(|refusal: Refusal| refusal.error).unwrap_or_default();
    match (status, word.as_str()) {
        (_, "invalid_grant") => Ok(GrantResponse::Revoked),
        (_, "invalid_client" | "unauthorized_client" | "deleted_client") => {
            Err(ApiError::Auth("Google does not know the client of the client file; see docs/gmail.md".into()))
        }
        (StatusCode::TOO_MANY_REQUESTS, _) => Err(ApiError::RateLimited { after: Duration::from_secs(60) }),
        _ => Err(unreachable(&format!("it answered {}", status.as_u16()))),
    }
}
