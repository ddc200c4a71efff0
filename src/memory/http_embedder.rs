//! An embedder on a server: any endpoint in the format of OpenAI's `/v1/embeddings`.
//!
//! Mail text goes to the configured address and nowhere else: no redirect is followed, no proxy of the environment is
//! used. No more of a response is read than the requested vectors can take.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    index::VectorShape,
    traits::{Embedder, MemoryError, MemoryFuture, MemoryResult},
};
use crate::{document::int8_vector::normalise, model::memory::EmbeddingsSettings};

const CALL_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The most bytes that one number of a vector takes as text, with its separator.
const NUMBER_BYTES: usize = 32;
/// The most bytes that a server may add around the vectors.
const OVERHEAD_BYTES: usize = 256 * 1024;

/// The embeddings endpoint of the configuration.
pub struct HttpEmbedder {
    settings: EmbeddingsSettings,
    name: String,
    client: reqwest::Client,
}

#[derive(Serialize)]
struct EmbeddingsRequest<'a> {
    model: &'a str,
    input: &'a [&'a str],
}

#[derive(Deserialize)]
struct EmbeddingsResponse {
    data: Vec<EmbeddingItem>,
}

/// One vector and the position of its text in the request.
#[derive(Deserialize)]
struct EmbeddingItem {
    index: usize,
    embedding: Vec<f32>,
}

impl HttpEmbedder {
    /// Creates the client. No connection is made yet.
    pub fn new(settings: EmbeddingsSettings) -> MemoryResult<Self> {
        let client = reqwest::Client::builder()
            .timeout(CALL_TIMEOUT)
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build();
        let refused =
            |error: reqwest::Error| MemoryError::Refused { what: "the HTTP client".into(), why: error.to_string() };
        let name = format!("{}@{}", settings.model, settings.url);
        Ok(Self { settings, name, client: client.map_err(refused)? })
    }

    /// Returns what error messages call the endpoint.
    fn label(&self) -> String {
        format!("the embeddings endpoint {}", self.settings.url)
    }

    fn refused_error(&self, why: impl Into<String>) -> MemoryError {
        MemoryError::Refused { what: self.label(), why: why.into() }
    }

    /// Describes a connection error without its own text, which may contain an address.
    fn unreachable_error(&self, error: &reqwest::Error) -> MemoryError {
        let why = if error.is_connect() { "no server answers at the address" } else { "the connection broke" };
        MemoryError::Unreachable { what: self.label(), why: why.into() }
    }

    /// Returns the body of a response. It is an error if the body is longer than the vectors of this many texts can be.
    async fn read_bounded(&self, mut response: reqwest::Response, texts: usize) -> MemoryResult<Vec<u8>> {
        let most = OVERHEAD_BYTES + texts.saturating_mul(self.settings.dimension.saturating_mul(NUMBER_BYTES));
        let too_long = || self.refused_error(format!("its answer is longer than {most} bytes"));
        if response.content_length().is_some_and(|length| length > most as u64) {
            return Err(too_long());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable_error(&error))? {
            if body.len() + chunk.len() > most {
                return Err(too_long());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Returns one vector for each text, in the order of the texts. Anything else, such as a missing vector or another
    /// dimension, is an error.
    async fn request_embeddings(&self, texts: &[&str]) -> MemoryResult<Vec<Vec<f32>>> {
        let response = self.post(texts).await?;
        let body = self.read_bounded(response, texts.len()).await?;
        let mut answer: EmbeddingsResponse =
            serde_json::from_slice(&body).map_err(|_| self.refused_error("its answer is not the expected JSON"))?;
        answer.data.sort_by_key(|item| item.index);
        let (asked, answered) = (texts.len(), answer.data.len());
        if answered != asked {
            return Err(self.refused_error(format!("{asked} texts were sent, {answered} vectors came back")));
        }
        let wanted = self.settings.dimension;
        match answer.data.iter().find(|item| item.embedding.len() != wanted) {
            Some(other) => Err(self.refused_error(format!(
                "its vectors have {} dimensions, memory.embeddings_dimension says {wanted}",
                other.embedding.len()
            ))),
            None => Ok(answer.data.into_iter().map(|item| item.embedding).collect()),
        }
    }

    /// Sends the texts. Returns the response if its status is a success.
    async fn post(&self, texts: &[&str]) -> MemoryResult<reqwest::Response> {
        let url = format!("{}/v1/embeddings", self.settings.url.trim_end_matches('/').trim_end_matches("/v1"));
        let mut request = self.client.post(url).json(&EmbeddingsRequest { model: &self.settings.model, input: texts });
        if let Some(key) = &self.settings.key {
            request = request.bearer_auth(key.reveal());
        }
        let response = request.send().await.map_err(|error| self.unreachable_error(&error))?;
        let status = response.status();
        if status.is_server_error() || status.as_u16() == 429 {
            return Err(MemoryError::Unreachable { what: self.label(), why: format!("it answered {status}") });
        }
        if status.is_redirection() {
            return Err(self.refused_error(format!("it answered {status} and points elsewhere, which is not followed")));
        }
        if !status.is_success() {
            return Err(self.refused_error(format!("it answered {status}")));
        }
        Ok(response)
    }
}

impl Embedder for HttpEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn shape(&self) -> VectorShape {
        VectorShape::uniform(self.settings.dimension)
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> MemoryFuture<'a, Vec<Option<Vec<f32>>>> {
        Box::pin(async move {
            let not_blank: Vec<&str> = texts.iter().copied().filter(|text| !text.trim().is_empty()).collect();
            if not_blank.is_empty() {
                return Ok(vec![None; texts.len()]);
            }
            let mut vectors = self.request_embeddings(&not_blank).await?.into_iter();
            let vector = |text: &&str| if text.trim().is_empty() { None } else { vectors.next().and_then(normalise) };
            Ok(texts.iter().map(vector).collect())
        })
    }
}
