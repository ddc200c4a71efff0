//! Where the memory is kept and who makes its vectors, as a person configures it.

use super::Secret;

/// Nothing set: vectors beside the tasks, made by the embedder that is compiled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemorySettings {
    pub qdrant: Option<QdrantSettings>,
    pub embeddings: Option<EmbeddingsSettings>,
}

#[derive(Clone, PartialEq, Eq)]
pub struct QdrantSettings {
    /// Of its gRPC port.
    pub url: String,
    pub api_key: Option<Secret>,
    pub collection: String,
}

/// Any endpoint that answers like OpenAI's `/v1/embeddings`.
#[derive(Clone, PartialEq, Eq)]
pub struct EmbeddingsSettings {
    pub url: String,
    pub model: String,
    pub key: Option<Secret>,
    pub dimension: usize,
}

impl std::fmt::Debug for QdrantSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.url, self.collection)
    }
}

impl std::fmt::Debug for EmbeddingsSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {} ({})", self.model, self.url, self.dimension)
    }
}
