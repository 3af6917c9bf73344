# Everything a contributor needs; `make help` lists it. CI runs lint and test.
.DEFAULT_GOAL := help
.PHONY: build run test ui bench soak crash oracle interop lint fuzz check clean help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
export FUZZTIME ?= 20s

build: ## build bin/openclaw: static, stripped, reproducible
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X openclaw/internal/cli.version=$(VERSION)" -o bin/openclaw ./cmd/openclaw

run: build ## build, then run the gateway (ARGS="--port 0" for another port)
	bin/openclaw gateway run $(ARGS)

test: ## install what the tests need, vet for three systems, test with the race detector
	@scripts/test

ui: ## build the control page
	@if [ -f ui/package.json ]; then \
		cd ui && npm ci && npm run build; \
	else \
		echo "ui: there is no page project yet; the binary embeds a placeholder page, nothing to build"; \
	fi

bench: ## measure against the raw floor of this machine
	go run ./internal/bench

soak: ## 30 minutes of sessions while the daemon is killed 200 times (SOAK=5m for less)
	SOAK=$${SOAK:-30m} SOAK_SESSIONS=$${SOAK_SESSIONS:-200} SOAK_KILLS=$${SOAK_KILLS:-200} go test -v -count=1 -timeout 2h -run 'TestSoak$$' ./internal/e2e

crash: ## approvals while the gateway is killed 300 times (CRASH=20 for less)
	CRASH_ROUNDS=$${CRASH:-300} go test -v -count=1 -timeout 1h -run 'TestCrash_A14$$' ./internal/e2e

oracle: ## 200,000 commands judged, every allowed one walked under a trace, a part held against bash (ORACLE=20000 for less, SEED=2 for others)
	OPENCLAW_ORACLE_N=$${ORACLE:-200000} OPENCLAW_ORACLE_SEED=$${SEED:-1} go test -v -count=1 -timeout 3h -run '^TestOracle' ./internal/oracle

interop: ## the public gateway client and CLI against this gateway (installs some 800 MB in a scratch folder)
	@scripts/interop

lint: ## format, vet, staticcheck; golangci-lint too with LINT_FULL=1
	@scripts/lint

fuzz: ## run every fuzz target for FUZZTIME (20s) each
	@scripts/fuzz

check: lint test ## lint, then test

clean: ## remove what build made
	rm -rf bin

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
