# Start here: `make build`, `make check`, `make test`, `make bench`.
SHELL   := bash
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
TOOL    := $(GO) -C tools tool
PKGS    := ./...
# Packages with a step of their own.
STEPS   := -e /test/script -e /test/tab -e /test/crash -e /test/fault -e /test/worlds -e /test/soak -e /test/network -e /test/counts -e /test/cluster -e /test/e2e -e /test/fidelity
# Packages whose tests use many random inputs and start goroutines. With -short they use fewer, as under the race detector,
# which takes ten times as long and finds nothing new in further inputs.
RANDOM  := ./internal/governance/admission ./internal/history
# Inputs of the comparison with Kueue's own scheduling loop; -full adds larger ones, which take hours.
INPUTS  ?= -inputs 100000 -itself 1000
# How long each target is fuzzed.
FUZZTIME ?= 30s
# Lint vets everything once. go test would vet again, dependencies included, for each set of compile flags.
NOVET   := -vet=off
# Only the race detector needs C. One setting lets all steps share compiled packages.
export CGO_ENABLED := 0
# Tags of a release. grpc, which comes with Kueue's core, executes templates in its trace pages, and the linker then keeps
# all exported methods: 16 MB. Other builds do without the tag, to share compiled packages with go run and go test.
TAGS    := grpcnotrace
# The budget of the stripped binary in bytes. Each character of the checkout's path adds 1 kB.
SIZE    := 72000000

.PHONY: build check test source artefacts tools size lint unit script cluster oracle crash faults worlds soak fuzz reliability fidelity bench docs site modules packages vuln clean

# No -trimpath: build, go run and the tests then share compiled packages. Releases use it (.goreleaser.yaml).
build:            ## the binary, ./hyperpod
	$(GO) build -ldflags '$(LDFLAGS)' -o hyperpod ./cmd/hyperpod

check: lint       ## before each commit: lint, unit tests, command scripts; no control plane
	$(GO) test $(NOVET) -short -timeout 15m -parallel 4 $$($(GO) list $(PKGS) | grep -v $(STEPS)) ./test/script/...

# The oracle, the linker and the archives have one thread; what is beside them leaves it enough. CI sets PREPARE=tools.
test:             ## everything that CI runs
	$(MAKE) -j3 source artefacts
	$(MAKE) script cluster

source: lint $(PREPARE)
	$(MAKE) unit

artefacts: oracle
	$(MAKE) size
	tools/packages/check -paths

tools:            ## installs what the tests use beside Go (Debian and Ubuntu, root)
	test/install-tools

size:             ## the binary of a release is within its budget
	@out="$$(mktemp)" && trap 'rm -f "$$out"' EXIT && $(GO) build -tags $(TAGS) -ldflags '$(LDFLAGS)' -o "$$out" ./cmd/hyperpod && \
	$(GO) -C tools/checkmodules run . -binary "$$out" $(CURDIR) | tail -2 && \
	size="$$(wc -c < "$$out")" && echo "binary: $$size bytes" && { test "$$size" -le $(SIZE) || { echo "more than $(SIZE)"; exit 1; }; }

lint:             ## gofmt, go vet, staticcheck, release configuration, links of the documents
	@out="$$(gofmt -l $$(git ls-files '*.go'))"; test -z "$$out" || { echo "not gofmt'ed:"; echo "$$out"; exit 1; }
	$(GO) vet $(PKGS)
	$(TOOL) -n staticcheck >/dev/null && STATICCHECK="$$($(TOOL) -n staticcheck)" && GOGC=300 "$$STATICCHECK" $(PKGS)
	$(GO) -C tools/checkrelease run . $(CURDIR)/.goreleaser.yaml
	$(GO) -C tools/checkmodules run . $(CURDIR) | tail -1
	$(GO) -C tools/site run . -check $(CURDIR)

unit:             ## package tests, with the race detector where there is more than one goroutine
	CGO_ENABLED=1 $(GO) test -race -short $(NOVET) $$($(GO) list ./... | grep -v $(STEPS) | GO=$(GO) xargs test/raced)
	$(GO) test $(NOVET) $(RANDOM) $$($(GO) list ./... | grep -v $(STEPS) | GO=$(GO) xargs test/raced -v)

script:           ## commands as scripts: the built binary on the sandbox, kubectl beside it; killed and behind faults; counted
	$(GO) test $(NOVET) -timeout 15m -parallel 4 ./test/script/... ./test/tab/... ./test/crash/... ./test/fault/... ./test/worlds/... ./test/soak/... ./test/network/... ./test/counts/...

cluster:          ## the real control plane (Linux, root; built once, 8 to 15 minutes the first time)
	if $(GO) run ./test/cluster/cmd/testbed supported; then $(GO) run ./test/cluster/cmd/testbed build; fi
	$(GO) test $(NOVET) -timeout 60m -p 2 ./test/cluster/... ./test/e2e/... ./test/fidelity/...

oracle:           ## the admission core against Kueue's own scheduler: 1,500 random inputs and the cases of Kueue's tests, about three minutes
	cd internal/governance/admission/oracle && $(GO) test -v -timeout 30m -run 'TestAgainstKueue|TestDiffered|TestRetriedAfter|TestRefused|TestTrainJob|TestAppWrapper|TestSparkApplication|TestFrameworks|TestCases|TestPreemptionCases|TestPlacementCases|TestRequestCases|TestReconcileCases' -inputs 1500 ./...

# Every run of a command behind a faulty server; `make script` runs about 450 of them once, without the race detector.
faults:           ## each command behind each fault of the API server, 10 times
	CGO_ENABLED=1 $(GO) test -race $(NOVET) -count=1 -timeout 3h ./test/fault -run 'Suite|AWS|Forward|Workers|MCP|Web' -seeds 10 -v | grep -E '^ +suite_test|--- FAIL|^ok|^FAIL|^faults|^states'

worlds:           ## random commands of several users against what must hold after each: 60 worlds of 60 steps, and 20 of 25 on the real control plane (three hours)
	HYPERPOD_WORLDS=60 HYPERPOD_STEPS=60 HYPERPOD_KUEUE_WORLDS=20 HYPERPOD_KUEUE_STEPS=25 $(GO) test $(NOVET) -v -count=1 -timeout 0 ./test/worlds

soak:             ## commands that run for hours beside a cluster that changes, restarts and withdraws tokens (two hours)
	HYPERPOD_SOAK=2h $(GO) test $(NOVET) -v -count=1 -timeout 0 ./test/soak

fuzz:             ## every fuzz target for FUZZTIME; new inputs are kept for the next run, failing ones in testdata
	FUZZTIME=$(FUZZTIME) GO=$(GO) test/fuzz

reliability:      ## the suites in their long forms; their summaries go to docs/reliability.md
	test/reliability

crash:            ## kills 1,000 writing commands at random points (half an hour)
	HYPERPOD_KILLS=1000 $(GO) test -v -timeout 0 -run TestKills ./test/crash

fidelity:         ## all figures of docs/fidelity.md: 100,000 inputs, Kueue against itself, a live Kueue (an hour)
	cd internal/governance/admission/oracle && $(GO) test -v -timeout 0 -run 'TestAgainstKueue|TestDiffered|TestRetriedAfter|TestRefused|TestTrainJob|TestAppWrapper|TestSparkApplication|TestFrameworks|TestCases|TestPreemptionCases|TestPlacementCases|TestRequestCases|TestReconcileCases' $(INPUTS) -variants 20000 ./...
	$(GO) test -v -timeout 60m -run TestFidelity ./test/fidelity/...

bench:            ## all figures of docs/performance.md: ratios against the peers, scale curves, budgets (half an hour)
	$(GO) run ./bench -json bench/results.json -document docs/performance.md

docs:             ## completions, command reference, schemas, screens of the documents
	$(GO) run ./cmd/gendocs

site:             ## the documentation as a web site, in ./site
	$(GO) -C tools/site run . -out $(CURDIR)/site $(CURDIR)

modules:          ## the modules of the binary: version, age, licence; their list (SBOM) in the format of CycloneDX
	$(GO) -C tools/checkmodules run . $(CURDIR)
	$(MAKE) build && $(GO) -C tools/checkmodules run . -binary $(CURDIR)/hyperpod -sbom $(CURDIR)/sbom.json $(CURDIR) | tail -1

packages:         ## archives, deb, rpm and apk without goreleaser: two builds compared, the .deb installed and removed
	tools/packages/check

vuln:             ## known vulnerabilities (needs the vulnerability database)
	"$$($(TOOL) -n govulncheck)" ./cmd/hyperpod

clean:
	rm -rf hyperpod dist man site
