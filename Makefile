# The recipes that developers and CI share. `make` lists them.
.DEFAULT_GOAL := help
.PHONY: help test lint format rust clients demo generate proto-baseline

help: ## list the recipes
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 20

test: ## set up, lint and test everything, as CI does
	./tests/run.sh

lint: ## run the linters alone
	./tests/run.sh lint

rust: ## run the Rust tests alone
	./tests/run.sh rust

clients: ## run the clients' tests, the README and the examples alone
	./tests/run.sh clients

demo: ## run the main job
	./examples/bank_sync/run.sh

format: ## format everything
	cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml
	target/tools/node_modules/.bin/buf format --write proto
	target/venv/bin/ruff format clients/python tests examples

generate: ## regenerate the clients' code from the protos
	clients/python/generate.sh
	clients/ruby/generate.sh

proto-baseline: ## accept today's protos as what later ones must not break (when they land)
	target/tools/node_modules/.bin/buf build proto --exclude-source-info --output proto/baseline.binpb
