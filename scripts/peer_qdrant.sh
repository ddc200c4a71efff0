#!/usr/bin/env bash
# A real Qdrant engine for the tests (the server's own, as a library) and the servicers of its gRPC API, as Python wheels
# of pinned versions. Fetched once into the cache; about 22 MB.
set -euo pipefail

wheels=(qdrant-edge-py==0.9.0 qdrant-client==1.20.0 grpcio==1.85.1 protobuf==7.36.2 typing-extensions==4.16.0)
peer=${XDG_CACHE_HOME:-$HOME/.cache}/adjutant/peers/qdrant

command -v python3 >/dev/null || { echo "missing: python3 (the Qdrant engine of the tests is a Python wheel)"; exit 1; }
# One of the wheels is compiled for one version of Python.
stamp=$peer/$(python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])').$(IFS=.; echo "${wheels[*]}")
[ -e "$stamp" ] && exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$work" "${wheels[@]}"
rm -rf "$peer"
mkdir -p "$peer"
for wheel in "$work"/*.whl; do python3 -m zipfile -e "$wheel" "$peer"; done
python3 -m compileall -q "$peer/grpc" "$peer/google" "$peer/qdrant_client/grpc" "$peer/qdrant_edge"
touch "$stamp"
