//! A stand-in for a Qdrant server on loopback, behind the traits of its own protocol: it normalises for cosine, obeys
//! filters, refuses what the real one refuses, and can go away and come back, with or without what it held.

use std::{
    collections::{BTreeMap, HashMap},
    future::Future,
    net::{SocketAddr, TcpListener},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use qdrant_client::qdrant::{
    ChangeAliases, ClearPayloadPoints, CollectionClusterInfoRequest, CollectionClusterInfoResponse, CollectionConfig,
    CollectionExists, CollectionExistsRequest, CollectionExistsResponse, CollectionInfo, CollectionOperationResponse,
    CollectionParams, Condition, CountPoints, CountResponse, CountResult, CreateCollection, CreateFieldIndexCollection,
    CreateShardKeyRequest, CreateShardKeyResponse, CreateVectorNameRequest, DeleteCollection,
    DeleteFieldIndexCollection, DeletePayloadPoints, DeletePointVectors, DeletePoints, DeleteShardKeyRequest,
    DeleteShardKeyResponse, DeleteVectorNameRequest, DiscoverBatchPoints, DiscoverBatchResponse, DiscoverPoints,
    DiscoverResponse, FacetCounts, FacetResponse, Filter, GetCollectionInfoRequest, GetCollectionInfoResponse,
    GetPoints, GetResponse, ListAliasesRequest, ListAliasesResponse, ListCollectionAliasesRequest,
    ListCollectionsRequest, ListCollectionsResponse, ListShardKeysRequest, ListShardKeysResponse, PointId, PointStruct,
    PointsOperationResponse, QueryBatchPoints, QueryBatchResponse, QueryGroupsResponse, QueryPointGroups, QueryPoints,
    QueryResponse, RecommendBatchPoints, RecommendBatchResponse, RecommendGroupsResponse, RecommendPointGroups,
    RecommendPoints, RecommendResponse, ScoredPoint, ScrollPoints, ScrollResponse, SearchBatchPoints,
    SearchBatchResponse, SearchGroupsResponse, SearchMatrixOffsetsResponse, SearchMatrixPairsResponse,
    SearchMatrixPoints, SearchPointGroups, SearchPoints, SearchResponse, SetPayloadPoints, UpdateBatchPoints,
    UpdateBatchResponse, UpdateCollection, UpdateCollectionClusterSetupRequest, UpdateCollectionClusterSetupResponse,
    UpdatePointVectors, UpdateResult, UpsertPoints, Value, VectorParams, VectorsConfig,
    collections_server::{Collections, CollectionsServer},
    condition::ConditionOneOf,
    r#match::MatchValue,
    point_id::PointIdOptions,
    points_selector::PointsSelectorOneOf,
    points_server::{Points, PointsServer},
    query,
    value::Kind,
    vector, vector_input, vectors, vectors_config,
};
use tokio::sync::oneshot;
use tonic::{Request, Response, Status};

type Answer<T> = Result<Response<T>, Status>;
type Payload = HashMap<String, Value>;

/// What it holds, and what it was asked.
#[derive(Default)]
pub(crate) struct Held {
    collections: Mutex<HashMap<String, Collection>>,
    pub(crate) upserts: AtomicUsize,
    /// Milliseconds it takes to answer an upsert.
    pub(crate) slowness: AtomicUsize,
}

struct Collection {
    size: u64,
    points: BTreeMap<String, (Payload, Vec<f32>)>,
}

#[derive(Clone)]
struct Service(Arc<Held>);

/// A running one.
pub(crate) struct Double {
    pub(crate) held: Arc<Held>,
    address: SocketAddr,
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Double {
    pub(crate) fn start() -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut double = Self { held: Arc::default(), address, running: None };
        double.come_back();
        double
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// It is gone, and every connection with it.
    pub(crate) fn go_away(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            thread.join().unwrap();
        }
    }

    pub(crate) fn come_back(&mut self) {
        let (stop, stopped) = oneshot::channel();
        let (service, address) = (Service(Arc::clone(&self.held)), self.address);
        let serve = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let server = tonic::transport::Server::builder()
                    .add_service(PointsServer::new(service.clone()))
                    .add_service(CollectionsServer::new(service))
                    .serve(address);
                tokio::select! {
                    served = server => served.unwrap(),
                    _ = stopped => {}
                }
            });
        };
        self.running = Some((stop, std::thread::spawn(serve)));
        crate::house::eventually("the server listens", || std::net::TcpStream::connect(address).ok());
    }

    /// Its disk is lost.
    pub(crate) fn lose_everything(&self) {
        self.held.collections.lock().unwrap().clear();
    }

    /// Somebody made the collection with another dimension.
    pub(crate) fn make_foreign(&self, collection: &str, size: u64) {
        let other = Collection { size, points: BTreeMap::new() };
        self.held.collections.lock().unwrap().insert(collection.to_owned(), other);
    }

    pub(crate) fn points(&self, collection: &str) -> usize {
        self.held.collections.lock().unwrap().get(collection).map_or(0, |found| found.points.len())
    }

    /// The keys of every point's payload.
    pub(crate) fn payloads(&self, collection: &str) -> Vec<Payload> {
        let held = self.held.collections.lock().unwrap();
        held[collection].points.values().map(|(payload, _)| payload.clone()).collect()
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        self.go_away();
    }
}

impl Service {
    fn with<T>(&self, name: &str, act: impl FnOnce(&mut Collection) -> Result<T, Status>) -> Result<T, Status> {
        let mut held = self.0.collections.lock().unwrap();
        let missing = || Status::not_found(format!("Not found: Collection `{name}` doesn't exist!"));
        act(held.get_mut(name).ok_or_else(missing)?)
    }

    fn upsert_points(&self, request: UpsertPoints) -> Answer<PointsOperationResponse> {
        self.0.upserts.fetch_add(1, Ordering::SeqCst);
        self.with(&request.collection_name, |collection| {
            for point in request.points {
                let id = id_text(&point.id.clone().ok_or_else(|| Status::invalid_argument("a point without an id"))?);
                let vector = dense(&point)?;
                if vector.len() as u64 != collection.size {
                    let why =
                        format!("Vector dimension error: expected dim: {}, got {}", collection.size, vector.len());
                    return Err(Status::invalid_argument(why));
                }
                collection.points.insert(id, (point.payload, normalised(&vector)));
            }
            Ok(done())
        })
    }

    fn delete_points(&self, request: &DeletePoints) -> Answer<PointsOperationResponse> {
        let selector = request.points.clone().and_then(|points| points.points_selector_one_of);
        let Some(PointsSelectorOneOf::Filter(filter)) = selector else {
            return Err(Status::unimplemented("only filters delete here"));
        };
        self.with(&request.collection_name, |collection| {
            collection.points.retain(|id, (payload, _)| !passes(&filter, id, payload));
            Ok(done())
        })
    }

    fn count_points(&self, request: &CountPoints) -> Answer<CountResponse> {
        self.with(&request.collection_name, |collection| {
            let filter = request.filter.clone().unwrap_or_default();
            let count = collection.points.iter().filter(|(id, (payload, _))| passes(&filter, id, payload)).count();
            Ok(Response::new(CountResponse { result: Some(CountResult { count: count as u64 }), ..Default::default() }))
        })
    }

    fn query_points(&self, request: &QueryPoints) -> Answer<QueryResponse> {
        let asked = normalised(&nearest_to(request)?);
        let filter = request.filter.clone().unwrap_or_default();
        self.with(&request.collection_name, |collection| {
            if asked.len() as u64 != collection.size {
                return Err(Status::invalid_argument("Vector dimension error"));
            }
            let mut found: Vec<ScoredPoint> = collection
                .points
                .iter()
                .filter(|(id, (payload, _))| passes(&filter, id, payload))
                .map(|(id, (payload, vector))| ScoredPoint {
                    id: Some(PointId { point_id_options: Some(PointIdOptions::Uuid(id.clone())) }),
                    payload: payload.clone(),
                    score: vector.iter().zip(&asked).map(|(a, b)| a * b).sum(),
                    ..ScoredPoint::default()
                })
                .collect();
            found.sort_by(|a, b| b.score.total_cmp(&a.score));
            found.truncate(usize::try_from(request.limit.unwrap_or(10)).unwrap());
            Ok(Response::new(QueryResponse { result: found, ..QueryResponse::default() }))
        })
    }

    fn create_collection(&self, request: &CreateCollection) -> Answer<CollectionOperationResponse> {
        let config = request.vectors_config.clone().and_then(|config| config.config);
        let Some(vectors_config::Config::Params(params)) = config else {
            return Err(Status::unimplemented("only one vector per point here"));
        };
        let mut held = self.0.collections.lock().unwrap();
        if held.contains_key(&request.collection_name) {
            return Err(Status::already_exists("Collection already exists!"));
        }
        held.insert(request.collection_name.clone(), Collection { size: params.size, points: BTreeMap::new() });
        Ok(Response::new(CollectionOperationResponse { result: true, time: 0.0 }))
    }

    fn collection_info(&self, request: &GetCollectionInfoRequest) -> Answer<GetCollectionInfoResponse> {
        self.with(&request.collection_name, |collection| {
            let distance = i32::from(qdrant_client::qdrant::Distance::Cosine);
            let params = VectorParams { size: collection.size, distance, ..VectorParams::default() };
            let vectors_config = Some(VectorsConfig { config: Some(vectors_config::Config::Params(params)) });
            let params = Some(CollectionParams { vectors_config, ..CollectionParams::default() });
            let config = Some(CollectionConfig { params, ..CollectionConfig::default() });
            let result = Some(CollectionInfo { config, ..CollectionInfo::default() });
            Ok(Response::new(GetCollectionInfoResponse { result, time: 0.0 }))
        })
    }
}

fn done() -> Response<PointsOperationResponse> {
    let result = Some(UpdateResult { status: 2, ..UpdateResult::default() });
    Response::new(PointsOperationResponse { result, ..PointsOperationResponse::default() })
}

fn id_text(id: &PointId) -> String {
    match &id.point_id_options {
        Some(PointIdOptions::Uuid(text)) => text.clone(),
        Some(PointIdOptions::Num(number)) => number.to_string(),
        None => String::new(),
    }
}

fn dense(point: &PointStruct) -> Result<Vec<f32>, Status> {
    let vectors = point.vectors.clone().and_then(|vectors| vectors.vectors_options);
    let vector = match vectors {
        Some(vectors::VectorsOptions::Vector(vector)) => vector.vector,
        _ => None,
    };
    match vector {
        Some(vector::Vector::Dense(dense)) => Ok(dense.data),
        _ => Err(Status::unimplemented("only dense vectors here")),
    }
}

fn nearest_to(request: &QueryPoints) -> Result<Vec<f32>, Status> {
    let variant = request.query.clone().and_then(|query| query.variant);
    let input = match variant {
        Some(query::Variant::Nearest(input)) => input.variant,
        _ => None,
    };
    match input {
        Some(vector_input::Variant::Dense(dense)) => Ok(dense.data),
        _ => Err(Status::unimplemented("only a nearest dense vector is asked for here")),
    }
}

fn normalised(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    vector.iter().map(|value| value / length).collect()
}

fn passes(filter: &Filter, id: &str, payload: &Payload) -> bool {
    assert!(filter.should.is_empty() && filter.min_should.is_none(), "not asked for by this program");
    filter.must.iter().all(|condition| holds(condition, id, payload))
        && !filter.must_not.iter().any(|condition| holds(condition, id, payload))
}

fn holds(condition: &Condition, id: &str, payload: &Payload) -> bool {
    match condition.condition_one_of.as_ref().unwrap() {
        ConditionOneOf::HasId(ids) => ids.has_id.iter().any(|known| id_text(known) == id),
        ConditionOneOf::Field(field) => {
            let value = payload.get(&field.key).and_then(|value| value.kind.as_ref());
            let Some(Kind::StringValue(text)) = value else { return false };
            match field.r#match.as_ref().and_then(|wanted| wanted.match_value.as_ref()) {
                Some(MatchValue::Keyword(word)) => word == text,
                Some(MatchValue::Keywords(words)) => words.strings.contains(text),
                other => panic!("a match this program does not ask for: {other:?}"),
            }
        }
        other => panic!("a condition this program does not ask for: {other:?}"),
    }
}

/// What this program never asks for.
macro_rules! refuse {
    ($($name:ident($question:ty) -> $answer:ty;)+) => {
        $(fn $name<'a, 'b>(&'a self, _: Request<$question>) -> Pin<Box<dyn Future<Output = Answer<$answer>> + Send + 'b>>
        where
            'a: 'b,
            Self: 'b,
        {
            Box::pin(async { Err(Status::unimplemented(stringify!($name))) })
        })+
    };
}

/// What it does ask for.
macro_rules! serve {
    ($($name:ident($question:ty) -> $answer:ty = $act:expr;)+) => {
        $(fn $name<'a, 'b>(
            &'a self,
            request: Request<$question>,
        ) -> Pin<Box<dyn Future<Output = Answer<$answer>> + Send + 'b>>
        where
            'a: 'b,
            Self: 'b,
        {
            Box::pin(async move {
                let act: fn(&Service, $question) -> Answer<$answer> = $act;
                let slowness = self.0.slowness.load(Ordering::SeqCst) as u64;
                if slowness > 0 {
                    tokio::time::sleep(Duration::from_millis(slowness)).await;
                }
                act(self, request.into_inner())
            })
        })+
    };
}

impl Points for Service {
    serve! {
        upsert(UpsertPoints) -> PointsOperationResponse = |service, request| service.upsert_points(request);
        delete(DeletePoints) -> PointsOperationResponse = |service, request| service.delete_points(&request);
        count(CountPoints) -> CountResponse = |service, request| service.count_points(&request);
        query(QueryPoints) -> QueryResponse = |service, request| service.query_points(&request);
        create_field_index(CreateFieldIndexCollection) -> PointsOperationResponse = |service, request| {
            service.with(&request.collection_name, |_| Ok(done()))
        };
    }
    refuse! {
        get(GetPoints) -> GetResponse;
        update_vectors(UpdatePointVectors) -> PointsOperationResponse;
        delete_vectors(DeletePointVectors) -> PointsOperationResponse;
        set_payload(SetPayloadPoints) -> PointsOperationResponse;
        overwrite_payload(SetPayloadPoints) -> PointsOperationResponse;
        delete_payload(DeletePayloadPoints) -> PointsOperationResponse;
        clear_payload(ClearPayloadPoints) -> PointsOperationResponse;
        delete_field_index(DeleteFieldIndexCollection) -> PointsOperationResponse;
        create_vector_name(CreateVectorNameRequest) -> PointsOperationResponse;
        delete_vector_name(DeleteVectorNameRequest) -> PointsOperationResponse;
        search(SearchPoints) -> SearchResponse;
        search_batch(SearchBatchPoints) -> SearchBatchResponse;
        search_groups(SearchPointGroups) -> SearchGroupsResponse;
        scroll(ScrollPoints) -> ScrollResponse;
        recommend(RecommendPoints) -> RecommendResponse;
        recommend_batch(RecommendBatchPoints) -> RecommendBatchResponse;
        recommend_groups(RecommendPointGroups) -> RecommendGroupsResponse;
        discover(DiscoverPoints) -> DiscoverResponse;
        discover_batch(DiscoverBatchPoints) -> DiscoverBatchResponse;
        update_batch(UpdateBatchPoints) -> UpdateBatchResponse;
        query_batch(QueryBatchPoints) -> QueryBatchResponse;
        query_groups(QueryPointGroups) -> QueryGroupsResponse;
        facet(FacetCounts) -> FacetResponse;
        search_matrix_pairs(SearchMatrixPoints) -> SearchMatrixPairsResponse;
        search_matrix_offsets(SearchMatrixPoints) -> SearchMatrixOffsetsResponse;
    }
}

impl Collections for Service {
    serve! {
        get(GetCollectionInfoRequest) -> GetCollectionInfoResponse = |service, request| service.collection_info(&request);
        create(CreateCollection) -> CollectionOperationResponse = |service, request| service.create_collection(&request);
        delete(DeleteCollection) -> CollectionOperationResponse = |service, request| {
            let result = service.0.collections.lock().unwrap().remove(&request.collection_name).is_some();
            Ok(Response::new(CollectionOperationResponse { result, time: 0.0 }))
        };
        collection_exists(CollectionExistsRequest) -> CollectionExistsResponse = |service, request| {
            let exists = service.0.collections.lock().unwrap().contains_key(&request.collection_name);
            Ok(Response::new(CollectionExistsResponse { result: Some(CollectionExists { exists }), time: 0.0 }))
        };
    }
    refuse! {
        list(ListCollectionsRequest) -> ListCollectionsResponse;
        update(UpdateCollection) -> CollectionOperationResponse;
        update_aliases(ChangeAliases) -> CollectionOperationResponse;
        list_collection_aliases(ListCollectionAliasesRequest) -> ListAliasesResponse;
        list_aliases(ListAliasesRequest) -> ListAliasesResponse;
        collection_cluster_info(CollectionClusterInfoRequest) -> CollectionClusterInfoResponse;
        update_collection_cluster_setup(UpdateCollectionClusterSetupRequest) -> UpdateCollectionClusterSetupResponse;
        create_shard_key(CreateShardKeyRequest) -> CreateShardKeyResponse;
        delete_shard_key(DeleteShardKeyRequest) -> DeleteShardKeyResponse;
        list_shard_keys(ListShardKeysRequest) -> ListShardKeysResponse;
    }
}
