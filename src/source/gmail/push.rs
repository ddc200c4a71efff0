//! Push notifications: Gmail publishes "something changed" to a Pub/Sub topic, and this module pulls from a
//! subscription of it. Nothing listens on an address that is open to the internet.
//!
//! A notification is only a hint to poll early. What changed is always read from Gmail itself, and regular polling goes
//! on.

use std::{sync::Arc, time::Duration};

use google_gmail1::api::WatchRequest;
use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::{GmailClient, Hub, ME, SCOPE, price};
use crate::{
    model::Instant,
    source::google::{ApiError, FailureDetails, TokenProvider},
};

/// The scope that the person must consent to for pulling.
pub const SCOPE_NAME: &str = "https://www.googleapis.com/auth/pubsub";
const PUBSUB_URL: &str = "https://pubsub.googleapis.com";
/// The server holds an idle pull open for about a minute and a half.
const PULL_TIMEOUT: Duration = Duration::from_secs(120);
const MAX_MESSAGES_PER_PULL: u32 = 50;

/// The topic that Gmail publishes to, and the subscription that is pulled.
pub struct PushSubscription {
    client: GmailClient,
    tokens: Arc<dyn TokenProvider>,
    topic: String,
    subscription: String,
    base: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullResponse {
    #[serde(default)]
    received_messages: Vec<PubSubMessage>,
}

/// A notification. Only its acknowledgement id matters; what changed is read from Gmail.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PubSubMessage {
    ack_id: String,
}

impl PushSubscription {
    /// Creates a client. `base` is the address of Pub/Sub, if it is not Google's.
    pub fn new(
        client: GmailClient,
        tokens: Arc<dyn TokenProvider>,
        topic: String,
        subscription: String,
        base: Option<&str>,
    ) -> Self {
        let base = base.unwrap_or(PUBSUB_URL).trim_end_matches('/').to_owned();
        Self { client, tokens, topic, subscription, base }
    }

    /// Asks Gmail to publish to the topic. Returns until when it does; the watch must be renewed before. Blocks.
    pub fn renew(&self) -> Result<Option<Instant>, ApiError> {
        let wanted = WatchRequest { topic_name: Some(self.topic.clone()), ..WatchRequest::default() };
        let request = async |hub: &Hub, heard: &mut FailureDetails| {
            hub.users().watch(wanted.clone(), ME).add_scope(SCOPE).delegate(heard).doit().await
        };
        let watched = self.client.call(price::WATCH, request)?;
        Ok(watched.expiration.and_then(Instant::from_unix_ms))
    }

    /// Waits for a notification. Returns whether one came before the server ended the pull.
    pub async fn pull(&self) -> Result<bool, ApiError> {
        let pulled: PullResponse = self.post("pull", &json!({ "maxMessages": MAX_MESSAGES_PER_PULL })).await?;
        if pulled.received_messages.is_empty() {
            return Ok(false);
        }
        let ids: Vec<String> = pulled.received_messages.into_iter().map(|message| message.ack_id).collect();
        // A notification that is not acknowledged is delivered again, which costs one needless poll.
        if let Err(error) = self.post::<Value>("acknowledge", &json!({ "ackIds": ids })).await {
            tracing::debug!(%error, "a push was not acknowledged");
        }
        Ok(true)
    }

    /// Posts to a method of the subscription and parses the answer.
    async fn post<T: for<'de> Deserialize<'de>>(&self, verb: &str, body: &Value) -> Result<T, ApiError> {
        let network = |what: &str| ApiError::Network { what: format!("Pub/Sub: {what}"), left: true };
        crate::tls::install_provider();
        let http = reqwest::Client::builder().timeout(PULL_TIMEOUT).build().map_err(|_| network("no certificates"))?;
        let token = self.tokens.token(&[SCOPE_NAME]).await?;
        let url = format!("{}/v1/{}:{verb}", self.base, self.subscription);
        let answer = http.post(url).bearer_auth(token.reveal()).json(body).send().await;
        let answer = answer.map_err(|error| network(if error.is_timeout() { "no answer" } else { "no connection" }))?;
        match answer.status() {
            status if status.is_success() => answer.json().await.map_err(|_| network("the answer is not whole")),
            StatusCode::UNAUTHORIZED => {
                self.tokens.invalidate_token();
                Err(ApiError::TokenRejected)
            }
            StatusCode::TOO_MANY_REQUESTS => Err(ApiError::RateLimited { after: Duration::from_secs(60) }),
            StatusCode::NOT_FOUND => Err(ApiError::Refused { status: 404, reason: "no such subscription".into() }),
            StatusCode::FORBIDDEN => Err(ApiError::Refused { status: 403, reason: "not allowed to pull".into() }),
            status => Err(network(&format!("it answered {}", status.as_u16()))),
        }
    }
}
