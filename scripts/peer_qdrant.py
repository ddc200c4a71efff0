"""Serves Qdrant's gRPC API on loopback, answered by Qdrant's own engine, until its standard input is closed.

usage: peer_qdrant.py PEER_FOLDER DATA_FOLDER PORT; prints its address once it listens.

Storage, filters, scores and most refusals are the engine's. What the server around the engine adds is added here: the
names of collections, what a request must look like, and which status an error has. What is not served, and every
request with a field that is not supported, is answered with UNIMPLEMENTED and never carried out in part.

Each line of standard input is a JSON object with one key, answered by one line of JSON:

    {"calls": METHOD}   how often it was called, such as "Points/Upsert"
    {"slow": MS}        every call takes this much longer
    {"fail": {"method": METHOD, "code": STATUS, "when": "before" | "after", "times": N}}
                        the next N calls fail, without or after having been carried out
    {"key": KEY}        every call must carry this API key
"""

import json
import os
import shutil
import sys
import threading
import time
import types
import urllib.parse
from concurrent import futures
from pathlib import Path

peer, data, port = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
sys.path.insert(0, peer)
# Only the generated half of the client is imported: the other half needs packages that nothing here uses.
client = types.ModuleType("qdrant_client")
client.__path__ = [f"{peer}/qdrant_client"]
sys.modules["qdrant_client"] = client

import grpc  # noqa: E402
import qdrant_edge as edge  # noqa: E402
from qdrant_client import grpc as pb  # noqa: E402

Code = grpc.StatusCode
# The defaults of the server.
LARGEST_REQUEST = 32 * 1024 * 1024
LARGEST_DIMENSION = 65536
DISTANCES = {
    pb.Distance.Cosine: edge.Distance.Cosine,
    pb.Distance.Euclid: edge.Distance.Euclid,
    pb.Distance.Dot: edge.Distance.Dot,
    pb.Distance.Manhattan: edge.Distance.Manhattan,
}
FIELD_TYPES = {
    pb.FieldType.FieldTypeKeyword: edge.PayloadSchemaType.Keyword,
    pb.FieldType.FieldTypeInteger: edge.PayloadSchemaType.Integer,
    pb.FieldType.FieldTypeText: edge.PayloadSchemaType.Text,
}


class Refusal(Exception):
    """An error that the client sees, with its gRPC status."""

    def __init__(self, code, details):
        super().__init__(details)
        self.code = code


def invalid(details):
    return Refusal(Code.INVALID_ARGUMENT, details)


def of_engine(error):
    """Converts an error of the engine into the one that the server would return."""
    text = str(error)
    service = "Service runtime error: "
    if text.startswith(service):
        return Refusal(Code.INTERNAL, f"Service internal error: {text.removeprefix(service)}")
    if text.startswith("No point with id"):
        return Refusal(Code.NOT_FOUND, f"Not found: {text}")
    return invalid(f"Wrong input: {text}")


def must_have_only(message, *served):
    """Refuses a message with a field that is not supported here."""
    for field, _ in message.ListFields():
        if field.name not in served:
            raise Refusal(Code.UNIMPLEMENTED, f"{message.DESCRIPTOR.name}.{field.name} is not served here")


def chosen(message, oneof, served):
    """Converts the variant that is set in a `oneof` with the function for it. Refuses variants without one."""
    which = message.WhichOneof(oneof)
    if which not in served:
        raise Refusal(Code.UNIMPLEMENTED, f"{message.DESCRIPTOR.name}.{which} is not served here")
    return served[which](getattr(message, which) if which else None)


def point_id_of(message):
    return chosen(message, "point_id_options", {"num": int, "uuid": uuid_of})


def uuid_of(text):
    try:
        return edge.Point(text, [], {}).id
    except ValueError:
        raise invalid(f"Unable to parse UUID: {text}") from None


def point_id_message(value):
    return pb.PointId(num=value) if isinstance(value, int) else pb.PointId(uuid=str(value))


def value_of(message):
    same = {kind: lambda it: it for kind in ("double_value", "integer_value", "string_value", "bool_value")}
    nested = {
        "null_value": lambda _: None,
        "struct_value": lambda it: payload_of(it.fields),
        "list_value": lambda it: [value_of(item) for item in it.values],
        None: lambda _: None,
    }
    return chosen(message, "kind", same | nested)


def payload_of(fields):
    return {name: value_of(field) for name, field in fields.items()}


def value_message(it):
    if it is None:
        return pb.Value(null_value=0)
    if isinstance(it, dict):
        return pb.Value(struct_value=pb.Struct(fields=payload_message(it)))
    if isinstance(it, list):
        return pb.Value(list_value=pb.ListValue(values=[value_message(item) for item in it]))
    kinds = {bool: "bool_value", int: "integer_value", float: "double_value", str: "string_value"}
    return pb.Value(**{kinds[type(it)]: it})


def payload_message(it):
    return {name: value_message(item) for name, item in (it or {}).items()}


def match_of(message):
    served = {
        "keyword": edge.MatchValue,
        "integer": edge.MatchValue,
        "boolean": edge.MatchValue,
        "keywords": lambda it: edge.MatchAny(list(it.strings)),
        "integers": lambda it: edge.MatchAny(list(it.integers)),
    }
    return chosen(message, "match_value", served)


def field_condition_of(message):
    must_have_only(message, "key", "match")
    return edge.FieldCondition(message.key, match=match_of(message.match))


def condition_of(message):
    served = {
        "field": field_condition_of,
        "has_id": lambda it: edge.HasIdCondition({point_id_of(one) for one in it.has_id}),
        "filter": filter_of,
    }
    return chosen(message, "condition_one_of", served)


def filter_of(message):
    lists = ("must", "should", "must_not")
    must_have_only(message, *lists)
    return edge.Filter(**{name: [condition_of(one) for one in getattr(message, name)] or None for name in lists})


def optional_filter(request):
    return filter_of(request.filter) if request.HasField("filter") else None


def vector_of(message):
    return chosen(message, "vector", {"dense": lambda it: list(it.data)})


def point_of(message):
    if not message.HasField("id"):
        raise invalid("Empty ID is not allowed")
    vector = chosen(message.vectors, "vectors_options", {"vector": vector_of})
    return edge.Point(point_id_of(message.id), vector, payload_of(message.payload))


def selector_of(message):
    """Returns whether the payload is requested. By default it is not."""
    served = {"enable": bool, None: lambda _: False}
    return chosen(message, "selector_options", served)


def limit_of(request, default):
    if not request.HasField("limit"):
        return default
    if request.limit < 1:
        raise invalid("Validation error in body: [limit: value 0 invalid, must be 1 or larger]")
    return request.limit


def must_be_name(name):
    """Refuses what the server does not accept as the name of a collection."""
    length = len(name.encode())
    if not 1 <= length <= 255:
        raise invalid("Validation error in body: [collection_name: invalid length, must be from 1 to 255 characters]")
    for forbidden in '<>:"/\\|?*\0\x1f':
        if forbidden in name:
            raise invalid(f"Validation error in body: [collection_name: collection name cannot contain \"{forbidden}\" char]")


class Store:
    """The collections, in a folder each, with the engine's shard and the request that created it. The request is written last,
    so a folder without one is incomplete and is removed."""

    def __init__(self, folder):
        self.folder, self.lock, self.open = folder, threading.Lock(), {}
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in self.folder.iterdir():
            if not (path / "request").exists():
                shutil.rmtree(path)
                continue
            made_by = pb.CreateCollection.FromString((path / "request").read_bytes())
            self.open[made_by.collection_name] = (made_by, edge.EdgeShard.load(str(path / "shard")))

    def names(self):
        with self.lock:
            return sorted(self.open)

    def get(self, name):
        must_be_name(name)
        with self.lock:
            if name not in self.open:
                raise Refusal(Code.NOT_FOUND, f"Not found: Collection `{name}` doesn't exist!")
            return self.open[name]

    def shard(self, name):
        return self.get(name)[1]

    def path(self, name):
        return self.folder / urllib.parse.quote(name, safe="")

    def create(self, request):
        must_be_name(request.collection_name)
        must_have_only(request, "collection_name", "vectors_config", "timeout")
        params = chosen(request.vectors_config, "config", {"params": lambda it: it})
        must_have_only(params, "size", "distance")
        if not 1 <= params.size <= LARGEST_DIMENSION:
            why = f"value {params.size} invalid, must be from 1 to {LARGEST_DIMENSION}"
            raise invalid(f"Validation error in body: [vectors_config.config.size: {why}]")
        if params.distance not in DISTANCES:
            raise invalid("Bad value of distance field!")
        config = edge.EdgeConfig(vectors=edge.EdgeVectorParams(params.size, DISTANCES[params.distance]))
        with self.lock:
            if request.collection_name in self.open:
                why = f"Wrong input: Collection `{request.collection_name}` already exists!"
                raise Refusal(Code.ALREADY_EXISTS, why)
            path = self.path(request.collection_name)
            path.mkdir()
            self.open[request.collection_name] = (request, edge.EdgeShard.create(str(path / "shard"), config))
            (path / "request").write_bytes(request.SerializeToString())

    def delete(self, name):
        must_be_name(name)
        with self.lock:
            if name not in self.open:
                return False
            _, shard = self.open.pop(name)
            (self.path(name) / "request").unlink()
            shard.close()
            shutil.rmtree(self.path(name))
            return True


class Collections(pb.CollectionsServicer):
    def __init__(self, store):
        self.store = store

    def Create(self, request, context):
        self.store.create(request)
        return pb.CollectionOperationResponse(result=True)

    def Delete(self, request, context):
        return pb.CollectionOperationResponse(result=self.store.delete(request.collection_name))

    def List(self, request, context):
        names = [pb.CollectionDescription(name=name) for name in self.store.names()]
        return pb.ListCollectionsResponse(collections=names)

    def CollectionExists(self, request, context):
        must_be_name(request.collection_name)
        exists = request.collection_name in self.store.names()
        return pb.CollectionExistsResponse(result=pb.CollectionExists(exists=exists))

    def Get(self, request, context):
        made_by, shard = self.store.get(request.collection_name)
        info = shard.info()
        types_of = {ours: pb.PayloadSchemaType.Value(str(ours).split(".")[1]) for ours in FIELD_TYPES.values()}
        schema = {
            name: pb.PayloadSchemaInfo(data_type=types_of[index.data_type], points=index.points)
            for name, index in info.payload_schema.items()
        }
        result = pb.CollectionInfo(
            status=pb.CollectionStatus.Green,
            optimizer_status=pb.OptimizerStatus(ok=True),
            segments_count=info.segments_count,
            config=pb.CollectionConfig(params=pb.CollectionParams(shard_number=1, vectors_config=made_by.vectors_config)),
            payload_schema=schema,
            points_count=info.points_count,
            indexed_vectors_count=info.indexed_vectors_count,
        )
        return pb.GetCollectionInfoResponse(result=result)


class Points(pb.PointsServicer):
    def __init__(self, store):
        self.store, self.lock, self.operations = store, threading.Lock(), 0

    def update(self, request, operation):
        """Carries out an operation at once, whether or not the caller waits for it, and optimises, which the server does in the background."""
        shard = self.store.shard(request.collection_name)
        shard.update(operation)
        shard.optimize()
        with self.lock:
            self.operations += 1
            result = pb.UpdateResult(operation_id=self.operations, status=pb.UpdateStatus.Completed)
        return pb.PointsOperationResponse(result=result)

    def Upsert(self, request, context):
        must_have_only(request, "collection_name", "wait", "points")
        points = [point_of(one) for one in request.points]
        return self.update(request, edge.UpdateOperation.upsert_points(points))

    def Delete(self, request, context):
        must_have_only(request, "collection_name", "wait", "points")
        served = {
            "points": lambda it: edge.UpdateOperation.delete_points([point_id_of(one) for one in it.ids]),
            "filter": lambda it: edge.UpdateOperation.delete_points_by_filter(filter_of(it)),
        }
        return self.update(request, chosen(request.points, "points_selector_one_of", served))

    def CreateFieldIndex(self, request, context):
        must_have_only(request, "collection_name", "wait", "field_name", "field_type")
        if request.field_type not in FIELD_TYPES:
            raise Refusal(Code.UNIMPLEMENTED, f"an index of type {request.field_type} is not served here")
        kind = FIELD_TYPES[request.field_type]
        return self.update(request, edge.UpdateOperation.create_field_index(request.field_name, kind))

    def DeleteFieldIndex(self, request, context):
        must_have_only(request, "collection_name", "wait", "field_name")
        return self.update(request, edge.UpdateOperation.delete_field_index(request.field_name))

    def Query(self, request, context):
        must_have_only(request, "collection_name", "query", "filter", "limit", "with_payload")
        nearest = {"dense": lambda it: edge.Query.Nearest(list(it.data))}
        query = chosen(request.query, "variant", {"nearest": lambda it: chosen(it, "variant", nearest)})
        question = edge.QueryRequest(
            limit=limit_of(request, 10),
            query=query,
            filter=optional_filter(request),
            with_payload=selector_of(request.with_payload),
        )
        found = [
            pb.ScoredPoint(
                id=point_id_message(one.id), payload=payload_message(one.payload), score=one.score, version=one.version
            )
            for one in self.store.shard(request.collection_name).query(question)
        ]
        return pb.QueryResponse(result=found)

    def Scroll(self, request, context):
        must_have_only(request, "collection_name", "filter", "limit", "offset", "with_payload")
        question = edge.ScrollRequest(
            offset=point_id_of(request.offset) if request.HasField("offset") else None,
            limit=limit_of(request, 10),
            filter=optional_filter(request),
            with_payload=selector_of(request.with_payload),
        )
        found, following = self.store.shard(request.collection_name).scroll(question)
        points = [pb.RetrievedPoint(id=point_id_message(one.id), payload=payload_message(one.payload)) for one in found]
        following = None if following is None else point_id_message(following)
        return pb.ScrollResponse(result=points, next_page_offset=following)

    def Count(self, request, context):
        must_have_only(request, "collection_name", "filter", "exact")
        question = edge.CountRequest(exact=request.exact, filter=optional_filter(request))
        count = self.store.shard(request.collection_name).count(question)
        return pb.CountResponse(result=pb.CountResult(count=count))


class Trouble(grpc.ServerInterceptor):
    """Intercepts every call: returns errors as the server does, counts calls, and injects the faults that a test asked for."""

    def __init__(self):
        self.lock, self.calls, self.failing, self.slow, self.key = threading.Lock(), {}, [], 0, None

    def obey(self, command):
        """Carries out one command of the test."""
        with self.lock:
            match command:
                case {"calls": method}:
                    return self.calls.get(method, 0)
                case {"slow": milliseconds}:
                    self.slow = milliseconds / 1000
                case {"fail": fault}:
                    self.failing.append(dict(fault))
                case {"key": key}:
                    self.key = key
        return None

    def next_fault(self, method):
        """Counts a call and returns the fault to inject into it, if any."""
        with self.lock:
            self.calls[method] = self.calls.get(method, 0) + 1
            fault = next((one for one in self.failing if one["method"] == method and one["times"] > 0), None)
            if fault:
                fault["times"] -= 1
            return fault

    def must_be_allowed(self, context):
        """Refuses a call without the right API key, if one is required."""
        given = dict(context.invocation_metadata()).get("api-key")
        if self.key is not None and given is None:
            raise Refusal(Code.UNAUTHENTICATED, "Must provide an API key or an Authorization bearer token")
        if self.key is not None and given != self.key:
            raise Refusal(Code.UNAUTHENTICATED, "Invalid API key or JWT")

    def intercept_service(self, continuation, details):
        handler = continuation(details)
        method = details.method.removeprefix("/qdrant.")
        if handler is None:
            return None

        def serve(request, context):
            fault = self.next_fault(method)
            time.sleep(self.slow)
            try:
                self.must_be_allowed(context)
                if fault and fault["when"] == "before":
                    raise Refusal(Code[fault["code"]], "the trouble that was asked for")
                answer = handler.unary_unary(request, context)
                if fault:
                    raise Refusal(Code[fault["code"]], "the trouble that was asked for")
                return answer
            except Refusal as refusal:
                context.abort(refusal.code, str(refusal))
            except NotImplementedError:
                context.abort(Code.UNIMPLEMENTED, f"{method} is not served here")
            except Exception as error:
                told = of_engine(error)
                context.abort(told.code, str(told))

        return grpc.unary_unary_rpc_method_handler(serve, handler.request_deserializer, handler.response_serializer)


def main():
    trouble, store = Trouble(), Store(data)
    options = [("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", LARGEST_REQUEST)]
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8), interceptors=[trouble], options=options)
    pb.add_CollectionsServicer_to_server(Collections(store), server)
    pb.add_PointsServicer_to_server(Points(store), server)
    listening = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    print(f"http://127.0.0.1:{listening}", flush=True)
    for line in sys.stdin:
        print(json.dumps(trouble.obey(json.loads(line))), flush=True)
    os._exit(0)


main()
