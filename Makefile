# Adjutant. `make` without a target lists the targets.

.DEFAULT_GOAL := help
SHELL := /bin/bash

# Compiled files are outside the checkout, so that dependencies are compiled only once for all clones.
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/adjutant
export CARGO_TARGET_DIR ?= $(CACHE)/target
# The home that `run`, `once`, `hitl` and `doctor` use: the folder with configuration, rules and data.
HOME_DIR ?= $(CURDIR)
ADJUTANT = $(CARGO_TARGET_DIR)/release/adjutant
# Where `make install` puts the program.
BIN_DIR ?= $(or $(CARGO_HOME),$(HOME)/.cargo)/bin
# The development data of `make eval` and `make train`.
DATA ?= ../shared/data
# If this Python has numpy and scipy, `make eval` also cross-validates the learned weights.
PYTHON ?= python3

.PHONY: help need build install run once hitl doctor peers test test-live night fmt lint docs check crash crash-long chat-fuzz fuzz bench bench-long eval train train-intents train-encoder stats clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

need:
	@command -v cargo >/dev/null || { echo "missing: cargo (Rust 1.95 or newer). Get it with rustup, https://rustup.rs"; exit 1; }
	@command -v cc >/dev/null || { echo "missing: a C compiler (SQLite is compiled in). Debian: apt install build-essential"; exit 1; }
	@cargo --version | awk '{split($$2, v, "."); exit !(v[1] > 1 || v[2] >= 95)}' \
		|| { echo "too old: $$(cargo --version); Rust 1.95 or newer is needed. Get it with: rustup update stable"; exit 1; }

build: need ## build the release binary
	cargo build --release --locked

install: build ## build, and copy the program to ~/.cargo/bin (BIN_DIR=... for another folder)
	@mkdir -p $(BIN_DIR)
	@install -m 755 $(ADJUTANT) $(BIN_DIR)/adjutant
	@echo "Installed $(BIN_DIR)/adjutant"

run: build ## build, and run the daemon on the sample mails, or on your own mailbox if adjutant.toml names one
	@exec $(ADJUTANT) --home $(HOME_DIR) run

once: build ## process the mail that is there, print a report, and exit
	@$(ADJUTANT) --home $(HOME_DIR) once

hitl: build ## human in the loop, the approval queue: decide with single keys
	@$(ADJUTANT) --home $(HOME_DIR) hitl

doctor: build ## check mail, tasks, audit chain and accounts; fails when something is wrong
	@$(ADJUTANT) --home $(HOME_DIR) doctor

peers: ## download the servers that the tests use, in fixed versions, into the cache folder
	@scripts/peers.sh
	@scripts/peer_model.sh
	@scripts/peer_qdrant.sh

test: need peers ## run every test
	@if command -v cargo-nextest >/dev/null; then cargo nextest run --locked --workspace --no-fail-fast; else cargo test --locked --workspace --lib --bins --tests; fi
	cargo test --locked --doc

test-live: build ## test with a real Gmail account, read only; needs LIVE_CLIENT_FILE and LIVE_TOKEN_FILE (docs/gmail.md)
	@$(PYTHON) scripts/test_live.py $(ADJUTANT)

night: need ## simulate the nightly job for sixty days, without and with an attacker; draws docs/night.svg; needs cargo-nextest
	IT_DAYS=60 IT_SEEDS=8 IT_CURVE=$(CURDIR)/docs/night.svg cargo nextest run --locked -E 'test(what_a_person_does_consistently)' --no-capture
	IT_DAYS=60 IT_SEEDS=8 cargo nextest run --locked -E 'test(three_mails_in_ten)' --no-capture

fmt: need ## check that the code is formatted; changes nothing (`cargo fmt --all` formats it)
	cargo fmt --all --check

lint: need ## run clippy, and compile the fuzz targets; fails on any warning
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo check --locked --manifest-path fuzz/Cargo.toml --lib --examples

docs: need ## build the API documentation; fails on a broken link
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --document-private-items

check: fmt lint docs test stats ## run everything that CI runs

crash: need peers ## test with kills, restores, forgeries and malformed input; prints one table; under 90 minutes; needs cargo-nextest
	@$(PYTHON) scripts/crash.py
	$(MAKE) fuzz SECONDS=60

crash-long: need peers ## the same with full counts; takes hours, and continues where it was stopped; without fuzz
	@$(PYTHON) scripts/crash.py --long

chat-fuzz: need ## say 100,000 random things in conversations, or TURNS=n; needs cargo-nextest
	IT_TURNS=$(or $(TURNS),100000) cargo nextest run --locked -E 'test(random_turns_do_no_harm)' --no-capture

fuzz: need ## fuzz all parsers of foreign input; SECONDS=60 for each target, or RUNS=n
	@CACHE=$(CACHE) SECONDS_EACH=$(or $(SECONDS),60) RUNS=$(or $(RUNS),0) $(PYTHON) scripts/fuzz.py

bench: need ## run the benchmarks; prints times and ratios beside their goals
	cargo bench --locked --bench engine
	cargo bench --locked --bench path
	cargo bench --locked --bench start
	cargo bench --locked --bench growth
	cargo bench --locked --bench trust
	cargo bench --locked --bench memory
	cargo bench --locked --bench llm
	cargo bench --locked --bench night
	cargo bench --locked --bench mcp
	cargo bench --locked --bench chat
	cargo bench --locked --bench planner
	cargo bench --locked --bench web
	cargo bench --locked --bench script
	cargo bench --locked --bench team

bench-long: need ## benchmark growth and search with up to a million entries
	BENCH_LONG=1 cargo bench --locked --bench growth
	BENCH_LONG=1 cargo bench --locked --bench memory

eval: need ## score the reading of mail, the intents of messages and the search on the development data (DATA=...); missing sets are skipped
	@$(PYTHON) scripts/eval.py $(DATA)

train: need ## fit the weights of the mail reading to the development data (DATA=...); needs numpy and scipy
	cargo build --locked --example reader
	$(PYTHON) scripts/train_reader.py $(DATA) --reader $(CARGO_TARGET_DIR)/debug/examples/reader

train-intents: need ## fit the weights of the intents of messages to the development data (DATA=...); needs numpy and scipy
	cargo build --locked --example intents
	$(PYTHON) scripts/train_intents.py $(DATA) --program $(CARGO_TARGET_DIR)/debug/examples/intents

train-encoder: need ## train the sentence encoder on the development data (DATA=..., MODEL=folder of all-MiniLM-L6-v2); needs torch and transformers
	cargo build --locked --example reader
	$(PYTHON) scripts/train_encoder.py $(DATA) --reader $(CARGO_TARGET_DIR)/debug/examples/reader --model $(MODEL)

stats: ## print the sizes of the code; fails if a file, function, type or folder is too large or a type name is used twice
	@cd scripts && $(PYTHON) -m unittest --quiet test_rust_source
	@$(PYTHON) scripts/stats.py

clean: ## delete all compiled files
	cargo clean
