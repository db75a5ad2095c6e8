# Thin: each target is a command that a person could type. `make demo` is the place to begin.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: demo test slurm-test bench lint format

demo: .venv/installed
	snakemake --profile profiles/local
	textcritic show results/studies/demo

test: .venv/installed
	pytest tests

slurm-test: .venv/installed
	pytest tests/slurm -m slurm -s -rs

bench: .venv/installed
	pytest benchmarks -s

lint: .venv/installed
	ruff check .
	ruff format --check .
	mypy
	snakefmt --check Snakefile rules
	snakemake --lint

format: .venv/installed
	ruff check --fix .
	ruff format .
	snakefmt Snakefile rules

# The exact versions of requirements.lock, then this checkout itself.
.venv/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.11 demo")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@
