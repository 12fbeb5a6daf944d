# Thin words over cargo, npm and the scripts. `make run` and `make test` install what they miss.

export PATH := $(HOME)/.cargo/bin:$(PATH)

TARGET := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
UI_SOURCES := $(shell find ui -path ui/node_modules -prune -o -path ui/dist -prune -o -path ui/dist-fake -prune -o -type f -print 2>/dev/null)

# Most of these tests wait for something most of the time.
CHAOS_AT_ONCE := 6
# These wait half of the time; with two at once, the longest run leaves a processor idle at its end. Given as one word:
# tests/windows takes others for names.
HOUSE_AT_ONCE := 4
# A soak measures.
SOAK_AT_ONCE := 3

# What is off unless somebody builds it in, and tested all the same. Every command below selects the same packages and
# features, so that what one of them built is there for the next.
TESTED := --workspace --features satchel-base/typescript,satchel-cli/otlp,satchel-app/otlp,satchel-tests/otlp

# The same where the libraries of a desktop are installed; without them, only what needs none.
HUB := $(if $(shell pkg-config --exists webkit2gtk-4.1 2>/dev/null && echo yes),$(TESTED),-p satchel-cli -p satchel-reaper -p satchel-tests)

.PHONY: run build bundle archive native workflows ways-in model test audit windows check-windows check-macos clients strangers chaos fuzz night ui-types ui-tests shots axe lint fmt conformance soak bench retrieval learn clean
.DEFAULT_GOAL := build

# Is there what `make test` or `make build` made?
COMPILED := $(wildcard $(TARGET)/debug/satchel-app)

# Nobody waits for it: searches go by words until it is there. What goes wrong stands in model/log.
FETCH_MODEL = mkdir -p $(TARGET)/model && { scripts/model.sh >$(TARGET)/model/log 2>&1 </dev/null & }

# Starts Satchel; arguments for it go into ARGS. Without a display, what runs there is compiled alone and as fast as can be
# (profile `first` in Cargo.toml), unless everything has been compiled already.
ifneq ($(DISPLAY)$(WAYLAND_DISPLAY),)
run: ui/dist/index.html
	@scripts/setup.sh app
	@cargo build $(TESTED)
	@$(FETCH_MODEL)
	@$(TARGET)/debug/satchel-app $(ARGS)
else
run:
	@scripts/setup.sh hub
	@echo "No display was found, so Satchel runs without its window and tray."
	@cargo build $(if $(COMPILED),$(HUB),--profile first -p satchel-cli -p satchel-reaper)
	@$(FETCH_MODEL)
	@$(TARGET)/$(if $(COMPILED),debug,first)/satchel serve $(ARGS)
endif

# Every program: the hub's command line and the desktop app.
build: ui/dist/index.html
	cargo build $(TESTED)

# Installers for this system; BUNDLES names the kinds, all of them otherwise; TRIPLE another target of Rust.
bundle: ui/dist/index.html
	@scripts/setup.sh app
	@scripts/model.sh
	@scripts/bundle.sh $(BUNDLES)

# The command line of one TRIPLE (a target of Rust; this computer's without it) with its licences, in an archive.
archive:
	@scripts/setup.sh hub
	@scripts/archive.sh

# What any system can show without a private desktop: the programs, Clippy, unit tests, the window's own tests.
native: ui/dist/index.html
	@scripts/setup.sh app
	cargo build --locked -p satchel-cli -p satchel-app
	cargo clippy --locked --workspace --exclude satchel-tests --all-targets -- -D warnings
	cargo test --locked --workspace --exclude satchel-tests
	npm --prefix ui test

# The workflows of .github, through actionlint, and the version, which stands in several files.
workflows:
	@scripts/version.sh
	@scripts/workflows.sh

# The install scripts and the packages of other managers, generated for a release that is pretended, checked and tried.
ways-in:
	@node --test scripts/ways-in/test.mjs

# The sentence model, fetched and written with eight bits a weight, in a file below the target directory; MODEL=multilingual
# makes the one that reads many languages.
model:
	@scripts/model.sh $(MODEL)

# What strangers might write is tried for so many seconds, with each target of fuzz/.
FUZZED ?= 2

# Everything that can be tested; what cargo prints comes last. With ROOM, TEST or FAST less: the tests beside the code of one room,
# those with TEST in their names, or (FAST=1) all that need no other program.
ifneq ($(ROOM),)
test: $(if $(filter window,$(ROOM)),ui/node_modules/.package-lock.json)
	@scripts/room.sh "$(ROOM)" "$(TEST)"
else ifneq ($(TEST),)
test: ui/dist/index.html
	@scripts/setup.sh tests
	cargo test $(TESTED) --no-fail-fast "$(TEST)"
else ifneq ($(FAST),)
test: ui/dist/index.html
	@scripts/setup.sh app
	cargo test $(TESTED) --lib --bins
	npm --prefix ui test
else
test: ui/dist/index.html
	@scripts/setup.sh tests
	@scripts/real-servers.sh
	@scripts/conformance.sh
	@node --test scripts/test.test.mjs scripts/prose.test.mjs scripts/tag.test.mjs scripts/room.test.mjs
	$(MAKE) --no-print-directory workflows ways-in ui-types lint
	cargo build $(TESTED)
	@SATCHEL_FUZZ_SECONDS=$(FUZZED) node scripts/test.mjs $(TESTED) --no-fail-fast -- --test-threads=$(HOUSE_AT_ONCE) \
	  --beside --no-fail-fast --test auth --test window \
	  --beside --no-fail-fast --test conformance \
	  --beside --no-fail-fast --test chaos --test real --test registry -- --test-threads $(CHAOS_AT_ONCE) \
	  --beside --run npm --prefix ui test
	@TESTED="$(TESTED)" scripts/windows.sh --if-installed
endif

# The command line for Windows, built here and run under Wine. CASES picks some by words of their names.
windows:
	@scripts/setup.sh hub
	@TESTED="$(HUB)" scripts/windows.sh $(CASES)

# Clippy on every crate for Windows, the app included, on any system.
check-windows: ui/dist/index.html
	@scripts/setup.sh hub
	@scripts/windows.sh --check

# The types of every crate for macOS, checked on any system.
check-macos: ui/dist/index.html
	@scripts/setup.sh hub
	@scripts/macos.sh

# Every real client, the large ones too, and which protocol revision each agreed on with the hub.
clients:
	@scripts/setup.sh tests
	@scripts/real-servers.sh
	@scripts/agents.sh
	cargo build $(TESTED)
	cargo test $(TESTED) --test real --test agents -- --nocapture --test-threads 2

# What the hub makes of 60 real servers from npm and PyPI: nothing may be held back by mistake; prints what is marked.
# Takes some gigabytes below the target directory, and a quarter of an hour.
strangers:
	@scripts/setup.sh hub
	@scripts/strangers.py
	cargo build -p satchel-cli -p satchel-reaper -p satchel-tests
	cargo test -p satchel-tests --test strangers -- --nocapture

ui-types: ui/node_modules/.package-lock.json
	npm --prefix ui run check

ui-tests: ui-types
	npm --prefix ui test

# Every screen and state of the window in both themes, as pictures in SHOTS_DIR. The hub in them is invented.
SHOTS_DIR ?= $(TARGET)/shots
shots: ui/dist-fake/index.html
	@scripts/setup.sh tests
	cd ui && node shots/shots.mjs "$(abspath $(SHOTS_DIR))" $(SHOTS)

# The same screens through axe-core: any violation of WCAG 2.2 AA fails. Prints the first paint.
axe: ui/dist-fake/index.html
	@scripts/setup.sh tests
	cd ui && node shots/axe.mjs $(SHOTS)

ui/dist-fake/index.html: $(UI_SOURCES) ui/node_modules/.package-lock.json
	@scripts/setup.sh app
	cd ui && npx vite build --mode fake --outDir dist-fake
	@touch $@

lint: ui/dist/index.html
	@node scripts/prose.mjs
	cargo fmt --all --check
	cargo clippy $(TESTED) --all-targets -- -D warnings
	cargo clippy $(TESTED) --test agents --test auth --test chaos --test conformance --test real --test registry --test strangers --test window -- -D warnings

fmt:
	cargo fmt --all

# What is known against the crates and packages that are built in. Needs cargo-deny, and the network.
audit: ui/node_modules/.package-lock.json
	cargo deny check
	cd ui && npm audit

# What the official conformance suite says of the hub, for clients and servers of both eras, and of the hub as a client.
# CELLS picks some of the table's lines, for example CELLS=modern→legacy. `make test` runs it too.
conformance:
	@scripts/setup.sh hub
	@scripts/conformance.sh
	cargo build $(HUB)
	cargo test $(HUB) --test conformance -- $(CELLS)

# Trouble on purpose: hostile servers, killed hubs, damaged files, in the small numbers that `make test` runs as well.
chaos:
	@scripts/setup.sh tests
	cargo build $(TESTED)
	cargo test $(TESTED) --test chaos -- --test-threads $(CHAOS_AT_ONCE)

# The same in large numbers, with the figures, and ended after two hours whatever happens.
soak:
	@scripts/setup.sh tests
	cargo build $(TESTED)
	SATCHEL_SOAK=1 cargo test $(TESTED) --lib lifecycle_model -- --nocapture
	SATCHEL_SOAK=1 timeout 2h cargo test $(TESTED) --test chaos -- --nocapture --test-threads $(SOAK_AT_ONCE)

# For nights: what strangers might write, five minutes a target, and the soak.
night:
	@scripts/setup.sh tests
	cargo build $(TESTED)
	SATCHEL_FUZZ_SECONDS=300 cargo test $(TESTED) --test corpora
	SATCHEL_MUTATED_FILES=60000 cargo test $(TESTED) --test suite -- clients::mutated
	$(MAKE) --no-print-directory windows soak

# Looks for texts that strangers might write and that are not taken as promised; a target of `fuzz/` after the other, or
# those that FUZZ names. What reached something new is kept in fuzz/corpus, which `make test` goes through.
FUZZ_SECONDS ?= 600
fuzz:
	@scripts/setup.sh hub
	scripts/fuzz.sh $(FUZZ_SECONDS) $(FUZZ)

# What a call costs through the hub, what recording it adds, and how fast a million records are reported, with optimised
# programs. With PEERS=1 instead: Satchel beside other hubs and a bare relay (tests/peers), which are installed for it; MEASURES
# are words for tests/peers/run.py, such as "calls big --rounds 1 --hubs satchel,relay".
ifdef PEERS
bench:
	@scripts/setup.sh hub
	@scripts/peers.sh
	cargo build --release -p satchel-cli -p satchel-reaper -p satchel-peers
	CARGO_TARGET_DIR="$(abspath $(TARGET))" python3 tests/peers/run.py $(MEASURES)
else
bench:
	@scripts/setup.sh hub
	cargo build --release -p satchel-cli -p satchel-reaper -p satchel-tests
	cargo bench -p satchel-tests --bench calls
	cargo bench -p satchel-tests --bench listings
endif

# How often the first tools found are the right ones, whether the arguments proposed for them fit, and what answers cost
# in tokens. RETRIEVAL_DIR names a collection of tools and queries, which is not part of the repository. PARTS picks
# some of speed, recall, languages, crowd, skeletons, habits and costs; LANGUAGES names a file of translated requests. Weights
# are chosen with the part that is to choose with; what they are worth is what the other part says.
retrieval:
	@test -f "$(RETRIEVAL_DIR)/tools.jsonl" -a -f "$(RETRIEVAL_DIR)/dev/queries.jsonl" || { \
	  echo "make retrieval needs RETRIEVAL_DIR: a directory with tools.jsonl and dev/queries.jsonl." >&2; exit 1; }
	@scripts/model.sh
	RETRIEVAL_DIR="$(abspath $(RETRIEVAL_DIR))" cargo bench -p satchel-tests --bench retrieval -- $(PARTS)

# Learns anew what misleading texts are made of, after a change of crates/satchel-trust/src/inspect/learned/texts or
# of the classes beside them. The weights it writes are committed.
learn:
	@scripts/setup.sh hub
	SATCHEL_WRITE_WEIGHTS=1 cargo test -p satchel-trust --lib the_weights_are_those_of_these_texts

clean:
	cargo clean
	rm -rf ui/dist ui/dist-fake ui/node_modules

# npm writes this file last, so it is there when the installation is whole.
ui/node_modules/.package-lock.json: ui/package.json ui/package-lock.json
	@scripts/setup.sh app
	@scripts/again.sh npm ci --prefix ui --no-audit --no-fund
	@touch $@

ui/dist/index.html: $(UI_SOURCES) ui/node_modules/.package-lock.json
	@scripts/setup.sh app
	npm --prefix ui run build
	@touch $@
