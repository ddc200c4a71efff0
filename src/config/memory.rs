//! `[memory]`: where vectors are kept and who makes them.

use super::raw::RawMemory;
use crate::model::{
    Secret,
    memory::{EmbeddingsSettings, MemorySettings, QdrantSettings},
};

pub(super) fn settings(raw: RawMemory) -> Result<MemorySettings, String> {
    Ok(MemorySettings { qdrant: qdrant(&raw)?, embeddings: embeddings(&raw)? })
}

fn qdrant(raw: &RawMemory) -> Result<Option<QdrantSettings>, String> {
    let RawMemory { qdrant_url: url, qdrant_api_key, collection, .. } = raw;
    if url.is_empty() {
        return if qdrant_api_key.is_empty() {
            Ok(None)
        } else {
            Err("memory.qdrant_api_key is set, and memory.qdrant_url is not".into())
        };
    }
    must_be_url("memory.qdrant_url", url, "http://127.0.0.1:6334")?;
    let plain = !collection.is_empty() && collection.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if !plain {
        return Err(format!("memory.collection is '{collection}'; expected letters, digits, - and _"));
    }
    Ok(Some(QdrantSettings { url: url.clone(), api_key: secret(qdrant_api_key), collection: collection.clone() }))
}

fn embeddings(raw: &RawMemory) -> Result<Option<EmbeddingsSettings>, String> {
    let RawMemory { embeddings_url: url, embeddings_model, embeddings_key, embeddings_dimension, .. } = raw;
    if url.is_empty() {
        return Ok(None);
    }
    must_be_url("memory.embeddings_url", url, "https://api.example.com")?;
    if embeddings_model.is_empty() {
        return Err("memory.embeddings_url is set; memory.embeddings_model must name a model it has".into());
    }
    // More than any embedder in use has; a typing error else eats the memory.
    if !(1..=8192).contains(embeddings_dimension) {
        return Err(format!(
            "memory.embeddings_dimension is {embeddings_dimension}; expected what the model's vectors have, 1 to 8192"
        ));
    }
    Ok(Some(EmbeddingsSettings {
        url: url.clone(),
        model: embeddings_model.clone(),
        key: secret(embeddings_key),
        dimension: *embeddings_dimension,
    }))
}

fn must_be_url(key: &str, url: &str, such_as: &str) -> Result<(), String> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains(char::is_whitespace) => Ok(()),
        _ => Err(format!("{key} is '{url}'; expected such as \"{such_as}\"")),
    }
}

fn secret(text: &str) -> Option<Secret> {
    (!text.is_empty()).then(|| Secret::new(text))
}
