//! Keeps an account signed in: provides access tokens, refreshes them, and knows when only the person can help.
//!
//! The refresh token on disk is replaced only by a complete new file. After Google has said that the consent was
//! withdrawn, it is not asked again until the file changes.

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

/// A token that expires within this time counts as expired, because it may expire on its way.
const EXPIRY_MARGIN: chrono::Duration = chrono::Duration::seconds(60);

/// The sign-in of one account.
pub struct TokenStore {
    /// The client file is read when it is needed, so that it can be put there after the start.
    client_file: PathBuf,
    file: TokenFile,
    /// The account's name, for the message that says how to sign in.
    account: String,
    clock: Clock,
    state: Mutex<TokenState>,
    /// Whether the server rejected the current token.
    refused: AtomicBool,
}

/// What is known in memory. The lock around it is held during a refresh.
#[derive(Default)]
struct TokenState {
    sign_in: Option<SignIn>,
    /// The refresh token that Google has declared invalid, so that it is not tried again.
    revoked_refresh_token: Option<String>,
}

impl TokenStore {
    pub fn new(client_file: PathBuf, file: TokenFile, account: &str, clock: Clock) -> Self {
        let (account, state, refused) = (account.to_owned(), Mutex::default(), AtomicBool::new(false));
        Self { client_file, file, account, clock, state, refused }
    }

    /// Returns a valid token, refreshing it if necessary. The lock makes concurrent callers share one refresh.
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

    /// Returns the stored sign-in if it is valid, otherwise one with a new access token. `spoiled` says that the server
    /// rejected the stored token although it has not expired.
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

    /// Stores a new token, unless the person has signed in again meanwhile: then that sign-in is returned.
    fn store_refreshed(&self, before: &SignIn, fresh: SignIn) -> Result<SignIn, ApiError> {
        if let Some(newer) = self.load()?.filter(|kept| kept.refresh_token != before.refresh_token) {
            return Ok(newer);
        }
        // A full disk must not keep mail from being read: the stored refresh token is still valid.
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

    /// Returns the error of an account that nobody is signed in to, with the command that helps.
    fn signed_out(&self) -> ApiError {
        ApiError::Auth(format!("not signed in: run `adjutant auth gmail --account {}`", self.account))
    }

    /// Returns the error of a withdrawn consent, with the command that helps.
    fn consent_revoked_error(&self) -> ApiError {
        ApiError::Auth(format!(
            "parked: Google says the consent was withdrawn or has expired; nothing is lost. Run `adjutant auth gmail --account {}`",
            self.account
        ))
    }
}

impl SignIn {
    /// Returns whether the access token can still be used.
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
