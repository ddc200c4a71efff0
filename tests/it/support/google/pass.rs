//! Access tokens for tests that sign in without a browser and without a file.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use adjutant::{
    model::Secret,
    source::google::{ApiError, TokenProvider, token::ApiFuture},
};
use serde_json::{Value, json};

use super::Google;

/// A token provider that renews its token when it was refused.
pub(crate) struct Pass {
    token_uri: String,
    refresh: String,
    held: Mutex<Option<String>>,
    refused: AtomicBool,
}

impl Pass {
    pub(crate) fn of(google: &Google, address: &str) -> Self {
        let refresh = google.person(address).signs_in("mail");
        Self { token_uri: google.token_uri(), refresh, held: Mutex::default(), refused: AtomicBool::new(false) }
    }

    /// Returns a new access token.
    async fn renewed(&self) -> Option<String> {
        adjutant::tls::install_provider();
        let body = json!({ "grant_type": "refresh_token", "refresh_token": self.refresh });
        let answered = reqwest::Client::new().post(&self.token_uri).json(&body).send().await.ok()?;
        let tokens: Value = answered.json().await.ok()?;
        tokens["access_token"].as_str().map(str::to_owned)
    }
}

impl TokenProvider for Pass {
    fn token<'a>(&'a self, scopes: &'a [&str]) -> ApiFuture<'a, Secret> {
        assert!(
            scopes.iter().all(|scope| !scope.contains("addons") && !scope.ends_with("mail.google.com/")),
            "{scopes:?}"
        );
        Box::pin(async move {
            let held = self.held.lock().unwrap().clone().filter(|_| !self.refused.swap(false, Ordering::Relaxed));
            let token = match held {
                Some(token) => token,
                None => self.renewed().await.ok_or_else(|| ApiError::Auth("sign in again".into()))?,
            };
            *self.held.lock().unwrap() = Some(token.clone());
            Ok(Secret::new(token))
        })
    }

    fn invalidate_token(&self) {
        self.refused.store(true, Ordering::Relaxed);
    }
}
