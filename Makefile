# Adjutant. `make` alone lists what there is to make.

.DEFAULT_GOAL := help
SHELL := /bin/bash

# Outside the checkout, so that dependencies are compiled once for every clone.
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/adjutant
export CARGO_TARGET_DIR ?= $(CACHE)/target
HOME_DIR ?= $(CURDIR)
ADJUTANT = $(CARGO_TARGET_DIR)/release/adjutant
DATA ?= ../shared/data
# With numpy and scipy what was learned is cross-validated too.
PYTHON ?= python3

.PHONY: help need build run once hitl doctor peers test test-live night fmt lint docs check crash crash-long fuzz bench bench-long eval train stats clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

need:
	@command -v cargo >/dev/null || { echo "missing: cargo (Rust 1.95 or newer). Get it with rustup, https://rustup.rs"; exit 1; }
	@command -v cc >/dev/null || { echo "missing: a C compiler (SQLite is compiled in). Debian: apt install build-essential"; exit 1; }
	@cargo --version | awk '{split($$2, v, "."); exit !(v[1] > 1 || v[2] >= 95)}' \
		|| { echo "too old: $$(cargo --version); Rust 1.95 or newer is needed. Get it with: rustup update stable"; exit 1; }

build: need ## the release binary
	cargo build --release --locked

run: build ## build, make the home, and run the daemon on the sample mails (or your own mailbox)
	@exec $(ADJUTANT) --home $(HOME_DIR) run

once: build ## take in what is there, work it, report
	@$(ADJUTANT) --home $(HOME_DIR) once

hitl: build ## what waits for you: decide with single keys
	@$(ADJUTANT) --home $(HOME_DIR) hitl

doctor: build ## is everything accounted for, whole and in order?
	@$(ADJUTANT) --home $(HOME_DIR) doctor

peers: ## the programs the tests talk to, pinned, into the cache
	@scripts/peers.sh
	@scripts/peer_model.sh
	@scripts/peer_qdrant.sh

test: need peers ## every test
	@if command -v cargo-nextest >/dev/null; then cargo nextest run --locked --no-fail-fast; else cargo test --locked --lib --bins --tests; fi
	cargo test --locked --doc

test-live: build ## reads a real Gmail account; needs LIVE_CLIENT_FILE and LIVE_TOKEN_FILE (docs/gmail.md)
	@$(PYTHON) scripts/test_live.py $(ADJUTANT)

night: need ## sixty simulated days, alone and attacked; draws docs/night.svg
	IT_DAYS=60 IT_SEEDS=8 IT_CURVE=$(CURDIR)/docs/night.svg cargo nextest run --locked -E 'test(what_a_person_does_consistently)' --no-capture
	IT_DAYS=60 IT_SEEDS=8 cargo nextest run --locked -E 'test(three_mails_in_ten)' --no-capture

fmt: need ## is the code formatted?
	cargo fmt --all --check

lint: need ## no warning anywhere
	cargo clippy --locked --all-targets -- -D warnings

docs: need ## the documentation builds, and its links lead somewhere
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --document-private-items

check: fmt lint docs test stats ## what CI runs

crash: need peers ## every campaign of kills, restores, forgeries and nonsense: one table, under 90 minutes
	@$(PYTHON) scripts/crash.py
	$(MAKE) fuzz SECONDS=60

crash-long: need peers ## the same at full counts, some hours; taken up again where it stopped
	@$(PYTHON) scripts/crash.py --long

fuzz: need ## everything that reads what others write, fed with nonsense (SECONDS per target, or RUNS)
	@CACHE=$(CACHE) SECONDS_EACH=$(or $(SECONDS),60) RUNS=$(or $(RUNS),0) $(PYTHON) scripts/fuzz.py

bench: need ## ratios and times, printed beside their goals
	cargo bench --locked --bench engine
	cargo bench --locked --bench path
	cargo bench --locked --bench start
	cargo bench --locked --bench growth
	cargo bench --locked --bench trust
	cargo bench --locked --bench memory
	cargo bench --locked --bench llm
	cargo bench --locked --bench night

bench-long: need ## growth and memory up to a million
	BENCH_LONG=1 cargo bench --locked --bench growth
	BENCH_LONG=1 cargo bench --locked --bench memory

eval: need ## scores on the development data, where it is there
	@$(PYTHON) scripts/eval.py $(DATA)

train: need ## fits the weights of the reader anew to the development data
	cargo build --locked --example reader
	$(PYTHON) scripts/train_reader.py $(DATA) --reader $(CARGO_TARGET_DIR)/debug/examples/reader

stats: ## sizes of files and functions; fails on the too large
	@python3 scripts/stats.py

clean: ## forget everything compiled
	cargo clean
