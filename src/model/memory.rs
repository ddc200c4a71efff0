//! Where the vectors of the memory are kept and what computes them, as a person configures it.

use super::Secret;

/// The section `[memory]` of the configuration, checked. With nothing set, the vectors are kept in the database and
/// computed by the embedder that is compiled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemorySettings {
    pub qdrant: Option<QdrantSettings>,
    pub embeddings: Option<EmbeddingsSettings>,
}

/// A Qdrant server that keeps the vectors.
#[derive(Clone, PartialEq, Eq)]
pub struct QdrantSettings {
    /// The address of the gRPC port.
    pub url: String,
    pub api_key: Option<Secret>,
    pub collection: String,
}

/// An endpoint that computes vectors: any that answers like OpenAI's `/v1/embeddings`.
#[derive(Clone, PartialEq, Eq)]
pub struct EmbeddingsSettings {
    pub url: String,
    pub model: String,
    pub key: Option<Secret>,
    /// The length of the vectors; an answer of another length is refused.
    pub dimension: usize,
}

/// The key is left out, so that no log line can hold it.
impl std::fmt::Debug for QdrantSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.url, self.collection)
    }
}

/// The key is left out, so that no log line can hold it.
impl std::fmt::Debug for EmbeddingsSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {} ({})", self.model, self.url, self.dimension)
    }
}
