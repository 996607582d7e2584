# Thin: each target makes the environment if need be, says in a line what it does, and ends by
# saying where to look next.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
export PATH := $(CURDIR)/$(BIN):$(PATH)
export MLFLOW_DISABLE_TELEMETRY := true
export MPLBACKEND := Agg

.PHONY: help setup repro back report api test check ui track claims provenance verify bench clean
.DEFAULT_GOAL := help

help: ## list the commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(READY) ## make .venv and install into it

$(READY): pyproject.toml constraints.txt
	@echo "setup: installing into $(VENV) (minutes the first time)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "error: Python 3.11 or newer is needed; say which: make PYTHON=python3.12"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(READY)

repro: $(READY) ## run the active profile of params.yaml, from data to report
	@pondering repro
	@pondering next

back: $(READY) ## go back to the last commit's values, results and networks, without a run
	@pondering back

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
	@echo "test: pytest"
	@python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
	@echo "test: all passed; run 'make repro' for the report"

ui: $(READY) ## MLflow's own pages on 127.0.0.1
	@pondering ui

track: $(READY) ## rebuild MLflow's database from the tables
	@pondering track

claims: $(READY) ## print the published verdict on every claim
	@pondering claims

provenance: $(READY) ## say where a figure comes from: make provenance FIGURE=graves-04
	@pondering provenance '$(FIGURE)'

verify: $(READY) ## rerun the active profile from nothing in a temporary clone and compare
	@echo "verify: rerunning in a temporary clone, then comparing every table with the committed one"
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && git clone --quiet . "$$folder" \
	  && cd "$$folder" && export PYTHONPATH="$$folder/src" PONDERING_TRACKING=off \
	  && rm -rf reports/*/ && python -m pondering.cli repro && python -m pondering.cli verify

bench: $(READY) ## measure the training loop: against a plain one, its growth, its agreement
	@python benchmarks/bench.py && python benchmarks/growth.py && python benchmarks/agreement.py

clean: ## remove the environment and what can be made again
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
