# Targets of the repository; `make` lists them. Only Go is needed, except where
# a target says otherwise.
.DEFAULT_GOAL := help
SHELL := bash

STATICCHECK  := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK  := golang.org/x/vuln/cmd/govulncheck@latest
PROTOC_GO    := google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
PROTOC_GRPC  := google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
# How the program is compiled, here alone: build, run, cross and release share it, so that a
# platform is compiled once. The same source gives the same bytes wherever it lies. Without
# gRPC's tracing pages: their templates keep the methods of every type.
BUILD_FLAGS  := -trimpath -buildvcs=false -tags=grpcnotrace
LINK_FLAGS   := -s -w -buildid=
BUILD_ENV    := CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0
TAG          := $(shell git describe --tags --exact-match --dirty 2>/dev/null)
COMMIT       := $(shell git describe --always --dirty --abbrev=7 --exclude '*' 2>/dev/null)
DATE         := $(shell git log -1 --format=%cs 2>/dev/null)
STAMP         = $(foreach v,version=$(TAG) commit=$(COMMIT) date=$(DATE),-X github.com/redeliver/redeliver/cmd/redeliver/cli.$(v))
SOAK         ?= 1000
FUZZTIME     ?= 10s
DIST         ?= dist
PLATFORMS    := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

.PHONY: build
build: ## build bin/redeliver, without cgo, stripped, with its version
	$(BUILD_ENV) go build $(BUILD_FLAGS) -ldflags '$(LINK_FLAGS) $(STAMP)' -o bin/redeliver ./cmd/redeliver

.PHONY: run
run: build ## run the sample app functions/samples/orders
	./bin/redeliver start functions/samples/orders

.PHONY: test
test: ## run all tests under the race detector; with those in C# where there is a .NET SDK
	@if [ -n "$$(dotnet --list-sdks 2>/dev/null)" ]; then echo "C# is tested with the .NET SDK $$(dotnet --version)"; else echo "there is no .NET SDK here: C# is not tested"; fi
	go test -race -timeout 15m ./...

.PHONY: lint
lint: ## gofmt, vet, staticcheck; govulncheck where its data can be reached
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...
	go -C cmd/release vet ./...
	go -C cmd/release run $(STATICCHECK) ./...
	@go run $(GOVULNCHECK) ./... || { code=$$?; if [ $$code -eq 3 ]; then exit 3; fi; echo "govulncheck: its data cannot be reached, skipped"; }

.PHONY: interop
interop: ## test against Azurite and the SDKs of other languages, and a browser (needs Node, Python, a JDK with Maven, Chromium)
	bindings/azure/testdata/interop/install
	cd host/web/ui/app && npm ci --no-audit --no-fund
	REDELIVER_INTEROP=required go test -race -count=1 -timeout 10m ./bindings/azure/...
	REDELIVER_INTEROP=required go test -race -count=1 -run 'TestTwoHostsOnAzurite|TestPagesInABrowser|TestPageInABrowser|TestTransactionOfAKilledHost' ./cmd/redeliver
	REDELIVER_INTEROP=required go test -race -count=1 -run SDK ./host/emulator/amqp/bus ./host/emulator/amqp/hubs
	REDELIVER_INTEROP=required go test -race -count=1 ./host/worker ./host/worker/shim ./host/invokertest ./host/kit/java

.PHONY: bench
bench: ## run the benchmarks of docs/performance.md
	go test -run '^$$' -bench . -benchtime 1s ./retrycontext ./host/clock ./host/journal ./host/emulator/storage ./host/emulator/eventgrid ./host/emulator/amqp/bus ./host/emulator/amqp/wire ./host/plugin ./host/worker ./host/invokertest ./host/hosttest ./host/scenario ./host/web ./cmd/redeliver
	go test -run '^$$' -bench . -benchtime 1x ./host/emulator/rest/restbench ./host/emulator/growth
	go test -run '^$$' -bench . -benchtime 5000x ./host/emulator/amqp/amqpbench

.PHONY: compare
compare: build ## measure beside the emulators of others that are here (Azurite after make interop), and write docs/help/compared.md
	go run ./docs/compare

.PHONY: fuzz
fuzz: ## fuzz every parser for FUZZTIME each, a time or a number of inputs (2000x)
	@.ci/fuzz $(FUZZTIME)

.PHONY: mutants
mutants: ## break the rules of testdata/mutants.tsv one by one, and demand that the scenarios catch each
	REDELIVER_MUTANTS=1 go test -count=1 -timeout 30m -run TestMutants -v ./conventions

.PHONY: soak
soak: ## the long counts: one journal over SOAK runs of the same seed, as many kill -9
	REDELIVER_KILLS=$(SOAK) go test -timeout 60m -run 'TestKill' -v ./host/emulator/storage ./host/emulator/servicebus ./host/emulator/eventhubs
	REDELIVER_SOAK=$(SOAK) go test -race -timeout 60m -run 'TestSameJournal' -v ./host/hosttest
	REDELIVER_FLEET=1 go test -timeout 60m -run 'TestThreeHostsThroughFaults|TestTwoHostsOnAzurite' -v ./cmd/redeliver

.PHONY: generate
generate: ## generate code from the .proto files (needs protoc), the list of operations and OpenAPI, and demand a clean diff
	GOBIN=$(CURDIR)/.bin go install $(PROTOC_GO)
	GOBIN=$(CURDIR)/.bin go install $(PROTOC_GRPC)
	PATH=$(CURDIR)/.bin:$$PATH protoc -I . --go_out=. --go_opt=paths=source_relative \
	  --go-grpc_out=. --go-grpc_opt=paths=source_relative functions/functionpb/handler.proto host/worker/workerpb/functionrpc.proto host/worker/settlementpb/settlement.proto host/emulator/sidecar/sidecarpb/sidecar.proto
	go test ./host/ops/all -run TestControlTable -update
	git diff --exit-code -- functions/functionpb host/worker/workerpb host/worker/settlementpb host/emulator/sidecar/sidecarpb host/web/doc.go schemas/openapi

.PHONY: ui
ui: ## test and build the page, host/web/ui/dist (needs Node)
	cd host/web/ui/app && npm ci --no-audit --no-fund && npm test && npm run build

.PHONY: kits
kits: ## write the files of the test kits' packages to bin/kits; make release packs them
	rm -rf bin/kits
	go run ./host/kit/pack python bin/kits/python
	go run ./host/kit/pack csharp bin/kits/csharp
	go run ./host/kit/pack js bin/kits/node_modules/@redeliver/testing
	@if command -v javac >/dev/null; then go run ./host/kit/pack java bin/kits/java; else echo "there is no JDK here: the kit for Java is not compiled"; fi

.PHONY: cross
cross: ## compile for linux, darwin and windows on amd64 and arm64
	@set -e; for p in $(PLATFORMS); do echo $$p; $(BUILD_ENV) GOOS=$${p%/*} GOARCH=$${p#*/} go build $(BUILD_FLAGS) -ldflags '$(LINK_FLAGS)' -o /dev/null ./cmd/redeliver; done

.PHONY: release
release: ## write a release to DIST (dist): VERSION=0.4.0, or SNAPSHOT=1 for a tree of no version; PLATFORMS takes some
	go -C cmd/release run . make -version '$(VERSION)' $(if $(SNAPSHOT),-snapshot) -out '$(abspath $(DIST))' -platforms '$(PLATFORMS)' \
	  -build-env '$(BUILD_ENV)' -build-flags '$(BUILD_FLAGS)' -link-flags '$(LINK_FLAGS)'

.PHONY: release-test
release-test: ## test the release program, and install what is in DIST offline into empty folders
	go -C cmd/release vet ./...
	REDELIVER_DIST='$(abspath $(DIST))' go -C cmd/release test -count=1 ./...

.PHONY: site-install
site-install: ## install the builder of the site into build/python (needs Python and pip)
	python3 -m venv build/python
	build/python/bin/pip install -q --disable-pip-version-check --require-hashes -r docs/requirements.txt

.PHONY: site
site: ## build the documentation site in build/site and check it; offline, after make site-install
	@[ -x build/python/bin/zensical ] || { echo "there is no builder in build/python: run make site-install"; exit 1; }
	go run ./docs/site write build
	NO_COLOR=1 build/python/bin/zensical build --strict --clean -f build/mkdocs.yml
	go run ./docs/site check build/site

.PHONY: clean
clean: ## remove what was built
	rm -rf bin build dist .bin functions/samples/*/.redeliver
