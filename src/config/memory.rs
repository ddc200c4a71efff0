//! The section `[memory]`: where the vectors are kept and what computes them.

use super::{
    home::Home,
    raw::RawMemory,
    secret::{self, is_loopback},
};
use crate::model::memory::{EmbeddingsSettings, MemorySettings, QdrantSettings};

/// Checks the section. With nothing set, vectors are kept in the database and computed by the embedder that is compiled
/// in.
pub(super) fn validate_memory(raw: &RawMemory, home: &Home) -> Result<MemorySettings, String> {
    Ok(MemorySettings { qdrant: validate_qdrant(raw, home)?, embeddings: validate_embeddings(raw, home)? })
}

fn validate_qdrant(raw: &RawMemory, home: &Home) -> Result<Option<QdrantSettings>, String> {
    let RawMemory { qdrant_url: url, qdrant_api_key, qdrant_api_key_file, collection, .. } = raw;
    let api_key = secret::read("memory.qdrant_api_key", qdrant_api_key, qdrant_api_key_file, home)?;
    if url.is_empty() {
        return match api_key {
            None => Ok(None),
            Some(_) => Err("memory.qdrant_api_key is set, and memory.qdrant_url is not".into()),
        };
    }
    check_address("memory.qdrant_url", url, "http://127.0.0.1:6334", api_key.is_some())?;
    let plain = !collection.is_empty() && collection.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if !plain {
        return Err(format!("memory.collection is '{collection}'; expected letters, digits, - and _"));
    }
    Ok(Some(QdrantSettings { url: url.clone(), api_key, collection: collection.clone() }))
}

fn validate_embeddings(raw: &RawMemory, home: &Home) -> Result<Option<EmbeddingsSettings>, String> {
    let RawMemory { embeddings_url: url, embeddings_model, embeddings_key, embeddings_key_file, .. } = raw;
    if url.is_empty() {
        return Ok(None);
    }
    let key = secret::read("memory.embeddings_key", embeddings_key, embeddings_key_file, home)?;
    check_address("memory.embeddings_url", url, "https://api.example.com", key.is_some())?;
    if embeddings_model.is_empty() {
        return Err("memory.embeddings_url is set; memory.embeddings_model must name a model it has".into());
    }
    let dimension = raw.embeddings_dimension;
    // More than any embedder in use has. A larger number is a typing error that would use up the memory.
    if !(1..=8192).contains(&dimension) {
        return Err(format!(
            "memory.embeddings_dimension is {dimension}; expected what the model's vectors have, 1 to 8192"
        ));
    }
    Ok(Some(EmbeddingsSettings { url: url.clone(), model: embeddings_model.clone(), key, dimension }))
}

/// Accepts an address of a host and a path. With a key it must be https or this machine. An address that may hold a
/// password is not repeated in the error.
fn check_address(key: &str, url: &str, such_as: &str, has_key: bool) -> Result<(), String> {
    if url.contains(['@', '?', '#']) {
        return Err(format!("{key} has more than a host and a path; expected such as \"{such_as}\""));
    }
    match url.split_once("://") {
        Some((_, host)) if host.is_empty() || host.contains(char::is_whitespace) => {}
        Some(("https", _)) => return Ok(()),
        Some(("http", host)) if !has_key || is_loopback(host) => return Ok(()),
        Some(("http", _)) => {
            return Err(format!("{key} would send the key in the clear; use https, or a server on this machine"));
        }
        _ => {}
    }
    Err(format!("{key} is '{url}'; expected such as \"{such_as}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> Home {
        Home::at("/home/of/it".into())
    }

    #[test]
    fn a_key_never_travels_in_the_clear_and_an_address_holds_no_password() {
        let qdrant = |url: &str, key: &str| {
            let raw = RawMemory { qdrant_url: url.into(), qdrant_api_key: key.into(), ..RawMemory::default() };
            validate_memory(&raw, &home())
        };
        let embeddings = |url: &str, key: &str| {
            let (embeddings_model, embeddings_dimension) = ("m".to_owned(), 8);
            let (embeddings_url, embeddings_key) = (url.to_owned(), key.to_owned());
            let raw = RawMemory {
                embeddings_url,
                embeddings_model,
                embeddings_key,
                embeddings_dimension,
                ..RawMemory::default()
            };
            validate_memory(&raw, &home())
        };
        for (url, key, fits) in [
            ("http://127.0.0.1:6334", "k", true),
            ("http://[::1]:6334", "k", true),
            ("http://192.0.2.7:6334", "", true),
            ("https://vectors.example", "k", true),
            ("http://192.0.2.7:6334", "k", false),
            ("http://localhost.evil.example", "k", false),
            ("http://user:hunter2@127.0.0.1", "", false),
            ("https://vectors.example/?key=hunter2", "", false),
            ("ftp://vectors.example", "", false),
        ] {
            for outcome in [qdrant(url, key), embeddings(url, key)] {
                assert_eq!(outcome.is_ok(), fits, "{url}");
                assert!(!outcome.is_err_and(|error| error.contains("hunter2")), "{url}");
            }
        }
    }
}
