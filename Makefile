# What a newcomer needs: `make build`, `make test`, `make bench`.
SHELL   := bash
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
TOOL    := $(GO) -C tools tool
PKGS    := ./...
# What is tested by a step of its own.
STEPS   := -e /test/script -e /test/tab -e /test/cluster -e /test/e2e -e /test/fidelity
# Their tests go through many random inputs: fewer with -short, as under the race detector, which needs ten
# times as long and learns nothing from one more tree of the same goroutines.
RANDOM  := ./internal/governance/admission ./internal/governance/check ./internal/quota
# Of the comparison with Kueue's own scheduling loop; add -full for larger ones, which takes hours.
INPUTS  ?= -inputs 30000 -itself 100
# Lint vets everything once; go test would do so again, all dependencies included, for each way of compiling.
NOVET   := -vet=off
# Nothing here needs C but the race detector; one setting, so that what one step compiles serves the others.
export CGO_ENABLED := 0

.PHONY: build test lint unit script cluster oracle fidelity bench docs vuln clean

build:            ## the binary, ./hyperpod
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o hyperpod ./cmd/hyperpod

# The oracle has one thread; the unit tests beside it leave it enough.
test: lint        ## everything that CI runs
	$(MAKE) -j2 unit oracle
	$(MAKE) script cluster

lint:             ## gofmt, go vet, staticcheck, generated files, release configuration
	@out="$$(gofmt -l $$(git ls-files '*.go'))"; test -z "$$out" || { echo "not gofmt'ed:"; echo "$$out"; exit 1; }
	$(GO) vet $(PKGS)
	$(TOOL) -n staticcheck >/dev/null && STATICCHECK="$$($(TOOL) -n staticcheck)" && GOGC=300 "$$STATICCHECK" $(PKGS)
	$(GO) run ./cmd/gendocs --check
	$(GO) -C tools/checkrelease run . $(CURDIR)/.goreleaser.yaml

unit:             ## package tests with the race detector (and the import-graph test); random inputs in full without
	CGO_ENABLED=1 $(GO) test -race -short $(NOVET) $$($(GO) list ./... | grep -v $(STEPS))
	$(GO) test $(NOVET) $(RANDOM)

script:           ## commands as scripts: the built binary on the sandbox, kubectl beside it
	$(GO) test $(NOVET) -timeout 15m -parallel 4 ./test/script/... ./test/tab/...

cluster:          ## the real control plane (Linux, root; built once, about 15 minutes the first time)
	if $(GO) run ./test/cluster/cmd/testbed supported; then $(GO) run ./test/cluster/cmd/testbed build; fi
	$(GO) test $(NOVET) -timeout 60m -p 2 ./test/cluster/... ./test/e2e/... ./test/fidelity/...

oracle:           ## the admission core against Kueue's own scheduler: 3,000 random inputs, about two minutes
	cd internal/governance/admission/oracle && $(GO) test -v -timeout 30m -run TestAgainstKueue -inputs 3000 ./...

fidelity:         ## all figures of docs/fidelity.md: 30,000 inputs, Kueue against itself, a live Kueue (half an hour)
	cd internal/governance/admission/oracle && $(GO) test -v -timeout 0 -run TestAgainstKueue $(INPUTS) ./...
	$(GO) test -v -timeout 60m -run TestFidelity ./test/fidelity/...

bench:            ## start, sandbox, lists, quota, verdict, dry run and logs against the peers, as ratios
	$(GO) run ./bench

docs:             ## completions and the command reference
	$(GO) run ./cmd/gendocs

vuln:             ## known vulnerabilities (needs the vulnerability database)
	"$$($(TOOL) -n govulncheck)" ./cmd/hyperpod

clean:
	rm -rf hyperpod dist
