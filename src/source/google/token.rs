//! In whose name a call is made.

use std::{future::Future, pin::Pin, sync::Arc};

use google_gmail1::common::GetToken;

use super::ApiError;
use crate::model::Secret;

pub type ApiFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, ApiError>> + Send + 'a>>;

/// Hands out access tokens that are good for exactly the scopes the person agreed to.
pub trait TokenProvider: Send + Sync {
    /// One that is good now. Refuses a scope nobody agreed to, so that a call which forgot to name its own fails at
    /// once: the generated client would ask for one of an add-on.
    fn token<'a>(&'a self, scopes: &'a [&str]) -> ApiFuture<'a, Secret>;

    /// The server did not take the last one: the next must be new.
    fn invalidate_token(&self);
}

/// Tokens as the generated clients want them.
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
