//! The interface through which calls get their access tokens.

use std::{future::Future, pin::Pin, sync::Arc};

use google_gmail1::common::GetToken;

use super::ApiError;
use crate::model::Secret;

/// A boxed future, because the trait below is used as a trait object.
pub type ApiFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, ApiError>> + Send + 'a>>;

/// Provides access tokens that are valid for exactly the scopes the person consented to.
pub trait TokenProvider: Send + Sync {
    /// Returns a token that is valid now. Refuses a scope that nobody consented to, so that a call which forgot to name
    /// its scope fails at once: the generated client would ask for that of an add-on.
    fn token<'a>(&'a self, scopes: &'a [&str]) -> ApiFuture<'a, Secret>;

    /// Marks the last token as rejected by the server, so that the next one is new.
    fn invalidate_token(&self);
}

/// Adapter that gives the tokens of a provider to the generated clients.
#[derive(Clone)]
pub struct Bearer(Arc<dyn TokenProvider>);

impl Bearer {
    pub(super) fn new(tokens: Arc<dyn TokenProvider>) -> Self {
        Self(tokens)
    }
}

type GetTokenFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Option<String>, Box<dyn std::error::Error + Send + Sync>>> + Send + 'a>>;

impl GetToken for Bearer {
    fn get_token<'a>(&'a self, scopes: &'a [&str]) -> GetTokenFuture<'a> {
        Box::pin(async move {
            match self.0.token(scopes).await {
                Ok(token) => Ok(Some(token.reveal().to_owned())),
                Err(error) => Err(error.into()),
            }
        })
    }
}
