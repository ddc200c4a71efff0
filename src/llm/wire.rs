//! The wire to a provider: one small HTTP client with a limit on everything.
//!
//! No redirect is followed, no proxy of the environment is used, nothing beyond [`MOST_BYTES`] of an answer is read, and
//! no error repeats what a server wrote.

use std::time::Duration;

use reqwest::{
    Client, RequestBuilder, Response, StatusCode,
    header::{DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
    redirect::Policy,
};

use super::{
    Asking, Failure, Llm, Raw, Request, retry,
    shape::{self, read_answer},
};
use crate::{
    failpoint,
    model::llm::{LlmSettings, Provider},
};

/// An answer of ours is a few hundred bytes; a server may be chatty around it.
const MOST_BYTES: usize = 256 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const ANTHROPIC_VERSION: &str = "2023-06-01";

pub struct Wire {
    client: Client,
    provider: Provider,
    model: String,
    url: String,
    /// Longer than this a server is not waited for.
    patience: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum NoWire {
    #[error("the key holds characters that cannot be sent")]
    Key,
    #[error("the client cannot be made: {0}")]
    Client(#[from] reqwest::Error),
}

impl Wire {
    pub fn new(settings: &LlmSettings) -> Result<Self, NoWire> {
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
            url: format!("{}{}", settings.base_url, shape::path(settings.provider)),
            patience: settings.deadline / 2,
        })
    }

    async fn exchange(&self, request: &Request) -> Result<Raw, Failure> {
        let body = shape::encode(self.provider, &self.model, request);
        let mut attempt = 1;
        loop {
            let failure = match self.post(self.client.post(&self.url).json(&body)).await {
                Err(failure @ Failure::Unreachable { read: false, .. }) => failure,
                outcome => return outcome,
            };
            let Failure::Unreachable { wait, .. } = &failure else { return Err(failure) };
            let pause = wait.unwrap_or_else(|| retry::pause(attempt));
            if attempt >= retry::ATTEMPTS || pause > self.patience {
                return Err(failure);
            }
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    async fn post(&self, post: RequestBuilder) -> Result<Raw, Failure> {
        failpoint::hit("model.ask", "before");
        let response = post.send().await.map_err(|error| unreachable(&error));
        failpoint::hit("model.ask", "after");
        let response = response?;
        if response.status() != StatusCode::OK {
            return Err(status_failure(&response));
        }
        read_answer(self.provider, &bounded(response).await?)
    }
}

impl Llm for Wire {
    fn ask<'a>(&'a self, request: &'a Request) -> Asking<'a> {
        Box::pin(self.exchange(request))
    }
}

fn headers(settings: &LlmSettings) -> Result<HeaderMap, NoWire> {
    let mut headers = HeaderMap::new();
    if let Some(key) = &settings.key {
        let (name, before) = shape::key_header(settings.provider);
        let mut value = HeaderValue::try_from(format!("{before}{}", key.reveal())).map_err(|_| NoWire::Key)?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    if settings.provider == Provider::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    Ok(headers)
}

/// In our own words: the text of an error may hold an address.
fn unreachable(error: &reqwest::Error) -> Failure {
    let read = !error.is_connect();
    let problem = if read { "the connection broke" } else { "nobody answers at the address" };
    Failure::Unreachable { problem: problem.into(), wait: None, read }
}

fn status_failure(response: &Response) -> Failure {
    let status = response.status().as_u16();
    let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    if retry::is_passing(status) {
        let wait = retry::retry_after(header(RETRY_AFTER), header(DATE));
        return Failure::Unreachable { problem: format!("the server said {status}"), wait, read: false };
    }
    match status {
        400 | 413 | 422 => Failure::Unfit(status),
        401 | 403 => Failure::Denied(status, "is the key right?"),
        404 => Failure::Denied(status, "are the address and the model right?"),
        300..=399 => Failure::Denied(status, "it points elsewhere, which is not followed"),
        _ => Failure::Denied(status, "it cannot be used like this"),
    }
}

/// The body, unless it is longer than any answer.
async fn bounded(mut response: Response) -> Result<Vec<u8>, Failure> {
    let too_long = || Failure::Garbled(format!("the answer is longer than {MOST_BYTES} bytes"));
    if response.content_length().is_some_and(|length| length > MOST_BYTES as u64) {
        return Err(too_long());
    }
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > MOST_BYTES => return Err(too_long()),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(_) => return Err(Failure::Garbled("the answer broke off".into())),
        }
    }
}
