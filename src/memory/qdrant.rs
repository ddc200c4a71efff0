//! The vector store on a Qdrant server: one collection with cosine distance, and one point for each snippet.
//!
//! The id of a point is derived from its document, so that storing it again replaces it. A server that does not answer
//! never delays work beyond the timeout of a call.

use std::time::Duration;

use qdrant_client::{
    Payload, Qdrant, QdrantError,
    qdrant::{
        Condition, CountPointsBuilder, CreateCollectionBuilder, CreateFieldIndexCollectionBuilder, DeletePointsBuilder,
        Distance, FieldType, Filter as Where, PayloadSchemaType, PointStruct, QueryPointsBuilder, ScoredPoint,
        UpsertPointsBuilder, VectorParamsBuilder, vectors_config,
    },
};
use uuid::Uuid;

use super::traits::{DocKind, Filter, MemoryError, MemoryFuture, MemoryResult, NearDocument, Snippet, VectorStore};
use crate::model::memory::QdrantSettings;

/// A server that takes longer to answer one call counts as unreachable.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How many points are requested for each document wanted: a document has several pieces and is returned once.
const PER_DOCUMENT: usize = 4;
/// The namespace of the UUIDs of points (version 5). Another value would leave all stored points behind.
const NAMESPACE: Uuid = Uuid::from_u128(0x8f5d_6c0e_3b0a_4a6f_9a51_7d2c_41e0_b6d3);
/// The fields of a point by which points are searched or deleted.
const INDEXED_FIELDS: [&str; 3] = ["account", "kind", "doc"];

/// One collection on a Qdrant server.
pub struct QdrantVectorStore {
    client: Qdrant,
    url: String,
    collection: String,
    dimension: u64,
}

impl QdrantVectorStore {
    /// Creates the client for vectors of this dimension. No connection is made yet.
    pub fn new(settings: &QdrantSettings, dimension: usize) -> MemoryResult<Self> {
        let QdrantSettings { url, api_key, collection } = settings;
        let client = Qdrant::from_url(url)
            .api_key(api_key.as_ref().map(|key| key.reveal().to_owned()))
            .timeout(CALL_TIMEOUT)
            .connect_timeout(CONNECT_TIMEOUT)
            .skip_compatibility_check()
            .build()
            .map_err(|error| MemoryError::Refused {
                what: format!("memory.qdrant_url '{url}'"),
                why: error.to_string(),
            })?;
        let dimension = u64::try_from(dimension).unwrap_or(u64::MAX);
        Ok(Self { client, url: url.clone(), collection: collection.clone(), dimension })
    }

    /// Returns what error messages call the server.
    fn label(&self) -> String {
        format!("the Qdrant server at {}", self.url)
    }

    /// Converts an error of the client, keeping only its innermost message.
    fn to_memory_error(&self, error: QdrantError) -> MemoryError {
        let why = match &error {
            QdrantError::ResponseError { status } | QdrantError::ResourceExhaustedError { status, .. } => {
                status.message().to_owned()
            }
            other => other.to_string(),
        };
        let why = innermost_message(&why);
        if is_unreachable(&error) {
            MemoryError::Unreachable { what: self.label(), why }
        } else {
            MemoryError::Refused { what: self.label(), why }
        }
    }

    /// Awaits an exchange of this many calls. The client repeats a call when a connection breaks and starts its own
    /// timeout again; this timeout bounds both together.
    async fn with_timeout<T>(
        &self,
        calls: u32,
        exchange: impl Future<Output = MemoryResult<T, QdrantError>>,
    ) -> MemoryResult<T> {
        match tokio::time::timeout(CALL_TIMEOUT * calls, exchange).await {
            Ok(answered) => answered.map_err(|error| self.to_memory_error(error)),
            Err(_) => Err(MemoryError::Unreachable { what: self.label(), why: "it does not answer in time".into() }),
        }
    }

    /// Creates the collection and the indexes of its fields.
    async fn create(&self) -> MemoryResult<(), QdrantError> {
        let vectors = VectorParamsBuilder::new(self.dimension, Distance::Cosine);
        let collection = CreateCollectionBuilder::new(&self.collection).vectors_config(vectors);
        self.client.create_collection(collection).await?;
        for field in INDEXED_FIELDS {
            let index = CreateFieldIndexCollectionBuilder::new(&self.collection, field, FieldType::Keyword);
            self.client.create_field_index(index.wait(true)).await?;
        }
        Ok(())
    }

    /// Returns false when the collection is missing, holds vectors of another kind, or lacks an index: a server in
    /// strict mode refuses to search or delete by a field without one.
    async fn has_matching_collection(&self) -> MemoryResult<bool, QdrantError> {
        if !self.client.collection_exists(&self.collection).await? {
            return Ok(false);
        }
        let info = self.client.collection_info(&self.collection).await?;
        let Some(info) = info.result else { return Ok(false) };
        let keyword = i32::from(PayloadSchemaType::Keyword);
        let is_indexed = |field| info.payload_schema.get(field).is_some_and(|index| index.data_type == keyword);
        let indexed = INDEXED_FIELDS.into_iter().all(is_indexed);
        let config = info.config.and_then(|config| config.params?.vectors_config?.config);
        Ok(indexed
            && matches!(config, Some(vectors_config::Config::Params(params))
                if params.size == self.dimension && params.distance == i32::from(Distance::Cosine)))
    }

    /// Deletes the collection if it exists, and creates an empty one.
    async fn recreate_collection(&self) -> MemoryResult<(), QdrantError> {
        if self.client.collection_exists(&self.collection).await? {
            self.client.delete_collection(&self.collection).await?;
        }
        self.create().await
    }

    /// Stores the points of some documents and deletes their older points.
    async fn upsert_points(&self, snippets: &[Snippet]) -> MemoryResult<(), QdrantError> {
        let points: Vec<PointStruct> = snippets.iter().map(point).collect();
        self.client.upsert_points(UpsertPointsBuilder::new(&self.collection, points).wait(true)).await?;
        // A document that has become shorter has points beyond its new pieces.
        let mut docs: Vec<String> = snippets.iter().map(|snippet| snippet.doc.clone()).collect();
        docs.dedup();
        let ids = snippets.iter().map(point_id);
        let stale = Where {
            must: vec![Condition::matches("doc", docs)],
            must_not: vec![Condition::has_id(ids)],
            ..Where::default()
        };
        self.client.delete_points(DeletePointsBuilder::new(&self.collection).points(stale).wait(true)).await?;
        Ok(())
    }

    /// Returns the nearest documents, each by its nearest piece.
    async fn query_points(
        &self,
        query: &[f32],
        filter: &Filter,
        k: usize,
    ) -> MemoryResult<Vec<NearDocument>, QdrantError> {
        let kind = filter.kind.map(|kind| Condition::matches("kind", kind.as_str().to_owned()));
        let account = Condition::matches("account", filter.account.as_str().to_owned());
        let limit = u64::try_from(k.saturating_mul(PER_DOCUMENT)).unwrap_or(u64::MAX);
        let question = QueryPointsBuilder::new(&self.collection)
            .query(query.to_vec())
            .filter(Where::must([account].into_iter().chain(kind)))
            .limit(limit)
            .with_payload(true);
        let answer = self.client.query(question).await?;
        let mut found: Vec<NearDocument> = Vec::new();
        for near in answer.result.iter().filter_map(to_near_document).filter(|near| near.score >= filter.min_cosine) {
            if found.len() < k && !found.iter().any(|known| known.doc == near.doc) {
                found.push(near);
            }
        }
        Ok(found)
    }
}

/// Derives the id of a snippet's point from its document and number.
fn point_id(snippet: &Snippet) -> String {
    let Snippet { doc, number, account, .. } = snippet;
    let name = match doc.split_once(':') {
        Some(("task", task_id)) => format!("{task_id}/{number}"),
        // The number of a mail is unique only within one installation, so its account is part of the name.
        _ => format!("{account}/{doc}/{number}"),
    };
    Uuid::new_v5(&NAMESPACE, name.as_bytes()).to_string()
}

/// Returns the point of a snippet.
fn point(snippet: &Snippet) -> PointStruct {
    let mut payload = Payload::new();
    payload.insert("account", snippet.account.as_str());
    payload.insert("kind", DocKind::from_doc_id(&snippet.doc).map_or("", DocKind::as_str));
    payload.insert("doc", snippet.doc.as_str());
    payload.insert("number", i64::from(snippet.number));
    if let Some(("task", task_id)) = snippet.doc.split_once(':') {
        payload.insert("task_id", task_id);
    }
    PointStruct::new(point_id(snippet), snippet.vector.clone(), payload)
}

/// Returns the document of a point, or none for a point that this program did not store.
fn to_near_document(point: &ScoredPoint) -> Option<NearDocument> {
    let doc = point.payload.get("doc")?.as_str()?.clone();
    let number = u8::try_from(point.payload.get("number")?.as_integer()?).ok()?;
    // Rounding on the server can make the cosine of a vector with itself a little more than 1.
    Some(NearDocument { doc, number, score: point.score.clamp(-1.0, 1.0), document: None })
}

impl VectorStore for QdrantVectorStore {
    fn place(&self) -> String {
        format!("{}/{}", self.url.trim_end_matches('/'), self.collection)
    }

    fn upsert<'a>(&'a self, snippets: &'a [Snippet]) -> MemoryFuture<'a, ()> {
        Box::pin(async move {
            if snippets.is_empty() {
                return Ok(());
            }
            self.with_timeout(2, self.upsert_points(snippets)).await
        })
    }

    fn delete<'a>(&'a self, docs: &'a [String]) -> MemoryFuture<'a, ()> {
        Box::pin(async move {
            let these = Where::must([Condition::matches("doc", docs.to_vec())]);
            let request = DeletePointsBuilder::new(&self.collection).points(these).wait(true);
            self.with_timeout(1, self.client.delete_points(request)).await.map(drop)
        })
    }

    fn top_k<'a>(&'a self, query: &'a [f32], filter: &'a Filter, k: usize) -> MemoryFuture<'a, Vec<NearDocument>> {
        Box::pin(async move {
            // The server refuses a limit of 0.
            if k == 0 {
                return Ok(Vec::new());
            }
            self.with_timeout(1, self.query_points(query, filter, k)).await
        })
    }

    fn count(&self) -> MemoryFuture<'_, u64> {
        Box::pin(async move {
            let all = CountPointsBuilder::new(&self.collection).exact(true);
            let answer = self.with_timeout(1, self.client.count(all)).await?;
            Ok(answer.result.map_or(0, |result| result.count))
        })
    }

    fn check_intact(&self) -> MemoryFuture<'_, bool> {
        Box::pin(self.with_timeout(2, self.has_matching_collection()))
    }

    fn clear(&self) -> MemoryFuture<'_, ()> {
        Box::pin(self.with_timeout(6, self.recreate_collection()))
    }
}

/// Returns the innermost message of an error that prints nested values, as a failed connection does; at most 200
/// characters.
fn innermost_message(why: &str) -> String {
    let inner = why.rsplit_once("message: \"").and_then(|(_, rest)| rest.split_once('"')).map(|(words, _)| words);
    inner.unwrap_or(why).lines().next().unwrap_or_default().chars().take(200).collect()
}

/// Returns whether an error means that the server is away or too slow, so that a later attempt may succeed. A
/// connection that breaks half-way is reported as cancelled or unknown.
fn is_unreachable(error: &QdrantError) -> bool {
    // The gRPC status codes by number: the crate that names them is no direct dependency.
    const CANCELLED: i32 = 1;
    const UNKNOWN: i32 = 2;
    const DEADLINE_EXCEEDED: i32 = 4;
    const RESOURCE_EXHAUSTED: i32 = 8;
    const UNAVAILABLE: i32 = 14;
    match error {
        QdrantError::ResponseError { status } => {
            let transient = [CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE];
            transient.contains(&i32::from(status.code())) || status.message().starts_with("Failed to connect")
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_connection_is_told_in_the_systems_words() {
        let nest = r#"Failed to connect to http://h/: Error(ConnectError("tcp", Os { code: 111, kind: ConnectionRefused, message: "Connection refused" }))"#;
        assert_eq!(innermost_message(nest), "Connection refused");
        assert_eq!(innermost_message("Not found: Collection `x`\nand more"), "Not found: Collection `x`");
    }

    #[test]
    fn a_points_id_is_that_of_its_task_and_number() {
        let snippet = |doc: &str, number, account: &str| Snippet {
            doc: doc.into(),
            number,
            account: account.into(),
            vector: Vec::new(),
        };
        let task = |number| point_id(&snippet("task:01JY4Z7Q8X9W3V5T6R2P0N1M4K", number, "work"));
        assert_eq!(task(0), point_id(&snippet("task:01JY4Z7Q8X9W3V5T6R2P0N1M4K", 0, "elsewhere")));
        assert_ne!(task(0), task(1));
        // A mail's number counts within its installation, so its account is part of it.
        assert_ne!(point_id(&snippet("mail:1", 0, "work")), point_id(&snippet("mail:1", 0, "home")));
        assert_eq!(Uuid::parse_str(&task(0)).unwrap().get_version_num(), 5);
    }
}
