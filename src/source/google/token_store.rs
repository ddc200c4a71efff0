//! Keeps an account signed in: hands out access tokens, gets new ones, and knows when only the person can help.
//!
//! The refresh token on the disk is replaced only by a whole new file. A withdrawn consent is asked about once, not at
//! every call: until the file changes, the answer stands.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
};

use tokio::sync::Mutex;

use super::{
    ApiError, ClientApp, TokenProvider,
    token::ApiFuture,
    token_file::{SignIn, TokenFile},
    token_server::{self, GrantResponse},
};
use crate::{
    clock::Clock,
    model::{Instant, Secret},
};

/// A token that is about to expire may do so on its way.
const EXPIRY_MARGIN: chrono::Duration = chrono::Duration::seconds(60);

pub struct TokenStore {
    /// Read when it is needed, so that it may be put there later.
    client_file: PathBuf,
    file: TokenFile,
    /// The account's name, for the one line that says what to do.
    account: String,
    clock: Clock,
    state: Mutex<TokenState>,
    /// The server did not take the token at hand.
    refused: AtomicBool,
}

#[derive(Default)]
struct TokenState {
    sign_in: Option<SignIn>,
    /// A refresh token that counts no more.
    revoked_refresh_token: Option<String>,
}

impl TokenStore {
    pub fn new(client_file: PathBuf, file: TokenFile, account: &str, clock: Clock) -> Self {
        let (account, state, refused) = (account.to_owned(), Mutex::default(), AtomicBool::new(false));
        Self { client_file, file, account, clock, state, refused }
    }

    async fn get_valid_token(&self, scopes: &[&str]) -> Result<Secret, ApiError> {
        let mut state = self.state.lock().await;
        let now = self.clock.now();
        let spoiled = self.refused.load(Ordering::Acquire);
        if state.sign_in.as_ref().is_none_or(|held| spoiled || !held.is_valid_at(now)) {
            state.sign_in = Some(self.load_or_refresh(&mut state.revoked_refresh_token, spoiled, now).await?);
            self.refused.store(false, Ordering::Release);
        }
        let Some(held) = &state.sign_in else { return Err(self.signed_out()) };
        match scopes.iter().find(|scope| !held.scopes.iter().any(|agreed| agreed == *scope)) {
            None => Ok(Secret::new(held.access_token.clone())),
            Some(scope) => Err(ApiError::MissingScope(format!(
                "the sign-in of account {} does not cover {scope}: run `adjutant auth gmail --account {}`",
                self.account, self.account
            ))),
        }
    }

    /// What is on the disk if it is good, else a new token.
    async fn load_or_refresh(
        &self,
        withdrawn: &mut Option<String>,
        spoiled: bool,
        now: Instant,
    ) -> Result<SignIn, ApiError> {
        let kept = self.load()?.ok_or_else(|| self.signed_out())?;
        if kept.is_valid_at(now) && !spoiled {
            return Ok(kept);
        }
        if withdrawn.as_ref() == Some(&kept.refresh_token) {
            return Err(self.consent_revoked_error());
        }
        let fields = [("grant_type", "refresh_token"), ("refresh_token", kept.refresh_token.as_str())];
        let app = ClientApp::load(&self.client_file).map_err(ApiError::Auth)?;
        match token_server::request_grant(&app, &fields).await? {
            GrantResponse::Revoked => {
                *withdrawn = Some(kept.refresh_token);
                Err(self.consent_revoked_error())
            }
            GrantResponse::Issued(grant) => {
                let fresh = grant.into_sign_in(&app, Some(&kept), now).ok_or_else(|| self.signed_out())?;
                self.store_refreshed(&kept, fresh)
            }
        }
    }

    /// Stores a new token, unless the person has signed in anew meanwhile: then that counts.
    fn store_refreshed(&self, before: &SignIn, fresh: SignIn) -> Result<SignIn, ApiError> {
        if let Some(newer) = self.load()?.filter(|kept| kept.refresh_token != before.refresh_token) {
            return Ok(newer);
        }
        // A full disk is no reason not to read mail: the refresh token that is there is still good.
        if let Err(error) = self.file.save(&fresh) {
            tracing::warn!(account = self.account, %error, "a new access token could not be stored");
        }
        Ok(fresh)
    }

    fn load(&self) -> Result<Option<SignIn>, ApiError> {
        self.file
            .load()
            .map_err(|error| ApiError::Auth(format!("{error}: run `adjutant auth gmail --account {}`", self.account)))
    }

    fn signed_out(&self) -> ApiError {
        ApiError::Auth(format!("not signed in: run `adjutant auth gmail --account {}`", self.account))
    }

    fn consent_revoked_error(&self) -> ApiError {
        ApiError::Auth(format!(
            "parked: Google says the consent was withdrawn or has expired; nothing is lost. Run `adjutant auth gmail --account {}`",
            self.account
        ))
    }
}

impl SignIn {
    fn is_valid_at(&self, now: Instant) -> bool {
        now.plus(EXPIRY_MARGIN) < self.expires_at
    }
}

impl TokenProvider for TokenStore {
    fn token<'a>(&'a self, scopes: &'a [&str]) -> ApiFuture<'a, Secret> {
        Box::pin(self.get_valid_token(scopes))
    }

    fn invalidate_token(&self) {
        self.refused.store(true, Ordering::Release);
    }
}
