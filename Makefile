# The vocabulary of the project. Each target works in a clean clone with Python 3.11 or newer, git and make.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
MODEL ?=
# a worker more than there are processors: many tests wait for a program or a server
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
RUN_DEPS := $(VENV)/.run
DEV_DEPS := $(VENV)/.dev

.PHONY: help demo test check bench soak docs lock clean

help: ## what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 20

$(VENV)/pyvenv.cfg:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed and was not found."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Hashes and an editable install do not mix: first everything that is pinned, then the project itself.
$(RUN_DEPS): constraints.txt pyproject.toml | $(VENV)/pyvenv.cfg
	$(PIP) install -q --require-hashes -r constraints.txt
	$(PIP) install -q --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q -j 0 src
	@touch $@

$(DEV_DEPS): constraints-dev.txt $(RUN_DEPS)
	$(PIP) install -q --require-hashes -r constraints-dev.txt
	@touch $@

demo: $(RUN_DEPS) ## fix a bug in a small repository, with your model, the embedded one, or MODEL=scripted
	@$(BIN)/gongfu demo --yes $(if $(MODEL),--model $(MODEL))

test: $(DEV_DEPS) ## all tests but the long runs
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests

check: $(DEV_DEPS) ## lint, format, types, layers, generated docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python scripts/generate_docs.py --check

bench: $(DEV_DEPS) ## measure, each figure beside its floor
	$(BIN)/python benchmarks/run.py

soak: $(DEV_DEPS) ## the long runs
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --timeout 3600 -m soak tests

docs: $(DEV_DEPS) ## write the generated pages again
	$(BIN)/python scripts/generate_docs.py

lock: ## pin the newest versions again (needs uv)
	uv pip compile pyproject.toml --extra local --group build --universal --generate-hashes --no-header --no-annotate \
		--python-version 3.11 --upgrade -o constraints.txt
	uv pip compile pyproject.toml --extra local --extra code --extra web --extra browser --extra pdf --extra desktop \
		--group dev --universal --generate-hashes --no-header --no-annotate \
		--python-version 3.11 -c constraints.txt -o constraints-dev.txt

clean: ## remove what was built here
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
