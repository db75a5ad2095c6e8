# Thin: each target is a command that a person could type. `make demo` is the place to begin.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: demo plan rehearse annotate criticise fairseq mauve extras test test-fast slurm-test bench mutants lint format docs

# STUDY=coreference-demo, latent-lms-demo, document-coherence-demo or code-mixing-demo for another one.
demo: .venv/installed
	textcritic demo $(STUDY)

# What a study costs, before it starts; STUDY as above, a paper's study, or a target. Without one: what the SLURM profile builds.
plan: .venv/installed
	@textcritic plan $(STUDY)

# A study from download to report on small stand-ins: STUDY=model-criticism; SIZE=smoke or full.
rehearse: .venv/installed
	textcritic rehearse $(if $(STUDY),$(STUDY),model-criticism) $(if $(SIZE),--size $(SIZE))

# The web app that asks people about the texts of the finished demo; PORT=8000.
annotate: .venv/installed
	textcritic annotate $(if $(PORT),--port $(PORT))

# One word of the shell, whatever is in it.
quoted = '$(subst ','\'',$(1))'

# REFERENCE=real.jsonl SAMPLES="model.jsonl other.jsonl" [OUTPUT=FOLDER]; quotes inside SAMPLES hold a path with spaces.
criticise: .venv/installed
	$(if $(and $(strip $(REFERENCE)),$(strip $(SAMPLES))),,$(error usage: make criticise REFERENCE=real.jsonl \
		SAMPLES="model.jsonl other.jsonl"))
	textcritic criticise $(call quoted,$(REFERENCE)) $(SAMPLES) $(if $(OUTPUT),--output $(call quoted,$(OUTPUT)))

# For generators of kind fairseq, built from source: needs a C++ compiler.
fairseq: .venv/installed
	textcritic install fairseq

# For critics of kind mauve: a library under the GPL-3, which textcritic is not.
mauve: .venv/installed
	textcritic install mauve

# A file of tests stays with one worker, which makes its fixtures once; conftest.py begins with the longest. One worker
# more than cores: those that run whole workflows wait for them.
parallel = -n $(shell $(PYTHON) -c 'import os; print(min(os.cpu_count(), 7) + 1)') --dist loadscope --no-loadscope-reorder

# What some tests need: fairseq, MAUVE and Chromium. What cannot be installed here is a line with the reason, no error.
extras: .venv/installed
	tests/extras.sh

# Every test but the one with a real SLURM. It fails, too, if no workflow of the tests has run some rule.
test: .venv/installed extras
	rm -rf .rules-ran
	RULES_RAN='$(CURDIR)/.rules-ran' pytest tests $(parallel)

# For every change: the library's tests, but for the files that take longest.
test-fast: .venv/installed
	pytest tests/unit tests/oracle tests/plan -m "not slow and not slurm and not debian" $(parallel)

slurm-test: .venv/installed
	pytest tests/slurm -m slurm -s

bench: .venv/installed
	pytest benchmarks -s

# What no test notices (docs/testing.md). MINUTES: how long; again, it goes on from there. ONLY: names; SAMPLE: how many, at random.
MINUTES ?= 30
mutants: .venv/installed
	python tests/mutants.py $(MINUTES) $(if $(ONLY),--only $(foreach name,$(ONLY),'$(name)')) $(if $(SAMPLE),--sample $(SAMPLE))

lint: .venv/installed
	ruff check .
	ruff format --check .
	mypy
	snakefmt --check Snakefile rules workflow/Snakefile
	snakemake --lint

format: .venv/installed
	ruff check --fix .
	ruff format .
	snakefmt Snakefile rules workflow/Snakefile

# These pages as a site, site/index.html; a broken link is an error.
docs: .venv-docs/installed
	.venv-docs/bin/sphinx-build --quiet --fail-on-warning --keep-going --conf-dir docs . site

# Sphinx is in an environment of its own.
.venv-docs/installed: docs/requirements.lock
	test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --disable-pip-version-check --no-deps -r docs/requirements.lock
	touch $@

# The exact versions of requirements.lock, then this checkout itself.
.venv/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.11 demo")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@
