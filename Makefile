# Thin: each target makes the environment if need be, says in a line what it does, and ends by
# saying where to look next.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
PROFILE = $(shell sed -n 's/^profile: *\([a-z]*\).*/\1/p' params.yaml)
RESULTS = data/results/$(PROFILE)
export PATH := $(CURDIR)/$(BIN):$(PATH)
export MLFLOW_DISABLE_TELEMETRY := true
export MPLBACKEND := Agg
export PIP_USER := 0
unexport PYTHONDONTWRITEBYTECODE # set in many images; imports take 2 seconds with bytecode, 5 without

.PHONY: help setup repro report api test ui claims verify bench clean
.DEFAULT_GOAL := help

help: ## list the commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(READY) ## make .venv and install into it (TORCH=cpu, cu128 or auto: which build of torch)

# uv installs in seconds what takes pip minutes. It does not read pip's configuration, so the indexes
# and the folders of wheels that pip knows are handed on. What else pip knows, pip has to use itself.
CONFIGURED = $$($(BIN)/python -m pip config list | sed -n "s/^[^ ]*\.$(1)='\(.*\)'$$/\1/p" | tail -1)

$(READY): pyproject.toml constraints.txt $(if $(TORCH),FORCE)
	@echo "setup: installing into $(VENV) (a minute the first time, and the download)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "error: Python 3.11 or newer is needed; say which: make PYTHON=python3.12"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt uv
	@export UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$(call CONFIGURED,index-url)}"; \
	  export UV_EXTRA_INDEX_URL="$${UV_EXTRA_INDEX_URL:-$(call CONFIGURED,extra-index-url)}"; \
	  export UV_FIND_LINKS="$${UV_FIND_LINKS:-$(call CONFIGURED,find-links)}"; \
	  export UV_INDEX_STRATEGY="$${UV_INDEX_STRATEGY:-unsafe-best-match}"; \
	  $(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[dev]' \
	  $(if $(TORCH),--torch-backend=$(TORCH) --reinstall-package torch) \
	  || { echo "setup: uv could not install, as it says above; pip tries, in minutes" >&2; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'; }
	@touch $(READY)

FORCE:

repro: $(READY) ## run what changed (dvc repro), from data to report
	@said=$$(git rev-parse HEAD 2>&1 >/dev/null) || { echo "error: $$(echo $$said); DVC needs git:" \
	  "a folder without it gets it by git init && git add -A && git commit -m start"; exit 2; }
	@! grep -q '^<<<<<<< ' dvc.lock || { echo "error: dvc.lock: git could not merge it;" \
	  "git checkout HEAD -- dvc.lock takes your side, and a run writes what is missing"; exit 2; }
	@dvc repro
	@echo "repro: open $(RESULTS)/index.html; the runs: make ui; the verdicts: make claims"

report: $(READY) ## draw the report again from the tables there are
	@pondering report

api: $(READY) ## write the library's pages from its docstrings
	@python docs/api.py reports/api
	@echo "api: open reports/api/index.html"

test: $(READY) ## every test, with style and types
	@echo "test: style and types (ruff, mypy)"
	@ruff check src pipeline tests benchmarks
	@ruff format --check --quiet src pipeline tests benchmarks
	@mypy
	@echo "test: pytest (tests/system and tests/model/paths/kernels are not run here: .ci/run runs them)"
	@python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
	@echo "test: all passed; run 'make repro' for the report"

ui: $(READY) ## MLflow's own pages on 127.0.0.1
	@pondering ui

claims: $(READY) ## print the published verdict on every claim
	@pondering claims

verify: $(READY) ## run the active profile again in a temporary clone and compare
	@pondering verify

bench: $(READY) ## measure the training loop against a plain one
	@python benchmarks/bench.py

clean: ## remove the environment and what can be made again
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
