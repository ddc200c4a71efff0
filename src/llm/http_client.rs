//! The HTTP client of a provider, with a limit on everything.
//!
//! No redirect is followed, no proxy of the environment is used, no more than `MAX_REPLY_BYTES` of a reply are read,
//! and no error repeats what a server wrote.

use std::time::Duration;

use reqwest::{
    Client, RequestBuilder, Response, StatusCode,
    header::{DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
    redirect::Policy,
};

use super::{
    CompletionFuture, Llm, ProviderFailure, ProviderReply, ProviderRequest,
    protocol::{self, parse_provider_reply},
    retry,
};
use crate::{
    failpoint,
    model::llm::{LlmSettings, Provider},
};

/// Upper bound of a reply: an answer has a few hundred bytes, and servers add their own fields.
const MAX_REPLY_BYTES: usize = 256 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The version of the API that the requests are written for.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// One model of one provider.
pub struct ModelHttpClient {
    client: Client,
    provider: Provider,
    model: String,
    url: String,
    /// The longest pause before a retry; half of the deadline, so that the retry has a chance.
    longest_wait: Duration,
}

/// Why the client cannot be set up from the configuration.
#[derive(Debug, thiserror::Error)]
pub enum ModelClientError {
    #[error("the key contains characters that cannot be sent")]
    Key,
    #[error("the HTTP client cannot be set up: {0}")]
    Client(#[from] reqwest::Error),
}

impl ModelHttpClient {
    /// Creates the client. No connection is made yet.
    pub fn new(settings: &LlmSettings) -> Result<Self, ModelClientError> {
        let client = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(Policy::none())
            .no_proxy()
            .user_agent(concat!("adjutant/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers(settings)?)
            .build()?;
        Ok(Self {
            client,
            provider: settings.provider,
            model: settings.model.clone(),
            url: format!("{}{}", settings.base_url, protocol::path(settings.provider)),
            longest_wait: settings.deadline / 2,
        })
    }

    /// Sends a request, and again with jittered backoff while the server is busy and cannot have read it.
    async fn post_with_retries(&self, request: &ProviderRequest) -> Result<ProviderReply, ProviderFailure> {
        let body = protocol::encode(self.provider, &self.model, request);
        let mut attempt = 1;
        loop {
            let failure = match self.post_once(self.client.post(&self.url).json(&body)).await {
                Err(failure @ ProviderFailure::Unreachable { read: false, .. }) => failure,
                outcome => return outcome,
            };
            let ProviderFailure::Unreachable { retry_after, .. } = &failure else { return Err(failure) };
            let pause = retry_after.unwrap_or_else(|| retry::jittered_backoff(attempt));
            if attempt >= retry::ATTEMPTS || pause > self.longest_wait {
                return Err(failure);
            }
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    /// Sends a request once and parses the reply.
    async fn post_once(&self, post: RequestBuilder) -> Result<ProviderReply, ProviderFailure> {
        failpoint::hit("model.ask", "before");
        let response = post.send().await.map_err(|error| connection_failure(&error));
        failpoint::hit("model.ask", "after");
        let response = response?;
        if response.status() != StatusCode::OK {
            return Err(status_failure(&response));
        }
        parse_provider_reply(self.provider, &read_bounded_body(response).await?)
    }
}

impl Llm for ModelHttpClient {
    fn complete<'a>(&'a self, request: &'a ProviderRequest) -> CompletionFuture<'a> {
        Box::pin(self.post_with_retries(request))
    }
}

/// Returns the headers of every request. The key is marked as sensitive, so that it is never logged.
fn headers(settings: &LlmSettings) -> Result<HeaderMap, ModelClientError> {
    let mut headers = HeaderMap::new();
    if let Some(key) = &settings.key {
        let (name, before) = protocol::key_header(settings.provider);
        let mut value =
            HeaderValue::try_from(format!("{before}{}", key.reveal())).map_err(|_| ModelClientError::Key)?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    if settings.provider == Provider::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    Ok(headers)
}

/// Describes a connection error without its own text, which may contain an address.
fn connection_failure(error: &reqwest::Error) -> ProviderFailure {
    let read = !error.is_connect();
    let problem = if read { "the connection broke" } else { "no server answers at the address" };
    ProviderFailure::Unreachable { problem: problem.into(), retry_after: None, read }
}

/// Classifies an HTTP status by what helps: waiting, another form of the request, or a person.
fn status_failure(response: &Response) -> ProviderFailure {
    let status = response.status().as_u16();
    let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    if retry::is_transient(status) {
        let retry_after = retry::parse_retry_after(header(RETRY_AFTER), header(DATE));
        return ProviderFailure::Unreachable { problem: format!("the server said {status}"), retry_after, read: false };
    }
    match status {
        400 | 413 | 422 => ProviderFailure::RequestRejected(status),
        401 | 403 => ProviderFailure::Denied(status, "is the key right?"),
        404 => ProviderFailure::Denied(status, "are the address and the model right?"),
        300..=399 => ProviderFailure::Denied(status, "it redirects elsewhere, which is not followed"),
        _ => ProviderFailure::Denied(status, "it cannot be used like this"),
    }
}

/// Returns the body of a reply, or an error when it is longer than [`MAX_REPLY_BYTES`].
async fn read_bounded_body(mut response: Response) -> Result<Vec<u8>, ProviderFailure> {
    let too_long = || ProviderFailure::MalformedReply(format!("the answer is longer than {MAX_REPLY_BYTES} bytes"));
    if response.content_length().is_some_and(|length| length > MAX_REPLY_BYTES as u64) {
        return Err(too_long());
    }
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > MAX_REPLY_BYTES => return Err(too_long()),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(_) => return Err(ProviderFailure::MalformedReply("the answer broke off".into())),
        }
    }
}
